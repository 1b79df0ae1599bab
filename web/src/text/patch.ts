// Unified diffs as lines with their numbers, and diffs of two texts.

export interface PatchLine {
  readonly kind: "hunk" | "context" | "added" | "removed" | "note";
  readonly text: string;
  readonly old?: number;
  readonly new?: number;
}

/** Reads the hunks of one file. */
export function patchLines(patch: string): PatchLine[] {
  const lines: PatchLine[] = [];
  let before = 0;
  let after = 0;
  let inside = false;
  for (const line of patch.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@+ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@+(.*)$/.exec(line);
    if (hunk !== null) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      inside = true;
      lines.push({ kind: "hunk", text: line });
    } else if (!inside) {
      continue;
    } else if (line.startsWith("+")) {
      lines.push({ kind: "added", text: line.slice(1), new: after });
      after += 1;
    } else if (line.startsWith("-")) {
      lines.push({ kind: "removed", text: line.slice(1), old: before });
      before += 1;
    } else if (line.startsWith("\\")) {
      lines.push({ kind: "note", text: line.slice(2) });
    } else {
      lines.push({ kind: "context", text: line.slice(1), old: before, new: after });
      before += 1;
      after += 1;
    }
  }
  return lines;
}

/** Beyond this many pairs of lines the two texts are shown one after the other. */
const MOST_PAIRS = 400_000;

/** What changed between two texts, line by line (longest common subsequence). */
export function lineDiff(before: string, after: string): PatchLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let end = 0;
  while (end < a.length - head && end < b.length - head && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middle = changed(a.slice(head, a.length - end), b.slice(head, b.length - end));
  const same = (lines: readonly string[]): PatchLine[] => lines.map((text) => ({ kind: "context", text }));
  return [...same(a.slice(0, head)), ...middle, ...same(a.slice(a.length - end))];
}

function changed(a: readonly string[], b: readonly string[]): PatchLine[] {
  const removed = (text: string): PatchLine => ({ kind: "removed", text });
  const added = (text: string): PatchLine => ({ kind: "added", text });
  if (a.length * b.length > MOST_PAIRS) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  const cell = (i: number, j: number): number => table[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i * width + j] = a[i] === b[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1));
    }
  }
  const lines: PatchLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    if (left !== undefined && left === right) {
      lines.push({ kind: "context", text: left });
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || cell(i + 1, j) >= cell(i, j + 1))) {
      lines.push(removed(left));
      i += 1;
    } else if (right !== undefined) {
      lines.push(added(right));
      j += 1;
    }
  }
  return lines;
}
