// Credentials of models. A secret can be written and replaced, and is never shown.
import { useState } from "react";
import type { ConfigAll } from "../api/types.ts";
import { Button, Dialog, Field } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { confirm, openDialog } from "../shell/dialogs.tsx";
import { patchOf, valueAt } from "./keys.ts";
import { write } from "./write.ts";

type Group = Readonly<Record<string, unknown>>;

const SECRETS = ["anthropicApiKey", "openaiApiKey", "proxy"] as const;

export function AuthGroups({ config, changed }: { config: ConfigAll; changed: () => void }) {
  const groups = (valueAt(config.global, "authGroups") ?? {}) as Readonly<Record<string, Group>>;
  const edit = (name: string | undefined): void => openDialog((close) => <EditGroup name={name} group={name === undefined ? {} : (groups[name] ?? {})} close={close} changed={changed} />);
  const remove = async (name: string): Promise<void> => {
    const yes = await confirm({ title: `Remove the credentials “${name}”?`, says: "Agents that use them cannot ask their model any more.", does: ["The key is removed from this machine's configuration."], leaves: ["The key itself stays valid: revoke it where you made it."], action: "Remove", danger: true });
    if (yes && (await write("/config/global", patchOf(`authGroups.${name}`, null)))) changed();
  };
  return (
    <section className="panel">
      <div className="row">
        <h2 className="grow">Credentials</h2>
        <Button icon="plus" onClick={() => edit(undefined)}>
          Add
        </Button>
      </div>
      <p className="muted">Kept in your own configuration, never in a repository, and never shown again.</p>
      {Object.entries(groups).map(([name, group]) => (
        <div key={name} className="setting">
          <Icon name="key" />
          <div className="grow">
            <div className="strong">{name}</div>
            <div className="field-note">
              {String(group["provider"] ?? "")} {typeof group["openaiBaseUrl"] === "string" && group["openaiBaseUrl"]}
              {typeof group["anthropicBaseUrl"] === "string" && group["anthropicBaseUrl"]}
            </div>
          </div>
          <span className={`chip ${hasSecret(group) ? "is-accent" : "is-amber"}`}>{hasSecret(group) ? "key is set" : "no key"}</span>
          <Button size="small" onClick={() => edit(name)}>
            Change
          </Button>
          <Button size="small" look="danger" onClick={() => void remove(name)}>
            Remove
          </Button>
        </div>
      ))}
      {Object.keys(groups).length === 0 && <p className="notice is-attention">No credentials yet: agents cannot ask a model. Add one to begin.</p>}
    </section>
  );
}

function hasSecret(group: Group): boolean {
  return SECRETS.some((key) => key !== "proxy" && group[key] !== undefined && group[key] !== null);
}

function EditGroup({ name, group, close, changed }: { name: string | undefined; group: Group; close: () => void; changed: () => void }) {
  const [title, setTitle] = useState(name ?? "");
  const [provider, setProvider] = useState(String(group["provider"] ?? "anthropic"));
  const [secret, setSecret] = useState("");
  const urlKey = provider === "anthropic" ? "anthropicBaseUrl" : "openaiBaseUrl";
  const [url, setUrl] = useState(String(group["anthropicBaseUrl"] ?? group["openaiBaseUrl"] ?? ""));
  const save = async (): Promise<void> => {
    const secretKey = provider === "anthropic" ? "anthropicApiKey" : "openaiApiKey";
    const value = { provider, ...(secret === "" ? {} : { [secretKey]: secret }), ...(url.trim() === "" ? {} : { [urlKey]: url.trim() }) };
    if (await write("/config/global", { authGroups: { [title.trim()]: value } })) {
      changed();
      close();
    }
  };
  return (
    <Dialog title={name === undefined ? "New credentials" : `Credentials “${name}”`} onClose={close}>
      <form
        className="stack"
        autoComplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {name === undefined && (
          <Field label="Name">{(id) => <input id={id} className="input" value={title} autoFocus required pattern="[A-Za-z0-9_\-]+" onChange={(event) => setTitle(event.target.value)} />}</Field>
        )}
        <Field label="Provider">
          {(id) => (
            <select id={id} className="select" value={provider} onChange={(event) => setProvider(event.target.value)}>
              <option value="anthropic">Anthropic</option>
              <option value="openai">OpenAI or compatible</option>
            </select>
          )}
        </Field>
        <Field label="Key" note={hasSecret(group) ? "One is set. Write another to replace it; leave this empty to keep it." : "A key, or $env:NAME to take it from the daemon's environment."}>
          {(id) => <input id={id} className="input" type="password" autoComplete="new-password" value={secret} onChange={(event) => setSecret(event.target.value)} />}
        </Field>
        <Field label="Address" note="Empty for the provider's own.">
          {(id) => <input id={id} className="input" type="url" value={url} onChange={(event) => setUrl(event.target.value)} />}
        </Field>
        <div className="dialog-foot">
          <Button onClick={close}>Cancel</Button>
          <Button look="primary" type="submit" disabled={title.trim() === ""}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
