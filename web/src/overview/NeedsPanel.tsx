// What waits for a person, one line each with the button that helps; the whole of it is one click away.
import type { Id, Needs, TaskView } from "../api/types.ts";
import { Button } from "../design/controls.tsx";
import { Icon, type IconName } from "../design/Icon.tsx";
import { answer } from "../needs/cards.tsx";
import { Link } from "../shell/Link.tsx";
import { go } from "../shell/router.ts";
import { useNow } from "../shell/useAsk.ts";
import { useDiffStat } from "../state/diffs.ts";
import type { Tasks } from "../state/select.ts";
import { useShown } from "../state/store.ts";
import { act, grant, merge } from "../task/actions.ts";
import { ago, moment } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import { toolName } from "../task/tools/names.ts";
import type { ClarificationNeed } from "../api/types.ts";

interface Item {
  readonly key: string;
  readonly icon: IconName;
  readonly kind: string;
  readonly taskId: Id;
  readonly title: string;
  readonly says: string;
  readonly at: number;
  readonly buttons: readonly { label: string; act: () => void; isMain?: boolean }[];
}

/** Whoever is held up comes first; within a kind the oldest. */
export function needItems(needs: Needs, tasks: Tasks, project: Id): Item[] {
  const inbox = (): void => go({ view: "needs", project });
  const chat = (task: Id) => (): void => go({ view: "task", project, task, tab: "chat" });
  const byAge = <T extends { at: number }>(list: readonly T[]): T[] => list.toSorted((a, b) => a.at - b.at);
  const base = (need: { taskId: Id; taskTitle: string; at: number }): Pick<Item, "taskId" | "title" | "at"> => ({ taskId: need.taskId, title: need.taskTitle, at: need.at });
  return [
    ...byAge(needs.approvals).map((need): Item => ({ ...base(need), key: `a.${need.approvalId}`, icon: "shield", kind: "Approve", says: need.host === undefined ? `Wants to run ${visible(toolName(need.tool).name)}` : `Wants to reach ${visible(need.host)}`, buttons: [{ label: "Review", act: inbox, isMain: true }] })),
    ...byAge(needs.clarifications as readonly ClarificationNeed[]).map(
      (need): Item => ({
        ...base(need),
        key: `q.${need.clarificationId}`,
        icon: "bell",
        kind: "Answer",
        says: need.question.split("\n")[0] ?? "",
        buttons: [...(need.options ?? []).slice(0, 3).map((option) => ({ label: option, act: () => void answer(need, option) })), { label: "Answer…", act: chat(need.taskId), isMain: (need.options ?? []).length === 0 }],
      }),
    ),
    ...byAge(needs.failed).map((need): Item => {
      const task = tasks[need.taskId];
      const isSpent = task?.agent?.state === "spent";
      return { ...base(need), key: `f.${need.taskId}`, icon: isSpent ? "money" : "warning", kind: "Unblock", says: need.why, buttons: [isSpent ? { label: "Raise budget", act: () => void grant(task), isMain: true } : { label: "Retry", act: () => void act(need.taskId, "retry"), isMain: true }, { label: "Open", act: chat(need.taskId) }] };
    }),
    ...byAge(needs.conflicts).map((need): Item => ({ ...base(need), key: `c.${need.taskId}`, icon: "merge", kind: "Unblock", says: need.why, buttons: [{ label: "Open", act: chat(need.taskId), isMain: true }] })),
  ];
}

export function NeedsPanel({ project }: { project: Id }) {
  const needs = useShown((shown) => shown.needs);
  const tasks = useShown((shown) => shown.tasks);
  const now = useNow();
  const items = needItems(needs, tasks, project);
  const passed = Object.values(tasks).filter((task) => task.kind === "task" && task.status === "passed" && task.parentId !== undefined);
  return (
    <section className="panel" aria-labelledby="needs-title">
      <h2 id="needs-title">Needs you</h2>
      {items.length === 0 && <p className="muted">Nothing needs you right now.</p>}
      <ul className="plain-list need-lines">
        {items.map((item) => (
          <li key={item.key} className="need-line">
            <Icon name={item.icon} />
            <span className="need-kind">{item.kind}</span>
            <span className="need-words">
              <Link to={{ view: "task", project, task: item.taskId, tab: "chat" }}>{item.title}</Link>
              <span className="muted need-says">{item.says}</span>
            </span>
            {item.at > 0 && (
              <time className="muted num" title={moment(item.at)}>
                {ago(item.at, now)}
              </time>
            )}
            <span className="row wrap need-buttons">
              {item.buttons.map((button) => (
                <Button key={button.label} size="small" look={button.isMain === true ? "primary" : "plain"} onClick={button.act}>
                  {button.label}
                </Button>
              ))}
            </span>
          </li>
        ))}
        {passed.map((task) => (
          <ReviewLine key={task.id} project={project} task={task} />
        ))}
      </ul>
    </section>
  );
}

/** Finished work that nobody has merged yet. */
function ReviewLine({ project, task }: { project: Id; task: TaskView }) {
  const stat = useDiffStat(task);
  if (stat === undefined || stat.files === 0) return null;
  return (
    <li className="need-line">
      <Icon name="check" />
      <span className="need-kind">Review</span>
      <span className="need-words">
        <Link to={{ view: "task", project, task: task.id, tab: "diff" }}>{task.title}</Link>
        <span className="muted need-says num">
          Passed: <span className="plus">+{stat.additions}</span> <span className="minus">−{stat.deletions}</span>
        </span>
      </span>
      <span className="row wrap need-buttons">
        <Button size="small" onClick={() => go({ view: "task", project, task: task.id, tab: "diff" })}>
          Changes
        </Button>
        <Button size="small" look="primary" onClick={() => void merge(task)}>
          Merge…
        </Button>
      </span>
    </li>
  );
}
