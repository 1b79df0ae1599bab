// What one can do to a task, with the questions that are asked before.
import { api, path } from "../api/client.ts";
import type { Id, TaskView } from "../api/types.ts";
import type { MenuEntry } from "../design/Menu.tsx";
import { confirm, prompt } from "../shell/dialogs.tsx";
import { go } from "../shell/router.ts";
import { attempt, say } from "../shell/toasts.tsx";
import { above, below, isWorking } from "../state/select.ts";
import { store } from "../state/store.ts";
import { branchName, many, usd } from "../text/format.ts";
import type { Landing } from "../tree/drop.ts";

function project(): Id {
  const id = store.get().projectId;
  if (id === undefined) throw new Error("No project is open.");
  return id;
}

export function taskPath(task: Id, rest = ""): string {
  return path`/projects/${project()}/tasks/${task}` + rest;
}

export function change(task: Id, fields: Record<string, unknown>): Promise<boolean> {
  return attempt(api.patch(taskPath(task), fields));
}

export function move(task: Id, to: Landing): Promise<boolean> {
  return change(task, { parentId: to.parentId, index: to.index });
}

export interface NewTask {
  title: string;
  description?: string;
  parentId?: Id;
  kind?: "task" | "folder";
  draft?: boolean;
  budgetUsd?: number;
  checks?: readonly string[];
  after?: readonly Id[];
}

export async function create(task: NewTask): Promise<TaskView | undefined> {
  let made: TaskView | undefined;
  await attempt(
    api.post<TaskView>(path`/projects/${project()}/tasks`, task).then((view) => {
      made = view;
    }),
  );
  return made;
}

export type Verb = "stop" | "interrupt" | "compact" | "retry" | "close" | "reset" | "merge" | "continue";

export function act(task: Id, verb: Verb, body: unknown = {}): Promise<boolean> {
  return attempt(api.post(taskPath(task, `/${verb}`), body));
}

export async function remove(task: TaskView): Promise<void> {
  const all = below(store.get().tasks, task.id);
  const inside = all.length - 1;
  const running = all.filter(isWorking).length;
  const yes = await confirm({
    title: `Delete “${task.title}”?`,
    says: inside === 0 ? "This cannot be taken back." : `This and ${many(inside, "task")} below it. This cannot be taken back.`,
    does: [
      ...(running > 0 ? [`${many(running, "agent")} at work ${running === 1 ? "is" : "are"} stopped.`] : []),
      "Worktrees and branches are removed, with everything that was not merged.",
      "Conversations are removed.",
    ],
    leaves: ["What was merged stays merged.", "What it cost stays in the books.", "What tools did elsewhere (network, other folders) is not undone."],
    action: inside === 0 ? "Delete" : `Delete ${all.length} tasks`,
    danger: true,
  });
  if (!yes) return;
  const gone = await attempt(api.delete(taskPath(task.id, inside > 0 ? "?recursive=true" : "")));
  if (gone && task.parentId !== undefined) go({ view: "task", project: project(), task: task.parentId, tab: "chat" });
}

export async function stop(task: TaskView): Promise<void> {
  const yes = await confirm({
    title: `Stop “${task.title}”?`,
    says: "The agent, the agents of all tasks below it, and everything they run are ended. The tasks stay as they are.",
    does: ["Commands that run are killed, also those in the background.", "The answers that are being written are thrown away."],
    leaves: ["Files they have changed stay changed.", "The conversations stay; a message starts an agent again."],
    action: "Stop",
    danger: true,
  });
  if (yes) await act(task.id, "stop");
}

/** The branch that a task is merged into. */
export function branchAbove(task: TaskView): string {
  const owner = above(store.get().tasks, task.id).findLast((one) => one.branch !== undefined);
  return owner?.branch === undefined ? "the branch it came from" : branchName(owner.branch);
}

export async function merge(task: TaskView): Promise<void> {
  const into = branchAbove(task);
  const yes = await confirm({
    title: `Merge “${task.title}”?`,
    says: `${task.branch === undefined ? "Its branch" : branchName(task.branch)} is merged into ${into}.`,
    does: [`What it committed becomes part of ${into}, after the checks have passed.`],
    leaves: ["What is not committed in its worktree is not merged.", "Nothing is pushed anywhere.", "When a line was changed on both sides, nothing is merged and you are told."],
    action: "Merge",
  });
  if (yes && (await act(task.id, "merge"))) say(`Merged into ${into}.`);
}

export async function reset(task: TaskView): Promise<void> {
  const yes = await confirm({
    title: `Restart “${task.title}” from scratch?`,
    says: "The task starts from nothing, with the same title and description.",
    does: ["Its conversation and its inbox are thrown away.", "Its worktree and branch are removed, with what was not merged."],
    leaves: ["What was merged stays merged.", "What it cost stays spent.", "Tasks below it stay."],
    action: "Restart",
    danger: true,
  });
  if (yes) await act(task.id, "reset");
}

export async function close(task: TaskView): Promise<void> {
  const yes = await confirm({
    title: `Close “${task.title}”?`,
    says: "The task is closed.",
    does: ["Its worktree and branch are removed, with what was not merged."],
    leaves: ["Its conversation can still be read.", "A message opens it again."],
    action: "Close",
  });
  if (yes) await act(task.id, "close");
}

export async function clear(task: TaskView): Promise<void> {
  const yes = await confirm({
    title: `Clear the conversation of “${task.title}”?`,
    says: "The agent forgets everything that was said. This cannot be taken back.",
    does: ["Conversation and inbox are thrown away."],
    leaves: ["Files, branch, status and costs stay as they are."],
    action: "Clear",
    danger: true,
  });
  if (yes) await attempt(api.post(taskPath(task.id, "/sessions/clear")), "The conversation is empty.");
}

export async function grant(task: TaskView): Promise<void> {
  const text = await prompt({
    title: `Raise the budget of “${task.title}”`,
    label: "Amount to add (USD)",
    note: task.budgetUsd === undefined ? "It has no budget of its own so far." : `It has ${usd(task.remainingUsd ?? 0)} left of ${usd(task.budgetUsd)}.`,
    initial: "1",
    action: "Raise budget",
    kind: "number",
  });
  const amount = Number(text);
  if (text === undefined || !(amount > 0)) return;
  await attempt(api.post(taskPath(task.id, "/grant"), { usd: amount }), `Budget raised by ${usd(amount)}.`);
}

export async function fork(task: TaskView): Promise<void> {
  const title = await prompt({
    title: "Fork this conversation",
    label: "Title of the new task",
    note: `A new task beside this one that knows everything said here up to now. Files are not copied: it gets a branch of its own.`,
    initial: `${task.title} (fork)`,
    action: "Fork",
  });
  if (title === undefined) return;
  const made = await create({ title, description: task.description, ...(task.parentId === undefined ? {} : { parentId: task.parentId }) });
  if (made === undefined) return;
  if (await attempt(api.post(taskPath(made.id, "/fork"), { sourceTaskId: task.id }))) {
    go({ view: "task", project: project(), task: made.id, tab: "chat" });
  }
}

export async function rename(task: TaskView): Promise<void> {
  const title = await prompt({ title: "Rename", label: "Title", initial: task.title, action: "Rename" });
  if (title !== undefined && title.trim() !== task.title) await change(task.id, { title: title.trim() });
}

/** What can be done to the agent, depending on what it does. */
export function agentActions(task: TaskView): MenuEntry[] {
  const state = task.agent?.state ?? "none";
  const working = isWorking(task);
  const resumes = ["stopped", "interrupted", "waiting", "stuck", "refused", "failed", "spent"].includes(state);
  return [
    { label: "Interrupt", icon: "pause", act: () => void act(task.id, "interrupt"), ...unless(working, "nothing runs") },
    { label: "Stop", icon: "stop", act: () => void stop(task), ...unless(working || state === "waiting" || state === "asking", "no agent") },
    { label: "Continue", icon: "play", act: () => void act(task.id, "continue"), ...unless(resumes, working ? "at work" : "nothing to go on with") },
    { label: "Retry", icon: "undo", act: () => void act(task.id, "retry"), ...unless(state === "failed" || state === "refused" || state === "stuck", "nothing failed") },
    { label: "Compact now", icon: "fold", note: "/compact", act: () => void act(task.id, "compact"), ...unless(task.context !== undefined, "no conversation") },
    { label: "Raise budget…", icon: "money", act: () => void grant(task) },
  ];
}

export function workActions(task: TaskView): MenuEntry[] {
  return [
    { label: "Merge…", icon: "merge", act: () => void merge(task), ...unless(task.branch !== undefined && task.parentId !== undefined, "no branch") },
    { label: "Fork conversation…", icon: "branch", act: () => void fork(task) },
    { label: "Clear conversation…", icon: "cross", act: () => void clear(task), ...unless(!isWorking(task), "at work") },
    { label: "Restart from scratch…", icon: "undo", act: () => void reset(task), ...unless(task.parentId !== undefined, "the root stays") },
    { label: "Close…", icon: "check", act: () => void close(task), ...unless(!isWorking(task) && task.status !== "closed" && task.parentId !== undefined, "not now") },
    "line",
    { label: "Delete…", icon: "trash", danger: true, act: () => void remove(task), ...unless(task.parentId !== undefined, "the root stays") },
  ];
}

function unless(possible: boolean, why: string): { unavailable?: string } {
  return possible ? {} : { unavailable: why };
}
