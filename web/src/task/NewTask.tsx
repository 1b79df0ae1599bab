// Create a task and start it, in one form: the prompt first, everything else optional.
import { useState } from "react";
import { ApiError, api } from "../api/client.ts";
import type { Id, TaskView } from "../api/types.ts";
import { Button, Field, IconButton } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { go } from "../shell/router.ts";
import { useShown } from "../state/store.ts";
import { create, taskPath } from "./actions.ts";
import { draftOf, keepDraft, messageId } from "./drafts.ts";

/** The message that starts an agent whose description already says everything. */
export const START_MESSAGE = "Please start.";
const LONGEST_TITLE = 80;

/** The first line of the prompt, cut at a word where it is too long for a title. */
export function titleOf(prompt: string): string {
  const line = (prompt.trim().split("\n", 1)[0] ?? "").replace(/^#+\s*/, "").trim();
  if (line.length <= LONGEST_TITLE) return line;
  const cut = line.slice(0, LONGEST_TITLE);
  return `${cut.slice(0, cut.lastIndexOf(" ") > 20 ? cut.lastIndexOf(" ") : LONGEST_TITLE)}…`;
}

interface Options {
  readonly title: string;
  readonly checks: string;
  readonly budget: string;
  readonly after: readonly Id[];
}

const NO_OPTIONS: Options = { title: "", checks: "", budget: "", after: [] };

export function NewTask({ project, canStart }: { project: Id; canStart: boolean }) {
  const draftKey = `new-${project}`;
  const [prompt, setPrompt] = useState(() => draftOf(draftKey));
  const [options, setOptions] = useState<Options | undefined>();
  const [busy, setBusy] = useState(false);
  const write = (text: string): void => {
    setPrompt(text);
    keepDraft(draftKey, text);
  };
  const submit = async (start: boolean): Promise<void> => {
    if (prompt.trim() === "" || busy) return;
    setBusy(true);
    const made = await create(fieldsOf(prompt, options ?? NO_OPTIONS));
    if (made === undefined) return setBusy(false);
    write("");
    try {
      if (start) await api.post(taskPath(made.id, "/message"), { id: messageId(), content: START_MESSAGE });
    } catch (reason) {
      // The task exists: its own view has the composer from which it can be started.
      if (!(reason instanceof ApiError && reason.status === 401)) keepDraft(made.id, START_MESSAGE);
    }
    go({ view: "task", project, task: made.id, tab: "chat" });
  };
  return (
    <form
      className="panel stack new-task"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(true);
      }}
    >
      <Field label="New task">
        {(id) => (
          <textarea
            id={id}
            className="textarea"
            rows={3}
            value={prompt}
            placeholder="What should be done? The first line becomes the title."
            onChange={(event) => write(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && canStart) void submit(true);
            }}
          />
        )}
      </Field>
      {options !== undefined && <OptionFields prompt={prompt} options={options} change={(some) => setOptions({ ...options, ...some })} />}
      <div className="row wrap">
        <Button size="small" look="quiet" icon={options === undefined ? "chevron" : "down"} aria-expanded={options !== undefined} onClick={() => setOptions(options === undefined ? NO_OPTIONS : undefined)}>
          Options
        </Button>
        <span className="grow" />
        {!canStart && <span className="field-note">Complete the set-up to start it.</span>}
        <Button disabled={busy || prompt.trim() === ""} onClick={() => void submit(false)}>
          Create only
        </Button>
        <Button look="primary" icon="play" type="submit" disabled={busy || !canStart || prompt.trim() === ""}>
          Start task
        </Button>
      </div>
    </form>
  );
}

function fieldsOf(prompt: string, options: Options): Parameters<typeof create>[0] {
  const checks = options.checks.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const budgetUsd = Number(options.budget);
  return {
    title: options.title.trim() === "" ? titleOf(prompt) : options.title.trim(),
    description: prompt.trim(),
    ...(checks.length > 0 ? { checks } : {}),
    ...(budgetUsd > 0 ? { budgetUsd } : {}),
    ...(options.after.length > 0 ? { after: options.after } : {}),
  };
}

function OptionFields({ prompt, options, change }: { prompt: string; options: Options; change: (some: Partial<Options>) => void }) {
  return (
    <div className="new-task-options">
      <Field label="Title">{(id) => <input id={id} className="input" value={options.title} placeholder={titleOf(prompt)} onChange={(event) => change({ title: event.target.value })} />}</Field>
      <Field label="Budget (USD)" note="Empty: it shares the project's budget.">
        {(id) => <input id={id} className="input" type="number" min="0" step="any" value={options.budget} onChange={(event) => change({ budget: event.target.value })} />}
      </Field>
      <Field label="Checks" note="In addition to the project's checks; one command per line.">
        {(id) => <textarea id={id} className="textarea mono setup-lines" rows={2} value={options.checks} onChange={(event) => change({ checks: event.target.value })} />}
      </Field>
      <After after={options.after} change={(after) => change({ after })} />
    </div>
  );
}

/** Tasks that have to be finished first. */
function After({ after, change }: { after: readonly Id[]; change: (after: readonly Id[]) => void }) {
  const tasks = useShown((shown) => shown.tasks);
  const open = Object.values(tasks).filter((task: TaskView) => task.kind === "task" && task.parentId !== undefined && task.status !== "passed" && task.status !== "closed" && !after.includes(task.id));
  return (
    <Field label="Start after" note="It waits until these are passed or closed.">
      {(id) => (
        <>
          <select id={id} className="select" value="" disabled={open.length === 0} onChange={(event) => change([...after, event.target.value])}>
            <option value="">{open.length === 0 ? "No open tasks" : "Add a task…"}</option>
            {open.map((task) => (
              <option key={task.id} value={task.id}>
                {task.title}
              </option>
            ))}
          </select>
          {after.length > 0 && (
            <ul className="plain-list row wrap">
              {after.map((one) => (
                <li key={one} className="chip">
                  <Icon name="clock" />
                  <span className="ellipsis">{tasks[one]?.title ?? one}</span>
                  <IconButton icon="cross" size="small" label={`Do not wait for ${tasks[one]?.title ?? one}`} onClick={() => change(after.filter((id) => id !== one))} />
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </Field>
  );
}
