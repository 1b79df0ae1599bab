// Which choices fit a few letters, the best first.

/** Everything that has the letters in this order; whole words and beginnings come first. Undefined when it does not fit. */
export function score(label: string, typed: string): number | undefined {
  const text = label.toLowerCase();
  const wanted = typed.trim().toLowerCase();
  if (wanted === "") return 0;
  const at = text.indexOf(wanted);
  if (at === 0) return 4;
  if (at > 0) return /\W/.test(text[at - 1] ?? "") ? 3 : 2;
  // Two letters are in almost everything.
  if (wanted.length < 3) return undefined;
  let from = 0;
  for (const letter of wanted) {
    from = text.indexOf(letter, from) + 1;
    if (from === 0) return undefined;
  }
  return 1;
}

export function rank<T>(choices: readonly T[], typed: string, label: (choice: T) => string): T[] {
  return choices
    .map((choice, index) => ({ choice, index, score: score(label(choice), typed) }))
    .filter((one): one is { choice: T; index: number; score: number } => one.score !== undefined)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map((one) => one.choice);
}
