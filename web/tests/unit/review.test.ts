// Layout of a diff: pairs, words, and pieces that together are the line again.
import { describe, expect, it } from "vitest";
import type { DiffFile } from "../../src/api/types.ts";
import { byFolder } from "../../src/review/FileTree.tsx";
import { extensionOf } from "../../src/review/highlight.ts";
import { changedWords, pieces, splitRows } from "../../src/review/rows.ts";
import { fingerprint, isViewed } from "../../src/review/viewed.ts";
import { patchLines } from "../../src/text/patch.ts";
import { wordChange } from "../../src/text/words.ts";

const PATCH = "@@ -1,4 +1,5 @@\n same\n-let a = 1;\n-gone\n+let a = 2;\n+new\n+newer\n end";
const file = (path: string, patch = PATCH): DiffFile => ({ path, status: "modified", additions: 1, deletions: 1, binary: false, patch });

describe("words", () => {
  it("mark what differs in lines that are versions of one another", () => {
    const change = wordChange("let total = count(boats);", "let total = count(ships);");
    expect(change?.before.map(({ from, to }) => "let total = count(boats);".slice(from, to))).toEqual(["boats"]);
    expect(change?.after.map(({ from, to }) => "let total = count(ships);".slice(from, to))).toEqual(["ships"]);
  });

  it("are not marked in lines that have little in common, or that nobody reads by the word", () => {
    expect(wordChange("return Err(Refused::Stale);", "// Somebody holds an older one.")).toBeUndefined();
    expect(wordChange("a ".repeat(500), `${"a ".repeat(499)}b`)).toBeUndefined();
    expect(wordChange("", "")).toBeUndefined();
  });
});

describe("rows", () => {
  const lines = patchLines(PATCH);

  it("put replaced lines side by side and leave the rest of the longer side alone", () => {
    expect(splitRows(lines)).toEqual([{ whole: 0 }, { left: 1, right: 1 }, { left: 2, right: 4 }, { left: 3, right: 5 }, { left: undefined, right: 6 }, { left: 7, right: 7 }]);
  });

  it("know the words that changed by line", () => {
    const words = changedWords(lines);
    expect([...words.keys()].sort()).toEqual([2, 4]);
  });

  it("cut tokens where changes begin, and lose no character", () => {
    const text = "let a = 1;";
    const cut = pieces(text, [["keyword", "let"], [undefined, " a = "], ["number", "1"], [undefined, ";"]], [{ from: 2, to: 9 }]);
    expect(cut.map((piece) => piece.text).join("")).toBe(text);
    expect(cut.filter((piece) => piece.changed).map((piece) => piece.text).join("")).toBe("t a = 1");
    expect(cut.find((piece) => piece.text === "le")?.token).toBe("keyword");
    expect(pieces(text, undefined, undefined)).toEqual([{ text, token: undefined, changed: false }]);
  });
});

describe("files", () => {
  it("stand in their folders", () => {
    expect(byFolder([file("b/z.rs"), file("a.md"), file("b/a.rs"), file("b/c/d.rs")]).map((one) => [one.folder, one.files.map((inside) => inside.path)])).toEqual([
      ["", ["a.md"]],
      ["b", ["b/a.rs", "b/z.rs"]],
      ["b/c", ["b/c/d.rs"]],
    ]);
  });

  it("are unseen again when their change is another one", () => {
    const seen = { "a.rs": fingerprint(file("a.rs")) };
    expect(isViewed(seen, file("a.rs"))).toBe(true);
    expect(isViewed(seen, file("a.rs", `${PATCH}\n+more`))).toBe(false);
    expect(isViewed({}, file("a.rs"))).toBe(false);
  });

  it("have the language of their ending or of their name", () => {
    expect(["src/a.test.TS", "Makefile", "x/.gitignore"].map(extensionOf)).toEqual(["ts", "makefile", "gitignore"]);
  });
});
