// Addresses: which view an address names, and the address of a view.
import { path } from "../api/client.ts";
import type { Id } from "../api/types.ts";

export const TABS = ["chat", "diff", "evidence", "ledger", "details"] as const;
export type Tab = (typeof TABS)[number];

export const TAB_NAMES: Readonly<Record<Tab, string>> = { chat: "Chat", diff: "Changes", evidence: "Checks", ledger: "Activity", details: "Details" };
export const VIEW_NAMES = { overview: "Overview", tree: "Tasks", needs: "Needs you", money: "Cost", settings: "Settings" } as const;

export const PAGES = ["general", "setup", "models", "servers", "approvals", "sessions"] as const;
export type SettingsPage = (typeof PAGES)[number];

export type Route =
  | { readonly view: "projects" }
  | { readonly view: "login" }
  | { readonly view: "overview"; readonly project: Id }
  | { readonly view: "tree"; readonly project: Id }
  /** `at` is a commit: the place in the conversation that is meant. */
  | { readonly view: "task"; readonly project: Id; readonly task: Id; readonly tab: Tab; readonly at?: number }
  | { readonly view: "needs"; readonly project: Id }
  | { readonly view: "money"; readonly project: Id }
  | { readonly view: "settings"; readonly project: Id; readonly page: SettingsPage }
  | { readonly view: "nowhere"; readonly path: string };

export function parse(address: string): Route {
  const [pathname = "", query] = address.split("?", 2);
  const [ui, kind, project, view, name, tab, ...more] = pathname.split("/").filter((part) => part !== "").map(decode);
  if (ui === undefined || (ui === "ui" && (kind === undefined || kind === "projects"))) return { view: "projects" };
  if (ui !== "ui" || more.length > 0) return { view: "nowhere", path: pathname };
  if (kind === "login") return { view: "login" };
  if (kind !== "p" || project === undefined) return { view: "nowhere", path: pathname };
  if (view === undefined) return { view: "overview", project };
  if (view === "tasks" && name === undefined) return { view: "tree", project };
  if (view === "t" && name !== undefined) {
    const known = TABS.find((one) => one === (tab ?? "chat"));
    if (known !== undefined) return { view: "task", project, task: name, tab: known, ...(known === "chat" ? placeIn(query) : {}) };
  }
  if ((view === "needs" || view === "money") && name === undefined) return { view, project };
  if (view === "settings") {
    const page = PAGES.find((one) => one === (name ?? "general"));
    if (page !== undefined) return { view: "settings", project, page };
  }
  return { view: "nowhere", path: pathname };
}

/** The place in a conversation that an address names; anything else there is passed over. */
function placeIn(query: string | undefined): { at?: number } {
  const given = new URLSearchParams(query).get("at") ?? "";
  return /^\d{1,15}$/.test(given) ? { at: Number(given) } : {};
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function href(route: Route): string {
  switch (route.view) {
    case "projects":
      return "/ui/projects";
    case "login":
      return "/ui/login";
    case "overview":
      return path`/ui/p/${route.project}`;
    case "tree":
      return path`/ui/p/${route.project}/tasks`;
    case "task":
      return path`/ui/p/${route.project}/t/${route.task}` + (route.tab !== "chat" ? `/${route.tab}` : route.at === undefined ? "" : `?at=${route.at}`);
    case "needs":
    case "money":
      return path`/ui/p/${route.project}/` + route.view;
    case "settings":
      return path`/ui/p/${route.project}/settings` + (route.page === "general" ? "" : `/${route.page}`);
    case "nowhere":
      return route.path;
  }
}
