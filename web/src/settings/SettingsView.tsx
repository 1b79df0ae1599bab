// Settings: general ones, models and credentials, tool servers, approvals, and who is logged in.
import { api, path } from "../api/client.ts";
import type { ConfigAll, Id } from "../api/types.ts";
import { Button, ErrorNotice, Spinner } from "../design/controls.tsx";
import { confirm } from "../shell/dialogs.tsx";
import { Link } from "../shell/Link.tsx";
import { PAGES, type SettingsPage } from "../shell/route.ts";
import { go } from "../shell/router.ts";
import { attempt } from "../shell/toasts.tsx";
import { SetupSteps, useReadiness } from "../setup/SetupSteps.tsx";
import { type Asked, useAsk } from "../shell/useAsk.ts";
import { intoView } from "../task/TaskPane.tsx";
import { Approvals } from "./Approvals.tsx";
import { AuthGroups } from "./AuthGroups.tsx";
import { GENERAL, MODELS } from "./keys.ts";
import { Servers } from "./Servers.tsx";
import { Sessions } from "./Sessions.tsx";
import { SettingRow } from "./SettingRow.tsx";

const NAMES: Readonly<Record<SettingsPage, string>> = { general: "General", setup: "Set-up", models: "Models and credentials", servers: "Tool servers", approvals: "Approvals", sessions: "Logins" };

export function SettingsView({ project, page }: { project: Id; page: SettingsPage }) {
  const config = useAsk<ConfigAll>(path`/projects/${project}/config/all`);
  return (
    <div className="view-scroll" tabIndex={0} role="region" aria-label="Settings">
      <div className="view-page is-wide">
        <header className="view-head">
          <h1>Settings</h1>
        </header>
        <nav className="tabs" aria-label="Settings">
          {PAGES.map((one) => (
            <Link key={one} className="tab" ref={one === page ? intoView : undefined} to={{ view: "settings", project, page: one }} aria-current={one === page ? "page" : undefined}>
              {NAMES[one]}
            </Link>
          ))}
        </nav>
        {config.error !== undefined && <ErrorNotice error={config.error} />}
        {config.value === undefined && config.error === undefined && <Spinner label="Loading" />}
        {config.value?.problem !== undefined && <ErrorNotice error={new Error(config.value.problem)} />}
        {config.value !== undefined && <Page project={project} page={page} config={config.value} asked={config} />}
      </div>
    </div>
  );
}

function Page({ project, page, config, asked }: { project: Id; page: SettingsPage; config: ConfigAll; asked: Asked<ConfigAll> }) {
  switch (page) {
    case "general":
      return (
        <>
          {GENERAL.map((group) => (
            <section key={group.title} className="panel">
              <h2>{group.title}</h2>
              {group.settings.map((setting) => (
                <SettingRow key={setting.path} project={project} setting={setting} config={config} changed={asked.again} />
              ))}
            </section>
          ))}
          <Danger project={project} />
        </>
      );
    case "setup":
      return <Setup project={project} />;
    case "models":
      return (
        <>
          <section className="panel">
            <h2>Models</h2>
            {MODELS.map((setting) => (
              <SettingRow key={setting.path} project={project} setting={setting} config={config} changed={asked.again} />
            ))}
          </section>
          <AuthGroups config={config} changed={asked.again} />
        </>
      );
    case "servers":
      return <Servers project={project} />;
    case "approvals":
      return <Approvals project={project} config={config} changed={asked.again} />;
    case "sessions":
      return <Sessions />;
  }
}

function Setup({ project }: { project: Id }) {
  const readiness = useReadiness(project);
  return (
    <section className="panel">
      <h2>Set-up</h2>
      <SetupSteps project={project} readiness={readiness} />
    </section>
  );
}

function Danger({ project }: { project: Id }) {
  const restart = async (): Promise<void> => {
    const yes = await confirm({
      title: "Restart the daemon?",
      says: "It stops and starts again; this page reconnects by itself.",
      does: ["Turns that run are asked again from their beginning.", "Commands in the background end."],
      leaves: ["Nothing that was acknowledged is lost.", "Agents go on where they were."],
      action: "Restart",
    });
    if (yes) await attempt(api.post("/restart-daemon"), "The daemon restarts.");
  };
  const clear = async (): Promise<void> => {
    const yes = await confirm({
      title: "Clear all conversations?",
      says: "Every agent of this project forgets everything that was said. This cannot be taken back.",
      does: ["All conversations and inboxes are thrown away."],
      leaves: ["The tree, files, branches and costs stay."],
      action: "Clear all",
      danger: true,
    });
    if (yes) await attempt(api.post(path`/projects/${project}/sessions/clear`), "All conversations are empty.");
  };
  const remove = async (): Promise<void> => {
    const yes = await confirm({
      title: "Remove this project from the list?",
      says: "mxd stops working on it.",
      does: ["Its agents are stopped."],
      leaves: ["Your repository is not touched.", "Its log and its worktrees stay on disk; adding the folder again brings them back."],
      action: "Remove",
      danger: true,
    });
    if (yes && (await attempt(api.delete(path`/projects/${project}`), "The project was removed; its data is still on disk."))) go({ view: "projects" });
  };
  return (
    <section className="panel">
      <h2>Danger zone</h2>
      <div className="row wrap">
        <Button onClick={() => void restart()}>Restart the daemon…</Button>
        <Button look="danger" onClick={() => void clear()}>
          Clear all conversations…
        </Button>
        <Button look="danger" onClick={() => void remove()}>
          Remove the project…
        </Button>
      </div>
    </section>
  );
}
