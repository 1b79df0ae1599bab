// Which addresses of a text become links: those of the web, and nothing that a browser would run.

const ALLOWED = new Set(["http:", "https:", "mailto:"]);

/** The address when a link to it is harmless; otherwise nothing, and the text is shown as text. */
export function safeHref(href: string): string | undefined {
  // Browsers skip control characters and spaces in front of and inside of a scheme.
  const plain = href.replace(/[\u0000-\u0020\u007f-\u009f\u200b-\u200f\u2028-\u202f\u2060\ufeff]/g, "");
  if (plain === "" || plain !== href.trim()) return undefined;
  let url: URL;
  try {
    url = new URL(plain);
  } catch {
    return undefined;
  }
  return ALLOWED.has(url.protocol) ? url.href : undefined;
}
