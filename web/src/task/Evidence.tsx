// What the checks said: each with its command, its exit code and the tree it ran on.
import type { CheckRun, TaskView } from "../api/types.ts";
import { ErrorNotice, Spinner } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { useAsk } from "../shell/useAsk.ts";
import { day, moment } from "../text/format.ts";
import { Terminal } from "../text/Terminal.tsx";
import { taskPath } from "./actions.ts";

export function Evidence({ task }: { task: TaskView }) {
  const asked = useAsk<{ checks: CheckRun[] }>(taskPath(task.id, "/evidence"), `${task.status}.${task.updatedAt}`);
  const runs = asked.value?.checks ?? [];
  return (
    <div className="view-scroll" tabIndex={0} role="region" aria-label="Evidence">
      <div className="view-page">
        {asked.error !== undefined && <ErrorNotice error={asked.error} />}
        {asked.value === undefined && asked.error === undefined && <Spinner label="Loading" />}
        <Promised task={task} runs={runs} />
        {runs.toReversed().map((run, index) => (
          <Run key={index} run={run} />
        ))}
        {asked.value !== undefined && runs.length === 0 && (
          <div className="empty">
            <strong>No check has run yet</strong>
            <span>{task.checks.length === 0 ? "This task has no checks: what its agent says about its work is not proven." : "They run when the agent says that it is done."}</span>
          </div>
        )}
      </div>
    </div>
  );
}

/** What has to hold before the task is passed, and what is known about it. */
function Promised({ task, runs }: { task: TaskView; runs: readonly CheckRun[] }) {
  if (task.checks.length === 0) return null;
  return (
    <section className="detail">
      <h2 className="section-label">Has to succeed before it is passed</h2>
      <ul className="plain-list">
        {task.checks.map((command) => {
          const last = runs.findLast((run) => run.command === command);
          const state = last === undefined ? "not run" : last.exitCode === 0 ? "passed" : "failed";
          return (
            <li key={command} className="list-row">
              <Icon name={state === "passed" ? "check" : state === "failed" ? "cross" : "clock"} />
              <span className="mono grow">{command}</span>
              <span className={`chip ${state === "passed" ? "is-accent" : state === "failed" ? "is-red" : ""}`}>{state}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Run({ run }: { run: CheckRun }) {
  const good = run.exitCode === 0;
  return (
    <div role="group" className={`tool ${good ? "" : "is-error"}`} aria-label={run.command}>
      <div className="tool-head is-static">
        <Icon name={good ? "check" : "cross"} />
        <span className="tool-summary mono">{run.command}</span>
        <span className={`tool-outcome num ${good ? "muted" : "is-bad"}`}>{run.exitCode === undefined ? "was ended" : `exit ${run.exitCode}`}</span>
      </div>
      <div className="tool-body">
        <Terminal text={run.output} label={`Output of ${run.command}`} />
        <div className="tool-foot">
          <span>
            on tree <span className="mono">{run.treeHash.slice(0, 12)}</span>
          </span>
          <time title={moment(run.at)}>{day(run.at)}</time>
        </div>
      </div>
    </div>
  );
}
