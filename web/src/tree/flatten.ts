// The tree as the rows that are shown: what is folded away or filtered out is not there.
import type { Id, TaskView } from "../api/types.ts";
import { type Tasks, isWorking } from "../state/select.ts";

export interface TreeRow {
  readonly task: TaskView;
  readonly depth: number;
  readonly open: boolean;
  /** Shown only because something below it fits the filter. */
  readonly faint: boolean;
  /** For `aria-posinset` and `aria-setsize`. */
  readonly position: number;
  readonly siblings: number;
}

export type Show = "all" | "open" | "active";

export interface TreeFilter {
  readonly text: string;
  readonly show: Show;
}

/** Whether a task itself fits, whatever is below it. */
export function fits(task: TaskView, filter: TreeFilter): boolean {
  const text = filter.text.trim().toLowerCase();
  if (text !== "" && !task.title.toLowerCase().includes(text) && !task.id.toLowerCase().startsWith(text)) return false;
  if (task.kind === "folder") return filter.show === "all" || text !== "";
  if (filter.show === "open") return task.status !== "closed" && task.status !== "passed";
  if (filter.show === "active") return isWorking(task) || task.approvals.length > 0 || task.questions.length > 0;
  return true;
}

export function flatten(tasks: Tasks, rootId: Id | undefined, folded: ReadonlySet<Id>, filter: TreeFilter): TreeRow[] {
  const rows: TreeRow[] = [];
  const root = rootId === undefined ? undefined : tasks[rootId];
  if (root === undefined) return rows;
  const searching = filter.text.trim() !== "";
  const wanted = wantedBelow(tasks, root, filter);
  const visit = (task: TaskView, depth: number, position: number, siblings: number): void => {
    // What one looks for is found also inside of what is folded.
    const open = task.children.length > 0 && (searching || !folded.has(task.id));
    const isRoot = task === root;
    rows.push({ task, depth, open, faint: !isRoot && !fits(task, filter), position, siblings });
    if (!open) return;
    const children = task.children.map((id) => tasks[id]).filter((child) => child !== undefined && wanted.has(child.id));
    children.forEach((child, index) => {
      if (child !== undefined) visit(child, depth + 1, index + 1, children.length);
    });
  };
  visit(root, 0, 1, 1);
  return rows;
}

function wantedBelow(tasks: Tasks, root: TaskView, filter: TreeFilter): Set<Id> {
  const wanted = new Set<Id>();
  const visit = (task: TaskView): boolean => {
    let inside = fits(task, filter);
    for (const id of task.children) {
      const child = tasks[id];
      if (child !== undefined && visit(child)) inside = true;
    }
    if (inside) wanted.add(task.id);
    return inside;
  };
  visit(root);
  return wanted;
}
