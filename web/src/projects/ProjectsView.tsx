// All projects of the daemon: open one, add one, or say where a folder went.
import { useState } from "react";
import { api, path } from "../api/client.ts";
import type { ProjectView } from "../api/types.ts";
import { Button, ErrorNotice, Field, Spinner } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { prompt } from "../shell/dialogs.tsx";
import { Link } from "../shell/Link.tsx";
import { go } from "../shell/router.ts";
import { attempt, say } from "../shell/toasts.tsx";
import type { Asked } from "../shell/useAsk.ts";
import { many, usd } from "../text/format.ts";

export function ProjectsView({ projects }: { projects: Asked<{ projects: ProjectView[] }> }) {
  const list = projects.value?.projects;
  return (
    <div className="view-scroll" tabIndex={0} role="region" aria-label="Projects">
      <div className="view-page">
        <header className="view-head">
          <h1>Projects</h1>
        </header>
        {projects.error !== undefined && <ErrorNotice error={projects.error} />}
        {list === undefined && projects.error === undefined && <Spinner label="Loading projects" />}
        {list?.length === 0 && <p className="muted">No projects yet. Add the folder of a git repository: agents work on copies of it, never in the folder itself.</p>}
        <ul className="projects plain-list">
          {list?.map((project) => (
            <li key={project.id}>
              <Project project={project} changed={projects.again} />
            </li>
          ))}
        </ul>
        {list !== undefined && <Add first={list.length === 0} changed={projects.again} />}
      </div>
    </div>
  );
}

function Project({ project, changed }: { project: ProjectView; changed: () => void }) {
  const missing = !project.pathExists;
  const total = Object.values(project.counts).reduce((sum, number) => sum + number, 0);
  const relocate = async (): Promise<void> => {
    const to = await prompt({ title: `Where is ${project.name} now?`, label: "Absolute path", initial: project.path, action: "Relocate" });
    if (to !== undefined && (await attempt(api.patch(path`/projects/${project.id}`, { path: to })))) changed();
  };
  return (
    <article className="project" aria-label={project.name}>
      <div className="grow">
        <h2>{project.state === "open" && !missing ? <Link to={{ view: "overview", project: project.id }}>{project.name}</Link> : project.name}</h2>
        <div className="muted mono breakable small">{project.path}</div>
        {project.problem !== undefined && (
          <p className="row">
            <Icon name="warning" /> {project.problem}
          </p>
        )}
      </div>
      <div className="row wrap project-facts">
        {project.needs > 0 && <span className="chip is-amber">{many(project.needs, "needs you", "need you")}</span>}
        {project.running > 0 && <span className="chip is-accent">{project.running} at work</span>}
        <span className="chip num">{many(total, "task")}</span>
        {project.costUsd > 0 && <span className="chip num">{usd(project.costUsd)}</span>}
        {missing && (
          <Button size="small" onClick={() => void relocate()}>
            Relocate…
          </Button>
        )}
      </div>
    </article>
  );
}

function Add({ first, changed }: { first: boolean; changed: () => void }) {
  const [folder, setFolder] = useState("");
  const [init, setInit] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (): Promise<void> => {
    setError(undefined);
    try {
      const project = await api.post<ProjectView>("/projects", { path: folder.trim(), ...(init ? { init } : {}) });
      changed();
      setFolder("");
      go({ view: "overview", project: project.id });
      // What is missing stands in the set-up steps, which are shown next; the rest is worth a line.
      for (const note of project.notes ?? []) say(note);
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <form
      className="panel stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h2>Add a project</h2>
      <Field label="Folder" note="Absolute path of a git repository on the machine that runs the daemon.">
        {(id) => <input id={id} className="input mono" value={folder} placeholder="/home/me/code/thing" autoFocus={first} onChange={(event) => setFolder(event.target.value)} />}
      </Field>
      <label className="row check">
        <input type="checkbox" checked={init} onChange={(event) => setInit(event.target.checked)} />
        Create the folder and the repository if they do not exist
      </label>
      {error !== undefined && <ErrorNotice error={error} />}
      <div className="row">
        <Button look="primary" type="submit" icon="plus" disabled={folder.trim() === ""}>
          Add
        </Button>
      </div>
    </form>
  );
}
