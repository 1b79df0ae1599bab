// Where the state of the open project lives, outside of React: it tells its readers once per frame.
import { useSyncExternalStore } from "react";
import { api, path } from "../api/client.ts";
import { type Connection, type Following, follow } from "../api/stream.ts";
import type { EventPage, EventView, Id } from "../api/types.ts";
import { LIMITS } from "./limits.ts";
import { EMPTY, type Message, type ProjectState, reduce } from "./reduce.ts";

export interface Shown extends ProjectState {
  readonly projectId: Id | undefined;
  readonly connection: Connection;
  /** Logs that are being asked for. */
  readonly asking: ReadonlySet<Id>;
}

const START: Shown = { ...EMPTY, projectId: undefined, connection: "connecting", asking: new Set() };

class Store {
  private shown: Shown = START;
  private readonly readers = new Set<() => void>();
  private frame: number | undefined;
  private following: Following | undefined;
  private readonly hearers = new Set<(events: readonly EventView[]) => void>();
  private opened: Id[] = [];
  /** Pages that are on their way, by project and task: whoever wants the next one waits for it. */
  private readonly pages = new Map<string, Promise<void>>();

  readonly subscribe = (reader: () => void): (() => void) => {
    this.readers.add(reader);
    return () => this.readers.delete(reader);
  };

  readonly get = (): Shown => this.shown;

  /** Follows a project; the one before is let go. */
  open(projectId: Id): void {
    if (this.shown.projectId === projectId) return;
    this.close();
    this.set({ ...START, projectId });
    this.following = follow(projectId, {
      take: (message) => this.take(message),
      connection: (connection) => {
        if (connection !== this.shown.connection) this.set({ ...this.shown, connection });
      },
      cursor: () => this.shown.cursor,
    });
  }

  close(): void {
    this.following?.stop();
    this.following = undefined;
    this.opened = [];
    this.set(START);
  }

  reconnect(): void {
    this.following?.tryNow();
  }

  take(message: Message): void {
    this.set({ ...this.shown, ...reduce(this.shown, message) });
    if (message.kind === "commit" && message.data.events.length > 0) for (const hearer of this.hearers) hearer(message.data.events);
  }

  /** Is told the events of every commit, whichever task they are of. */
  hear(hearer: (events: readonly EventView[]) => void): () => void {
    this.hearers.add(hearer);
    return () => this.hearers.delete(hearer);
  }

  /** Makes sure that the newest page of a log is there; keeps the logs that were looked at last. */
  async look(task: Id): Promise<void> {
    this.opened = [task, ...this.opened.filter((id) => id !== task)];
    for (const old of this.opened.splice(LIMITS.logsKept)) this.take({ kind: "forget", task: old });
    const { projectId } = this.shown;
    // What passes by while a page is on its way may leave it too old, and whoever asked before may have asked for another one.
    for (let pages = 0; pages < LIMITS.newestPages; pages += 1) {
      const log = this.shown.logs[task];
      if (projectId === undefined || this.shown.projectId !== projectId || log?.stale === false) return;
      this.take({ kind: "asked", task });
      await this.askFor(task, (asked) => this.page(asked, task, "").then((page) => ({ kind: "newest", task, page })));
    }
  }

  async earlier(task: Id): Promise<void> {
    const log = this.shown.logs[task];
    const first = log?.events[0]?.seq;
    if (log === undefined || !log.hasMore || first === undefined) return;
    await this.askFor(task, (projectId) =>
      this.page(projectId, task, `&before=${first}`).then((page) => ({ kind: "earlier", task, before: first, page })),
    );
  }

  /** Loads what is needed to show a commit of a log; whether it is there now. */
  async reach(task: Id, seq: number): Promise<boolean> {
    await this.look(task);
    for (let pages = 0; pages < LIMITS.farPages; pages += 1) {
      const log = this.shown.logs[task];
      const first = log?.events[0]?.seq;
      if (log === undefined) return false;
      if (first === undefined || first <= seq || !log.hasMore) return true;
      await this.askFor(task, (projectId) =>
        this.page(projectId, task, `&before=${first}`, LIMITS.farPage).then((page) => ({ kind: "earlier", task, before: first, page })),
      );
    }
    return false;
  }

  private page(projectId: Id, task: Id, more: string, limit: number = LIMITS.page): Promise<EventPage> {
    return api.get<EventPage>(path`/projects/${projectId}/tasks/${task}/events?limit=${limit}` + more);
  }

  private askFor(task: Id, ask: (projectId: Id) => Promise<Message>): Promise<void> {
    const projectId = this.shown.projectId;
    if (projectId === undefined) return Promise.resolve();
    const key = `${projectId}/${task}`;
    const asked = this.pages.get(key) ?? this.ask(projectId, task, ask).finally(() => this.pages.delete(key));
    this.pages.set(key, asked);
    return asked;
  }

  private async ask(projectId: Id, task: Id, ask: (projectId: Id) => Promise<Message>): Promise<void> {
    this.set({ ...this.shown, asking: new Set([...this.shown.asking, task]) });
    try {
      const message = await ask(projectId);
      if (this.shown.projectId === projectId) this.take(message);
    } finally {
      const asking = new Set(this.shown.asking);
      asking.delete(task);
      this.set({ ...this.shown, asking });
    }
  }

  private set(next: Shown): void {
    if (next === this.shown) return;
    this.shown = next;
    // A hidden page gets no frames, and has nobody to show anything to.
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      for (const reader of this.readers) reader();
    });
  }
}

export const store = new Store();

/** Reads a part of the state; the reader is told again only when that part changed. */
export function useShown<T>(pick: (shown: Shown) => T): T {
  return useSyncExternalStore(store.subscribe, () => pick(store.get()));
}
