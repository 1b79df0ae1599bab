// The script that prepares a worktree: use the detected one, edit it first, or declare that nothing is needed.
import { useId, useState } from "react";
import { api, path } from "../api/client.ts";
import type { Id } from "../api/types.ts";
import { Button, ErrorNotice } from "../design/controls.tsx";

interface HookFormProps {
  project: Id;
  example: string;
  completed: () => void;
}

export function HookForm({ project, example, completed }: HookFormProps) {
  const [text, setText] = useState<string | undefined>();
  const [error, setError] = useState<unknown>();
  const id = useId();
  const send = async (body: { choice: "example" | "nothing" } | { choice: "text"; text: string }): Promise<void> => {
    setError(undefined);
    try {
      await api.post(path`/projects/${project}/setup-hook`, body);
      completed();
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <>
      {text === undefined ? (
        <pre className="panel-pre setup-script" tabIndex={0} aria-label="Detected script">
          {example}
        </pre>
      ) : (
        <>
          <label className="sr-only" htmlFor={id}>
            Script
          </label>
          <textarea id={id} className="textarea mono" rows={Math.min(16, text.split("\n").length + 1)} value={text} autoFocus spellCheck={false} onChange={(event) => setText(event.target.value)} />
        </>
      )}
      {error !== undefined && <ErrorNotice error={error} />}
      {text === undefined ? (
        <div className="row wrap">
          <Button look="primary" onClick={() => void send({ choice: "example" })}>
            Use this script
          </Button>
          <Button onClick={() => setText(example)}>Edit it first</Button>
          <Button onClick={() => void send({ choice: "nothing" })}>Nothing to set up</Button>
        </div>
      ) : (
        <div className="row wrap">
          <Button look="primary" disabled={text.trim() === ""} onClick={() => void send({ choice: "text", text })}>
            Save and commit
          </Button>
          <Button onClick={() => setText(undefined)}>Cancel</Button>
        </div>
      )}
    </>
  );
}
