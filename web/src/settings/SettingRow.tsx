// One setting: what holds, where it comes from, and a place to change it in one of the three layers.
import { useState } from "react";
import type { ConfigAll, Id } from "../api/types.ts";
import { Button, Dialog, Field, IconButton } from "../design/controls.tsx";
import { openDialog } from "../shell/dialogs.tsx";
import { LAYER_NAMES, type Layer, ORIGIN_NAMES, type Setting, originOf, patchOf, readValue, showValue, valueAt } from "./keys.ts";
import { layerPath, write } from "./write.ts";

interface SettingRowProps {
  project: Id;
  setting: Setting;
  config: ConfigAll;
  changed: () => void;
}

export function SettingRow({ project, setting, config, changed }: SettingRowProps) {
  const value = config.resolved[setting.path];
  const origin = value === undefined ? "default" : originOf(config.origins, setting.path);
  const edit = (): void => openDialog((close) => <Edit project={project} setting={setting} config={config} close={close} changed={changed} />);
  return (
    <div className="setting">
      <div className="grow">
        <div className="strong">{setting.name}</div>
        <div className="field-note">{setting.says}</div>
      </div>
      <div className={`setting-value mono ${value === undefined ? "muted" : ""}`}>{showValue(value, setting.unit)}</div>
      <span className={`chip ${origin === "default" ? "" : "is-accent"}`} title="Where this value comes from">
        {ORIGIN_NAMES[origin] ?? origin}
      </span>
      <IconButton icon="pencil" label={`Change ${setting.name}`} onClick={edit} />
    </div>
  );
}

interface EditProps extends SettingRowProps {
  close: () => void;
}

function Edit({ project, setting, config, close, changed }: EditProps) {
  const layers: Layer[] = setting.repo ? ["global", "repo", "local"] : ["global", "local"];
  const says = (layer: Layer): unknown => valueAt(config[layer], setting.path);
  const [layer, setLayer] = useState<Layer>(() => layers.findLast((one) => says(one) !== undefined) ?? "global");
  const [text, setText] = useState(() => asText(says(layer) ?? config.resolved[setting.path]));
  const [problem, setProblem] = useState<string | undefined>();
  const put = async (value: unknown): Promise<void> => {
    if (!(await write(layerPath(project, layer), patchOf(setting.path, value)))) return;
    changed();
    close();
  };
  const save = (): void => {
    const read = readValue(setting, text);
    if ("problem" in read) setProblem(read.problem);
    else void put(read.value);
  };
  return (
    <Dialog title={setting.name} onClose={close}>
      <p className="muted">{setting.says}</p>
      <Field label="Where" note={setting.repo ? "The one nearest to the project wins." : "A repository may not say this."}>
        {(id) => (
          <select id={id} className="select" value={layer} onChange={(event) => { const next = event.target.value as Layer; setLayer(next); setText(asText(says(next) ?? config.resolved[setting.path])); }}>
            {layers.map((one) => (
              <option key={one} value={one}>
                {LAYER_NAMES[one]}
                {says(one) === undefined ? "" : " (says something)"}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Value" note={problem}>
        {(id) => <Input id={id} setting={setting} text={text} setText={setText} />}
      </Field>
      <div className="dialog-foot">
        {says(layer) !== undefined && <Button onClick={() => void put(null)}>Inherit</Button>}
        <Button onClick={close}>Cancel</Button>
        <Button look="primary" onClick={save}>
          Save
        </Button>
      </div>
    </Dialog>
  );
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.every((one) => typeof one === "string") ? value.join("\n") : JSON.stringify(value, null, 2);
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

function Input({ id, setting, text, setText }: { id: string; setting: Setting; text: string; setText: (text: string) => void }) {
  if (setting.kind === "choice") {
    return (
      <select id={id} className="select" value={text} onChange={(event) => setText(event.target.value)}>
        <option value="">not set</option>
        {setting.choices?.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  }
  if (setting.kind === "list" || setting.kind === "json") {
    return <textarea id={id} className="textarea mono" rows={setting.kind === "json" ? 12 : 5} value={text} autoFocus onChange={(event) => setText(event.target.value)} />;
  }
  return <input id={id} className="input" type={setting.kind === "number" ? "number" : "text"} step="any" value={text} autoFocus onChange={(event) => setText(event.target.value)} />;
}
