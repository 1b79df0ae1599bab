// Texts: terminal output, diffs, links, numbers, routes, rankings.
import { describe, expect, it } from "vitest";
import { ticks } from "../../src/money/scale.ts";
import { originOf, patchOf, readValue, valueAt } from "../../src/settings/keys.ts";
import { score } from "../../src/shell/rank.ts";
import { fromBase64, toBase64 } from "../../src/login/seal.ts";
import { reviewMessage } from "../../src/task/review.ts";
import { readHits } from "../../src/task/tools/SearchHits.tsx";
import { aboutCall, shortName, toolName } from "../../src/task/tools/names.ts";
import { plain, spans } from "../../src/text/ansi.ts";
import { readable, withoutDetail } from "../../src/text/readable.ts";
import { branchName, count, duration, usd } from "../../src/text/format.ts";
import { safeHref } from "../../src/text/link.ts";
import { lineDiff, patchLines } from "../../src/text/patch.ts";
import { visible, visiblePieces } from "../../src/text/visible.ts";

describe("terminal output", () => {
  it("keeps colours and drops every other sequence", () => {
    expect(spans("\u001b[1;31mred\u001b[0m plain")).toEqual([
      { text: "red", style: { bold: true, color: "red" } },
      { text: " plain", style: {} },
    ]);
    expect(plain("\u001b[2J\u001b[H\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b\u001b(Bc\u0000")).toBe("abc");
    expect(plain("\u001b]0;never ended")).toBe("");
  });

  it("shows what a line that is written over says last", () => {
    expect(plain("10 %\r50 %\r100 %\ndone\r\n")).toBe("100 %\ndone\n");
  });

  it("maps many colours to the eight of the themes", () => {
    expect(spans("\u001b[38;5;196mx")[0]?.style.color).toBe("red");
    expect(spans("\u001b[38;2;20;200;30mx")[0]?.style.color).toBe("green");
    expect(spans("\u001b[48;5;21mx")[0]?.style.background).toBe("blue");
    expect(spans("\u001b[31m\u001b[39mx")[0]?.style.color).toBeUndefined();
  });
});

describe("diffs", () => {
  it("numbers the lines of a patch", () => {
    const lines = patchLines("diff --git a b\n@@ -3,2 +3,3 @@ fn\n a\n-b\n+c\n+d\n\\ No newline at end of file\n");
    expect(lines.map((line) => [line.kind, line.old, line.new])).toEqual([
      ["hunk", undefined, undefined],
      ["context", 3, 3],
      ["removed", 4, undefined],
      ["added", undefined, 4],
      ["added", undefined, 5],
      ["note", undefined, undefined],
    ]);
  });

  it("takes both texts apart so that they can be put together again", () => {
    let dice = 7;
    const roll = (): string => {
      dice = (Math.imul(dice, 1664525) + 1013904223) >>> 0;
      return "abc"[dice >>> 30] ?? "d";
    };
    for (let round = 0; round < 300; round += 1) {
      const make = (): string => Array.from({ length: round % 9 }, roll).join("\n");
      const [before, after] = [make(), make()];
      const lines = lineDiff(before, after);
      expect(lines.filter((line) => line.kind !== "added").map((line) => line.text).join("\n")).toBe(before);
      expect(lines.filter((line) => line.kind !== "removed").map((line) => line.text).join("\n")).toBe(after);
    }
  });
});

describe("small diffs", () => {
  it("keep what both have", () => {
    const kept = lineDiff("p\na\nb\nq", "r\nb\na\nb\ns").filter((line) => line.kind === "context");
    expect(kept.map((line) => line.text)).toEqual(["a", "b"]);
  });
});

describe("links", () => {
  it("go to the web and nowhere else", () => {
    expect(safeHref("https://example.org/a?b#c")).toBe("https://example.org/a?b#c");
    expect(safeHref("mailto:a@example.org")).toBe("mailto:a@example.org");
    for (const bad of ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", " javascript:alert(1)", "\u0001javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:x", "/ui", "//evil.example", "", "https://exam\u200bple.org", "https://a.example/\u202egnp.exe"]) {
      expect(safeHref(bad), bad).toBeUndefined();
    }
  });
});

describe("words and numbers", () => {
  it("are short", () => {
    expect([0, 0.004, 0.5, 0.552, 12.5].map(usd)).toEqual(["$0", "$0.0040", "$0.50", "$0.552", "$12.50"]);
    expect([950, 12_400, 999_600, 1_240_000].map(count)).toEqual(["950", "12.4k", "1M", "1.2M"]);
    expect([40, 1_300, 45_000, 180_000, 7_260_000].map(duration)).toEqual(["40 ms", "1.3 s", "45 s", "3 min", "2 h 1 min"]);
  });

  it("name tools as people do", () => {
    expect(toolName("mcp__time__now")).toEqual({ name: "now", server: "time" });
    expect(toolName("mcp__mxd__bash")).toEqual({ name: "bash", server: undefined });
    expect(["mcp__mxd__write_file", "mcp__time__now", "bash"].map(shortName)).toEqual(["write_file", "time/now", "bash"]);
  });

  it("say of a call what the daemon says, without the name beside it", () => {
    expect(aboutCall("mcp__mxd__bash", "bash a b")).toBe("a b");
    expect(aboutCall("bash", "bash a")).toBe("a");
    expect(aboutCall("mcp__x__bash", "x/bash command=a")).toBe("command=a");
    expect(aboutCall("bash", "bash")).toBe("");
    expect(aboutCall("bash", "bashful")).toBe("bashful");
  });

  it("put titles in the place of ids and leave everything else", () => {
    const id = "01M7J0YW4VYY6ZZMP93B9P8KKH";
    const commit = "0123456789abcdef0123456789abcdef01234567";
    const lines = [
      [`merge_task ${id}, now`, "merge_task “Input”, now"],
      [`works on branch mxd/${id}/input`, "works on branch input"],
      [`${id} on mxd/${id}/input and mxd/${id}`, "“Input” on input and mxd/“Input”"],
      [`Merged as ${commit}: done`, "Merged as 0123456789: done"],
      [id, "“Input”"],
      [`X${id} and 01M7J0YW4VYY6ZZMP93B9P8KK0`, `X${id} and 01M7J0YW4VYY6ZZMP93B9P8KK0`],
      ["– ünïcödé, “quotes” …", "– ünïcödé, “quotes” …"],
      ["", ""],
    ];
    for (const [line, wanted] of lines) expect(readable({ [id]: { title: "Input" } }, line ?? "")).toBe(wanted);
  });

  it("do not say twice what stands beside a line", () => {
    expect(withoutDetail("reports passed: It: is done.", "It: is\n done.")).toBe("reports passed");
    expect(withoutDetail("a: b passed: It is…", "It is a long story")).toBe("a: b passed");
    expect(withoutDetail("It is…", "It is a long story")).toBe("");
    expect(withoutDetail("stopped", "")).toBe("stopped");
    expect(withoutDetail("told: something", "else")).toBe("told: something");
  });

  it("name branches without ids", () => {
    expect(branchName("mxd/01M7HNKWZFS3YFYDS8VX7AECPF/count-the-boats")).toBe("count-the-boats");
    expect(branchName("main")).toBe("main");
  });

  it("make an axis of round numbers", () => {
    expect(ticks(6.8, 4)).toEqual([0, 2, 4, 6, 8]);
    expect(ticks(0.3, 4)).toEqual([0, 0.1, 0.2, 0.3]);
    for (const most of [0.0001, 0.7, 3, 19, 12_345]) {
      const list = ticks(most, 4);
      expect(list.at(-1)).toBeGreaterThanOrEqual(most);
      expect(list.length).toBeLessThanOrEqual(6);
    }
  });

  it("rank whole beginnings before scattered letters", () => {
    expect(score("Money", "mon")).toBe(4);
    expect(score("All money", "mon")).toBe(3);
    expect(score("harmony", "mon")).toBe(2);
    expect(score("Refresh tokens", "rto")).toBe(1);
    expect(score("Money", "xyz")).toBeUndefined();
  });
});

describe("settings", () => {
  it("are read and written by path", () => {
    expect(valueAt({ limits: { agents: 8 } }, "limits.agents")).toBe(8);
    expect(valueAt({ limits: 3 }, "limits.agents")).toBeUndefined();
    expect(patchOf("limits.agents", null)).toEqual({ limits: { agents: null } });
    const origins = { approvals: { from: "file", layer: "user", file: "config.json" }, "sandbox.mode": { from: "default" } } as const;
    expect(originOf(origins, "approvals.rules")).toBe("user");
    expect(originOf(origins, "sandbox.mode")).toBe("default");
    expect(originOf({}, "model")).toBe("default");
  });

  it("say why a value is none", () => {
    const number = { path: "port", name: "Port", says: "", kind: "number", repo: false } as const;
    expect(readValue(number, "80")).toEqual({ value: 80 });
    for (const bad of ["", "x", "-1", "Infinity"]) expect(readValue(number, bad)).toHaveProperty("problem");
    expect(readValue({ ...number, kind: "list" }, " a \n\nb")).toEqual({ value: ["a", "b"] });
  });
});

describe("others", () => {
  it("a review is one message with every place in it", () => {
    const text = reviewMessage([{ file: "b.rs", line: 9, side: "new", quote: "let `x`;", text: "Why?" }, { file: "a.rs", line: 2, side: "old", quote: "gone", text: "Keep it." }, { file: "b.rs", line: 1, side: "new", quote: "use", text: "Order." }], "abc");
    expect(text).toBe("Review of your changes up to abc, 3 comments:\n\n### b.rs\n\nLine 1: `use`\nOrder.\n\nLine 9: `let 'x';`\nWhy?\n\n### a.rs\n\nLine 2 before the change: `gone`\nKeep it.");
  });

  it("search hits are files with lines", () => {
    expect(readHits("a/b.rs\n12: fn x\n13- }\n\n1 match in 1 file")).toEqual([{ file: "a/b.rs" }, { number: "12", text: "fn x", match: true }, { number: "13", text: "}", match: false }, { note: "1 match in 1 file" }]);
  });

  it("base64 survives a terminal", () => {
    const data = Uint8Array.from({ length: 256 }, (_, index) => index);
    const text = toBase64(data);
    expect(fromBase64(`${text.slice(0, 76)}\n ${text.slice(76)}\n`)).toEqual(data);
    expect(fromBase64(text.replaceAll("+", "-").replaceAll("/", "_"))).toEqual(data);
  });
});

describe("texts that a person decides by", () => {
  it("spell out what nobody sees and what turns a line around", () => {
    expect(visible("a\u202Eb\u2066c\u200Bd\u{E0041}e\u0007f\u001B[2Jg\uFE0F")).toBe("a\\u{202e}b\\u{2066}c\\u{200b}d\\u{e0041}e\\u{7}f\\u{1b}[2Jg\\u{fe0f}");
    expect(visible("half \uD800 a character")).toBe("half \\u{d800} a character");
    expect(visible("written \rover")).toBe("written \\u{d}over");
  });

  it("leave everything that is seen as it is", () => {
    expect(visible("naïve 文字 🙂\tone\r\ntwo\n")).toBe("naïve 文字 🙂\tone\ntwo\n");
    expect(visiblePieces("")).toEqual([]);
  });

  it("mark what stands for something else", () => {
    expect(visiblePieces("\\u{202e} \u202E")).toEqual([
      { text: "\\u{202e} ", isEscape: false },
      { text: "\\u{202e}", isEscape: true },
    ]);
  });
});
