// From what the daemon tells to what the page shows: one pure function, nothing shown twice, nothing lost.
import type {
  CommitMessage,
  DeltaMessage,
  EventPage,
  EventView,
  Id,
  Needs,
  SnapshotMessage,
  TaskView,
} from "../api/types.ts";
import { wholeTask } from "../api/normal.ts";
import { LIMITS } from "./limits.ts";

/** What has been said of an item that the log does not hold yet. */
export interface Live {
  readonly text: string;
  readonly thinking: string;
  /** The last output of calls that run, by call. */
  readonly output: Readonly<Record<string, string>>;
}

/** The part of one task's log that the page holds. */
export interface TaskLog {
  readonly events: readonly EventView[];
  /** Whether there is more before the first event. */
  readonly hasMore: boolean;
  /** Everything of the task up to this commit is here or before the first event. */
  readonly through: number;
  /** Commits passed by unseen: the newest page has to be asked for again. */
  readonly stale: boolean;
}

export interface ProjectState {
  readonly rootId: Id | undefined;
  readonly tasks: Readonly<Record<Id, TaskView>>;
  readonly needs: Needs;
  readonly cursor: string | undefined;
  readonly logs: Readonly<Record<Id, TaskLog>>;
  readonly live: Readonly<Record<Id, Live>>;
}

export type Message =
  | { readonly kind: "snapshot"; readonly data: SnapshotMessage }
  | { readonly kind: "commit"; readonly cursor: string | undefined; readonly data: CommitMessage }
  | { readonly kind: "delta"; readonly data: DeltaMessage }
  | { readonly kind: "newest"; readonly task: Id; readonly page: EventPage }
  | { readonly kind: "earlier"; readonly task: Id; readonly page: EventPage }
  | { readonly kind: "forget"; readonly task: Id };

export const NO_NEEDS: Needs = { approvals: [], clarifications: [], failed: [], conflicts: [] };

export const EMPTY: ProjectState = {
  rootId: undefined,
  tasks: {},
  needs: NO_NEEDS,
  cursor: undefined,
  logs: {},
  live: {},
};

const NOTHING_LIVE: Live = { text: "", thinking: "", output: {} };

/** The number of the commit that a cursor `<epoch>-<seq>` names. */
export function seqOf(cursor: string | undefined): number {
  if (cursor === undefined) return -1;
  const seq = Number(cursor.slice(cursor.lastIndexOf("-") + 1));
  return Number.isSafeInteger(seq) ? seq : -1;
}

export function reduce(state: ProjectState, message: Message): ProjectState {
  switch (message.kind) {
    case "snapshot":
      return takeSnapshot(state, message.data);
    case "commit":
      return takeCommit(state, message.cursor, message.data);
    case "delta":
      return takeDelta(state, message.data);
    case "newest":
      return takeNewest(state, message.task, message.page);
    case "earlier":
      return takeEarlier(state, message.task, message.page);
    case "forget":
      return { ...state, logs: without(state.logs, [message.task]), live: without(state.live, [message.task]) };
  }
}

function takeSnapshot(state: ProjectState, snapshot: SnapshotMessage): ProjectState {
  const seq = seqOf(snapshot.cursor);
  const tasks: Record<Id, TaskView> = {};
  for (const task of snapshot.tasks) tasks[task.id] = wholeTask(task);
  // A snapshot ahead of the commits we have seen means that events passed by: the logs know only up to `through`.
  const missed = seq > seqOf(state.cursor);
  const logs: Record<Id, TaskLog> = {};
  for (const [id, log] of Object.entries(state.logs)) {
    if (tasks[id] === undefined) continue;
    logs[id] = missed && log.through < seq ? { ...log, stale: true } : log;
  }
  return { ...state, tasks, rootId: snapshot.rootId, needs: snapshot.needs, cursor: snapshot.cursor, logs, live: {} };
}

function takeCommit(state: ProjectState, cursor: string | undefined, commit: CommitMessage): ProjectState {
  if (commit.seq <= seqOf(state.cursor)) return state;
  const logs = appendEvents(state.logs, commit);
  const live = settleLive(state.live, commit.events);
  const removed = commit.removed ?? [];
  let tasks = state.tasks;
  if ((commit.tasks?.length ?? 0) > 0 || removed.length > 0) {
    const next: Record<Id, TaskView> = without(tasks, removed);
    for (const task of commit.tasks ?? []) next[task.id] = wholeTask(task);
    tasks = next;
  }
  return {
    ...state,
    tasks,
    needs: commit.needs ?? state.needs,
    cursor: cursor ?? String(commit.seq),
    logs: removed.length > 0 ? without(logs, removed) : logs,
    live: removed.length > 0 ? without(live, removed) : live,
  };
}

function appendEvents(logs: ProjectState["logs"], commit: CommitMessage): ProjectState["logs"] {
  const byTask = new Map<Id, EventView[]>();
  for (const event of commit.events) {
    const log = logs[event.task];
    // A page that was asked for may already hold what the stream says a moment later.
    if (log === undefined || log.stale || event.seq <= log.through) continue;
    const list = byTask.get(event.task);
    if (list === undefined) byTask.set(event.task, [event]);
    else list.push(event);
  }
  const next: Record<Id, TaskLog> = { ...logs };
  for (const [id, log] of Object.entries(logs)) {
    const added = byTask.get(id);
    if (added !== undefined) next[id] = trim({ ...log, events: [...log.events, ...added], through: commit.seq });
    else if (!log.stale && commit.seq > log.through) next[id] = { ...log, through: commit.seq };
  }
  return next;
}

/** A log that grows under an open page forgets its oldest part; the daemon still has it. */
function trim(log: TaskLog): TaskLog {
  const over = log.events.length - LIMITS.eventsKept;
  return over < LIMITS.eventsSlack ? log : { ...log, events: log.events.slice(over), hasMore: true };
}

/** What an event says for good replaces what was said of it while it came. */
function settleLive(live: ProjectState["live"], events: readonly EventView[]): ProjectState["live"] {
  let next = live;
  for (const event of events) {
    const had = next[event.task];
    if (had === undefined) continue;
    const now = settled(had, event);
    if (now === had) continue;
    const rest: Record<Id, Live> = without(next, [event.task]);
    if (now !== undefined) rest[event.task] = now;
    next = rest;
  }
  return next;
}

function settled(live: Live, event: EventView): Live | undefined {
  switch (event.type) {
    case "assistant_text":
      return { ...live, text: "" };
    case "thinking":
      return { ...live, thinking: "" };
    case "tool_result":
      return { ...live, output: without(live.output, [String(event["toolCallId"])]) };
    case "turn_ended":
    case "turn_started":
    case "agent_stopped":
    case "agent_interrupted":
    case "agent_rested":
    case "conversation_cleared":
      return event.type === "turn_ended" ? { ...live, text: "", thinking: "" } : undefined;
    default:
      return live;
  }
}

function takeDelta(state: ProjectState, delta: DeltaMessage): ProjectState {
  const live = state.live[delta.task] ?? NOTHING_LIVE;
  const put = (now: Live): ProjectState => ({ ...state, live: { ...state.live, [delta.task]: now } });
  switch (delta.type) {
    case "text_delta":
      return put({ ...live, text: tail(live.text + (delta.content ?? ""), LIMITS.liveChars) });
    case "thinking_delta":
      return put({ ...live, thinking: tail(live.thinking + (delta.content ?? ""), LIMITS.liveChars) });
    case "tool_output": {
      const call = delta.toolCallId ?? "";
      const text = tail((live.output[call] ?? "") + (delta.content ?? ""), LIMITS.liveChars);
      return put({ ...live, output: { ...live.output, [call]: text } });
    }
    case "usage": {
      const task = state.tasks[delta.task];
      if (task === undefined || delta.inputTokens === undefined || delta.contextWindow === undefined) return state;
      const context = { tokens: delta.inputTokens, window: delta.contextWindow, estimated: delta.estimated ?? false };
      return { ...state, tasks: { ...state.tasks, [task.id]: { ...task, context } } };
    }
    case "diff": {
      const task = state.tasks[delta.task];
      if (task === undefined || delta.files === undefined) return state;
      const diff = { files: delta.files, additions: delta.additions ?? 0, deletions: delta.deletions ?? 0 };
      return { ...state, tasks: { ...state.tasks, [task.id]: { ...task, diff } } };
    }
    default:
      return state;
  }
}

function tail(text: string, limit: number): string {
  return text.length > limit ? text.slice(text.length - limit) : text;
}

function takeNewest(state: ProjectState, task: Id, page: EventPage): ProjectState {
  const through = seqOf(page.cursor);
  const old = state.logs[task];
  const events = newestJoined(old, page);
  const first = events[0]?.seq;
  const keptEarlier = old !== undefined && first !== undefined && (old.events[0]?.seq ?? Infinity) === first;
  const hasMore = keptEarlier ? old.hasMore : page.hasMore;
  const log: TaskLog = { events, hasMore, through: Math.max(through, events.at(-1)?.seq ?? -1), stale: false };
  return { ...state, logs: { ...state.logs, [task]: log } };
}

/** Joins a fresh newest page with what is there, when the two touch; otherwise the page alone is the truth. */
function newestJoined(old: TaskLog | undefined, page: EventPage): readonly EventView[] {
  if (old === undefined || old.events.length === 0) return page.events;
  const first = page.events[0]?.seq;
  if (first === undefined) return page.events;
  if (page.hasMore && first > old.through) return page.events;
  const last = page.events.at(-1)?.seq ?? first;
  const before = old.events.filter((event) => event.seq < first);
  const after = old.events.filter((event) => event.seq > last);
  return [...before, ...page.events, ...after];
}

function takeEarlier(state: ProjectState, task: Id, page: EventPage): ProjectState {
  const log = state.logs[task];
  if (log === undefined) return state;
  const first = log.events[0]?.seq ?? Infinity;
  const earlier = page.events.filter((event) => event.seq < first);
  const joined: TaskLog = { ...log, events: [...earlier, ...log.events], hasMore: page.hasMore };
  return { ...state, logs: { ...state.logs, [task]: joined } };
}

function without<T>(record: Readonly<Record<string, T>>, keys: readonly string[]): Record<string, T> {
  const next = { ...record };
  for (const key of keys) delete next[key];
  return next;
}
