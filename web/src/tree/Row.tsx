// One task in the tree: its state as a shape, its title, and one line that says what it does or waits for.
import { type DragEvent, memo, useState } from "react";
import type { Id, TaskView } from "../api/types.ts";
import { Glyph, nameOf, shapeOf, toneOf } from "../design/Glyph.tsx";
import { Icon } from "../design/Icon.tsx";
import { useDiffStat } from "../state/diffs.ts";
import { isWorking } from "../state/select.ts";
import { store } from "../state/store.ts";
import { move } from "../task/actions.ts";
import { ago, usd } from "../text/format.ts";
import { readable } from "../text/readable.ts";
import { colorClass } from "./color.ts";
import { type Side, landing, sideOf } from "./drop.ts";
import type { TreeRow } from "./flatten.ts";
import type { TreeHands } from "./Tree.tsx";

interface RowProps {
  row: TreeRow;
  selected: boolean;
  focusable: boolean;
  hands: TreeHands;
  now: number;
}

/** The task that is being dragged; browsers do not tell while it is on its way. */
let dragged: Id | undefined;

export const Row = memo(
  function Row({ row, selected, focusable, hands, now }: RowProps) {
    const { task, depth } = row;
    const [side, setSide] = useState<Side | undefined>();
    const shape = shapeOf(task);
    const over = (event: DragEvent): void => {
      const box = event.currentTarget.getBoundingClientRect();
      const at = sideOf(event.clientY - box.top, box.height);
      const possible = dragged !== undefined && landing(store.get().tasks, dragged, task.id, at) !== undefined;
      setSide(possible ? at : undefined);
      if (possible) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      const to = dragged === undefined || side === undefined ? undefined : landing(store.get().tasks, dragged, task.id, side);
      if (to !== undefined && dragged !== undefined) void move(dragged, to);
      setSide(undefined);
    };
    const names = ["tree-row", selected && "is-selected", row.faint && "is-faint", side !== undefined && `drop-${side}`, `tone-${toneOf(shape)}`];
    return (
      <div
        id={`row-${task.id}`}
        role="treeitem"
        aria-level={depth + 1}
        aria-selected={selected}
        aria-expanded={task.children.length > 0 ? row.open : undefined}
        aria-posinset={row.position}
        aria-setsize={row.siblings}
        tabIndex={focusable ? 0 : -1}
        className={names.filter(Boolean).join(" ")}
        style={{ paddingLeft: 8 + Math.min(depth, 8) * 16 }}
        draggable={task.parentId !== undefined}
        onClick={() => hands.select(task.id)}
        onContextMenu={(event) => {
          event.preventDefault();
          hands.menu(task.id, { x: event.clientX, y: event.clientY });
        }}
        onDragStart={(event) => {
          dragged = task.id;
          event.dataTransfer.effectAllowed = "move";
          event.dataTransfer.setData("text/plain", task.title);
        }}
        onDragEnd={() => {
          dragged = undefined;
        }}
        onDragOver={over}
        onDragLeave={() => setSide(undefined)}
        onDrop={drop}
      >
        <Twisty row={row} hands={hands} />
        <Glyph shape={shape} hidden />
        <RowText task={task} shape={shape} now={now} />
        {task.color !== undefined && <span className={`tree-color ${colorClass(task.color)}`} style={colorStyle(task.color)} aria-hidden="true" />}
      </div>
    );
  },
  (before, after) =>
    before.row.task === after.row.task &&
    before.row.depth === after.row.depth &&
    before.row.open === after.row.open &&
    before.row.faint === after.row.faint &&
    before.row.siblings === after.row.siblings &&
    before.selected === after.selected &&
    before.focusable === after.focusable &&
    before.now === after.now &&
    before.hands === after.hands,
);

function Twisty({ row, hands }: { row: TreeRow; hands: TreeHands }) {
  if (row.task.children.length === 0) return <span className="twisty" aria-hidden="true" />;
  return (
    <button
      type="button"
      className={`twisty ${row.open ? "is-open" : ""}`}
      tabIndex={-1}
      aria-hidden="true"
      onClick={(event) => {
        event.stopPropagation();
        hands.toggle(row.task.id);
      }}
    >
      <Icon name="chevron" />
    </button>
  );
}

function RowText({ task, shape, now }: { task: TaskView; shape: string; now: number }) {
  const line = readable(store.get().tasks, secondLine(task));
  const diff = useDiffStat(task);
  return (
    <span className="tree-text">
      <span className="tree-title">
        <span className="ellipsis">
          {task.title}
          <span className="sr-only">, {nameOf(shape)}</span>
        </span>
        {task.persistent !== undefined && <Icon name="pin" />}
        <span className="tree-facts num">
          {diff !== undefined && (diff.additions > 0 || diff.deletions > 0) && (
            <span className="tree-diff">
              <span className="plus">+{diff.additions}</span> <span className="minus">−{diff.deletions}</span>
            </span>
          )}
          {task.life?.since !== undefined && isWorking(task) && <span className="muted">{ago(task.life.since, now)}</span>}
        </span>
      </span>
      <span className="tree-line">
        <span className="ellipsis">{line}</span>
        {task.costUsd > 0 && <span className="tree-cost num">{usd(task.costUsd)}</span>}
      </span>
    </span>
  );
}

/** What it does or why it waits, in one line. */
export function secondLine(task: TaskView): string {
  if (task.kind === "folder") return task.children.length === 1 ? "1 inside" : `${task.children.length} inside`;
  const why = task.agent?.why ?? "";
  if (isWorking(task) || task.status === "passed") return task.lastLine ?? why;
  if (task.status === "draft") return "Draft: not ready to be started";
  return why !== "" ? why : (task.lastLine ?? "");
}

function colorStyle(color: string): { background: string } | undefined {
  return color.startsWith("#") ? { background: color } : undefined;
}
