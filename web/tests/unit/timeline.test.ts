// The timeline: what an agent did when, read from the log alone.
import { describe, expect, it } from "vitest";
import type { EventView, TaskView } from "../../src/api/types.ts";
import { type Segment, timeline, visibleSegments } from "../../src/overview/timeline.ts";

const task = (id: string, more: object = {}): TaskView => ({ id, kind: "task", title: id, children: [], after: [], ...more }) as unknown as TaskView;
let seq = 0;
const event = (at: number, id: string, type: string, more: object = {}): EventView => ({ seq: (seq += 1), at, task: id, type, ...more }) as EventView;
const names = (segments: readonly Segment[] | undefined): string[] => (segments ?? []).map((one) => `${one.activity} ${one.from}-${one.to}`);

describe("a lane", () => {
  it("follows turns, tools, questions and waiting", () => {
    const events = [
      event(0, "a", "turn_started"),
      event(10, "a", "tool_call", { tool: "mcp__mxd__bash", toolCallId: "b", input: {} }),
      event(11, "a", "turn_ended"),
      event(20, "a", "tool_result", { tool: "mcp__mxd__bash", toolCallId: "b", isError: false }),
      event(25, "a", "turn_started"),
      event(30, "a", "clarification_requested", { id: "q" }),
      event(40, "a", "clarification_answered", { id: "q" }),
      event(41, "a", "tool_call", { tool: "mcp__mxd__yield", toolCallId: "y", input: {} }),
      event(42, "a", "turn_ended"),
      event(50, "a", "agent_rested", { why: "yield" }),
    ];
    const { lanes } = timeline(events, { a: task("a", { agent: { state: "waiting", why: "" } }) }, 100);
    expect(names(lanes[0]?.segments)).toEqual(["thinking 0-10", "tool 10-20", "thinking 25-30", "needs 30-40", "thinking 40-41", "waiting 41-100"]);
  });

  it("ends with its last event when nobody works any more, and marks how", () => {
    const events = [event(0, "a", "turn_started"), event(10, "a", "agent_rested", { why: "failed" })];
    const { lanes, last } = timeline(events, { a: task("a") }, 1_000);
    expect(names(lanes[0]?.segments)).toEqual(["thinking 0-10"]);
    expect(lanes[0]?.marks.map((mark) => mark.kind)).toEqual(["failed"]);
    expect(last).toBe(10);
  });

  it("has as many bars as the screen has room for", () => {
    const many: Segment[] = Array.from({ length: 10_000 }, (_, index) => ({ activity: index % 2 === 0 ? "thinking" : "tool", from: index * 10, to: index * 10 + 10, seq: index }));
    expect(visibleSegments(many, 0, 100_000, 500).length).toBeLessThanOrEqual(1_000);
    expect(visibleSegments(many, 50_000, 50_100, 500).length).toBeGreaterThan(5);
  });
});

describe("arrows", () => {
  it("lead from whoever split the work, past folders, back with a merge, and from what was waited for", () => {
    const tasks = { root: task("root", { children: ["f"] }), f: task("f", { kind: "folder", parentId: "root", children: ["a", "b"] }), a: task("a", { parentId: "f" }), b: task("b", { parentId: "f", after: ["a"] }) };
    const events = [
      event(0, "root", "turn_started"),
      event(5, "a", "task_started"),
      event(6, "a", "turn_started"),
      event(9, "a", "done_notified", { status: "passed", summary: "" }),
      event(10, "root", "tool_call", { tool: "mcp__mxd__merge_task", toolCallId: "m", input: { taskId: "a" } }),
      event(12, "root", "tool_result", { tool: "mcp__mxd__merge_task", toolCallId: "m", isError: false }),
      event(13, "b", "turn_started"),
      event(14, "b", "turn_ended"),
    ];
    const { arrows, lanes } = timeline(events, tasks, 20);
    expect(arrows).toEqual([
      { kind: "spawn", from: "root", to: "a", at: 5 },
      { kind: "merge", from: "a", to: "root", at: 12 },
      { kind: "after", from: "a", to: "b", at: 13 },
    ]);
    expect(lanes.map((lane) => lane.task)).toEqual(["root", "a", "b"]);
  });

  it("a merge that failed leads nowhere, and tasks that are gone have no lane", () => {
    const events = [event(0, "gone", "turn_started"), event(1, "a", "tool_call", { tool: "mcp__mxd__merge_task", toolCallId: "m", input: { taskId: "b" } }), event(2, "a", "tool_result", { tool: "mcp__mxd__merge_task", toolCallId: "m", isError: true })];
    const { arrows, lanes } = timeline(events, { a: task("a"), b: task("b") }, 3);
    expect(arrows).toEqual([]);
    expect(lanes.map((lane) => lane.task)).toEqual(["a"]);
  });
});
