// One line about a tool call, and which picture stands before it.
import type { IconName } from "../../design/Icon.tsx";

type Args = Readonly<Record<string, unknown>>;

export function argsOf(input: unknown): Args {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? (input as Args) : {};
}

function text(args: Args, key: string): string {
  const value = args[key];
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

const ICONS: Readonly<Record<string, IconName>> = {
  bash: "terminal",
  background: "terminal",
  read_file: "file",
  write_file: "pencil",
  edit_file: "pencil",
  list_files: "folder",
  search: "search",
  send_message: "message",
  clarify: "message",
  yield: "clock",
  done: "check",
  get_tree: "tree",
  get_task: "tree",
};

export function iconOf(wire: string): IconName {
  const { name, server } = toolName(wire);
  if (server !== undefined) return "plug";
  return ICONS[name] ?? (/_task|_folder|reorder/.test(name) ? "tree" : "info");
}

/** What a call wants, in one line. */
export function summaryOf(wire: string, input: unknown): string {
  const args = argsOf(input);
  const { name, server } = toolName(wire);
  switch (server === undefined ? name : "") {
    case "bash":
      return firstLine(text(args, "command"));
    case "background":
      return [text(args, "action"), text(args, "id")].filter(Boolean).join(" ");
    case "read_file": {
      const from = args["offset"];
      return text(args, "path") + (typeof from === "number" ? `, from line ${from}` : "");
    }
    case "write_file":
    case "edit_file":
      return text(args, "path");
    case "list_files":
      return [text(args, "path"), text(args, "pattern")].filter(Boolean).join(" ") || "the worktree";
    case "search":
      return [text(args, "pattern"), text(args, "glob") || text(args, "path")].filter(Boolean).join("  in ");
    case "create_task":
    case "create_folder":
      return text(args, "title");
    case "send_message":
      return text(args, "title") || firstLine(text(args, "message"));
    case "clarify":
      return firstLine(text(args, "question"));
    case "done":
      return [text(args, "status"), firstLine(text(args, "summary"))].filter(Boolean).join(": ");
    case "yield":
      return "rests until something happens";
    default:
      return generic(args);
  }
}

function generic(args: Args): string {
  const parts = Object.entries(args).map(([key, value]) => `${key}: ${typeof value === "string" ? firstLine(value) : JSON.stringify(value)}`);
  const line = parts.join("  ");
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}

function firstLine(value: string): string {
  const [line = "", ...more] = value.trim().split("\n");
  return more.length > 0 ? `${line} …` : line;
}

/** A tool as people name it: `mcp__time__now` is `now` of `time`; the tools of mxd itself have no server. */
export function toolName(wire: string): { name: string; server: string | undefined } {
  const found = /^mcp__(.+?)__(.+)$/.exec(wire);
  const [, server, name] = found ?? [];
  if (name === undefined) return { name: wire, server: undefined };
  return { name, server: server === "mxd" ? undefined : server };
}
