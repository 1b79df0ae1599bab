// What the daemon says, as types. The names are those of its JSON.

export type Id = string;

export interface ApiErrorBody {
  code: string;
  message: string;
  hint?: string;
}

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

export interface AgentView {
  state: AgentState;
  why: string;
  since?: number;
}

export interface ProjectView {
  id: Id;
  name: string;
  path: string;
  pathExists: boolean;
  createdAt: number;
  rootId: Id;
  state: "open" | "broken";
  problem?: string;
  baseBranch?: string;
  counts: Partial<Record<Status, number>>;
  costUsd: number;
  running: number;
  needs: number;
}

export interface LifeView {
  turns: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

export interface TaskView {
  id: Id;
  kind: "task" | "folder";
  title: string;
  description: string;
  parentId?: Id;
  children: Id[];
  color?: string;
  editedBy: "user" | "agent";
  createdAt: number;
  updatedAt: number;
  status?: Status;
  branch?: string;
  baseBranch?: string;
  worktreePath?: string;
  costUsd: number;
  spentUsd: number;
  budgetUsd?: number;
  remainingUsd?: number;
  persistent?: "reset" | "continue";
  after: Id[];
  checks: string[];
  agent?: AgentView;
  lastLine?: string;
  inbox: number;
  questions: Id[];
  approvals: Id[];
  background: string[];
  context?: { tokens: number; window: number; estimated: boolean };
  life?: LifeView;
  diff?: { files: number; additions: number; deletions: number };
}

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
  approval_given: { id: Id; verdict: string; scope: string; by: string };
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

export interface ApprovalNeed {
  taskId: Id;
  taskTitle: string;
  approvalId: Id;
  callId: string;
  tool: string;
  args: unknown;
  argsDigest: string;
  rule?: string;
  at: number;
}

export interface ClarificationNeed {
  taskId: Id;
  taskTitle: string;
  clarificationId: Id;
  question: string;
  options?: string[];
  at: number;
  expiresAt?: number;
}

export interface TroubleNeed {
  taskId: Id;
  taskTitle: string;
  why: string;
  at: number;
}

export interface Needs {
  approvals: ApprovalNeed[];
  clarifications: ClarificationNeed[];
  failed: TroubleNeed[];
  conflicts: TroubleNeed[];
}

export interface SnapshotMessage {
  cursor: string;
  rootId: Id;
  tasks: TaskView[];
  needs: Needs;
}

export interface CommitMessage {
  seq: number;
  at: number;
  events: EventView[];
  tasks?: TaskView[];
  removed?: Id[];
  needs?: Needs;
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
}

export interface EventPage {
  events: EventView[];
  hasMore: boolean;
  cursor: string;
}

export interface DiffFile {
  path: string;
  oldPath?: string;
  status: string;
  additions: number;
  deletions: number;
  patch?: string;
  binary: boolean;
}

export interface DiffView {
  base: string;
  head: string;
  dirty: boolean;
  files: DiffFile[];
  truncated: boolean;
}

export interface CommitLine {
  hash: string;
  message: string;
  at: number;
  author: string;
}

export interface CheckRun {
  command: string;
  exitCode?: number;
  treeHash: string;
  at: number;
  output: string;
}

export interface LedgerCall {
  seq: number;
  at: number;
  callId: string;
  tool: string;
  class?: string;
  verdict?: string;
  rule?: string;
  durationMs?: number;
  ok?: boolean;
  line: string;
}

export interface MoneyView {
  totalUsd: number;
  tasks: (Usage & { taskId: Id; title: string; costUsd: number; budgetUsd?: number })[];
  series: { at: number; usd: number; tokens: number }[];
  cache: { hitRate: number; breaks: { at: number; taskId: Id; reason: string }[] };
  escrow: { at: number; from?: Id; to?: Id; usd: number; kind: string }[];
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

export interface ConfigAll {
  global: Record<string, unknown>;
  repo: Record<string, unknown>;
  local: Record<string, unknown>;
  resolved: Record<string, unknown>;
  origins: Record<string, string>;
}

export interface SearchView {
  tasks: { taskId: Id; title: string; line: string }[];
  log: { seq: number; taskId: Id; line: string }[];
}

export interface SessionView {
  id: Id;
  label?: string;
  createdAt: number;
  lastUsedAt?: number;
  expiresAt: number;
  current?: boolean;
}

export interface Health {
  status: "ok" | "starting";
  version: string;
  gitHash: string;
  uptimeMs: number;
  epoch: string | number;
}
