// Light, dark, or what the system says; kept for the next visit.

export type Theme = "light" | "dark" | "system";

export function theme(): Theme {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

export function isDark(): boolean {
  const now = theme();
  return now === "dark" || (now === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
}

export function choose(next: Theme): void {
  if (next === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = next;
  keep("mxd.theme", next);
}

/** Keeps a value for the next visit, where the browser allows it. */
export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is full or switched off: nothing that matters is lost.
  }
}

export function kept(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function forget(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // There was nothing to forget.
  }
}
