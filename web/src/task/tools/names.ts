// What tools are called, and which picture stands before them.
import type { IconName } from "../../design/Icon.tsx";

type Args = Readonly<Record<string, unknown>>;

export function argsOf(input: unknown): Args {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? (input as Args) : {};
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

/** A tool as people name it: `mcp__time__now` is `now` of `time`; the tools of mxd itself have no server. */
export function toolName(wire: string): { name: string; server: string | undefined } {
  const found = /^mcp__(.+?)__(.+)$/.exec(wire);
  const [, server, name] = found ?? [];
  if (name === undefined) return { name: wire, server: undefined };
  return { name, server: server === "mxd" ? undefined : server };
}

/** The name that stands at the beginning of the daemon's lines: of a foreign tool with its server. */
export function shortName(wire: string): string {
  const { name, server } = toolName(wire);
  return server === undefined ? name : `${server}/${name}`;
}

/** What the daemon's line says of a call behind the name of the tool, where that stands beside it. */
export function aboutCall(wire: string, line: string): string {
  const name = shortName(wire);
  if (line === name) return "";
  return line.startsWith(`${name} `) ? line.slice(name.length + 1) : line;
}

/** The rule that ruled a call; nothing where it was allowed because no rule says otherwise. */
export function ruleName(rule: string | undefined): string | undefined {
  return rule === "allowed" ? undefined : rule;
}
