// The bar on top: which project, where one is, how it stands, and the way to everything else.
import { useState } from "react";
import { api } from "../api/client.ts";
import type { Id, ProjectView } from "../api/types.ts";
import { IconButton } from "../design/controls.tsx";
import { Icon, type IconName, Logo } from "../design/Icon.tsx";
import { Menu, type MenuEntry, type Place } from "../design/Menu.tsx";
import { isWorking, needCount } from "../state/select.ts";
import { useShown } from "../state/store.ts";
import { usd } from "../text/format.ts";
import { Link } from "./Link.tsx";
import type { Route } from "./route.ts";
import { go } from "./router.ts";
import { choose, isDark } from "./theme.ts";
import { attempt } from "./toasts.tsx";

interface HeaderProps {
  route: Route;
  project: Id | undefined;
  projects: readonly ProjectView[];
  onPalette: () => void;
  onHelp: () => void;
  onLogout: () => void;
}

export function Header({ route, project, projects, onPalette, onHelp, onLogout }: HeaderProps) {
  const [menu, setMenu] = useState<{ which: "project" | "more"; place: Place } | undefined>();
  const [dark, setDark] = useState(isDark);
  const current = projects.find((one) => one.id === project);
  const below = (event: React.MouseEvent): Place => {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: box.left, y: box.bottom + 4 };
  };
  const switchTheme = (): void => {
    choose(dark ? "light" : "dark");
    setDark(!dark);
  };
  const projectEntries: MenuEntry[] = [
    ...projects.map((one): MenuEntry => ({ label: one.name, icon: one.pathExists ? "folder" : "warning", act: () => go({ view: "overview", project: one.id }), ...(one.needs > 0 && one.id !== project ? { note: `${one.needs} need you` } : {}) })),
    "line",
    { label: "All projects", icon: "list", act: () => go({ view: "projects" }) },
  ];
  const moreEntries: MenuEntry[] = [
    { label: "Keyboard help", icon: "info", note: "?", act: onHelp },
    { label: dark ? "Light theme" : "Dark theme", icon: dark ? "sun" : "moon", act: switchTheme },
    "line",
    { label: "Log out", icon: "key", act: () => void attempt(api.post("/auth/logout")).then((done) => done && onLogout()) },
  ];
  return (
    <header className="header">
      <Link className="brand" to={{ view: "projects" }} aria-label="Matrix: all projects">
        <Logo />
      </Link>
      <button type="button" className="button is-quiet project-button" aria-haspopup="menu" onClick={(event) => setMenu({ which: "project", place: below(event) })}>
        <span className="ellipsis">{current?.name ?? "Projects"}</span>
        <Icon name="down" />
      </button>
      {project !== undefined && <Places route={route} project={project} />}
      <span className="grow" />
      {project !== undefined && <Standing />}
      <button type="button" className="button palette-button" onClick={onPalette}>
        <Icon name="search" />
        <span className="palette-words muted">Search or run a command</span>
        <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <IconButton icon="more" label="More" aria-haspopup="menu" onClick={(event) => setMenu({ which: "more", place: below(event) })} />
      {menu !== undefined && <Menu label={menu.which === "project" ? "Projects" : "More"} place={menu.place} entries={menu.which === "project" ? projectEntries : moreEntries} onClose={() => setMenu(undefined)} />}
    </header>
  );
}

function Places({ route, project }: { route: Route; project: Id }) {
  const needs = useShown((shown) => needCount(shown.needs));
  const here = route.view === "tree" ? "task" : route.view;
  const places: readonly { view: string; name: string; icon: IconName; to: Route; badge: number }[] = [
    { view: "overview", name: "Overview", icon: "grid", to: { view: "overview", project }, badge: 0 },
    { view: "task", name: "Tasks", icon: "tree", to: { view: "tree", project }, badge: 0 },
    { view: "needs", name: "Needs you", icon: "bell", to: { view: "needs", project }, badge: needs },
    { view: "money", name: "Cost", icon: "money", to: { view: "money", project }, badge: 0 },
    { view: "settings", name: "Settings", icon: "gear", to: { view: "settings", project, page: "general" }, badge: 0 },
  ];
  return (
    <nav className="places" aria-label="Views">
      {places.map((place) => (
        <Link key={place.view} className="place" to={place.to} aria-current={here === place.view ? "page" : undefined}>
          <Icon name={place.icon} />
          <span className="place-name">{place.name}</span>
          {place.badge > 0 && <span className="badge num">{place.badge}</span>}
        </Link>
      ))}
    </nav>
  );
}

/** How many work, what was spent, and whether what is shown is live. */
function Standing() {
  const working = useShown((shown) => Object.values(shown.tasks).filter(isWorking).length);
  const spent = useShown((shown) => Object.values(shown.tasks).reduce((sum, task) => sum + task.costUsd, 0));
  const connection = useShown((shown) => shown.connection);
  return (
    <div className="standing num">
      {working > 0 && <span className="chip is-accent">{working} at work</span>}
      <span className="muted standing-cost">{usd(spent)}</span>
      {connection !== "live" && (
        <span className="chip is-amber" role="status">
          {connection === "connecting" ? "connecting" : "not live"}
        </span>
      )}
    </div>
  );
}
