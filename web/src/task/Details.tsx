// The fields of a task, each changed where it stands.
import { useState } from "react";
import type { TaskOnWire, TaskView } from "../api/types.ts";
import { Button, CopyButton, ErrorNotice, IconButton, Spinner } from "../design/controls.tsx";
import { useAsk } from "../shell/useAsk.ts";
import { useShown } from "../state/store.ts";
import { count, moment, usd, word } from "../text/format.ts";
import { Markdown } from "../text/Markdown.tsx";
import { COLORS } from "../tree/color.ts";
import { change, grant, taskPath } from "./actions.ts";

export function Details({ task: listed }: { task: TaskView }) {
  // Lists carry only the beginning of a long description.
  const whole = useAsk<TaskOnWire>(listed.descriptionCut === true ? taskPath(listed.id) : undefined, listed.updatedAt);
  const task = whole.value === undefined ? listed : { ...listed, description: whole.value.description ?? listed.description };
  if (listed.descriptionCut === true && whole.value === undefined) {
    return <div className="view-page">{whole.error === undefined ? <Spinner label="Loading" /> : <ErrorNotice error={whole.error} />}</div>;
  }
  return (
    <div className="view-scroll" tabIndex={0} role="region" aria-label="Details">
      <div className="view-page">
        <Editable label="Title" value={task.title} lines={1} save={(title) => change(task.id, { title })}>
          <span className="detail-title">{task.title}</span>
        </Editable>
        <Editable label="Description" value={task.description} lines={10} save={(description) => change(task.id, { description })}>
          {task.description === "" ? <span className="muted">None yet. The agent reads it before anything else.</span> : <Markdown text={task.description} />}
        </Editable>
        <section className="detail">
          <h2 className="section-label">Colour</h2>
          <div className="swatches is-flush" role="group" aria-label="Colour">
            {COLORS.map((color) => (
              <button
                key={color.name}
                type="button"
                className={`swatch c-${color.name}`}
                aria-pressed={task.color === color.name}
                aria-label={color.use}
                title={color.use}
                onClick={() => void change(task.id, { color: task.color === color.name ? null : color.name })}
              />
            ))}
          </div>
        </section>
        <Facts task={task} />
        <Numbers task={task} />
      </div>
    </div>
  );
}

interface EditableProps {
  label: string;
  value: string;
  lines: number;
  save: (value: string) => Promise<boolean>;
  children: React.ReactNode;
}

function Editable({ label, value, lines, save, children }: EditableProps) {
  const [text, setText] = useState<string | undefined>();
  const finish = async (): Promise<void> => {
    if (text === undefined) return;
    if (text === value || (await save(text))) setText(undefined);
  };
  return (
    <section className="detail">
      <div className="row">
        <h2 className="section-label grow">{label}</h2>
        {text === undefined && <IconButton icon="pencil" size="small" label={`Edit ${label.toLowerCase()}`} onClick={() => setText(value)} />}
      </div>
      {text === undefined ? (
        children
      ) : (
        <div className="stack">
          <textarea
            className="textarea"
            aria-label={label}
            rows={lines}
            value={text}
            autoFocus
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") setText(undefined);
              if (event.key === "Enter" && (lines === 1 || event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                void finish();
              }
            }}
          />
          <div className="row">
            <Button look="primary" size="small" onClick={() => void finish()}>
              Save
            </Button>
            <Button size="small" onClick={() => setText(undefined)}>
              Cancel
            </Button>
          </div>
        </div>
      )}
    </section>
  );
}

function Facts({ task }: { task: TaskView }) {
  const tasks = useShown((shown) => shown.tasks);
  const rows: [string, React.ReactNode][] = [
    [
      "Status",
      <span className="row" key="status">
        {word(task.status ?? "")}
        {task.status === "draft" && (
          <Button size="small" onClick={() => void change(task.id, { draft: false })}>
            Make it pending
          </Button>
        )}
        {task.status === "pending" && (
          <Button size="small" onClick={() => void change(task.id, { draft: true })}>
            Back to draft
          </Button>
        )}
      </span>,
    ],
    [
      "Id",
      <span className="row mono" key="id">
        <span className="ellipsis">{task.id}</span> <CopyButton text={task.id} what="id" />
      </span>,
    ],
    ["Branch", task.branch === undefined ? "none" : <span className="mono breakable">{task.branch}</span>],
    ["Worktree", task.worktreePath === undefined ? "none" : <span className="mono breakable">{task.worktreePath}</span>],
    ["Waits for", task.after.length === 0 ? "nothing" : task.after.map((id) => tasks[id]?.title ?? id).join(", ")],
    ["Checks", task.checks.length === 0 ? "none of its own" : <span className="mono">{task.checks.join("  ·  ")}</span>],
    ["When closed", task.persistent === undefined ? "stays closed" : task.persistent === "reset" ? "comes back with an empty conversation" : "comes back with its conversation"],
    ["Created", moment(task.createdAt)],
    ["Changed", `${moment(task.updatedAt)} by ${task.editedBy === "user" ? "you" : "an agent"}`],
  ];
  return (
    <section className="detail">
      <h2 className="section-label">Facts</h2>
      <dl className="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Numbers({ task }: { task: TaskView }) {
  const { life } = task;
  const cells: [string, string][] = [
    ["spent", usd(task.costUsd)],
    ["budget", task.budgetUsd === undefined ? "none" : usd(task.budgetUsd)],
    ["left", task.remainingUsd === undefined ? "no limit" : usd(task.remainingUsd)],
    ...(life === undefined
      ? []
      : ([
          ["turns", count(life.turns)],
          ["tool calls", count(life.toolCalls)],
          ["tokens read", count(life.inputTokens)],
          ["from cache", count(life.cacheReadTokens)],
          ["tokens written", count(life.outputTokens)],
        ] as [string, string][])),
  ];
  return (
    <section className="detail">
      <div className="row">
        <h2 className="section-label grow">Numbers</h2>
        <Button size="small" icon="money" onClick={() => void grant(task)}>
          Raise budget
        </Button>
      </div>
      <dl className="numbers">
        {cells.map(([name, value]) => (
          <div key={name}>
            <dd className="num">{value}</dd>
            <dt>{name}</dt>
          </div>
        ))}
      </dl>
    </section>
  );
}
