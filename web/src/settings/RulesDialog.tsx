// Editing the approval rules of one layer as the JSON they are.
import { useState } from "react";
import type { Id } from "../api/types.ts";
import { Button, Dialog, Field } from "../design/controls.tsx";
import { LAYER_NAMES, type Layer } from "./keys.ts";
import { layerPath, write } from "./write.ts";

interface RulesDialogProps {
  project: Id;
  layer: Layer;
  rules: readonly unknown[];
  close: () => void;
  changed: () => void;
}

export function RulesDialog({ project, layer, rules, close, changed }: RulesDialogProps) {
  const [text, setText] = useState(() => JSON.stringify(rules, null, 2));
  const [problem, setProblem] = useState<string | undefined>();
  const save = async (): Promise<void> => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      return setProblem(error instanceof Error ? error.message : "That is no JSON.");
    }
    if (!Array.isArray(value)) return setProblem("Rules are a list: begin with [ and end with ].");
    if (await write(layerPath(project, layer), { approvals: { rules: value } })) {
      changed();
      close();
    }
  };
  return (
    <Dialog title={`Rules: ${LAYER_NAMES[layer]}`} onClose={close}>
      <Field label="Rules, the most specific one that fits decides" note={problem ?? 'Each with "name", perhaps "tool", "effect" or "args", and "ruling": allow, ask or deny.'}>
        {(id) => <textarea id={id} className="textarea mono" rows={14} value={text} autoFocus spellCheck={false} onChange={(event) => setText(event.target.value)} />}
      </Field>
      <div className="dialog-foot">
        <Button onClick={close}>Cancel</Button>
        <Button look="primary" onClick={() => void save()}>
          Save
        </Button>
      </div>
    </Dialog>
  );
}
