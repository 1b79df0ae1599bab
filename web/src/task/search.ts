// Which items of a conversation have a text in them.
import { plain } from "../text/ansi.ts";
import type { Item } from "./items.ts";

export function textOf(item: Item): string {
  switch (item.kind) {
    case "message":
      return [item.line, item.body.title, item.body.content, item.body.output, item.body.answer, item.body.fromTitle].filter(Boolean).join("\n");
    case "text":
    case "thinking":
      return typeof item.content === "string" ? item.content : "";
    case "tool": {
      const result = typeof item.result?.content === "string" ? plain(item.result.content) : "";
      return `${item.tool}\n${item.line}\n${JSON.stringify(item.input ?? {})}\n${result}`;
    }
    case "boundary":
      return `${item.title}\n${item.detail ?? ""}`;
    case "note":
      return `${item.text}\n${item.detail ?? ""}`;
    case "error":
      return `${item.message}\n${item.advice ?? ""}`;
    case "check":
      return `${item.command}\n${plain(item.output)}`;
    case "question":
      return `${item.question}\n${item.answer ?? ""}`;
  }
}

export function hits(items: readonly Item[], text: string): number[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const found: number[] = [];
  items.forEach((item, index) => {
    if (textOf(item).toLowerCase().includes(wanted)) found.push(index);
  });
  return found;
}
