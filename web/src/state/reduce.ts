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
import { isWorking } from "./select.ts";

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
  /** What was told of a stale log meanwhile: it stands behind what the newest page brings. */
  readonly heard: readonly EventView[];
  /** Of a stale log: everything of the task after this commit was heard. */
  readonly heardFrom: number;
}

export interface ProjectState {
  readonly rootId: Id | undefined;
  readonly tasks: Readonly<Record<Id, TaskView>>;
  readonly needs: Needs;
  readonly cursor: string | undefined;
  readonly logs: Readonly<Record<Id, TaskLog>>;
  readonly live: Readonly<Record<Id, Live>>;
  /** Tasks that may have been in the middle of an item when the page began to listen: its beginning was not seen. */
  readonly late: Readonly<Record<Id, true>>;
}

export type Message =
  | { readonly kind: "snapshot"; readonly data: SnapshotMessage }
  | { readonly kind: "commit"; readonly cursor: string | undefined; readonly data: CommitMessage }
  | { readonly kind: "delta"; readonly data: DeltaMessage }
  /** The newest page of a log is about to be asked for: from here on, what is told of the task is kept. */
  | { readonly kind: "asked"; readonly task: Id }
  | { readonly kind: "newest"; readonly task: Id; readonly page: EventPage }
  /** `before` is the commit that the page was asked to end at. */
  | { readonly kind: "earlier"; readonly task: Id; readonly before: number; readonly page: EventPage }
  | { readonly kind: "forget"; readonly task: Id };

export const NO_NEEDS: Needs = { approvals: [], clarifications: [], failed: [], conflicts: [] };

export const EMPTY: ProjectState = {
  rootId: undefined,
  tasks: {},
  needs: NO_NEEDS,
  cursor: undefined,
  logs: {},
  live: {},
  late: {},
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
    case "asked":
      return state.logs[message.task] !== undefined ? state : { ...state, logs: { ...state.logs, [message.task]: unread(state) } };
    case "newest":
      return takeNewest(state, message.task, message.page);
    case "earlier":
      return takeEarlier(state, message.task, message.before, message.page);
    case "forget":
      return { ...state, logs: without(state.logs, [message.task]), live: without(state.live, [message.task]) };
  }
}

/** A log of which nothing is known yet, but everything that comes will be. */
function unread(state: ProjectState): TaskLog {
  return { events: [], hasMore: false, through: -1, stale: true, heard: [], heardFrom: seqOf(state.cursor) };
}

function takeSnapshot(state: ProjectState, snapshot: SnapshotMessage): ProjectState {
  const seq = seqOf(snapshot.cursor);
  const tasks: Record<Id, TaskView> = {};
  for (const task of snapshot.tasks) tasks[task.id] = wholeTask(task);
  // A snapshot ahead of the commits we have seen means that events passed by: the logs know only up to `through`.
  const missed = seq > seqOf(state.cursor);
  const late: Record<Id, true> = {};
  for (const task of Object.values(tasks)) if (isWorking(task)) late[task.id] = true;
  const logs: Record<Id, TaskLog> = {};
  for (const [id, log] of Object.entries(state.logs)) {
    if (tasks[id] === undefined) continue;
    logs[id] = missed && log.through < seq ? { ...log, stale: true, heard: [], heardFrom: seq } : log;
  }
  return { ...state, tasks, rootId: snapshot.rootId, needs: snapshot.needs, cursor: snapshot.cursor, logs, live: {}, late };
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
    late: begun(state.late, commit.events),
  };
}

/** What comes after one of these is a new item: who hears it, hears it from its beginning. */
const ENDS_ITEM = new Set(["assistant_text", "thinking", "tool_call", "turn_started", "turn_ended"]);

function begun(late: ProjectState["late"], events: readonly EventView[]): ProjectState["late"] {
  const over = events.filter((event) => ENDS_ITEM.has(event.type) && late[event.task] === true);
  return over.length === 0 ? late : without(late, over.map((event) => event.task));
}

function appendEvents(logs: ProjectState["logs"], commit: CommitMessage): ProjectState["logs"] {
  const byTask = new Map<Id, EventView[]>();
  for (const event of commit.events) {
    const list = byTask.get(event.task);
    if (list === undefined) byTask.set(event.task, [event]);
    else list.push(event);
  }
  const next: Record<Id, TaskLog> = { ...logs };
  for (const [id, log] of Object.entries(logs)) {
    const added = byTask.get(id) ?? [];
    if (log.stale) next[id] = hear(log, added);
    // A page that was asked for may already hold what the stream says a moment later.
    else if (commit.seq > log.through) next[id] = trim({ ...log, events: added.length === 0 ? log.events : [...log.events, ...added], through: commit.seq });
  }
  return next;
}

/** A stale log would have a hole if it took what is told: that is kept until the newest page is there. */
function hear(log: TaskLog, added: readonly EventView[]): TaskLog {
  const [first] = added;
  if (first === undefined || first.seq <= (log.heard.at(-1)?.seq ?? -1)) return log;
  const heard = [...log.heard, ...added];
  if (heard.length - LIMITS.eventsKept < LIMITS.eventsSlack) return { ...log, heard };
  const kept = lastCommits(heard);
  return { ...log, heard: kept, heardFrom: heard[heard.length - kept.length - 1]?.seq ?? log.heardFrom };
}

/** A log that grows under an open page forgets its oldest part; the daemon still has it. */
function trim(log: TaskLog): TaskLog {
  const over = log.events.length - LIMITS.eventsKept;
  return over < LIMITS.eventsSlack ? log : { ...log, events: lastCommits(log.events), hasMore: true };
}

/** As many events as are kept. Those of one commit stay together: what comes before a commit is asked for by its number. */
function lastCommits(events: readonly EventView[]): readonly EventView[] {
  let from = Math.max(0, events.length - LIMITS.eventsKept);
  while (from > 0 && from < events.length && events[from]?.seq === events[from - 1]?.seq) from += 1;
  return events.slice(from);
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
  const more = (before: string | undefined): string => {
    const said = before === undefined || before === "" ? (state.late[delta.task] === true ? "…" : "") : before;
    return tail(said + (delta.content ?? ""), LIMITS.liveChars);
  };
  const put = (now: Live): ProjectState => ({ ...state, live: { ...state.live, [delta.task]: now } });
  switch (delta.type) {
    case "text_delta":
      return put({ ...live, text: more(live.text) });
    case "thinking_delta":
      return put({ ...live, thinking: more(live.thinking) });
    case "tool_output": {
      const call = delta.toolCallId ?? "";
      return put({ ...live, output: { ...live.output, [call]: more(live.output[call]) } });
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

/**
 * A page holds everything up to its cursor, which may be older than what is here: pages and the stream come by
 * different ways. What was told after it stands behind it, once; where something between the two passed by unseen, the
 * log stays stale and the page is asked for again.
 */
function takeNewest(state: ProjectState, task: Id, page: EventPage): ProjectState {
  const old = state.logs[task] ?? unread(state);
  const cursor = seqOf(page.cursor);
  const before = earlierPart(old, page);
  const events = [...before, ...page.events, ...old.events.filter((event) => event.seq > cursor)];
  const hasMore = before.length > 0 ? old.hasMore : page.hasMore;
  const through = Math.max(cursor, old.through);
  const stale = old.stale && through < old.heardFrom;
  const log: TaskLog = stale
    ? { ...old, events, hasMore, through }
    : { events: [...events, ...old.heard.filter((event) => event.seq > through)], hasMore, through: Math.max(through, seqOf(state.cursor)), stale, heard: [], heardFrom: -1 };
  return { ...state, logs: { ...state.logs, [task]: log } };
}

/** What is here of the time before a newest page, when the two touch; otherwise the page alone is the truth. */
function earlierPart(old: TaskLog, page: EventPage): readonly EventView[] {
  const first = page.events[0]?.seq;
  if (first === undefined || !page.hasMore || first > old.through) return [];
  return old.events.filter((event) => event.seq < first);
}

function takeEarlier(state: ProjectState, task: Id, before: number, page: EventPage): ProjectState {
  const log = state.logs[task];
  const first = log?.events[0]?.seq;
  // The log may have let go of its oldest part meanwhile: then there is a hole between the page and what is here.
  if (log === undefined || first === undefined || first > before) return state;
  const earlier = page.events.filter((event) => event.seq < first);
  const hasMore = earlier.length === 0 && first < before ? log.hasMore : page.hasMore;
  const joined: TaskLog = { ...log, events: [...earlier, ...log.events], hasMore };
  return { ...state, logs: { ...state.logs, [task]: joined } };
}

function without<T>(record: Readonly<Record<string, T>>, keys: readonly string[]): Record<string, T> {
  const next = { ...record };
  for (const key of keys) delete next[key];
  return next;
}
