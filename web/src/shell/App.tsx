// The whole page: who is there, which project is open, and which view the address names.
import { useCallback, useEffect, useMemo, useState } from "react";
import { ApiError, api, whenUnauthenticated } from "../api/client.ts";
import type { Id, ProjectView } from "../api/types.ts";
import { Button, ErrorNotice, Spinner } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { Login } from "../login/Login.tsx";
import { redeem, takeTicket } from "../login/ticket.ts";
import { MoneyView } from "../money/MoneyView.tsx";
import { NeedsView } from "../needs/NeedsView.tsx";
import { OverviewView } from "../overview/OverviewView.tsx";
import { ProjectsView } from "../projects/ProjectsView.tsx";
import { SettingsView } from "../settings/SettingsView.tsx";
import { find, needCount } from "../state/select.ts";
import { store, useShown } from "../state/store.ts";
import { TaskPane } from "../task/TaskPane.tsx";
import { Tree } from "../tree/Tree.tsx";
import { DialogHost } from "./dialogs.tsx";
import { Header } from "./Header.tsx";
import { Help } from "./Help.tsx";
import { Link } from "./Link.tsx";
import { Palette } from "./Palette.tsx";
import { type Route, TABS, TAB_NAMES, VIEW_NAMES } from "./route.ts";
import { go, useRoute } from "./router.ts";
import { Sidebar } from "./Sidebar.tsx";
import { Toasts, complain } from "./toasts.tsx";
import { useAsk } from "./useAsk.ts";
import { useKeys } from "./keys.ts";

const NO_PROJECTS: readonly ProjectView[] = [];

type Who = "asking" | "nobody" | "somebody";

export function App() {
  const [who, setWho] = useState<Who>("asking");
  const [error, setError] = useState<unknown>();
  const [spent, setSpent] = useState(false);
  const ask = useCallback(async () => {
    setError(undefined);
    const ticket = takeTicket();
    // A ticket that is not good any more is no error of whoever opens the page: the login says so, and how else.
    if (ticket !== undefined) await redeem(ticket).catch((reason: unknown) => (reason instanceof ApiError && reason.status === 401 ? setSpent(true) : complain(reason)));
    await api.get<{ enabled: boolean; authenticated: boolean }>("/auth/status").then((status) => setWho(status.authenticated || !status.enabled ? "somebody" : "nobody"), setError);
  }, []);
  useEffect(() => {
    whenUnauthenticated(() => setWho("nobody"));
    void ask();
    // A log-in link that is pasted into this tab changes the fragment alone.
    window.addEventListener("hashchange", ask);
    return () => window.removeEventListener("hashchange", ask);
  }, [ask]);
  const expired = useShown((shown) => shown.connection === "expired");
  useEffect(() => {
    if (expired) setWho("nobody");
  }, [expired]);
  useEffect(() => {
    if (who === "nobody") store.close();
  }, [who]);
  if (error !== undefined) {
    return (
      <main className="login">
        <div className="login-card">
          <ErrorNotice error={error}>
            <Button size="small" onClick={() => void ask()}>
              Try again
            </Button>
          </ErrorNotice>
        </div>
      </main>
    );
  }
  if (who === "asking") return <div className="empty"><Spinner label="Connecting" /></div>;
  return (
    <>
      {who === "nobody" ? <Login spent={spent} onDone={() => { setSpent(false); setWho("somebody"); }} /> : <Inside onLogout={() => setWho("nobody")} />}
      <DialogHost />
      <Toasts />
    </>
  );
}

function Inside({ onLogout }: { onLogout: () => void }) {
  const route = useRoute();
  const project = "project" in route ? route.project : undefined;
  const projects = useAsk<{ projects: ProjectView[] }>("/projects", route.view === "projects");
  const list = projects.value?.projects ?? NO_PROJECTS;
  const [over, setOver] = useState<"palette" | "help" | undefined>();
  const selected = useSelected(route);
  useEffect(() => {
    if (project === undefined) store.close();
    else store.open(project);
  }, [project]);
  useEffect(() => {
    // One project is the usual case: the page opens where the work is.
    const only = list.length === 1 ? list[0] : undefined;
    if ((location.pathname === "/" || location.pathname === "/ui" || location.pathname === "/ui/") && only !== undefined) go({ view: "overview", project: only.id }, "correct");
    if (route.view === "login") go({ view: "projects" }, "correct");
  }, [list, route]);
  useTitle(route, list.find((one) => one.id === project)?.name);
  const offline = useShown((shown) => shown.connection === "lost");
  useGlobalKeys(route, project, setOver);
  const help = useCallback(() => setOver("help"), []);
  return (
    <div className={`app view-${route.view} ${offline ? "is-offline" : ""}`}>
      <a className="skip-link" href="#main">
        Skip to the content
      </a>
      <Header route={route} project={project} projects={list} onPalette={() => setOver("palette")} onHelp={help} onLogout={onLogout} />
      <LostBanner />
      <main id="main" className="middle" tabIndex={-1}>
        {project !== undefined && (
          <Sidebar>
            <Tree key={project} project={project} selected={selected} />
          </Sidebar>
        )}
        <div className="main">
          <View route={route} projects={projects} />
        </div>
      </main>
      {over === "palette" && <Palette project={project} task={route.view === "task" ? route.task : undefined} projects={list} onClose={() => setOver(undefined)} onHelp={help} />}
      {over === "help" && <Help onClose={() => setOver(undefined)} />}
    </div>
  );
}

/** The task the tree marks: the one in the address, or the root when no other is chosen. */
function useSelected(route: Route): Id | undefined {
  return useShown((shown) => {
    if (route.view === "task") return find(shown.tasks, route.task)?.id;
    return route.view === "tree" ? shown.rootId : undefined;
  });
}

function View({ route, projects }: { route: Route; projects: ReturnType<typeof useAsk<{ projects: ProjectView[] }>> }) {
  const rootId = useShown((shown) => shown.rootId);
  switch (route.view) {
    case "projects":
    case "login":
      return <ProjectsView projects={projects} />;
    case "overview":
      return <OverviewView key={route.project} project={route.project} />;
    case "tree":
      return rootId === undefined ? <div className="empty"><Spinner label="Opening the project" /></div> : <TaskPane project={route.project} id={rootId} tab="chat" at={undefined} />;
    case "task":
      return <TaskPane project={route.project} id={route.task} tab={route.tab} at={route.at} />;
    case "needs":
      return <NeedsView project={route.project} />;
    case "money":
      return <MoneyView project={route.project} />;
    case "settings":
      return <SettingsView project={route.project} page={route.page} />;
    case "nowhere":
      return (
        <div className="empty">
          <h1>There is nothing here</h1>
          <span className="mono">{route.path}</span>
          <Link className="button" to={{ view: "projects" }}>
            To the projects
          </Link>
        </div>
      );
  }
}

/** Says so only when the line has been dead for a while: most interruptions are over before one could read it. */
function LostBanner() {
  const lost = useShown((shown) => shown.connection === "lost");
  const [long, setLong] = useState(false);
  useEffect(() => {
    if (!lost) return setLong(false);
    const timer = setTimeout(() => setLong(true), 4_000);
    return () => clearTimeout(timer);
  }, [lost]);
  if (!long) return null;
  return (
    <div className="banner" role="alert">
      <Icon name="warning" />
      <span className="grow">The daemon does not answer. Showing the last known state; reconnecting…</span>
      <Button size="small" onClick={() => store.reconnect()}>
        Try now
      </Button>
    </div>
  );
}

function useTitle(route: Route, project: string | undefined): void {
  const needs = useShown((shown) => needCount(shown.needs));
  const task = useShown((shown) => (route.view === "task" ? find(shown.tasks, route.task)?.title : undefined));
  useEffect(() => {
    document.title = `${needs > 0 ? `(${needs}) ` : ""}${titleOf(route, project, task)}`;
  }, [needs, route, project, task]);
}

/** What one sees in a row of tabs: the view first, because it is cut at its end. */
function titleOf(route: Route, project: string | undefined, task: string | undefined): string {
  if (project === undefined) return "Matrix";
  switch (route.view) {
    case "task":
      return `${task ?? "Task"}${route.tab === "chat" ? "" : `: ${TAB_NAMES[route.tab]}`} · ${project}`;
    case "overview":
    case "tree":
    case "needs":
    case "money":
    case "settings":
      return `${VIEW_NAMES[route.view]} · ${project}`;
    default:
      return "Matrix";
  }
}

function useGlobalKeys(route: Route, project: Id | undefined, setOver: (over: "palette" | "help") => void): void {
  const [went, setWent] = useState(false);
  useEffect(() => {
    if (!went) return;
    const timer = setTimeout(() => setWent(false), 1_200);
    return () => clearTimeout(timer);
  }, [went]);
  const bindings = useMemo(() => {
    const focus = (id: string) => () => document.getElementById(id)?.focus();
    const place = (view: "overview" | "needs" | "money" | "tree") => () => {
      setWent(false);
      if (project !== undefined) go({ view, project });
    };
    const always = [
      { key: "mod+k", act: () => setOver("palette") },
      { key: "?", act: () => setOver("help") },
      { key: "/", act: focus("composer") },
      { key: "f", act: focus("tree-filter") },
      { key: "g", act: () => setWent(true) },
    ];
    const after = went
      ? [
          { key: "o", act: place("overview") },
          { key: "t", act: place("tree") },
          { key: "n", act: place("needs") },
          { key: "m", act: place("money") },
          { key: "s", act: () => project !== undefined && go({ view: "settings", project, page: "general" }) },
          { key: "p", act: () => go({ view: "projects" }) },
        ]
      : [{ key: "n", act: () => document.querySelector<HTMLElement>(".tree-tools .button")?.click() }];
    const tabs = route.view === "task" || route.view === "tree" ? TABS.map((tab, index) => ({ key: String(index + 1), act: () => {
      const { rootId, projectId } = store.get();
      const task = route.view === "task" ? route.task : rootId;
      if (projectId !== undefined && task !== undefined) go({ view: "task", project: projectId, task, tab });
    } })) : [];
    return [...after, ...always, ...tabs];
  }, [route, project, went, setOver]);
  useKeys(bindings);
}
