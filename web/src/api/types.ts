// What the daemon says, as types. The names are those of its JSON.

import type * as S from "./schema.ts";

export type Id = string;
export type { ApprovalNeed, Needs, ProjectView, SessionView } from "./schema.ts";

export type ApiErrorBody = S.ErrorPart;
export type TroubleNeed = S.Trouble;
export type ClarificationNeed = S.ClarificationNeed & { options?: string[] };
export type EventPage = Omit<S.Events, "events"> & { events: EventView[] };
export type DiffFile = S.FileView;
export type DiffView = S.Diff;
export type CommitLine = S.GitCommit;
export type CheckRun = S.CheckView;
export type LedgerCall = S.CallView;
export type MoneyView = S.Money;
export type SearchView = S.Found;

export type Status = "draft" | "pending" | "in_progress" | "verify" | "passed" | "failed" | "closed";

export type AgentState =
  | "none"
  | "launching"
  | "thinking"
  | "tool"
  | "checking"
  | "compacting"
  | "waiting"
  | "blocked"
  | "asking"
  | "stopped"
  | "interrupted"
  | "spent"
  | "stuck"
  | "refused"
  | "failed"
  | "done";

/** A task as it comes over the wire: a folder has nothing of what only tasks have. */
export type TaskOnWire = S.TaskView;

/** A task with everything filled in that is left out where there is nothing to say. */
export type TaskView = TaskOnWire &
  Required<Pick<TaskOnWire, "costUsd" | "spentUsd" | "after" | "checks" | "inbox" | "questions" | "approvals" | "background">>;

export interface BlobRef {
  blob: string;
  bytes: number;
}

export interface ImageRef {
  mediaType: string;
  blob: string;
}

/** A message as it waits in an inbox; `source` names its kind. */
export interface MessageBody {
  source: string;
  content?: string;
  title?: string;
  header?: string;
  images?: ImageRef[];
  fromTaskId?: Id;
  fromTitle?: string;
  requestReply?: boolean;
  resumed?: boolean;
  fromProjectId?: Id;
  fromProjectName?: string;
  taskId?: Id;
  success?: boolean;
  output?: string;
  action?: string;
  nodeId?: Id;
  clarificationId?: Id;
  answer?: string;
  commandId?: string;
  command?: string;
  exitCode?: number;
  durationMs?: number;
  stdout?: string;
  stderr?: string;
  topic?: string;
}

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

/** The fields that every event has; the rest depends on its `type`. */
interface EventBase {
  seq: number;
  at: number;
  task: Id;
  line?: string;
}

/** What the bodies of events say, by type. Types that the page does not show are `OtherEvent`. */
export interface EventBodies {
  message: { id: Id; body: MessageBody; wake: boolean };
  messages_consumed: { messageIds: Id[] };
  assistant_text: { content: string | BlobRef };
  thinking: { thinking: string | BlobRef; redacted?: boolean; provider?: string };
  tool_call: { tool: string; toolCallId: string; input: unknown; malformed?: string };
  tool_verdict: { toolCallId: string; verdict: string; rule: string; class: string };
  tool_result: {
    tool: string;
    toolCallId: string;
    content: string | BlobRef;
    isError: boolean;
    images?: ImageRef[];
    pending?: boolean;
    backgroundId?: string;
    backgroundCommand?: string;
    blob?: string;
  };
  session_config: { model: string; provider: string };
  compact_started: { resting?: boolean };
  compact_marker: { checkpoint: string; savedTokens: number };
  cache_break: { reason: string };
  fork_marker: { sourceTaskId: Id; sourceSeq: number; targetTitle?: string };
  rewind_marker: { toSeq: number };
  turn_started: { turn: number; purpose?: string };
  turn_ended: { stopReason: string; usage: Usage; costUsd: number };
  orchestration_started: { resume: boolean; model: string; provider: string };
  orchestration_completed: { success: boolean; costUsd?: number; turns?: number; exit?: string };
  done_requested: { toolCallId: string; status: "passed" | "failed"; summary: string };
  check_finished: { command: string; exitCode?: number; tree: string; output: string; blob?: string };
  done_notified: { status: "passed" | "failed"; summary: string };
  agent_rested: { why: string };
  agent_stopped: { reason?: string };
  agent_interrupted: object;
  error: { message: string; class?: string; advice?: string };
  clarification_requested: { id: Id; question: string; title: string; body?: string };
  clarification_answered: { id: Id; answer: string };
  clarification_expired: { id: Id };
  approval_requested: { id: Id; toolCallId: string; tool: string; callHash: string; reason: string };
  approval_given: { id: Id; verdict: string; scope: string; by: string; reason?: string };
  host_approval_requested: { id: Id; host: string };
  host_approval_given: { id: Id; verdict: string; scope: string; by: string };
  host_approval_expired: { id: Id };
  sampling_ended: { server: string; stopReason: string; costUsd: number };
  task_status_changed: { from: Status; to: Status; editedBy: string; reason?: string };
  worktree_created: { path: string; branch: string; base: string };
  worktree_removed: { path: string; branch: string };
  worktree_dismissed: { path: string };
  worktree_failed: { message: string };
  budget_warning: { warning: string };
  budget_exceeded: { title: string; costUsd: number; budgetUsd: number };
  budget_granted: { amountUsd: number };
  conversation_cleared: { editedBy: string };
  task_reset: { editedBy: string };
  daemon_booted: { version: string };
}

export type EventType = keyof EventBodies;
export type EventOf<T extends EventType> = EventBase & { type: T } & EventBodies[T];
export type KnownEvent = { [T in EventType]: EventOf<T> }[EventType];
export type EventView = EventBase & { type: string } & Record<string, unknown>;

/** Reads an event as the type it names, when the page knows it. */
export function known(event: EventView): KnownEvent {
  return event as unknown as KnownEvent;
}

export interface SnapshotMessage {
  cursor: string;
  rootId: Id;
  tasks: TaskOnWire[];
  needs: S.Needs;
}

export interface CommitMessage {
  seq: number;
  at: number;
  events: EventView[];
  tasks?: TaskOnWire[];
  removed?: Id[];
  needs?: S.Needs;
}

export interface DeltaMessage {
  task: Id;
  type: string;
  content?: string;
  inputTokens?: number;
  contextWindow?: number;
  estimated?: boolean;
  state?: string;
  toolCallId?: string;
  message?: string;
  files?: number;
  additions?: number;
  deletions?: number;
}

export interface ServerTool {
  name: string;
  class: string;
  digest: string;
  description: string;
}

export interface ServerView {
  alias: string;
  transport: string;
  status: string;
  problem?: string;
  tools: ServerTool[];
  drift?: unknown;
}

/** Where a value comes from: nobody said anything, or a file of a layer did. */
export type Origin = { from: "default" } | { from: "file"; layer: string; file: string };

export interface ConfigAll {
  global: Record<string, unknown>;
  repo: Record<string, unknown>;
  local: Record<string, unknown>;
  /** What holds, by path such as `limits.agents`. */
  resolved: Record<string, unknown>;
  origins: Record<string, Origin>;
  /** What is wrong with the files; then nothing holds. */
  problem?: string;
}
