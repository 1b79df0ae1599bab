// The command palette: every place and every action by a few letters.
import { useEffect, useMemo, useRef, useState } from "react";
import { api, path } from "../api/client.ts";
import type { Id, ProjectView, SearchView } from "../api/types.ts";
import { Dialog } from "../design/controls.tsx";
import { shapeOf, Glyph } from "../design/Glyph.tsx";
import { Icon, type IconName } from "../design/Icon.tsx";
import type { MenuEntry } from "../design/Menu.tsx";
import { useShown } from "../state/store.ts";
import { agentActions, workActions } from "../task/actions.ts";
import { rank } from "./rank.ts";
import { PAGES, type Route, TABS } from "./route.ts";
import { go } from "./router.ts";
import { choose, isDark } from "./theme.ts";

interface Choice {
  readonly key: string;
  readonly label: string;
  readonly note?: string;
  readonly icon?: IconName;
  readonly shape?: string;
  readonly act: () => void;
}

interface PaletteProps {
  project: Id | undefined;
  task: Id | undefined;
  projects: readonly ProjectView[];
  onClose: () => void;
  onHelp: () => void;
}

const MOST = 40;

export function Palette({ project, task, projects, onClose, onHelp }: PaletteProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const choices = useChoices({ project, task, projects, onHelp });
  const found = useSearch(project, text);
  const shown = useMemo(() => [...rank(choices, text, (choice) => choice.label).slice(0, MOST), ...found], [choices, found, text]);
  const list = useRef<HTMLUListElement>(null);
  const index = Math.min(at, shown.length - 1);
  useEffect(() => {
    list.current?.children[index]?.scrollIntoView({ block: "nearest" });
  }, [index]);
  const run = (choice: Choice | undefined): void => {
    onClose();
    choice?.act();
  };
  return (
    <Dialog title="Go to or do" onClose={onClose} className="palette">
      <input
        className="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown[index] === undefined ? undefined : `palette-${index}`}
        aria-label="Task, view or action"
        placeholder="Task, view or action"
        value={text}
        autoFocus
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            setAt((index + (event.key === "ArrowDown" ? 1 : -1) + shown.length) % Math.max(1, shown.length));
          } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
            event.preventDefault();
            run(shown[index]);
          }
        }}
      />
      <ul id="palette-list" ref={list} className="palette-list" role="listbox" aria-label="Choices">
        {shown.map((choice, place) => (
          <li key={choice.key} id={`palette-${place}`} role="option" aria-selected={place === index} onMouseMove={() => setAt(place)} onClick={() => run(choice)}>
            {choice.shape !== undefined ? <Glyph shape={choice.shape} /> : <Icon name={choice.icon ?? "chevron"} />}
            <span className="ellipsis grow">{choice.label}</span>
            {choice.note !== undefined && <span className="muted ellipsis palette-note">{choice.note}</span>}
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p className="muted">Nothing fits.</p>}
    </Dialog>
  );
}

function useChoices({ project, task, projects, onHelp }: Omit<PaletteProps, "onClose">): readonly Choice[] {
  const tasks = useShown((state) => state.tasks);
  return useMemo(() => {
    const place = (key: string, label: string, icon: IconName, to: Route): Choice => ({ key, label, icon, act: () => go(to) });
    const list: Choice[] = [];
    if (project !== undefined) {
      list.push(
        place("overview", "Overview", "grid", { view: "overview", project }),
        place("needs", "Needs you", "bell", { view: "needs", project }),
        place("money", "Cost", "money", { view: "money", project }),
        ...PAGES.map((page) => place(`settings.${page}`, `Settings: ${page}`, "gear", { view: "settings", project, page })),
      );
    }
    const current = task === undefined ? undefined : tasks[task];
    if (project !== undefined && current !== undefined) {
      list.push(...TABS.map((tab) => place(`tab.${tab}`, `This task: ${tab}`, "list", { view: "task", project, task: current.id, tab })));
      list.push(...[...agentActions(current), ...workActions(current)].filter(isPossible).map((entry) => ({ key: `act.${entry.label}`, label: `This task: ${entry.label}`, ...(entry.icon === undefined ? {} : { icon: entry.icon }), act: entry.act })));
    }
    list.push(...projects.map((one) => place(`project.${one.id}`, `Project ${one.name}`, "folder", { view: "overview", project: one.id })));
    list.push(place("projects", "All projects", "folder", { view: "projects" }), { key: "theme", label: "Change between light and dark", icon: "moon", act: () => choose(isDark() ? "light" : "dark") }, { key: "theme.system", label: "Light or dark as the system says", icon: "sun", act: () => choose("system") }, { key: "help", label: "Keyboard help", icon: "info", note: "?", act: onHelp });
    if (project !== undefined) {
      for (const one of Object.values(tasks)) list.push({ key: one.id, label: one.title, note: one.agent?.why ?? "", shape: shapeOf(one), act: () => go({ view: "task", project, task: one.id, tab: "chat" }) });
    }
    return list;
  }, [project, task, projects, tasks, onHelp]);
}

function isPossible(entry: MenuEntry): entry is Exclude<MenuEntry, "line" | { custom: React.ReactNode }> {
  return entry !== "line" && "act" in entry && entry.unavailable === undefined;
}

/** What the daemon finds in the conversations, a moment after one has stopped typing. */
function useSearch(project: Id | undefined, text: string): readonly Choice[] {
  const [found, setFound] = useState<readonly Choice[]>([]);
  useEffect(() => {
    const wanted = text.trim();
    setFound([]);
    if (project === undefined || wanted.length < 3) return;
    let current = true;
    const timer = setTimeout(() => {
      api.get<SearchView>(path`/projects/${project}/search?q=${wanted}&limit=12`).then(
        (hits) => {
          if (!current) return;
          setFound(hits.log.map((hit) => ({ key: `log.${hit.seq}.${hit.taskId}`, label: hit.line, note: "said", icon: "quote", act: () => go({ view: "task", project, task: hit.taskId, tab: "chat", at: hit.seq }) })));
        },
        () => {},
      );
    }, 200);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [project, text]);
  return found;
}
