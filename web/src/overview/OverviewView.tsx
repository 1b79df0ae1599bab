// The landing view of a project: its set-up while something is missing, what needs you, the timeline, and the next task.
import type { Id } from "../api/types.ts";
import { Spinner } from "../design/controls.tsx";
import { SetupSteps, useReadiness } from "../setup/SetupSteps.tsx";
import { useShown } from "../state/store.ts";
import { NeedsPanel } from "./NeedsPanel.tsx";
import { TimelinePanel } from "./TimelinePanel.tsx";
import { NewTask } from "../task/NewTask.tsx";

export function OverviewView({ project }: { project: Id }) {
  const rootId = useShown((shown) => shown.rootId);
  const title = useShown((shown) => (shown.rootId === undefined ? undefined : shown.tasks[shown.rootId]?.title));
  const isNew = useShown((shown) => Object.keys(shown.tasks).length <= 1);
  const readiness = useReadiness(project);
  if (rootId === undefined) return <div className="empty"><Spinner label="Opening the project" /></div>;
  // Unknown is not "no": whoever cannot ask about the set-up can still try to start a task, and is told why it fails.
  const ready = readiness.value?.ready ?? true;
  return (
    <div className="view-scroll" tabIndex={0} role="region" aria-label="Overview">
      <div className="view-page is-wide overview">
        <header className="view-head">
          <h1>{title}</h1>
        </header>
        {(isNew || !ready) && (
          <section className="panel" aria-labelledby="setup-title">
            <h2 id="setup-title">{ready ? "Ready for the first task" : "Set up this project"}</h2>
            <SetupSteps project={project} readiness={readiness} />
          </section>
        )}
        {!isNew && <NeedsPanel project={project} />}
        {!isNew && <TimelinePanel project={project} />}
        <NewTask project={project} canStart={ready} />
      </div>
    </div>
  );
}
