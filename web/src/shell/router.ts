// The address is the state: what is shown can be linked to, reloaded and gone back to.
import { useSyncExternalStore } from "react";
import { type Route, href, parse } from "./route.ts";

const readers = new Set<() => void>();
const here = (): string => location.pathname + location.search;
let current = parse(here());

function changed(): void {
  current = parse(here());
  for (const reader of readers) reader();
}

window.addEventListener("popstate", changed);

/** Goes somewhere; a place that only corrects the one before leaves no trace in the history. */
export function go(route: Route, how: "visit" | "correct" = "visit"): void {
  const to = href(route);
  if (to === here()) return;
  if (how === "visit") history.pushState(null, "", to);
  else history.replaceState(null, "", to);
  changed();
}

export function useRoute(): Route {
  return useSyncExternalStore(
    (reader) => {
      readers.add(reader);
      return () => readers.delete(reader);
    },
    () => current,
  );
}
