// Syntax highlighting off the main thread: texts come in, tokens by line go out. No markup is made on the way.
import { common, createLowlight } from "lowlight";

export interface HighlightRequest {
  readonly id: number;
  /** The ending of the file's name. */
  readonly extension: string;
  readonly texts: readonly string[];
}

export type Token = readonly [token: string | undefined, text: string];

export interface HighlightAnswer {
  readonly id: number;
  /** By text, by line; nothing when the language is not known. */
  readonly texts: readonly (readonly (readonly Token[])[])[] | undefined;
}

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: unknown };
  readonly children?: readonly Node[];
}

const lowlight = createLowlight(common);

function tokensByLine(extension: string, text: string): readonly (readonly Token[])[] {
  const lines: Token[][] = [[]];
  const visit = (node: Node, token: string | undefined): void => {
    if (node.type === "text") {
      (node.value ?? "").split("\n").forEach((part, index) => {
        if (index > 0) lines.push([]);
        if (part !== "") lines.at(-1)?.push([token, part]);
      });
      return;
    }
    const own = Array.isArray(node.properties?.className) ? /^hljs-([a-z_]+)$/.exec(String(node.properties.className[0]))?.[1] : undefined;
    for (const child of node.children ?? []) visit(child, own ?? token);
  };
  visit(lowlight.highlight(extension, text) as unknown as Node, undefined);
  return lines;
}

addEventListener("message", (event: MessageEvent<HighlightRequest>) => {
  const { id, extension, texts } = event.data;
  const isKnown = lowlight.registered(extension);
  const answer: HighlightAnswer = { id, texts: isKnown ? texts.map((text) => tokensByLine(extension, text)) : undefined };
  postMessage(answer);
});
