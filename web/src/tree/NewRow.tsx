// Writing down a new task without leaving the tree.
import { useState } from "react";
import type { Id } from "../api/types.ts";
import { Button } from "../design/controls.tsx";
import { go } from "../shell/router.ts";
import { store, useShown } from "../state/store.ts";
import { create } from "../task/actions.ts";

interface NewRowProps {
  parent: Id;
  kind: "task" | "folder";
  onDone: () => void;
}

export function NewRow({ parent, kind, onDone }: NewRowProps) {
  const [title, setTitle] = useState("");
  const [draft, setDraft] = useState(false);
  const above = useShown((shown) => shown.tasks[parent]?.title ?? "the root");
  const submit = async (): Promise<void> => {
    const text = title.trim();
    if (text === "") return onDone();
    const made = await create({ title: text, kind, ...(parent === "" ? {} : { parentId: parent }), ...(draft ? { draft } : {}) });
    if (made === undefined) return;
    onDone();
    const project = store.get().projectId;
    if (project !== undefined && kind === "task") go({ view: "task", project, task: made.id, tab: "chat" });
  };
  return (
    <form
      className="new-row"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onKeyDown={(event) => event.key === "Escape" && onDone()}
    >
      <label htmlFor="new-title" className="field-note">
        New {kind} in {above}
      </label>
      <input id="new-title" className="input" value={title} placeholder={kind === "task" ? "What is to be done" : "Name of the folder"} autoFocus onChange={(event) => setTitle(event.target.value)} />
      <div className="row">
        {kind === "task" && (
          <label className="row check">
            <input type="checkbox" checked={draft} onChange={(event) => setDraft(event.target.checked)} />
            Draft
          </label>
        )}
        <span className="grow" />
        <Button size="small" onClick={onDone}>
          Cancel
        </Button>
        <Button size="small" look="primary" type="submit">
          Create
        </Button>
      </div>
    </form>
  );
}
