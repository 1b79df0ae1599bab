// Where a dragged task lands: before, after or inside of the row below the pointer, or nowhere.
import type { Id } from "../api/types.ts";
import { type Tasks, below } from "../state/select.ts";

export type Side = "before" | "inside" | "after";

export interface Landing {
  readonly parentId: Id;
  readonly index: number;
}

/** The upper and lower third of a row are its edges; the rest is inside. */
export function sideOf(offset: number, height: number): Side {
  if (offset < height * 0.3) return "before";
  return offset > height * 0.7 ? "after" : "inside";
}

/** The place among the other children, as the daemon counts it: without the task that moves. */
export function landing(tasks: Tasks, moved: Id, over: Id, side: Side): Landing | undefined {
  const target = tasks[over];
  if (target === undefined || moved === over) return undefined;
  if (below(tasks, moved).some((task) => task.id === over)) return undefined;
  if (side === "inside" || target.parentId === undefined) {
    const others = target.children.filter((id) => id !== moved);
    return { parentId: over, index: others.length };
  }
  const siblings = (tasks[target.parentId]?.children ?? []).filter((id) => id !== moved);
  const at = siblings.indexOf(over);
  return { parentId: target.parentId, index: side === "before" ? at : at + 1 };
}

export type Step = "up" | "down" | "in" | "out";

/** The same by keyboard: one place up or down, into the one above, or out beside its parent. */
export function stepped(tasks: Tasks, moved: Id, step: Step): Landing | undefined {
  const task = tasks[moved];
  const parent = task?.parentId === undefined ? undefined : tasks[task.parentId];
  if (parent === undefined) return undefined;
  const at = parent.children.indexOf(moved);
  const others = parent.children.filter((id) => id !== moved);
  switch (step) {
    case "up":
      return at > 0 ? { parentId: parent.id, index: at - 1 } : undefined;
    case "down":
      return at < others.length ? { parentId: parent.id, index: at + 1 } : undefined;
    case "in": {
      const into = tasks[parent.children[at - 1] ?? ""];
      return into === undefined ? undefined : { parentId: into.id, index: into.children.length };
    }
    case "out": {
      if (parent.parentId === undefined) return undefined;
      const siblings = tasks[parent.parentId]?.children ?? [];
      return { parentId: parent.parentId, index: siblings.indexOf(parent.id) + 1 };
    }
  }
}
