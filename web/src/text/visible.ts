// Texts of others where a person decides by them: what nobody sees, and what changes the order of letters, is spelled out.
// The same characters as `visible` of mxd-core (tool/text.rs), so that the page and the terminal show the same.

/** Control characters other than line breaks and tabs, characters that show nothing or change the direction of a line, halves of characters. */
const UNSEEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\uD800-\uDFFF\u{E0000}-\u{E0FFF}]/u;

export interface Piece {
  readonly text: string;
  /** It stands for a character that nobody would see. */
  readonly isEscape: boolean;
}

/** A text in pieces, with escapes in the place of characters that nobody sees. */
export function visiblePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let plain = "";
  const letters = Array.from(text);
  for (const [index, letter] of letters.entries()) {
    // Both characters together are one line break.
    if (letter === "\r" && letters[index + 1] === "\n") continue;
    if (!UNSEEN.test(letter)) {
      plain += letter;
      continue;
    }
    if (plain !== "") pieces.push({ text: plain, isEscape: false });
    plain = "";
    pieces.push({ text: `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`, isEscape: true });
  }
  if (plain !== "") pieces.push({ text: plain, isEscape: false });
  return pieces;
}

/** The same as one text. */
export function visible(text: string): string {
  return visiblePieces(text)
    .map((piece) => piece.text)
    .join("");
}
