// One dialog at a time, opened from anywhere.
import { type ReactNode, useState, useSyncExternalStore } from "react";
import { Button, Dialog, Field } from "../design/controls.tsx";

type Render = (close: () => void) => ReactNode;

let shown: { key: number; render: Render } | undefined;
let key = 0;
const readers = new Set<() => void>();

function put(next: typeof shown): void {
  shown = next;
  for (const reader of readers) reader();
}

export function openDialog(render: Render): void {
  key += 1;
  put({ key, render });
}

export function DialogHost() {
  const now = useSyncExternalStore(
    (reader) => {
      readers.add(reader);
      return () => readers.delete(reader);
    },
    () => shown,
  );
  if (now === undefined) return null;
  return <div key={now.key}>{now.render(() => put(undefined))}</div>;
}

export interface Consequences {
  title: string;
  /** What it does, in one or two sentences. */
  says: ReactNode;
  /** What will be gone or changed. */
  does?: readonly string[];
  /** What one might expect to be undone and is not. */
  leaves?: readonly string[];
  action: string;
  danger?: boolean;
}

/** Asks before something that cannot simply be taken back, and says what is and is not undone. */
export function confirm(what: Consequences): Promise<boolean> {
  return new Promise((resolve) => {
    openDialog((close) => {
      const answer = (yes: boolean): void => {
        close();
        resolve(yes);
      };
      return (
        <Dialog title={what.title} onClose={() => answer(false)}>
          <div>{what.says}</div>
          <Points title="What happens" points={what.does} />
          <Points title="What stays as it is" points={what.leaves} />
          <div className="dialog-foot">
            <Button onClick={() => answer(false)}>Cancel</Button>
            <Button look={what.danger === true ? "danger" : "primary"} onClick={() => answer(true)} autoFocus>
              {what.action}
            </Button>
          </div>
        </Dialog>
      );
    });
  });
}

function Points({ title, points }: { title: string; points: readonly string[] | undefined }) {
  if (points === undefined || points.length === 0) return null;
  return (
    <div>
      <h3 className="section-label">{title}</h3>
      <ul>
        {points.map((point) => (
          <li key={point}>{point}</li>
        ))}
      </ul>
    </div>
  );
}

export interface Question {
  title: string;
  label: string;
  note?: string;
  initial?: string;
  action: string;
  kind?: "text" | "number" | "lines";
}

/** Asks for one value. */
export function prompt(question: Question): Promise<string | undefined> {
  return new Promise((resolve) => {
    openDialog((close) => (
      <Prompt
        question={question}
        answer={(value) => {
          close();
          resolve(value);
        }}
      />
    ));
  });
}

function Prompt({ question, answer }: { question: Question; answer: (value: string | undefined) => void }) {
  const [value, setValue] = useState(question.initial ?? "");
  const { kind = "text" } = question;
  return (
    <Dialog title={question.title} onClose={() => answer(undefined)}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (value.trim() !== "") answer(value);
        }}
      >
        <Field label={question.label} note={question.note}>
          {(id) =>
            kind === "lines" ? (
              <textarea id={id} className="textarea" rows={5} value={value} autoFocus onChange={(event) => setValue(event.target.value)} />
            ) : (
              <input
                id={id}
                className="input"
                type={kind}
                step="any"
                min={kind === "number" ? 0 : undefined}
                value={value}
                autoFocus
                onChange={(event) => setValue(event.target.value)}
              />
            )
          }
        </Field>
        <div className="dialog-foot">
          <Button onClick={() => answer(undefined)}>Cancel</Button>
          <Button look="primary" type="submit" disabled={value.trim() === ""}>
            {question.action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
