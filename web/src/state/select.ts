// Questions to the state that several views ask.
import type { Id, Needs, TaskView } from "../api/types.ts";

export type Tasks = Readonly<Record<Id, TaskView>>;

const WORKING = new Set(["launching", "thinking", "tool", "checking", "compacting"]);

export function isWorking(task: TaskView): boolean {
  return task.agent !== undefined && WORKING.has(task.agent.state);
}

export function needCount(needs: Needs): number {
  return needs.approvals.length + needs.clarifications.length + needs.failed.length + needs.conflicts.length;
}

/** The tasks above, the root first. */
export function above(tasks: Tasks, id: Id): TaskView[] {
  const list: TaskView[] = [];
  const seen = new Set<Id>();
  let at = tasks[id]?.parentId;
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    const task = tasks[at];
    if (task === undefined) break;
    list.unshift(task);
    at = task.parentId;
  }
  return list;
}

/** The task and everything below it. */
export function below(tasks: Tasks, id: Id): TaskView[] {
  const list: TaskView[] = [];
  const queue = [id];
  const seen = new Set<Id>();
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const task = tasks[next];
    if (task === undefined || seen.has(next)) continue;
    seen.add(next);
    list.push(task);
    queue.push(...task.children);
  }
  return list;
}

/** The task whose id begins so, when there is only one. */
export function find(tasks: Tasks, start: Id): TaskView | undefined {
  const exact = tasks[start];
  if (exact !== undefined || start.length < 8) return exact;
  const wanted = start.toUpperCase();
  const hits = Object.values(tasks).filter((task) => task.id.startsWith(wanted));
  return hits.length === 1 ? hits[0] : undefined;
}
