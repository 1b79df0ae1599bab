// This file is generated from docs/openapi.json by `npm run types`; do not edit it.
//
// What is not there is left out of an answer and never null, so optional fields are plain.

/** What is accepted besides what the server says. */
export type Accept = {
  /** Classes of tools that have none, by name: `read`, `write`, `shell`, `network` or `spend`. */
  classes?: Record<string, string>;
};

/** What was done is durable. */
export type Acted = {
  /** Its commit; none when there was nothing to be recorded. */
  seq?: number;
  cursor?: string;
};

export type AfterName = "compact";

export type AgentStatus = {
  /** Agents that rest. */
  idle: string[];
  /** Agents at work. */
  active: string[];
};

/** What an agent does. */
export type AgentView = {
  /** `none`, `blocked`, `launching`, `thinking`, `tool`, `checking`, `compacting`, `waiting`, `asking`, `interrupted`, `stopped`, `spent`, `stuck`, `refused`, `failed` or `done`. */
  state: string;
  /** The same in words. */
  why: string;
};

export type Agents = {
  running: number;
  model?: string;
};

/** Everything about the settings of a project. */
export type All = {
  global: unknown;
  repo: unknown;
  local: unknown;
  /** What holds, by key. */
  resolved: Record<string, unknown>;
  /** Where it comes from, by key. */
  origins: Record<string, unknown>;
  /** What is wrong with the files; then nothing holds. */
  problem?: string;
};

/** A tool call, or a host that a command wants to reach, that waits for the user's word. */
export type ApprovalNeed = {
  taskId: string;
  taskTitle: string;
  approvalId: string;
  /** The call; empty for a host. */
  callId: string;
  /** The tool; `network` for a host. */
  tool: string;
  /** The host that a command wants to reach and that no rule allows or denies, as a rule would name it. Without it the word is about a call. */
  host?: string;
  /** Its arguments, as the model wrote them. */
  args: unknown;
  /** The hash of tool and arguments; an approval may name it, and is then about nothing else. */
  argsDigest: string;
  /** The rule that asks. */
  rule?: string;
  at: number;
};

/** A word about a tool call, or about a host that a command wants to reach. */
export type Approve = {
  taskId: string;
  approvalId: string;
  decision: Decision;
  /** The hash that was looked at: the word is about this call and no other. */
  argsDigest?: string;
  /** Words for the agent: when a call is denied they are part of its result, otherwise a message. */
  note?: string;
};

export type BreakView = {
  at: number;
  taskId: string;
  reason: string;
};

/** A project that does not open. */
export type BrokenProject = {
  id: string;
  problem: string;
};

export type Cache = {
  /** The part of what models read that came from the cache, from 0 to 1. */
  hitRate: number;
  breaks: BreakView[];
};

export type CallView = {
  seq: number;
  at: number;
  callId: string;
  tool: string;
  /** The side-effect class of the tool, once it is known. */
  class?: string;
  /** `allow`, `ask` or `deny`, once it is known. */
  verdict?: string;
  rule?: string;
  /** From the call to its result. */
  durationMs?: number;
  /** Whether it went well; none while it runs. */
  ok?: boolean;
  line: string;
};

export type Challenge = {
  challengeId: string;
  /** What the user calls to get the answer. */
  command: string;
  expiresAt: number;
};

/** The public key of a browser. */
export type ChallengeWish = {
  /** RSA, in the form SPKI, as base64. */
  publicKey: string;
};

/** A place at which a server offers something else than was accepted. */
export type ChangeView = {
  tool: string;
  /** Where in its definition; empty for the whole of it. */
  path: string;
  /** What was accepted, with every character that cannot be seen spelt out; left out for what is new. */
  was?: string;
  /** What it says now, in the same way; left out for what is gone. */
  now?: string;
};

/** What became of a change. */
export type Changed = {
  /** The layer, as it is now. */
  config: unknown;
  /** Projects that go on with the new settings. */
  restarted: string[];
  /** Projects in which agents work: they go on with the old settings until they are restarted, apart from approval rules and from the hosts of commands, which hold at once. */
  restartNeeded: string[];
  /** Projects that cannot be opened with the new settings. */
  broken: BrokenProject[];
  /** Projects that have a budget of their own, which another `budgetUsd` does not change. */
  budgetKept: string[];
};

export type CheckView = {
  command: string;
  /** None when it was ended. */
  exitCode?: number;
  /** The files it was run on. */
  treeHash: string;
  at: number;
  output: string;
  /** The whole output, when it was too long. */
  blob?: string;
};

export type Choice = "example" | "nothing" | "text";

/** A question of an agent. */
export type ClarificationNeed = {
  taskId: string;
  taskTitle: string;
  clarificationId: string;
  question: string;
  at: number;
  /** When it counts as unanswered. */
  expiresAt?: number;
};

export type Clarifications = {
  clarifications: ClarificationNeed[];
};

/** An answer to a question. */
export type Clarify = {
  taskId: string;
  /** Which question; may be left out when there is only one. */
  clarificationId?: string;
  answer: string;
};

export type Cleared = {
  /** How many conversations went. */
  cleared: number;
};

/** Whose conversation is to be summarised. */
export type Compact = {
  /** The task; otherwise the root. */
  taskId?: string;
};

/** How full the model's window is. */
export type ContextView = {
  tokens: number;
  window: number;
  /** Whether a part of it is only estimated. */
  estimated: boolean;
};

/** How a task is taken up. */
export type Continue = {
  message?: string;
};

export type Decision = "once" | "task" | "always" | "deny";

export type Diff = {
  /** The commit that the files are compared with. */
  base: string;
  /** Where the branch stands; none when the agent deleted it. */
  head?: string;
  /** Whether something is not committed. */
  dirty: boolean;
  files: FileView[];
  /** Whether something was left out because it is too much. */
  truncated: boolean;
};

/** How much a task has changed. */
export type DiffView = {
  /** Files that differ. */
  files: number;
  /** Lines that are new. */
  additions: number;
  /** Lines that are gone. */
  deletions: number;
};

/** A message, written anew. */
export type Edit = {
  messageId: string;
  content: string;
  images?: Picture[];
};

export type Ending = {
  ending: boolean;
};

/** The body of every answer that is an error. */
export type ErrorBody = {
  error: ErrorPart;
};

/** What went wrong. */
export type ErrorPart = {
  /** A name for programs, in snake case. */
  code: string;
  /** What happened, to what. */
  message: string;
  /** What to do about it. */
  hint?: string;
};

/** What every event has. */
export type EventShape = {
  seq: number;
  at: number;
  task: string;
  type: string;
  line?: string;
};

export type Events = {
  /** Oldest first. Each is as it is in the log, with its commit `seq`, its time `at` and one `line` for people. */
  events: EventShape[];
  hasMore: boolean;
  /** Where a live stream goes on. */
  cursor: string;
};

export type Evidence = {
  /** Newest last. */
  checks: CheckView[];
};

export type FileView = {
  path: string;
  oldPath?: string;
  status: StatusName;
  additions: number;
  deletions: number;
  patch?: string;
  binary: boolean;
};

/** Whose conversation. */
export type Fork = {
  sourceTaskId: string;
};

export type Found = {
  tasks: TaskHit[];
  /** Newest first. */
  log: LogHit[];
};

export type FoundKeyView = {
  variable: string;
  provider: string;
};

export type GitCommit = {
  hash: string;
  message: string;
  at: number;
  author: string;
};

export type GitLog = {
  /** Newest first. */
  commits: GitCommit[];
};

/** Money for a task. */
export type Grant = {
  /** How much more, in dollars. */
  usd: number;
};

/** The key that the user was shown. */
export type GrantWish = {
  publicKey: string;
  /** What the session is called in the list. */
  label?: string;
};

export type Granted = {
  /** The answer to the challenge, encrypted (RSA-OAEP with SHA-256), as base64. */
  answer: string;
};

/** What is possible with the money that a task has now. */
export type Granted2 = {
  /** Its commit; none when there was nothing to be recorded. */
  seq?: number;
  cursor?: string;
  /** What is left in the budget that pays for it, with nothing in it that is set aside. */
  leftUsd?: number;
  /** What its next model call may cost, with an answer as long as its model can write; none when it was never asked. */
  nextCallUsd?: number;
  /** What is still missing before a model call can be made, even with a short answer. */
  missingUsd?: number;
  /** The same in words. */
  says: string;
};

export type Health = {
  status: Status;
  version: string;
  gitHash?: string;
  uptimeMs: number;
  /** Changes with every start. */
  epoch: string;
  model?: ModelHealth;
};

export type Interrupted = {
  /** Whether there was a turn to be broken off. */
  interrupted: boolean;
};

export type ItemState = "ready" | "optional" | "missing";

/** Whose command. */
export type KillWish = {
  /** The task. */
  sessionId: string;
};

export type Killed = {
  killed: boolean;
};

export type Kind = "task" | "folder";

export type Ledger = {
  /** Oldest first. */
  calls: CallView[];
  hasMore: boolean;
};

export type LetGo = {
  cancelled: boolean;
};

/** What a task has used in all its life. */
export type LifeView = {
  turns: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  since?: number;
};

export type LogHit = {
  seq: number;
  taskId: string;
  line: string;
};

export type LoggedOut = {
  loggedOut: boolean;
};

/** The decrypted answer to a challenge, or a ticket. */
export type Login = {
  challengeId?: string;
  answer?: string;
  ticket?: string;
};

export type MediaType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** How a merge is called. */
export type Merge = {
  /** The message of the commit. */
  message?: string;
  /** Accepts that it changes settings or hooks of the repository: the fingerprint that its refusal names. */
  acceptSettings?: string;
};

export type MergeDone = {
  /** What became of it. */
  report: string;
};

/** Whether the user's own settings name a model that can be asked. */
export type ModelHealth = {
  ok: boolean;
  name?: string;
  problem?: string;
};

export type Moment = {
  at: number;
  usd: number;
  tokens: number;
};

export type Money = {
  totalUsd: number;
  tasks: TaskMoney[];
  /** By the hour. */
  series: Moment[];
  cache: Cache;
  /** How budgets moved, newest last. */
  escrow: Movement[];
};

/** A command that runs. */
export type MoveWish = {
  /** Whose it is: the task. */
  sessionId: string;
  /** The call that runs it. */
  execId: string;
};

export type Moved = {
  moved: boolean;
};

export type Movement = {
  at: number;
  from?: string;
  to?: string;
  usd: number;
  /** `granted`, `transferred`, `refunded`, `reserved` or `settled`. */
  kind: string;
};

/** Everything that waits for the user. */
export type Needs = {
  approvals: ApprovalNeed[];
  clarifications: ClarificationNeed[];
  failed: Trouble[];
  conflicts: Trouble[];
  /** Servers that wait until the user accepts what they offer. Only where needs are asked for by themselves. */
  servers?: ServerNeed[];
};

/** A message to a task. */
export type NewMessage = {
  /** The sender's id for it, a ULID: sent twice with the same one, it is delivered once. */
  id?: string;
  /** What it says. */
  content?: string;
  /** Another name of `content`. */
  message?: string;
  images?: Picture[];
  /** A subject line, which is put before the text. */
  title?: string;
};

/** A folder to be registered. */
export type NewProject = {
  /** Its whole path. */
  path: string;
  /** What it is to be called; otherwise as its folder. */
  name?: string;
  /** Whether the folder and its repository are made when they are not there. */
  init?: boolean;
};

/** The two kinds of nodes. */
export type NodeKindName = "task" | "folder";

/** A picture. */
export type Picture = {
  base64: string;
  mediaType: MediaType;
};

/** What became of a message: it is durable. */
export type Posted = {
  /** Its commit. */
  seq: number;
  cursor: string;
  taskId: string;
  messageId: string;
};

/** What changes about a project. */
export type ProjectPatch = {
  /** Where its folder is now. */
  path?: string;
  /** What it is called now. */
  name?: string;
  /** The branch that tasks start from and that work is merged into, from now on. */
  baseBranch?: string;
};

export type ProjectState = "opening" | "open" | "broken";

/** A project. */
export type ProjectView = {
  id: string;
  name: string;
  /** The user's checkout. */
  path: string;
  /** Whether it is there at this moment. */
  pathExists: boolean;
  createdAt: number;
  /** Its root task; none while it is broken. */
  rootId?: string;
  state: ProjectState;
  /** Why it is broken. */
  problem?: string;
  /** The branch that tasks start from and that work is merged into. */
  baseBranch?: string;
  /** How many tasks there are, by status. */
  counts: Record<string, number>;
  costUsd: number;
  /** Agents at work. */
  running: number;
  /** Things that wait for the user. */
  needs: number;
  /** What its user should know, after a registration or a change of its place. */
  notes?: string[];
};

export type Projects = {
  projects: ProjectView[];
};

/** Which conversations of closed tasks stay. */
export type Prune = {
  /** How many stay, the newest. */
  keepCount?: number;
};

export type ReadinessItemView = {
  name: string;
  state: ItemState;
  /** The state in words. */
  says: string;
  /** What to do about it. */
  nextStep?: string;
};

/** Whether a project is ready. */
export type ReadinessView = {
  /** Whether nothing is missing that tasks need. */
  ready: boolean;
  /** Five: `model`, `budget`, `git`, `setupHook` and `checks`. */
  items: ReadinessItemView[];
  /** Keys of providers that are set where the daemon runs, by the names of their variables. */
  foundKeys: FoundKeyView[];
  /** A set-up script for what the project is built with. */
  exampleHook: string;
  /** Commands by which the project seems to be tested. */
  detectedChecks: string[];
};

export type RefusedFileView = {
  /** The file. */
  name: string;
  /** What is wrong with it. */
  why: string;
};

export type Removed = {
  /** Where its data is. */
  kept: string;
};

/** All children of a node, each once. */
export type Reorder = {
  children: string[];
};

export type Revoked = {
  revoked: boolean;
};

/** Before which message. */
export type Rewind = {
  messageId: string;
};

/** A server that waits for the user's word. */
export type ServerNeed = {
  /** Which one. */
  alias: string;
  /** What it offers otherwise than was accepted, or that nothing was accepted yet. */
  why: string;
  /** The command that shows it in full, and the one that accepts it. */
  commands: string[];
};

export type ServerView = {
  alias: string;
  status: StatusName2;
  /** Why it cannot be used, and what to do about it. */
  problem?: string;
  tools: ToolView[];
  /** What it offers otherwise than was accepted. */
  drift?: string[];
  /** The same, with the words that were accepted and those that are offered now. */
  changes?: ChangeView[];
  /** How many agents are connected to it. */
  agents: number;
};

export type Servers = {
  servers: ServerView[];
};

export type Session = {
  token: string;
  expiresAt: number;
};

/** A session as its user sees it. */
export type SessionView = {
  id: string;
  label?: string;
  createdAt: number;
  expiresAt: number;
};

export type Sessions = {
  sessions: SessionView[];
};

/** Which set-up script is wanted. */
export type SetupHook = {
  choice: Choice;
  /** The script, when `choice` is `text`. */
  text?: string;
};

export type SetupHookDone = {
  /** Whether it was committed; not when there was one. */
  committed: boolean;
};

export type Stats = {
  uptimeMs: number;
  requests: number;
  projects: number;
  tasks: number;
  /** Live streams at this moment. */
  streams: number;
  /** Tasks by status. */
  counts: Record<string, number>;
};

export type Status = "ok" | "starting";

export type Status2 = {
  /** Whether one has to log in at all. */
  enabled: boolean;
  authenticated: boolean;
  /** How: `token`, `session` or `open`. */
  via?: string;
};

export type StatusName = "added" | "modified" | "deleted" | "renamed" | "other";

export type StatusName2 = "idle" | "connecting" | "ready" | "drifted" | "unaccepted" | "down";

/** Why an agent is stopped. */
export type Stop = {
  reason?: string;
};

/** Which stream. */
export type StreamWish = {
  projectId: string;
};

/** How the files of persistent tasks, `.mxd/tasks/<id>.json` of the base branch, are. */
export type TaskFilesView = {
  /** Why the files are not as the tasks are; they are written when that has changed. */
  waiting?: string;
  /** Files that are not taken over. */
  refused: RefusedFileView[];
};

export type TaskHit = {
  taskId: string;
  title: string;
  line: string;
};

export type TaskMoney = {
  taskId: string;
  title: string;
  costUsd: number;
  budgetUsd?: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
};

/** What changes about a node. What is left out stays; null clears. */
export type TaskPatch = {
  title?: string;
  description?: string;
  color?: string;
  status?: "draft" | "pending" | "in_progress" | "verify" | "passed" | "failed" | "closed";
  /** True makes it a draft, false makes a draft ready. */
  draft?: boolean;
  /** The new node above. */
  parentId?: string;
  /** The new place among its siblings. */
  index?: number;
  budgetUsd?: number;
  after?: string[];
  persistent?: "reset" | "continue";
};

/** A node of the tree. */
export type TaskView = {
  id: string;
  kind: NodeKindName;
  title: string;
  /** What is to be done; in lists only its beginning. */
  description: string;
  /** Whether only the beginning of the description is here. */
  descriptionCut?: boolean;
  parentId?: string;
  children: string[];
  color?: string;
  /** Who changed it last: `user` or `agent`. */
  editedBy: string;
  createdAt: number;
  updatedAt: number;
  status?: string;
  branch?: string;
  worktreePath?: string;
  /** What it has cost. */
  costUsd?: number;
  /** What was spent of its budget, by itself and by tasks below without one of their own. */
  spentUsd?: number;
  budgetUsd?: number;
  remainingUsd?: number;
  /** What closing it does, if it comes back: `reset` or `continue`. */
  persistent?: string;
  /** Tasks that have to be passed or closed first. */
  after?: string[];
  /** Commands that have to succeed before it can be passed. */
  checks?: string[];
  /** The manifest its agent works under, a file of the repository. */
  manifest?: string;
  /** The skill its agent works by. */
  skill?: string;
  agent?: AgentView;
  /** The newest thing said or done. */
  lastLine?: string;
  /** Messages that wait. */
  inbox?: number;
  /** Open questions to the user. */
  questions?: string[];
  /** Tool calls and hosts that wait for the user's word. */
  approvals?: string[];
  /** Commands in the background. */
  background?: string[];
  context?: ContextView;
  life?: LifeView;
  /** What it has changed so far, as far as that is known without asking git. */
  diff?: DiffView;
};

/** A node to be created. */
export type TaskWish = {
  /** Task or folder; a task unless said otherwise. */
  kind?: Kind;
  title: string;
  description?: string;
  /** Below which node; otherwise below the root. */
  parentId?: string;
  /** Whether it is only written down, and not ready to be started. */
  draft?: boolean;
  color?: string;
  /** What it may spend, in dollars. */
  budgetUsd?: number;
  /** Tasks that have to be passed or closed first. */
  after?: string[];
  /** Commands that have to succeed before it can be passed. */
  checks?: string[];
  /** What closing it does, if it is to come back. */
  persistent?: "reset" | "continue";
  /** The manifest its agent works under, a file of the repository: it only takes away from what the task above has. */
  manifest?: string;
  /** The skill its agent works by. */
  skill?: string;
  /** How many children stand before it; otherwise it is the last. */
  index?: number;
};

export type Tasks = {
  tasks: TaskView[];
  rootId?: string;
  /** Where a live stream goes on. */
  cursor: string;
};

export type Ticket = {
  ticket: string;
  expiresAt: number;
};

export type ToolView = {
  name: string;
  /** What it does to the world; a tool without a class is not called. */
  class?: string;
  /** The digest of what was accepted. */
  digest?: string;
};

/** A task that cannot go on by itself. */
export type Trouble = {
  taskId: string;
  taskTitle: string;
  why: string;
  at: number;
};

export type Version = {
  version: string;
  gitHash?: string;
};

/** How far it is. */
export type Waited = {
  /** Whether nobody works there, and nobody will without a further word. */
  rested: boolean;
  /** Whether somebody there wants an answer or a permission. */
  needsYou: boolean;
  /** The tasks whose agents work. */
  working: string[];
  /** The tasks that want an answer or a permission. */
  asking: string[];
  /** The tasks that cannot go on before somebody does something about it. */
  stuck: string[];
  /** The status of the task; none for a folder, and for one that is gone. */
  status?: string;
  /** Where its own agent stands. */
  why?: string;
};
