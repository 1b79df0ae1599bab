// The tree of tasks: virtual rows, filter, folding, drag and drop, and all of it by keyboard.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import type { Id } from "../api/types.ts";
import { IconButton, Spinner } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import type { Place } from "../design/Menu.tsx";
import { go } from "../shell/router.ts";
import { keep, kept } from "../shell/theme.ts";
import { useNow } from "../shell/useAsk.ts";
import { above } from "../state/select.ts";
import { store, useShown } from "../state/store.ts";
import { move, rename } from "../task/actions.ts";
import { type Show, type TreeRow, flatten } from "./flatten.ts";
import { NewRow } from "./NewRow.tsx";
import { Row } from "./Row.tsx";
import { TaskMenu } from "./TaskMenu.tsx";
import { type Step, stepped } from "./drop.ts";

const ROW = 52;

export interface TreeHands {
  select(id: Id): void;
  toggle(id: Id): void;
  menu(id: Id, place: Place): void;
  focus(id: Id): void;
}

export function Tree({ project, selected }: { project: Id; selected: Id | undefined }) {
  const tasks = useShown((shown) => shown.tasks);
  const rootId = useShown((shown) => shown.rootId);
  const [text, setText] = useState("");
  // What one types is there at once; the rows follow when there is time.
  const looked = useDeferredValue(text);
  const [show, setShow] = useState<Show>(() => (kept("mxd.show") as Show | undefined) ?? "all");
  const [folded, setFolded] = useFolded(project);
  const [creating, setCreating] = useState<{ parent: Id; kind: "task" | "folder" } | undefined>();
  const [menu, setMenu] = useState<{ id: Id; place: Place } | undefined>();
  const [cursor, setCursor] = useState<Id | undefined>(selected);
  const now = useNow();
  const rows = useMemo(() => flatten(tasks, rootId, folded, { text: looked, show }), [tasks, rootId, folded, looked, show]);
  const scroller = useRef<HTMLDivElement>(null);
  const keyOf = useCallback((index: number) => rows[index]?.task.id ?? index, [rows]);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => ROW, overscan: 8, getItemKey: keyOf });
  const focused = cursor !== undefined && rows.some((row) => row.task.id === cursor) ? cursor : rows[0]?.task.id;

  useEffect(() => {
    if (selected === undefined) return;
    setCursor(selected);
    setFolded((old) => {
      const parents = above(store.get().tasks, selected).filter((task) => old.has(task.id));
      return parents.length === 0 ? old : new Set([...old].filter((id) => !parents.some((task) => task.id === id)));
    });
  }, [selected, setFolded]);

  const focus = useCallback(
    (id: Id): void => {
      setCursor(id);
      const index = rows.findIndex((row) => row.task.id === id);
      if (index >= 0) virtual.scrollToIndex(index);
      requestAnimationFrame(() => document.getElementById(`row-${id}`)?.focus({ preventScroll: true }));
    },
    [rows, virtual],
  );
  const hands = useSteady({
    select: (id) => go({ view: "task", project, task: id, tab: "chat" }),
    toggle: (id) => setFolded((old) => toggled(old, id)),
    menu: (id, place) => setMenu({ id, place }),
    focus,
  });
  const create = (kind: "task" | "folder"): void => setCreating({ parent: selected ?? rootId ?? "", kind });

  return (
    <nav className="tree" aria-label="Tasks">
      <h1 className="sr-only only-narrow">Tasks</h1>
      <div className="tree-tools">
        <div className="tree-search">
          <Icon name="search" />
          <input id="tree-filter" type="search" placeholder="Filter tasks" aria-label="Filter tasks" value={text} onChange={(event) => setText(event.target.value)} onKeyDown={(event) => event.key === "ArrowDown" && focused !== undefined && focus(focused)} />
        </div>
        <select
          className="tree-show"
          aria-label="Which tasks are shown"
          value={show}
          onChange={(event) => {
            setShow(event.target.value as Show);
            keep("mxd.show", event.target.value);
          }}
        >
          <option value="all">All</option>
          <option value="open">Open</option>
          <option value="active">Active</option>
        </select>
        <IconButton icon="plus" label="New task (n)" onClick={() => create("task")} />
      </div>
      <div ref={scroller} className="tree-scroll" onKeyDown={(event) => press(event, rows, focused, hands)}>
        {rootId === undefined && <Loading />}
        <div role="tree" aria-label="Tasks" className="tree-rows" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            return (
              <div key={item.key} role="presentation" className="tree-place" style={{ transform: `translateY(${item.start}px)`, height: ROW }}>
                <Row row={row} selected={row.task.id === selected} focusable={row.task.id === focused} hands={hands} now={now} />
              </div>
            );
          })}
        </div>
        {rows.length === 1 && looked !== "" && <p className="tree-none">No task has “{looked}” in its title.</p>}
      </div>
      {creating !== undefined && <NewRow parent={creating.parent} kind={creating.kind} onDone={() => setCreating(undefined)} />}
      {menu !== undefined && (
        <TaskMenu id={menu.id} place={menu.place} onClose={() => setMenu(undefined)} onCreate={(parent, kind) => setCreating({ parent, kind })} />
      )}
    </nav>
  );
}

/** The same object at every render, so that rows whose task did not change are not drawn again. */
function useSteady(hands: TreeHands): TreeHands {
  const latest = useRef(hands);
  latest.current = hands;
  return useMemo(
    () => ({
      select: (id) => latest.current.select(id),
      toggle: (id) => latest.current.toggle(id),
      menu: (id, place) => latest.current.menu(id, place),
      focus: (id) => latest.current.focus(id),
    }),
    [],
  );
}

function Loading() {
  return (
    <div className="tree-none">
      <Spinner label="Loading tasks" />
    </div>
  );
}

function toggled(set: ReadonlySet<Id>, id: Id): Set<Id> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** What is folded is kept for the next visit, per project. */
function useFolded(project: Id): [ReadonlySet<Id>, (change: (old: ReadonlySet<Id>) => ReadonlySet<Id>) => void] {
  const key = `mxd.folded.${project}`;
  const [folded, setFolded] = useState<ReadonlySet<Id>>(() => new Set((kept(key) ?? "").split(" ").filter((id) => id !== "")));
  const set = useCallback(
    (change: (old: ReadonlySet<Id>) => ReadonlySet<Id>) => {
      setFolded((old) => {
        const next = change(old);
        if (next !== old) keep(key, [...next].join(" "));
        return next;
      });
    },
    [key],
  );
  return [folded, set];
}

const STEPS: Readonly<Record<string, Step>> = { ArrowUp: "up", ArrowDown: "down", ArrowRight: "in", ArrowLeft: "out" };

function press(event: KeyboardEvent, rows: readonly TreeRow[], focused: Id | undefined, hands: TreeHands): void {
  const index = rows.findIndex((row) => row.task.id === focused);
  const row = rows[index];
  if (row === undefined || !(event.target instanceof HTMLElement) || event.target.getAttribute("role") !== "treeitem") return;
  const step = event.altKey ? STEPS[event.key] : undefined;
  if (step !== undefined) {
    event.preventDefault();
    const to = stepped(store.get().tasks, row.task.id, step);
    if (to !== undefined) void move(row.task.id, to).then(() => hands.focus(row.task.id));
    return;
  }
  const done = walk(event.key, rows, index, hands);
  if (done) event.preventDefault();
}

function walk(key: string, rows: readonly TreeRow[], index: number, hands: TreeHands): boolean {
  const row = rows[index];
  if (row === undefined) return false;
  const focus = (to: TreeRow | undefined): boolean => {
    if (to !== undefined) hands.focus(to.task.id);
    return true;
  };
  switch (key) {
    case "ArrowDown":
    case "j":
      return focus(rows[index + 1]);
    case "ArrowUp":
    case "k":
      return focus(rows[index - 1]);
    case "Home":
      return focus(rows[0]);
    case "End":
      return focus(rows.at(-1));
    case "ArrowRight":
      if (row.task.children.length > 0 && !row.open) hands.toggle(row.task.id);
      else if (row.open) focus(rows[index + 1]);
      return true;
    case "ArrowLeft":
      if (row.open) hands.toggle(row.task.id);
      else focus(rows.find((other) => other.task.id === row.task.parentId));
      return true;
    case "Enter":
    case " ":
      hands.select(row.task.id);
      return true;
    case "F2":
      void rename(row.task);
      return true;
    case "ContextMenu": {
      const box = document.getElementById(`row-${row.task.id}`)?.getBoundingClientRect();
      hands.menu(row.task.id, { x: (box?.left ?? 0) + 24, y: (box?.top ?? 0) + 24 });
      return true;
    }
    default:
      return false;
  }
}
