// What it cost: over time, by task, what the cache spared and where it broke, and where money went.
import { useState } from "react";
import type { Id, MoneyView as Money } from "../api/types.ts";
import { path } from "../api/client.ts";
import { ErrorNotice, Spinner } from "../design/controls.tsx";
import { Link } from "../shell/Link.tsx";
import { useAsk } from "../shell/useAsk.ts";
import { useShown } from "../state/store.ts";
import { count, day, usd, word } from "../text/format.ts";
import { Bars, Cumulative } from "./plots.tsx";

export function MoneyView({ project }: { project: Id }) {
  // What the root has spent moves with every turn that ends anywhere.
  const spent = useShown((shown) => Object.values(shown.tasks).reduce((sum, task) => sum + task.costUsd, 0));
  const asked = useAsk<Money>(path`/projects/${project}/money`, Math.round(spent * 100));
  const money = asked.value;
  return (
    <div className="view-scroll" tabIndex={0} role="region" aria-label="Cost">
      <div className="view-page is-wide">
        <header className="view-head">
          <h1>Cost</h1>
        </header>
        {asked.error !== undefined && <ErrorNotice error={asked.error} />}
        {money === undefined && asked.error === undefined && <Spinner label="Adding up" />}
        {money !== undefined && <Shown project={project} money={money} />}
      </div>
    </div>
  );
}

function Shown({ project, money }: { project: Id; money: Money }) {
  const read = money.tasks.reduce((sum, task) => sum + task.inputTokens + task.cacheReadTokens + task.cacheWriteTokens, 0);
  const written = money.tasks.reduce((sum, task) => sum + task.outputTokens, 0);
  return (
    <>
      <dl className="numbers is-large">
        <div>
          <dd className="num">{usd(money.totalUsd)}</dd>
          <dt>spent in all</dt>
        </div>
        <div>
          <dd className="num">{count(read)}</dd>
          <dt>tokens read</dt>
        </div>
        <div>
          <dd className="num">{count(written)}</dd>
          <dt>tokens written</dt>
        </div>
        <div>
          <dd className="num">{(money.cache.hitRate * 100).toFixed(1)} %</dd>
          <dt>of what was read came from the cache</dt>
        </div>
      </dl>
      <OverTime money={money} />
      <ByTask project={project} money={money} />
      <div className="columns">
        <Breaks project={project} money={money} />
        <Escrow project={project} money={money} />
      </div>
    </>
  );
}

function OverTime({ money }: { money: Money }) {
  const [only, ...more] = money.series;
  if (only === undefined) return null;
  return (
    <section className="panel">
      <h2>Over time</h2>
      {/* The daemon counts by the hour, and one hour is no line. */}
      {more.length === 0 ? <p className="muted">All of it was spent within the hour from {day(only.at)} on.</p> : <Cumulative series={money.series} breaks={money.cache.breaks} />}
    </section>
  );
}

type Measure = "cost" | "tokens";

function ByTask({ project, money }: { project: Id; money: Money }) {
  const [measure, setMeasure] = useState<Measure>("cost");
  const value = (task: Money["tasks"][number]): number => (measure === "cost" ? task.costUsd : task.inputTokens + task.outputTokens + task.cacheReadTokens + task.cacheWriteTokens);
  const tasks = money.tasks.toSorted((a, b) => value(b) - value(a));
  return (
    <section className="panel">
      <div className="row">
        <h2 className="grow">By task</h2>
        <div className="segments" role="group" aria-label="Measure">
          <button type="button" aria-pressed={measure === "cost"} onClick={() => setMeasure("cost")}>
            Cost
          </button>
          <button type="button" aria-pressed={measure === "tokens"} onClick={() => setMeasure("tokens")}>
            Tokens
          </button>
        </div>
      </div>
      <Bars
        rows={tasks.map((task) => ({
          key: task.taskId,
          name: <Link to={{ view: "task", project, task: task.taskId, tab: "details" }}>{task.title}</Link>,
          value: value(task),
          ...(measure === "cost" && task.budgetUsd !== undefined ? { limit: task.budgetUsd } : {}),
          label: measure === "cost" ? usd(task.costUsd) + (task.budgetUsd === undefined ? "" : ` of ${usd(task.budgetUsd)}`) : count(value(task)),
        }))}
      />
      {tasks.length === 0 && <p className="muted">Nothing was spent yet.</p>}
    </section>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  compaction: "The conversation was summarised",
  tools_changed: "The set of tools changed",
  model_changed: "The model changed",
  rewind: "The conversation was taken back",
};

function Breaks({ project, money }: { project: Id; money: Money }) {
  const tasks = useShown((shown) => shown.tasks);
  return (
    <section className="panel">
      <h2>Cache misses</h2>
      {money.cache.breaks.length === 0 && <p className="muted">None: the prompt cache was reused every time.</p>}
      <ul className="plain-list">
        {money.cache.breaks.map((one, index) => (
          <li key={index} className="fact-row">
            <span className="grow">
              {REASONS[one.reason] ?? word(one.reason)}
              <span className="block">
                <Link to={{ view: "task", project, task: one.taskId, tab: "chat" }}>{tasks[one.taskId]?.title ?? "a task that is gone"}</Link>
              </span>
            </span>
            <span className="muted nowrap">{day(one.at)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Escrow({ project, money }: { project: Id; money: Money }) {
  const tasks = useShown((shown) => shown.tasks);
  const who = (id: Id | undefined): React.ReactNode => {
    if (id === undefined) return "You";
    return <Link to={{ view: "task", project, task: id, tab: "details" }}>{tasks[id]?.title ?? "a task that is gone"}</Link>;
  };
  // What is set aside for a call and paid for it stays with its task: the ledger of each task has it.
  const handed = money.escrow.filter((flow) => flow.kind !== "reserved" && flow.kind !== "settled");
  return (
    <section className="panel">
      <h2>Budgets handed down</h2>
      {handed.length === 0 && <p className="muted">No budgets were handed down.</p>}
      <ul className="plain-list">
        {handed.map((flow, index) => (
          <li key={index} className="fact-row">
            <span className="grow">
              {who(flow.from)} <span aria-label="to">→</span> {who(flow.to)}
              <span className="block muted">{word(flow.kind)}</span>
            </span>
            <span className="num strong">{usd(flow.usd)}</span>
            <span className="muted nowrap">{day(flow.at)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
