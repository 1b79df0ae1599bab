// Short notes about what was asked of the daemon and did not work, or did.
import { useSyncExternalStore } from "react";
import { ApiError } from "../api/client.ts";
import { IconButton } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";

interface Toast {
  readonly id: number;
  readonly tone: "good" | "bad";
  readonly text: string;
  readonly hint: string | undefined;
}

const SHOWN_MS = 7_000;
const MOST = 4;

let toasts: readonly Toast[] = [];
let next = 0;
const readers = new Set<() => void>();

function put(list: readonly Toast[]): void {
  toasts = list;
  for (const reader of readers) reader();
}

function add(tone: Toast["tone"], text: string, hint: string | undefined): void {
  next += 1;
  const id = next;
  put([...toasts, { id, tone, text, hint }].slice(-MOST));
  setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  put(toasts.filter((toast) => toast.id !== id));
}

export function say(text: string): void {
  add("good", text, undefined);
}

export function complain(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) return;
  const hint = error instanceof ApiError ? error.hint : undefined;
  add("bad", error instanceof Error ? error.message : String(error), hint);
}

/** Does something and says so when it fails; tells whether it worked. */
export async function attempt(work: Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work;
    if (done !== undefined) say(done);
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (reader) => {
      readers.add(reader);
      return () => readers.delete(reader);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((toast) => (
        <div key={toast.id} className={`notice ${toast.tone === "bad" ? "is-error" : ""}`}>
          <Icon name={toast.tone === "bad" ? "warning" : "check"} />
          <div className="grow">
            <div className="strong">{toast.text}</div>
            {toast.hint !== undefined && <div>{toast.hint}</div>}
          </div>
          <IconButton icon="cross" size="small" label="Dismiss" onClick={() => dismiss(toast.id)} />
        </div>
      ))}
    </div>
  );
}
