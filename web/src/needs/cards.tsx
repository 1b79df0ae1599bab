// What needs a person, one card each: the same in the list and in the conversation of its task.
import { useState } from "react";
import { api, path } from "../api/client.ts";
import type { ApprovalNeed, ClarificationNeed, TroubleNeed } from "../api/types.ts";
import { Button } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { attempt } from "../shell/toasts.tsx";
import { store, useShown } from "../state/store.ts";
import { act, grant } from "../task/actions.ts";
import { draftOf, keepDraft } from "../task/drafts.ts";
import { Markdown } from "../text/Markdown.tsx";
import { ago } from "../text/format.ts";

export type Decision = "once" | "task" | "always" | "deny";

function projectPath(rest: string): string {
  return path`/projects/${store.get().projectId ?? ""}` + rest;
}

export function decide(need: ApprovalNeed, decision: Decision, note?: string): Promise<boolean> {
  const { taskId, approvalId, argsDigest } = need;
  const words = note === undefined || note.trim() === "" ? {} : { note: note.trim() };
  return attempt(api.post(projectPath("/approve"), { taskId, approvalId, decision, argsDigest, ...words }));
}

export function answer(need: ClarificationNeed, text: string): Promise<boolean> {
  const { taskId, clarificationId } = need;
  return attempt(api.post(projectPath("/clarify"), { taskId, clarificationId, answer: text }));
}

/** `hasInput` is false where the composer below takes the answer. */
export function QuestionCard({ need, now, hasInput = true }: { need: ClarificationNeed; now: number; hasInput?: boolean }) {
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
      {hasInput && <form
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
      </form>}
      {need.expiresAt !== undefined && need.expiresAt > now && <p className="field-note">The question closes unanswered in {ago(now - (need.expiresAt - now), now)}.</p>}
    </>
  );
}

export function FailedCard({ need }: { need: TroubleNeed }) {
  const task = useShown((shown) => shown.tasks[need.taskId]);
  return (
    <>
      <p>{need.why}</p>
      <div className="row wrap">
        {task?.agent?.state === "spent" ? (
          <Button look="primary" icon="money" onClick={() => void grant(task)}>
            Raise budget
          </Button>
        ) : (
          <Button look="primary" icon="undo" onClick={() => void act(need.taskId, "retry")}>
            Retry
          </Button>
        )}
      </div>
    </>
  );
}

export function ConflictCard({ need }: { need: TroubleNeed }) {
  return (
    <>
      <p>{need.why}</p>
      <p className="field-note">
        <Icon name="info" /> Nothing was merged. Send the task a message: it can update its branch and resolve the conflict.
      </p>
    </>
  );
}
