// Lines of a diff as they are laid out: one column or two, with the words that changed.
import type { PatchLine } from "../text/patch.ts";
import { type Range, wordChange } from "../text/words.ts";

/** A row of the split layout: indices into the lines. A hunk or a note takes the whole row. */
export type SplitRow = { readonly whole: number } | { readonly left: number | undefined; readonly right: number | undefined };

/** Runs of removed and added lines that stand next to one another. */
function changeBlocks(lines: readonly PatchLine[]): { removed: number[]; added: number[]; end: number; start: number }[] {
  const blocks: { removed: number[]; added: number[]; end: number; start: number }[] = [];
  for (let at = 0; at < lines.length; ) {
    const start = at;
    const removed: number[] = [];
    const added: number[] = [];
    for (; lines[at]?.kind === "removed"; at += 1) removed.push(at);
    for (; lines[at]?.kind === "added"; at += 1) added.push(at);
    if (at > start) blocks.push({ removed, added, start, end: at });
    else at += 1;
  }
  return blocks;
}

export function splitRows(lines: readonly PatchLine[]): SplitRow[] {
  const rows: SplitRow[] = [];
  const blocks = changeBlocks(lines);
  const starts = new Map(blocks.map((block) => [block.start, block]));
  for (let at = 0; at < lines.length; ) {
    const block = starts.get(at);
    if (block !== undefined) {
      const height = Math.max(block.removed.length, block.added.length);
      for (let row = 0; row < height; row += 1) rows.push({ left: block.removed[row], right: block.added[row] });
      at = block.end;
    } else {
      rows.push(lines[at]?.kind === "context" ? { left: at, right: at } : { whole: at });
      at += 1;
    }
  }
  return rows;
}

/** By line: the parts that differ from the line that it replaces or is replaced by. */
export function changedWords(lines: readonly PatchLine[]): ReadonlyMap<number, readonly Range[]> {
  const changed = new Map<number, readonly Range[]>();
  for (const { removed, added } of changeBlocks(lines)) {
    for (let pair = 0; pair < Math.min(removed.length, added.length); pair += 1) {
      const [left, right] = [removed[pair] ?? 0, added[pair] ?? 0];
      const words = wordChange(lines[left]?.text ?? "", lines[right]?.text ?? "");
      if (words === undefined) continue;
      changed.set(left, words.before);
      changed.set(right, words.after);
    }
  }
  return changed;
}

/** A part of a line with one look. */
export interface Piece {
  readonly text: string;
  readonly token: string | undefined;
  readonly changed: boolean;
}

/** Highlighted tokens cut at the borders of what changed. */
export function pieces(text: string, highlighted: readonly (readonly [token: string | undefined, text: string])[] | undefined, ranges: readonly Range[] | undefined): Piece[] {
  const source = highlighted ?? [[undefined, text] as const];
  const result: Piece[] = [];
  let at = 0;
  for (const [token, part] of source) {
    const end = at + part.length;
    const cuts = [at, ...(ranges ?? []).flatMap((range) => [range.from, range.to]).filter((cut) => cut > at && cut < end), end];
    for (let index = 0; index + 1 < cuts.length; index += 1) {
      const [from, to] = [cuts[index] ?? 0, cuts[index + 1] ?? 0];
      if (to > from) result.push({ text: text.slice(from, to), token, changed: (ranges ?? []).some((range) => from >= range.from && to <= range.to) });
    }
    at = end;
  }
  return result;
}
