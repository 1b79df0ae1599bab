// What the daemon leaves out where there is nothing to say, filled in, so that the views need not ask.
import type { TaskView } from "./types.ts";

/** A task as it comes over the wire: a folder has nothing of what only tasks have. */
export type TaskOnWire = Pick<TaskView, "id" | "kind" | "title"> & Partial<TaskView>;

export function wholeTask(task: TaskOnWire): TaskView {
  return {
    ...task,
    description: task.description ?? "",
    children: task.children ?? [],
    editedBy: task.editedBy ?? "agent",
    createdAt: task.createdAt ?? 0,
    updatedAt: task.updatedAt ?? 0,
    costUsd: task.costUsd ?? 0,
    spentUsd: task.spentUsd ?? 0,
    after: task.after ?? [],
    checks: task.checks ?? [],
    inbox: task.inbox ?? 0,
    questions: task.questions ?? [],
    approvals: task.approvals ?? [],
    background: task.background ?? [],
  };
}
