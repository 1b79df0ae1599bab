// Terminal output: colours and weights are kept, every other control sequence is dropped.

export interface Style {
  readonly color?: string;
  readonly background?: string;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
}

export interface Span {
  readonly text: string;
  readonly style: Style;
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
// CSI sequences, OSC sequences (titles, links) up to their end, and single escapes.
const SEQUENCE = /\u001b\[([0-9;:?<=>]*)[ -/]*([@-~])|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[ -/]*[0-~]?|\u009b[0-9;:?]*[@-~]/g;

/** Splits output into spans of one style each. */
export function spans(output: string): Span[] {
  const found: Span[] = [];
  let style: Style = {};
  let from = 0;
  const push = (text: string): void => {
    const clean = readable(text);
    if (clean !== "") found.push({ text: clean, style });
  };
  for (const match of output.matchAll(SEQUENCE)) {
    push(output.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === "m") style = restyle(style, match[1] ?? "");
  }
  push(output.slice(from));
  return found;
}

/** The text alone. */
export function plain(output: string): string {
  return spans(output)
    .map((span) => span.text)
    .join("");
}

/** A line that is written over itself shows what it said last, as in a terminal. */
function readable(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  return lines
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1))
    .join("\n")
    .replace(/[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f\r]/g, "");
}

function restyle(before: Style, codes: string): Style {
  const numbers = codes === "" ? [0] : codes.split(/[;:]/).map(Number);
  let style: Style = before;
  for (let i = 0; i < numbers.length; i += 1) {
    const code = numbers[i] ?? 0;
    if (code === 38 || code === 48) {
      const [color, used] = extended(numbers.slice(i + 1));
      if (color !== undefined) style = { ...style, [code === 38 ? "color" : "background"]: color };
      i += used;
    } else {
      style = simple(style, code);
    }
  }
  return style;
}

function simple(style: Style, code: number): Style {
  if (code === 0) return {};
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 3) return { ...style, italic: true };
  if (code === 4) return { ...style, underline: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 23) return { ...style, italic: false };
  if (code === 24) return { ...style, underline: false };
  if (code === 39) return drop(style, "color");
  if (code === 49) return drop(style, "background");
  const color = named(code % 10);
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return { ...style, color };
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) return { ...style, background: color };
  return style;
}

function drop(style: Style, key: "color" | "background"): Style {
  const { [key]: _, ...rest } = style;
  return rest;
}

function named(index: number): string {
  return NAMES[index] ?? "white";
}

/** 256 colours and true colours become the nearest of the eight, which fit both themes. */
function extended(rest: readonly number[]): [string | undefined, number] {
  if (rest[0] === 5) return [fromTable(rest[1] ?? 0), 2];
  if (rest[0] === 2) return [nearest(rest[1] ?? 0, rest[2] ?? 0, rest[3] ?? 0), 4];
  return [undefined, rest.length];
}

function fromTable(index: number): string {
  if (index < 16) return named(index % 8);
  if (index >= 232) return index > 243 ? "white" : "black";
  const cube = index - 16;
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function nearest(red: number, green: number, blue: number): string {
  const strongest = Math.max(red, green, blue);
  if (strongest < 50) return "black";
  const on = (part: number): number => (part > strongest * 0.6 ? 1 : 0);
  return named(on(red) + 2 * on(green) + 4 * on(blue));
}
