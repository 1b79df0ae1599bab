// One task: its head, its tabs, and what the chosen tab shows.
import { useState } from "react";
import type { Id, TaskView } from "../api/types.ts";
import { Button, IconButton } from "../design/controls.tsx";
import { Glyph, nameOf, shapeOf, toneOf } from "../design/Glyph.tsx";
import { Icon } from "../design/Icon.tsx";
import { Menu, type Place } from "../design/Menu.tsx";
import { Link } from "../shell/Link.tsx";
import { TABS, TAB_NAMES, type Tab } from "../shell/route.ts";
import { useNow } from "../shell/useAsk.ts";
import { useDiffStat } from "../state/diffs.ts";
import { above, find, isWorking } from "../state/select.ts";
import { useShown } from "../state/store.ts";
import { branchName, duration, usd } from "../text/format.ts";
import { act, agentActions, grant, merge, workActions } from "./actions.ts";
import { Chat } from "./Chat.tsx";
import { Details } from "./Details.tsx";
import { Diff } from "./Diff.tsx";
import { Evidence } from "./Evidence.tsx";
import { Ledger } from "./Ledger.tsx";

export function TaskPane({ project, id, tab, at }: { project: Id; id: Id; tab: Tab; at: number | undefined }) {
  const tasks = useShown((shown) => shown.tasks);
  const loaded = useShown((shown) => shown.rootId !== undefined);
  const task = find(tasks, id);
  if (task === undefined) return loaded ? <Missing project={project} /> : <div className="empty" />;
  if (task.kind === "folder") return <Folder project={project} task={task} />;
  return (
    <article className="task" aria-label={task.title}>
      <Head project={project} task={task} />
      <nav className="tabs task-tabs" aria-label="Views of the task">
        {TABS.map((one) => (
          <Link key={one} className="tab" ref={one === tab ? intoView : undefined} to={{ view: "task", project, task: task.id, tab: one }} aria-current={one === tab ? "page" : undefined}>
            {TAB_NAMES[one]}
            {one === "diff" && <DiffCount task={task} />}
          </Link>
        ))}
      </nav>
      <Shown task={task} tab={tab} at={at} />
    </article>
  );
}

function DiffCount({ task }: { task: TaskView }) {
  const stat = useDiffStat(task);
  if (stat === undefined || stat.files === 0) return null;
  return (
    <span className="num tab-diff">
      <span className="plus">+{stat.additions}</span> <span className="minus">−{stat.deletions}</span>
    </span>
  );
}

/** On a phone the chosen tab may stand beyond the edge. */
export function intoView(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function Shown({ task, tab, at }: { task: TaskView; tab: Tab; at: number | undefined }) {
  switch (tab) {
    case "chat":
      return <Chat task={task} at={at} />;
    case "diff":
      return <Diff key={task.id} task={task} />;
    case "evidence":
      return <Evidence key={task.id} task={task} />;
    case "ledger":
      return <Ledger key={task.id} task={task} />;
    case "details":
      return <Details key={task.id} task={task} />;
  }
}

function Missing({ project }: { project: Id }) {
  return (
    <div className="empty">
      <h1>This task is not there</h1>
      <span>It was deleted, or the link is of another project.</span>
      <Link className="button" to={{ view: "tree", project }}>
        To the tree
      </Link>
    </div>
  );
}

function Head({ project, task }: { project: Id; task: TaskView }) {
  const tasks = useShown((shown) => shown.tasks);
  const now = useNow();
  const [menu, setMenu] = useState<Place | undefined>();
  const shape = shapeOf(task);
  const since = isWorking(task) ? task.life?.since : undefined;
  return (
    <header className="task-head">
      <Path project={project} parents={above(tasks, task.id)} />
      <div className="task-title">
        <Link className="button is-quiet is-icon only-narrow" to={{ view: "tree", project }} aria-label="Back to the tree">
          <Icon name="back" />
        </Link>
        <h1>{task.title}</h1>
        <Remedy task={task} />
        <MergeButton task={task} />
        <IconButton
          icon="more"
          label="Actions"
          aria-haspopup="menu"
          onClick={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            setMenu({ x: box.right - 220, y: box.bottom + 4 });
          }}
        />
      </div>
      <div className={`task-state tone-${toneOf(shape)}`}>
        <Glyph shape={shape} hidden />
        <span className="strong nowrap">{nameOf(shape)}</span>
        <span className="task-why">{task.agent?.why ?? ""}</span>
        {since !== undefined && <span className="muted nowrap num">begun {duration(Math.max(0, now - since))} ago</span>}
        <Facts task={task} />
      </div>
      {menu !== undefined && <Menu label={`Actions for ${task.title}`} place={menu} entries={[...agentActions(task), "line", ...workActions(task)]} onClose={() => setMenu(undefined)} />}
    </header>
  );
}

function Path({ project, parents }: { project: Id; parents: readonly TaskView[] }) {
  if (parents.length === 0) return null;
  return (
    <nav className="task-path" aria-label="Where it stands">
      {parents.map((parent) => (
        <span key={parent.id} className="row">
          <Link to={{ view: "task", project, task: parent.id, tab: "chat" }}>{parent.title}</Link>
          <Icon name="chevron" />
        </span>
      ))}
    </nav>
  );
}

/** The one thing that most likely has to be done now. */
function Remedy({ task }: { task: TaskView }) {
  switch (task.agent?.state) {
    case "spent":
      return (
        <Button look="primary" icon="money" onClick={() => void grant(task)}>
          Raise budget
        </Button>
      );
    case "failed":
    case "refused":
    case "stuck":
      return (
        <Button look="primary" icon="undo" onClick={() => void act(task.id, "retry")}>
          Retry
        </Button>
      );
    case "stopped":
    case "interrupted":
      return (
        <Button icon="play" onClick={() => void act(task.id, "continue")}>
          Continue
        </Button>
      );
    default:
      return null;
  }
}

/** Finished work that the branch above does not have yet. */
function MergeButton({ task }: { task: TaskView }) {
  const stat = useDiffStat(task);
  if (task.status !== "passed" || stat === undefined || stat.files === 0) return null;
  return (
    <Button look="primary" icon="merge" onClick={() => void merge(task)}>
      Merge…
    </Button>
  );
}

function Facts({ task }: { task: TaskView }) {
  return (
    <span className="task-facts num">
      {task.branch !== undefined && (
        <span className="chip" title={`${task.branch}${task.worktreePath === undefined ? "" : ` in ${task.worktreePath}`}`}>
          <Icon name="branch" />
          <span className="ellipsis">{branchName(task.branch)}</span>
        </span>
      )}
      <span className="chip" title={task.budgetUsd === undefined ? "Spent; it has no budget of its own" : "Spent of its budget"}>
        {usd(task.spentUsd > 0 ? task.spentUsd : task.costUsd)}
        {task.budgetUsd !== undefined && <> of {usd(task.budgetUsd)}</>}
      </span>
    </span>
  );
}

function Folder({ project, task }: { project: Id; task: TaskView }) {
  const tasks = useShown((shown) => shown.tasks);
  return (
    <article className="task" aria-label={task.title}>
      <Head project={project} task={task} />
      <div className="view-scroll">
        <div className="view-page">
          <ul className="plain-list">
            {task.children.map((id) => {
              const child = tasks[id];
              if (child === undefined) return null;
              return (
                <li key={id}>
                  <Link className="list-row" to={{ view: "task", project, task: id, tab: "chat" }}>
                    <Glyph shape={shapeOf(child)} />
                    <span className="grow">
                      <span className="strong">{child.title}</span>
                      <span className="muted block ellipsis">{child.agent?.why ?? ""}</span>
                    </span>
                  </Link>
                </li>
              );
            })}
          </ul>
          {task.children.length === 0 && <div className="empty">An empty folder. Drag tasks into it, or create one inside.</div>}
        </div>
      </div>
    </article>
  );
}
