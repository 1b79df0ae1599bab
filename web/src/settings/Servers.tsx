// Tool servers: how they stand, what they offer, and what has changed since it was accepted.
import { api, path } from "../api/client.ts";
import type { Id, ServerView } from "../api/types.ts";
import { Button, ErrorNotice, Spinner } from "../design/controls.tsx";
import { confirm } from "../shell/dialogs.tsx";
import { attempt } from "../shell/toasts.tsx";
import { useAsk } from "../shell/useAsk.ts";
import { many } from "../text/format.ts";

const GOOD = new Set(["ready", "running", "connected", "ok"]);

export function Servers({ project }: { project: Id }) {
  const asked = useAsk<{ servers: ServerView[] }>(path`/projects/${project}/servers`);
  const accept = async (server: ServerView): Promise<void> => {
    const yes = await confirm({
      title: `Accept what “${server.alias}” offers now?`,
      says: "Agents will read these descriptions and may call these tools.",
      does: ["Its tools are pinned as they are now.", "The server is used again."],
      leaves: ["Other servers stay as they are."],
      action: "Accept",
    });
    if (yes && (await attempt(api.post(path`/projects/${project}/servers/${server.alias}/accept`)))) asked.again();
  };
  if (asked.value === undefined) return asked.error === undefined ? <Spinner label="Asking the servers" /> : <ErrorNotice error={asked.error} />;
  return (
    <>
      {asked.value.servers.map((server) => (
        <Server key={server.alias} server={server} accept={() => void accept(server)} />
      ))}
      {asked.value.servers.length === 0 && (
        <div className="empty">
          <strong>No tool servers</strong>
          <span>Agents have the built-in tools. Servers are added in the manifest or in the configuration.</span>
        </div>
      )}
    </>
  );
}

function Server({ server, accept }: { server: ServerView; accept: () => void }) {
  const tone = GOOD.has(server.status) ? "is-accent" : server.drift !== undefined ? "is-amber" : "is-red";
  return (
    <section className="panel">
      <div className="row wrap">
        <h2>{server.alias}</h2>
        <span className={`chip ${tone}`}>{server.status}</span>
        <span className="muted">
          {server.transport} · {many(server.tools.length, "tool")}
        </span>
        <span className="grow" />
        {server.drift !== undefined && <Button onClick={accept}>Accept…</Button>}
      </div>
      {server.problem !== undefined && <p>{server.problem}</p>}
      {server.drift !== undefined && <Drift drift={server.drift} />}
      {server.tools.length > 0 && (
        <div className="table-scroll" tabIndex={0} role="region" aria-label={`Tools of ${server.alias}`}>
          <table className="table">
            <thead>
              <tr>
                <th>Tool</th>
                <th>Class</th>
                <th>What it says</th>
                <th>Digest</th>
              </tr>
            </thead>
            <tbody>
              {server.tools.map((tool) => (
                <tr key={tool.name}>
                  <td className="mono nowrap">{tool.name}</td>
                  <td>{tool.class}</td>
                  <td className="server-says">{tool.description}</td>
                  <td className="mono muted">{tool.digest.replace("sha256:", "").slice(0, 12)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

interface Changed {
  tool?: string;
  path?: string;
  accepted?: unknown;
  offered?: unknown;
}

/** What was accepted beside what is offered; a form that the page does not know is shown as it is. */
function Drift({ drift }: { drift: unknown }) {
  const changed = (drift as { changed?: unknown } | null)?.changed;
  if (!Array.isArray(changed)) return <pre className="plain-text panel-pre" tabIndex={0}>{JSON.stringify(drift, null, 2)}</pre>;
  return (
    <div className="stack">
      {(changed as Changed[]).map((one, index) => (
        <div key={index} className="drift">
          <div className="strong mono">
            {one.tool} {one.path !== undefined && <span className="muted">{one.path}</span>}
          </div>
          <div className="patch-line is-removed">
            <span className="patch-mark" aria-label="accepted">−</span>
            <span className="patch-text">{asText(one.accepted)}</span>
          </div>
          <div className="patch-line is-added">
            <span className="patch-mark" aria-label="offered now">+</span>
            <span className="patch-text">{asText(one.offered)}</span>
          </div>
        </div>
      ))}
    </div>
  );
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
