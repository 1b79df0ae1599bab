// What the daemon leaves out where there is nothing to say, filled in, so that the views need not ask.
import type { TaskOnWire, TaskView } from "./types.ts";

export function wholeTask(task: TaskOnWire): TaskView {
  return {
    ...task,
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
