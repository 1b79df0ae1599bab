// Which words of a line changed, when two lines are versions of one another.

export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface WordChange {
  readonly before: readonly Range[];
  readonly after: readonly Range[];
}

/** Longer lines are generated or minified: nobody reads them by the word. */
const MOST_TOKENS = 400;
/** Lines that share less than this are different lines, and marking their few common words would only confuse. */
const LEAST_COMMON = 0.35;

/** The changed parts of both lines; nothing when they have too little in common. */
export function wordChange(before: string, after: string): WordChange | undefined {
  const a = tokens(before);
  const b = tokens(after);
  if (a.length > MOST_TOKENS || b.length > MOST_TOKENS) return undefined;
  const { keptA, keptB, common } = commonTokens(a, b);
  const longer = Math.max(before.trim().length, after.trim().length);
  if (longer === 0 || common / longer < LEAST_COMMON) return undefined;
  return { before: gaps(a, keptA), after: gaps(b, keptB) };
}

function tokens(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** The longest common subsequence: which tokens stay, and how many characters that are without white space. */
function commonTokens(a: readonly string[], b: readonly string[]): { keptA: boolean[]; keptB: boolean[]; common: number } {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  const cell = (i: number, j: number): number => table[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) table[i * width + j] = a[i] === b[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1));
  }
  const keptA = a.map(() => false);
  const keptB = b.map(() => false);
  let common = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      keptA[i] = true;
      keptB[j] = true;
      common += (a[i] ?? "").trim().length;
      i += 1;
      j += 1;
    } else if (cell(i + 1, j) >= cell(i, j + 1)) i += 1;
    else j += 1;
  }
  return { keptA, keptB, common };
}

function gaps(list: readonly string[], kept: readonly boolean[]): Range[] {
  const ranges: Range[] = [];
  let at = 0;
  list.forEach((token, index) => {
    const to = at + token.length;
    const last = ranges.at(-1);
    if (kept[index] !== true) {
      if (last !== undefined && last.to === at) ranges[ranges.length - 1] = { from: last.from, to };
      else ranges.push({ from: at, to });
    }
    at = to;
  });
  return ranges;
}
