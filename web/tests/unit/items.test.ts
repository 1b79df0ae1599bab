// What is shown of a conversation.
import { describe, expect, it } from "vitest";
import type { EventView } from "../../src/api/types.ts";
import { type Item, conversation, indexAt } from "../../src/task/items.ts";
import { hits } from "../../src/task/search.ts";
import { demo } from "../../testing/fixture.mjs";

let seq = 0;
function event(type: string, fields: Record<string, unknown> = {}): EventView {
  seq += 1;
  return { seq, at: seq, task: "a", type, ...fields };
}

const kinds = (events: EventView[]): string[] => conversation(events).items.map((item) => item.kind);
const message = (id: string, content = id): EventView => event("message", { id, wake: true, body: { source: "user", content } });

describe("conversation", () => {
  it("joins a call with its verdict and its result, in any order of others", () => {
    const events = [
      event("tool_call", { tool: "bash", toolCallId: "1", input: { command: "ls" } }),
      event("tool_call", { tool: "mcp__mxd__search", toolCallId: "2", input: { pattern: "x" } }),
      event("tool_verdict", { toolCallId: "2", verdict: "allow", rule: "r", class: "read" }),
      event("tool_result", { tool: "search", toolCallId: "2", content: "none", isError: false }),
      event("tool_result", { tool: "bash", toolCallId: "1", content: "a", isError: true }),
    ];
    const items = conversation(events).items as Extract<Item, { kind: "tool" }>[];
    expect(items.map((item) => [item.tool, item.result?.isError])).toEqual([["bash", true], ["search", false]]);
    expect(items[1]?.verdict?.rule).toBe("r");
  });

  it("shows a result whose call stands on a page that is not loaded", () => {
    expect(kinds([event("tool_result", { tool: "bash", toolCallId: "9", content: "a", isError: false })])).toEqual(["tool"]);
  });

  it("shows a message where it was read, and until then as waiting", () => {
    const first = message("m1");
    const talk = conversation([first, event("assistant_text", { content: "busy" })]);
    expect(talk.items.map((item) => item.kind)).toEqual(["text"]);
    expect(talk.waiting.map((one) => one.id)).toEqual(["m1"]);
    const read = conversation([first, event("assistant_text", { content: "busy" }), event("messages_consumed", { messageIds: ["m1"] })]);
    expect(read.items.map((item) => item.kind)).toEqual(["text", "message"]);
    expect(read.waiting).toEqual([]);
  });

  it("finds the item that a commit says something of", () => {
    const posted = message("m7");
    const call = event("tool_call", { tool: "bash", toolCallId: "7", input: {} });
    const said = event("assistant_text", { content: "meanwhile" });
    const result = event("tool_result", { tool: "bash", toolCallId: "7", content: "found it", isError: false });
    const read = event("messages_consumed", { messageIds: ["m7"] });
    const asked = event("clarification_requested", { id: "q", question: "?" });
    const unseen = event("turn_ended", {});
    const answered = event("clarification_answered", { id: "q", answer: "!" });
    const { items } = conversation([posted, call, said, result, read, asked, unseen, answered]);
    const kindAt = (one: EventView): string | undefined => items[indexAt(items, one.seq) ?? -1]?.kind;
    expect([posted, call, said, result, read, asked, answered].map(kindAt)).toEqual(["message", "tool", "text", "tool", "message", "question", "question"]);
    // Of what is not shown, whatever stands nearest behind it; at the end, the last.
    expect(kindAt(unseen)).toBe("question");
    expect(indexAt([], 1)).toBeUndefined();
  });

  it("shows a message once although it was told twice", () => {
    const one = message("m2");
    expect(conversation([one, { ...one, seq: one.seq + 1 }]).waiting.length).toBe(1);
    const read = event("messages_consumed", { messageIds: ["m2"] });
    expect(conversation([one, read, { ...one, seq: read.seq + 1 }]).waiting).toEqual([]);
  });

  it("marks what the agent does not see any more", () => {
    const before = event("assistant_text", { content: "old" });
    const start = event("compact_started");
    const marker = event("compact_marker", { checkpoint: "short", savedTokens: 1 });
    const kept = event("assistant_text", { content: "kept" });
    const undone = event("assistant_text", { content: "undone" });
    const rewind = event("rewind_marker", { toSeq: kept.seq });
    const talk = conversation([before, start, marker, kept, undone, rewind]);
    expect([before, kept, undone].map((one) => talk.isForgotten(one.seq))).toEqual([true, false, true]);
  });

  it("takes a summary that was begun and never made for no boundary", () => {
    const before = event("assistant_text", { content: "old" });
    expect(conversation([before, event("compact_started")]).isForgotten(before.seq)).toBe(false);
  });

  it("gives every item a key of its own, also for events of one commit", () => {
    const { events, ids } = demo();
    for (const id of Object.values(ids)) {
      const { items } = conversation(events.filter((one: EventView) => one.task === id));
      expect(new Set(items.map((item) => item.key)).size).toBe(items.length);
    }
    const twins = [1, 2, 3].map((number) => ({ seq: 5_000, at: 1, task: "a", type: "assistant_text", content: `${number}` }));
    const { items } = conversation(twins);
    expect(new Set(items.map((item) => item.key)).size).toBe(3);
  });

  it("says what happened in the daemon's words", () => {
    const notes = (...events: EventView[]): unknown[] => conversation(events).items.map((item) => (item.kind === "note" ? item.text : item.kind === "tool" ? item.line : item.kind));
    expect(notes(event("agent_interrupted", { line: "its turn was interrupted" }))).toEqual(["its turn was interrupted"]);
    expect(notes(event("worktree_created", { branch: "mxd/a/b", path: "/", base: "c", line: "works on branch mxd/a/b" }))).toEqual(["works on branch mxd/a/b"]);
    expect(notes(event("tool_call", { tool: "mcp__mxd__merge_task", toolCallId: "m", input: { taskId: "t" }, line: "merge_task t" }))).toEqual(["merge_task t"]);
    expect(notes(event("agent_stopped"))).toEqual(["agent stopped"]);
  });

  it("knows that a call has ended the work", () => {
    const call = event("tool_call", { tool: "mcp__mxd__done", toolCallId: "done", input: {} });
    const asked = event("done_requested", { toolCallId: "done", status: "passed", summary: "" });
    const ended = (events: EventView[]): unknown => (conversation(events).items[0] as Extract<Item, { kind: "tool" }>).ended;
    expect(ended([call, asked])).toBeUndefined();
    expect(ended([call, asked, event("done_notified", { status: "passed", summary: "" })])).toBe("passed");
  });

  it("ignores types it does not know", () => {
    expect(kinds([event("something_of_tomorrow", { content: "?" })])).toEqual([]);
  });

  it("finds texts in calls, results and messages", () => {
    const events = [message("m3", "Find the Needle"), event("messages_consumed", { messageIds: ["m3"] }), event("tool_call", { tool: "bash", toolCallId: "n", input: { command: "grep needle" } }), event("tool_result", { tool: "bash", toolCallId: "n", content: "\u001b[31mnee\u001b[0mdle", isError: false })];
    const { items } = conversation(events);
    expect(hits(items, "needle")).toEqual([0, 1]);
    expect(hits(items, " ")).toEqual([]);
  });
});
