// From the events of a task to what is shown of its conversation: calls meet their results, messages stand where
// they were read, and what the agent cannot see any more is marked.
import { type BlobRef, type EventView, type Id, type ImageRef, type KnownEvent, type MessageBody, known } from "../api/types.ts";
import { word } from "../text/format.ts";
import { toolName } from "./tools/names.ts";

export interface ToolItem {
  readonly kind: "tool";
  readonly task: Id;
  readonly key: string;
  readonly seq: number;
  readonly at: number;
  readonly tool: string;
  readonly callId: string;
  /** What the daemon says of the call in one line; nothing where the call is not loaded. */
  readonly line: string;
  /** The other commits that say something of it. */
  readonly also: number[];
  readonly input: unknown;
  readonly malformed: string | undefined;
  verdict?: { verdict: string; rule: string; class: string };
  /** How the work ended with this call, which has no result then. */
  ended?: "passed" | "failed";
  approval?: { id: Id; reason: string; given?: string; scope?: string };
  result?: {
    content: string | BlobRef;
    isError: boolean;
    images: readonly ImageRef[];
    at: number;
    blob: string | undefined;
    background: string | undefined;
  };
}

export interface MessageItem {
  readonly kind: "message";
  readonly task: Id;
  readonly key: string;
  readonly seq: number;
  readonly at: number;
  readonly id: Id;
  readonly body: MessageBody;
  /** What the daemon says of it in one line, where that is worth one. */
  readonly line: string | undefined;
  /** The commit it was posted with; it stands where it was read. */
  readonly posted: number;
}

export type NoteTone = "plain" | "good" | "attention" | "bad";

export type Item =
  | ToolItem
  | MessageItem
  | { readonly kind: "text"; readonly key: string; readonly seq: number; readonly at: number; readonly content: string | BlobRef }
  | {
      readonly kind: "thinking";
      readonly key: string;
      readonly seq: number;
      readonly at: number;
      readonly content: string | BlobRef;
      readonly sealed: boolean;
    }
  | {
      readonly kind: "boundary";
      readonly key: string;
      readonly seq: number;
      readonly at: number;
      readonly title: string;
      readonly detail?: string;
      readonly task?: Id;
    }
  | {
      readonly kind: "note";
      readonly key: string;
      readonly seq: number;
      readonly at: number;
      readonly tone: NoteTone;
      readonly text: string;
      readonly detail?: string;
    }
  | {
      readonly kind: "error";
      readonly key: string;
      readonly seq: number;
      readonly at: number;
      readonly message: string;
      readonly advice: string | undefined;
    }
  | {
      readonly kind: "check";
      readonly key: string;
      readonly seq: number;
      readonly at: number;
      readonly command: string;
      readonly exitCode: number | undefined;
      readonly tree: string;
      readonly output: string;
    }
  | {
      readonly kind: "question";
      readonly key: string;
      readonly seq: number;
      readonly at: number;
      readonly id: Id;
      readonly question: string;
      answer?: string;
      /** The commit that answered it. */
      answered?: number;
      expired?: boolean;
    };

export interface Conversation {
  readonly items: readonly Item[];
  /** Messages that were sent and not read yet. */
  readonly waiting: readonly MessageItem[];
  /** Commits that the agent does not see any more: before the last summary, or taken back. */
  isForgotten(seq: number): boolean;
}

export function conversation(events: readonly EventView[]): Conversation {
  const builder = new Builder();
  for (const event of events) builder.take(known(event));
  return builder.finish();
}

class Builder {
  private readonly items: Item[] = [];
  private readonly posted = new Map<Id, MessageItem>();
  private readonly seen = new Set<Id>();
  private readonly calls = new Map<string, ToolItem>();
  private readonly approvals = new Map<Id, ToolItem>();
  private readonly questions = new Map<Id, Extract<Item, { kind: "question" }>>();
  /** The call that says that the work is done, until that is settled. */
  private doneCall: ToolItem | undefined;
  private readonly undone: { from: number; to: number }[] = [];
  private summaryStart: number | undefined;
  private forgottenBefore = -1;
  /** Two events of one commit share its number; their place tells them apart. */
  private place = 0;

  take(event: KnownEvent): void {
    this.place += 1;
    const base = { key: `${event.seq}.${event.type}.${this.sub(event)}`, seq: event.seq, at: event.at };
    const note = (tone: NoteTone, text: string, detail?: string): void => {
      this.items.push({ kind: "note", ...base, tone, text, ...(detail === undefined ? {} : { detail }) });
    };
    switch (event.type) {
      case "message":
        // A second event with the same id is the same message, also after it was read.
        if (this.seen.has(event.id)) return;
        this.seen.add(event.id);
        this.posted.set(event.id, { kind: "message", task: event.task, ...base, id: event.id, body: event.body, line: event.line, posted: event.seq });
        return;
      case "messages_consumed":
        for (const id of event.messageIds) this.read(id, event.seq);
        return;
      case "assistant_text":
        if (event.content !== "") this.items.push({ kind: "text", ...base, content: event.content });
        return;
      case "thinking":
        this.items.push({ kind: "thinking", ...base, content: event.thinking, sealed: event.redacted === true });
        return;
      case "tool_call":
      case "tool_verdict":
      case "tool_result":
      case "approval_requested":
      case "approval_given":
        return this.takeCall(event, base);
      case "compact_started":
        this.summaryStart = event.seq;
        return;
      case "compact_marker":
        this.forgottenBefore = this.summaryStart ?? event.seq;
        this.items.push({ kind: "boundary", ...base, title: "Summarised: the agent goes on with this summary and does not see what stands above", detail: event.checkpoint });
        return;
      case "fork_marker":
        this.items.push({ kind: "boundary", ...base, title: "Forked: the agent knows another conversation up to here", task: event.sourceTaskId });
        return;
      case "rewind_marker":
        this.undone.push({ from: event.toSeq, to: event.seq });
        this.items.push({ kind: "boundary", ...base, title: "Taken back: the agent does not see what is greyed out above. Files and tasks were not changed back." });
        return;
      case "conversation_cleared":
      case "task_reset":
        this.forgottenBefore = event.seq;
        this.posted.clear();
        this.items.push({ kind: "boundary", ...base, title: event.type === "task_reset" ? "Begun again from nothing" : "The conversation was cleared" });
        return;
      case "clarification_requested": {
        const item = { kind: "question" as const, ...base, id: event.id, question: event.question };
        this.dropCall("clarify");
        this.questions.set(event.id, item);
        this.items.push(item);
        return;
      }
      case "clarification_answered":
      case "clarification_expired": {
        const question = this.questions.get(event.id);
        if (question === undefined) return;
        if (event.type === "clarification_expired") question.expired = true;
        else Object.assign(question, { answer: event.answer, answered: event.seq });
        return;
      }
      case "error":
        this.items.push({ kind: "error", ...base, message: event.message, advice: event.advice });
        return;
      case "check_finished":
        this.items.push({ kind: "check", ...base, command: event.command, exitCode: event.exitCode, tree: event.tree, output: event.output });
        return;
      default:
        return this.takeFact(event, note);
    }
  }

  /** Leaves the newest call of a tool out of what is shown, because something else stands for it. */
  private dropCall(tool: string): void {
    const index = this.items.findLastIndex((item) => item.kind === "tool" && item.tool === tool);
    if (index >= 0) this.items.splice(index, 1);
  }

  private sub(event: KnownEvent): string {
    if ("toolCallId" in event) return event.toolCallId;
    return String(this.items.length === 0 || this.items.at(-1)?.seq !== event.seq ? 0 : this.place);
  }

  private takeCall(event: KnownEvent, base: { key: string; seq: number; at: number }): void {
    switch (event.type) {
      case "tool_call": {
        const item: ToolItem = { kind: "tool", task: event.task, ...base, tool: ownName(event.tool), callId: event.toolCallId, line: event.line ?? "", also: [], input: event.input, malformed: event.malformed };
        this.calls.set(event.toolCallId, item);
        this.items.push(item);
        return;
      }
      case "tool_verdict": {
        const call = this.calls.get(event.toolCallId);
        if (call !== undefined) call.verdict = { verdict: event.verdict, rule: event.rule, class: event.class };
        return;
      }
      case "tool_result": {
        // The call may stand on a page that is not loaded: the result is shown all the same.
        const call = this.calls.get(event.toolCallId) ?? this.orphan(event, base);
        call.also.push(event.seq);
        call.result = { content: event.content, isError: event.isError, images: event.images ?? [], at: event.at, blob: event.blob, background: event.backgroundId };
        return;
      }
      case "approval_requested": {
        const call = this.calls.get(event.toolCallId);
        if (call === undefined) return;
        call.approval = { id: event.id, reason: event.reason };
        this.approvals.set(event.id, call);
        return;
      }
      case "approval_given": {
        const approval = this.approvals.get(event.id)?.approval;
        if (approval !== undefined) Object.assign(approval, { given: event.verdict, scope: event.scope });
        return;
      }
      default:
        return;
    }
  }

  private orphan(event: { task: Id; tool: string; toolCallId: string }, base: { key: string; seq: number; at: number }): ToolItem {
    const item: ToolItem = { kind: "tool", task: event.task, ...base, tool: ownName(event.tool), callId: event.toolCallId, line: "", also: [], input: undefined, malformed: undefined };
    this.calls.set(event.toolCallId, item);
    this.items.push(item);
    return item;
  }

  /** What happened, in the daemon's words: the terminal says the same. */
  private takeFact(event: KnownEvent, note: (tone: NoteTone, text: string, detail?: string) => void): void {
    const line = event.line ?? word(event.type);
    switch (event.type) {
      case "orchestration_started":
        return note("plain", `${event.resume ? "goes on" : "started"} with ${event.model}`);
      case "daemon_booted":
        return note("plain", `the daemon was started (${event.version})`);
      case "worktree_failed":
        return note("bad", line, event.message);
      case "task_status_changed":
        return note(event.to === "passed" ? "good" : event.to === "failed" ? "bad" : "plain", line, event.reason);
      case "done_notified":
        if (this.doneCall !== undefined) this.doneCall.ended = event.status;
        return;
      case "done_requested":
        this.doneCall = this.calls.get(event.toolCallId);
        return note(event.status === "passed" ? "good" : "bad", line, event.summary);
      case "agent_rested":
        if (event.why === "loop") note("attention", line);
        else if (event.why === "refused") note("attention", "rests because the model would not answer");
        return;
      case "turn_ended":
        if (event.stopReason === "max_tokens") note("attention", line);
        return;
      case "budget_warning":
      case "budget_exceeded":
      case "host_approval_requested":
        return note("attention", line);
      case "worktree_created":
      case "worktree_removed":
      case "worktree_dismissed":
      case "agent_stopped":
      case "agent_interrupted":
      case "budget_granted":
      case "sampling_ended":
      case "host_approval_given":
      case "host_approval_expired":
        return note("plain", line);
      default:
        return;
    }
  }

  private read(id: Id, seq: number): void {
    const message = this.posted.get(id);
    if (message === undefined) return;
    this.posted.delete(id);
    this.items.push({ ...message, key: `read.${id}`, seq });
  }

  finish(): Conversation {
    const { forgottenBefore, undone } = this;
    return {
      items: this.items,
      waiting: [...this.posted.values()],
      isForgotten: (seq) => seq < forgottenBefore || undone.some((gap) => seq > gap.from && seq < gap.to),
    };
  }
}

/** The item that a commit says something of; where none does, the next one behind it. */
export function indexAt(items: readonly Item[], seq: number): number | undefined {
  const exact = items.findIndex((item) => item.seq === seq || isPartOf(item, seq));
  if (exact >= 0) return exact;
  const next = items.findIndex((item) => item.seq > seq);
  if (next >= 0) return next;
  return items.length === 0 ? undefined : items.length - 1;
}

function isPartOf(item: Item, seq: number): boolean {
  switch (item.kind) {
    case "tool":
      return item.also.includes(seq);
    case "message":
      return item.posted === seq;
    case "question":
      return item.answered === seq;
    default:
      return false;
  }
}

/** The tools of mxd itself have plain names here, however the model spelled them. */
function ownName(wire: string): string {
  const { name, server } = toolName(wire);
  return server === undefined ? name : wire;
}
