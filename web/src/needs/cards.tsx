// What needs a person, one card each: the same in the list and in the conversation of its task.
import { useState } from "react";
import { api, path } from "../api/client.ts";
import type { ApprovalNeed, ClarificationNeed, TroubleNeed } from "../api/types.ts";
import { Button, CopyButton } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { attempt } from "../shell/toasts.tsx";
import { store } from "../state/store.ts";
import { act } from "../task/actions.ts";
import { draftOf, keepDraft } from "../task/drafts.ts";
import { toolName } from "../task/tools/names.ts";
import { Markdown } from "../text/Markdown.tsx";
import { ago } from "../text/format.ts";

export type Decision = "once" | "task" | "deny";

function projectPath(rest: string): string {
  return path`/projects/${store.get().projectId ?? ""}` + rest;
}

export function decide(need: ApprovalNeed, decision: Decision): Promise<boolean> {
  const { taskId, approvalId, argsDigest } = need;
  return attempt(api.post(projectPath("/approve"), { taskId, approvalId, decision, argsDigest }));
}

export function answer(need: ClarificationNeed, text: string): Promise<boolean> {
  const { taskId, clarificationId } = need;
  return attempt(api.post(projectPath("/clarify"), { taskId, clarificationId, answer: text }));
}

export function ApprovalCard({ need, keys }: { need: ApprovalNeed; keys: boolean }) {
  const { name, server } = toolName(need.tool);
  const bash = server === undefined && name === "bash" && typeof (need.args as { command?: unknown } | null)?.command === "string";
  const exact = bash ? String((need.args as { command: string }).command) : JSON.stringify(need.args ?? {}, null, 2);
  return (
    <>
      <p>
        Wants to run <strong className="mono">{name}</strong>
        {server !== undefined && <> of {server}</>}. This is exactly what will run:
      </p>
      <div className="exact">
        <pre tabIndex={0} aria-label="The exact call">{bash ? `$ ${exact}` : exact}</pre>
        <CopyButton text={exact} what="the call" />
      </div>
      <p className="field-note">
        Your word is about this call alone{need.rule === undefined ? "" : `, because of ${need.rule}`}. Digest <span className="mono">{need.argsDigest.slice(0, 20)}</span>
      </p>
      <div className="row wrap">
        <Button look="primary" onClick={() => void decide(need, "once")}>
          Allow once {keys && <kbd>a</kbd>}
        </Button>
        <Button onClick={() => void decide(need, "task")}>For this task {keys && <kbd>t</kbd>}</Button>
        <Button look="danger" onClick={() => void decide(need, "deny")}>
          Deny {keys && <kbd>d</kbd>}
        </Button>
      </div>
    </>
  );
}

export function QuestionCard({ need, now }: { need: ClarificationNeed; now: number }) {
  const key = `answer-${need.clarificationId}`;
  const [text, setText] = useState(() => draftOf(key));
  const send = async (value: string): Promise<void> => {
    if (value.trim() !== "" && (await answer(need, value.trim()))) keepDraft(key, "");
  };
  return (
    <>
      <Markdown text={need.question} />
      {need.options !== undefined && need.options.length > 0 && (
        <div className="row wrap">
          {need.options.map((option) => (
            <Button key={option} onClick={() => void send(option)}>
              {option}
            </Button>
          ))}
        </div>
      )}
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          void send(text);
        }}
      >
        <input
          className="input"
          value={text}
          aria-label="Your answer"
          placeholder="Your answer"
          data-need-answer=""
          onChange={(event) => {
            setText(event.target.value);
            keepDraft(key, event.target.value);
          }}
        />
        <Button look="primary" type="submit" disabled={text.trim() === ""}>
          Answer
        </Button>
      </form>
      {need.expiresAt !== undefined && need.expiresAt > now && <p className="field-note">Nobody answers for you; the question closes in {ago(now - (need.expiresAt - now), now)}.</p>}
    </>
  );
}

export function FailedCard({ need }: { need: TroubleNeed }) {
  return (
    <>
      <p>{need.why}</p>
      <div className="row wrap">
        <Button look="primary" icon="undo" onClick={() => void act(need.taskId, "retry")}>
          Retry
        </Button>
      </div>
    </>
  );
}

export function ConflictCard({ need }: { need: TroubleNeed }) {
  return (
    <>
      <p>{need.why}</p>
      <p className="field-note">
        <Icon name="info" /> Nothing was merged. Write to the task: it can bring its branch up to date and resolve it.
      </p>
    </>
  );
}
