// What one can type after a slash instead of a message.
import type { TaskView } from "../api/types.ts";
import { go } from "../shell/router.ts";
import { store } from "../state/store.ts";
import { act, clear, fork, grant, merge, stop } from "./actions.ts";

export interface SlashCommand {
  readonly name: string;
  readonly says: string;
  readonly run: (task: TaskView) => void;
}

export const COMMANDS: readonly SlashCommand[] = [
  { name: "compact", says: "summarise the conversation now", run: (task) => void act(task.id, "compact") },
  { name: "interrupt", says: "break off what the agent does and let it read your messages", run: (task) => void act(task.id, "interrupt") },
  { name: "stop", says: "end the agent and everything it runs", run: (task) => void stop(task) },
  { name: "continue", says: "let the agent go on", run: (task) => void act(task.id, "continue") },
  { name: "retry", says: "try again what failed", run: (task) => void act(task.id, "retry") },
  { name: "merge", says: "merge its branch", run: (task) => void merge(task) },
  { name: "grant", says: "give it money", run: (task) => void grant(task) },
  { name: "fork", says: "a new task that knows this conversation", run: (task) => void fork(task) },
  { name: "clear", says: "throw the conversation away", run: (task) => void clear(task) },
  { name: "diff", says: "look at what it changed", run: (task) => show(task, "diff") },
  { name: "ledger", says: "look at every call it made", run: (task) => show(task, "ledger") },
  {
    name: "settings",
    says: "open the settings",
    run: () => {
      const { projectId } = store.get();
      if (projectId !== undefined) go({ view: "settings", project: projectId, page: "general" });
    },
  },
];

function show(task: TaskView, tab: "diff" | "ledger"): void {
  const { projectId } = store.get();
  if (projectId !== undefined) go({ view: "task", project: projectId, task: task.id, tab });
}

/** The commands that a text may become; none when it is a message. */
export function matching(text: string): readonly SlashCommand[] {
  const typed = /^\/([a-z]*)$/.exec(text);
  return typed === null ? [] : COMMANDS.filter((command) => command.name.startsWith(typed[1] ?? ""));
}
