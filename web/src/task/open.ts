// Which cards are open: remembered although rows come and go while one scrolls.
import { useSyncExternalStore } from "react";

const MOST = 2_000;
const chosen = new Map<string, boolean>();
const readers = new Set<() => void>();

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  return () => readers.delete(reader);
}

/** Opens or closes a card, also one that is not on the screen. */
export function setOpen(key: string, open: boolean): void {
  chosen.delete(key);
  chosen.set(key, open);
  if (chosen.size > MOST) chosen.delete(chosen.keys().next().value ?? "");
  for (const reader of readers) reader();
}

export function useOpen(key: string, initially: boolean): [boolean, (open: boolean) => void] {
  const open = useSyncExternalStore(subscribe, () => chosen.get(key) ?? initially);
  return [open, (next) => setOpen(key, next)];
}
