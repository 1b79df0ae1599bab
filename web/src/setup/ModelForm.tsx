// The first model provider: a key that the daemon already has, or one that the user enters.
import { useState } from "react";
import type * as S from "../api/schema.ts";
import type { Id } from "../api/types.ts";
import { Button, Field } from "../design/controls.tsx";
import { Link } from "../shell/Link.tsx";
import { useAsk } from "../shell/useAsk.ts";
import { write } from "../settings/write.ts";

type ProviderName = "anthropic" | "openai";

const PROVIDERS: Readonly<Record<ProviderName, string>> = { anthropic: "Anthropic", openai: "OpenAI or compatible" };

interface ModelFormProps {
  project: Id;
  foundKeys: readonly S.FoundKeyView[];
  nextStep: string | null | undefined;
  completed: () => void;
}

async function save(provider: string, key: string, address: string): Promise<boolean> {
  const group = { provider, [`${provider}ApiKey`]: key, ...(address === "" ? {} : { [`${provider}BaseUrl`]: address }) };
  return write("/config/global", { authGroups: { main: group }, defaultAuth: "main" });
}

export function ModelForm({ project, foundKeys, nextStep, completed }: ModelFormProps) {
  const config = useAsk<{ authGroups?: Record<string, unknown> }>("/config/global");
  const [entering, setEntering] = useState(foundKeys.length === 0);
  if (config.value === undefined) return null;
  // A provider that is configured and does not work is repaired in the settings, not replaced by a second one.
  if (Object.keys(config.value.authGroups ?? {}).length > 0) {
    return (
      <>
        <p>{nextStep}</p>
        <div className="row">
          <Link className="button" to={{ view: "settings", project, page: "models" }}>
            Open model settings
          </Link>
        </div>
      </>
    );
  }
  return (
    <>
      {foundKeys.length > 0 && (
        <div className="row wrap">
          {foundKeys.map(({ provider, variable }) => (
            <Button key={variable} look="primary" icon="key" onClick={() => void save(provider, `$env:${variable}`, "").then((saved) => saved && completed())}>
              Use {variable}
            </Button>
          ))}
          {!entering && <Button onClick={() => setEntering(true)}>Enter another key</Button>}
        </div>
      )}
      {entering && <KeyForm completed={completed} />}
    </>
  );
}

function KeyForm({ completed }: { completed: () => void }) {
  const [provider, setProvider] = useState<ProviderName>("anthropic");
  const [key, setKey] = useState("");
  const [address, setAddress] = useState("");
  return (
    <form
      className="setup-form"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        void save(provider, key.trim(), address.trim()).then((saved) => saved && completed());
      }}
    >
      <Field label="Provider">
        {(id) => (
          <select id={id} className="select" value={provider} onChange={(event) => setProvider(event.target.value as ProviderName)}>
            {Object.entries(PROVIDERS).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="API key">{(id) => <input id={id} className="input" type="password" autoComplete="new-password" placeholder="Key, or $env:NAME" value={key} onChange={(event) => setKey(event.target.value)} />}</Field>
      <Field label="Base URL (optional)">{(id) => <input id={id} className="input" type="url" placeholder="The provider's own" value={address} onChange={(event) => setAddress(event.target.value)} />}</Field>
      <Button look="primary" type="submit" disabled={key.trim() === ""}>
        Save key
      </Button>
    </form>
  );
}
