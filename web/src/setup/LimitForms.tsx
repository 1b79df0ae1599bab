// Two optional steps: how much the project may spend, and which commands a merge has to pass.
import { useId, useState } from "react";
import { path } from "../api/client.ts";
import type { Id } from "../api/types.ts";
import { Button } from "../design/controls.tsx";
import { write } from "../settings/write.ts";

const SUGGESTED_BUDGET = "10";

interface FormProps {
  project: Id;
  completed: () => void;
}

export function BudgetForm({ project, completed }: FormProps) {
  const [text, setText] = useState(SUGGESTED_BUDGET);
  const id = useId();
  const amount = Number(text);
  return (
    <form
      className="row wrap"
      onSubmit={(event) => {
        event.preventDefault();
        void write(path`/projects/${project}/config`, { budgetUsd: amount }).then((saved) => saved && completed());
      }}
    >
      <label htmlFor={id}>Limit in USD</label>
      <input id={id} className="input setup-number" type="number" min="0" step="any" value={text} onChange={(event) => setText(event.target.value)} />
      <Button type="submit" disabled={!(amount > 0)}>
        Set limit
      </Button>
    </form>
  );
}

export function ChecksForm({ project, detected, completed }: FormProps & { detected: readonly string[] }) {
  const [text, setText] = useState(detected.join("\n"));
  const id = useId();
  const checks = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void write(path`/projects/${project}/config`, { checks }).then((saved) => saved && completed());
      }}
    >
      <label htmlFor={id}>{detected.length > 0 ? "Detected commands, one per line" : "Commands, one per line"}</label>
      <textarea id={id} className="textarea mono setup-lines" rows={Math.max(2, detected.length)} placeholder="make test" value={text} onChange={(event) => setText(event.target.value)} />
      <div className="row">
        <Button type="submit" disabled={checks.length === 0}>
          Use these checks
        </Button>
      </div>
    </form>
  );
}
