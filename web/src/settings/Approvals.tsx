// Which calls run, which ask and which are denied: rules by name, and what holds when none fits.
import type { ConfigAll, Id } from "../api/types.ts";
import { Button } from "../design/controls.tsx";
import { openDialog } from "../shell/dialogs.tsx";
import { LAYER_NAMES, type Layer, type Setting, valueAt } from "./keys.ts";
import { RulesDialog } from "./RulesDialog.tsx";
import { SettingRow } from "./SettingRow.tsx";

interface Rule {
  name?: string;
  tool?: string;
  effect?: string;
  args?: readonly unknown[];
  ruling?: string;
}

const FALLBACK: Setting = { path: "approvals.fallback", name: "When no rule fits", says: "By what the tool does (read, write, network, shell, chain), as JSON: allow, ask or deny.", kind: "json", repo: false };

export function Approvals({ project, config, changed }: { project: Id; config: ConfigAll; changed: () => void }) {
  return (
    <>
      {(["global", "repo", "local"] as const).map((layer) => (
        <Rules key={layer} project={project} layer={layer} config={config} changed={changed} />
      ))}
      <section className="panel">
        <h2>Otherwise</h2>
        <SettingRow project={project} setting={FALLBACK} config={config} changed={changed} />
      </section>
    </>
  );
}

function Rules({ project, layer, config, changed }: { project: Id; layer: Layer; config: ConfigAll; changed: () => void }) {
  const rules = (valueAt(config[layer], "approvals.rules") ?? []) as readonly Rule[];
  return (
    <section className="panel">
      <div className="row">
        <h2 className="grow">{LAYER_NAMES[layer]}</h2>
        <Button size="small" icon="pencil" onClick={() => openDialog((close) => <RulesDialog project={project} layer={layer} rules={rules} close={close} changed={changed} />)}>
          Edit rules
        </Button>
      </div>
      {layer === "repo" && <p className="muted">A repository can only add rules that deny.</p>}
      {rules.length === 0 && <p className="muted">No rules.</p>}
      <ul className="plain-list">
        {rules.map((rule, index) => (
          <li key={index} className="setting">
            <span className={`chip ${rule.ruling === "deny" ? "is-red" : rule.ruling === "ask" ? "is-amber" : "is-accent"}`}>{rule.ruling ?? "?"}</span>
            <span className="grow">
              <span className="strong">{rule.name}</span>
              <span className="mono small breakable block">
                {rule.tool ?? rule.effect ?? "any tool"} {rule.args === undefined ? "" : JSON.stringify(rule.args)}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
