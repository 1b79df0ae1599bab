// The page's side of syntax highlighting: one worker, started when the first diff is looked at.
import { useEffect, useState } from "react";
import type { PatchLine } from "../text/patch.ts";
import type { HighlightAnswer, HighlightRequest, Token } from "./highlight.worker.ts";

export type Highlighted = ReadonlyMap<number, readonly Token[]>;

/** Larger diffs are shown without colours rather than late. */
const MOST_CHARS = 400_000;
const NOTHING: Highlighted = new Map();

let worker: Worker | undefined;
let lastId = 0;
const waiting = new Map<number, (answer: HighlightAnswer) => void>();

function ask(extension: string, texts: readonly string[]): Promise<HighlightAnswer> {
  if (worker === undefined) {
    worker = new Worker(new URL("./highlight.worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", (event: MessageEvent<HighlightAnswer>) => {
      waiting.get(event.data.id)?.(event.data);
      waiting.delete(event.data.id);
    });
  }
  lastId += 1;
  const request: HighlightRequest = { id: lastId, extension, texts };
  const answer = new Promise<HighlightAnswer>((resolve) => waiting.set(request.id, resolve));
  worker.postMessage(request);
  return answer;
}

/** The lines of each side of each hunk: a removed line is read with what stood around it then. */
function sides(lines: readonly PatchLine[]): { indices: number[]; text: string }[] {
  const found: { indices: number[]; text: string }[] = [];
  let [old, next]: [number[], number[]] = [[], []];
  const close = (): void => {
    // Where nothing was removed, the old side has nothing that the new one does not have.
    const both = old.some((index) => lines[index]?.kind === "removed") ? [old, next] : [next];
    for (const indices of both) if (indices.length > 0) found.push({ indices, text: indices.map((index) => lines[index]?.text ?? "").join("\n") });
    [old, next] = [[], []];
  };
  lines.forEach((line, index) => {
    if (line.kind === "hunk") close();
    if (line.kind === "context" || line.kind === "removed") old.push(index);
    if (line.kind === "context" || line.kind === "added") next.push(index);
  });
  close();
  return found;
}

export function extensionOf(path: string): string {
  const name = (path.split("/").at(-1) ?? "").toLowerCase();
  return name.includes(".") ? (name.split(".").at(-1) ?? "") : name;
}

/** The tokens of the lines of a diff, as soon as they are known. */
export function useHighlighted(path: string, lines: readonly PatchLine[], isOpen: boolean): Highlighted {
  const [found, setFound] = useState<Highlighted>(NOTHING);
  useEffect(() => {
    setFound(NOTHING);
    if (!isOpen || lines.reduce((sum, line) => sum + line.text.length, 0) > MOST_CHARS) return;
    let isCurrent = true;
    const parts = sides(lines);
    void ask(extensionOf(path), parts.map((part) => part.text)).then((answer) => {
      if (!isCurrent || answer.texts === undefined) return;
      const tokens = new Map<number, readonly Token[]>();
      answer.texts.forEach((byLine, part) => parts[part]?.indices.forEach((index, line) => tokens.set(index, byLine[line] ?? [])));
      setFound(tokens);
    });
    return () => {
      isCurrent = false;
    };
  }, [path, lines, isOpen]);
  return found;
}
