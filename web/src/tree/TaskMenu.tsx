// The menu of a task in the tree.
import type { Id } from "../api/types.ts";
import { Menu, type MenuEntry, type Place } from "../design/Menu.tsx";
import { useShown } from "../state/store.ts";
import { agentActions, change, move, rename, workActions } from "../task/actions.ts";
import { COLORS } from "./color.ts";

interface TaskMenuProps {
  id: Id;
  place: Place;
  onClose: () => void;
  onCreate: (parent: Id, kind: "task" | "folder") => void;
}

export function TaskMenu({ id, place, onClose, onCreate }: TaskMenuProps) {
  const task = useShown((shown) => shown.tasks[id]);
  const rootId = useShown((shown) => shown.rootId);
  if (task === undefined) return null;
  const swatches = (
    <div className="swatches" role="group" aria-label="Colour">
      {COLORS.map((color) => (
        <button
          key={color.name}
          type="button"
          className={`swatch c-${color.name}`}
          aria-pressed={task.color === color.name}
          aria-label={color.use}
          title={color.use}
          onClick={() => {
            void change(id, { color: task.color === color.name ? null : color.name });
            onClose();
          }}
        />
      ))}
    </div>
  );
  const entries: MenuEntry[] = [
    { label: "New task inside", icon: "plus", act: () => onCreate(id, "task") },
    { label: "New folder inside", icon: "folder", act: () => onCreate(id, "folder") },
    { label: "Rename", icon: "pencil", note: "F2", act: () => void rename(task) },
    {
      label: "Move to the top level",
      icon: "up",
      act: () => void (rootId !== undefined && move(id, { parentId: rootId, index: 0 })),
      ...(task.parentId === undefined || task.parentId === rootId ? { unavailable: "is there" } : {}),
    },
    "line",
    { custom: swatches },
    "line",
    ...(task.kind === "task" ? [...agentActions(task), "line" as const] : []),
    ...(task.kind === "task" ? workActions(task) : workActions(task).slice(-1)),
  ];
  return <Menu label={`Actions for ${task.title}`} place={place} entries={entries} onClose={onClose} />;
}
