// The tree: which rows are shown, where a dragged task lands, and which address names what.
import { describe, expect, it } from "vitest";
import { wholeTask } from "../../src/api/normal.ts";
import type { TaskView } from "../../src/api/types.ts";
import { shapeOf } from "../../src/design/Glyph.tsx";
import { above, below, find } from "../../src/state/select.ts";
import { landing, sideOf, stepped } from "../../src/tree/drop.ts";
import { flatten } from "../../src/tree/flatten.ts";
import { demo } from "../../testing/fixture.mjs";

const world = demo();
const tasks: Record<string, TaskView> = Object.fromEntries([...world.tasks].map(([key, task]) => [key, wholeTask(task)]));
const ids = world.ids as Record<string, string>;
const id = (name: string): string => ids[name] ?? "";
const titles = (text: string, show: "all" | "open" | "active", folded: string[] = []): string[] => flatten(tasks, world.rootId, new Set(folded), { text, show }).map((row) => row.task.title);

describe("rows", () => {
  it("show everything in order, and nothing inside of what is folded", () => {
    expect(titles("", "all").length).toBe(Object.keys(tasks).length);
    expect(titles("", "all")[0]).toBe("harbour");
    expect(titles("", "all", [world.rootId as string])).toEqual(["harbour"]);
  });

  it("find what is folded, with the way to it", () => {
    expect(titles("refresh", "all", [world.rootId as string])).toEqual(["harbour", "api", "Refresh tokens that survive a restart"]);
    expect(titles(id("refresh").slice(0, 20).toLowerCase(), "all")).toContain("Refresh tokens that survive a restart");
    expect(titles("nothing has this", "all")).toEqual(["harbour"]);
  });

  it("show only what is open or active", () => {
    expect(titles("", "open")).not.toContain("Telemetry without names");
    expect(titles("", "active")).toEqual(["harbour", "api", "Refresh tokens that survive a restart", "Rate limiting", "web", "Login page"]);
  });
});

describe("moving", () => {
  it("lands before, inside or after", () => {
    expect([2, 26, 50].map((offset) => sideOf(offset, 52))).toEqual(["before", "inside", "after"]);
    const root = tasks[world.rootId as string] as TaskView;
    const [first, second] = root.children as [string, string];
    expect(landing(tasks, second, first, "before")).toEqual({ parentId: root.id, index: 0 });
    // Counted without the task that moves: behind the second is place one for the first.
    expect(landing(tasks, first, second, "after")).toEqual({ parentId: root.id, index: 1 });
    expect(landing(tasks, id("refresh"), second, "inside")?.parentId).toBe(second);
  });

  it("never lands in itself or below itself", () => {
    const api = above(tasks, id("refresh")).at(-1) as TaskView;
    for (const side of ["before", "inside", "after"] as const) {
      expect(landing(tasks, api.id, id("refresh"), side)).toBeUndefined();
      expect(landing(tasks, api.id, api.id, side)).toBeUndefined();
    }
  });

  it("steps by keyboard", () => {
    const api = above(tasks, id("refresh")).at(-1) as TaskView;
    expect(stepped(tasks, id("refresh"), "up")).toBeUndefined();
    expect(stepped(tasks, id("refresh"), "down")).toEqual({ parentId: api.id, index: 1 });
    expect(stepped(tasks, id("rate"), "in")).toEqual({ parentId: id("refresh"), index: 0 });
    expect(stepped(tasks, id("refresh"), "out")).toEqual({ parentId: world.rootId, index: 1 });
    expect(stepped(tasks, world.rootId as string, "up")).toBeUndefined();
  });
});

describe("looking up", () => {
  it("knows what is above and below", () => {
    expect(above(tasks, id("refresh")).map((task) => task.title)).toEqual(["harbour", "api"]);
    expect(below(tasks, world.rootId as string).length).toBe(Object.keys(tasks).length);
  });

  it("takes a beginning of an id only when it is the only one", () => {
    expect(find(tasks, id("refresh"))?.id).toBe(id("refresh"));
    expect(find(tasks, id("refresh").slice(0, 20))?.id).toBe(id("refresh"));
    expect(find(tasks, "01KA2M")).toBeUndefined();
    const twins = Object.fromEntries(["01AAAAAAAAB", "01AAAAAAAAC"].map((key) => [key, { ...tasks[id("refresh")], id: key } as TaskView]));
    expect(find(twins, "01AAAAAAAA")).toBeUndefined();
    expect(find(twins, "01AAAAAAAAC")?.id).toBe("01AAAAAAAAC");
    expect(find(tasks, "01ZZZZZZZZZZ")).toBeUndefined();
  });
});

describe("shapes", () => {
  it("tell apart what wants something different of whoever looks", () => {
    const states = ["none", "launching", "thinking", "tool", "checking", "compacting", "waiting", "blocked", "asking", "stopped", "interrupted", "spent", "stuck", "refused", "failed"] as const;
    const shapes = states.map((state) => shapeOf({ kind: "task", status: "in_progress", agent: { state, why: "" } }));
    expect(new Set(shapes).size).toBe(states.length);
    expect(shapeOf({ kind: "task", status: "passed", agent: { state: "waiting", why: "" } })).toBe("done");
    expect(shapeOf({ kind: "task", status: "in_progress", agent: { state: "of tomorrow" as "none", why: "" } })).toBe("none");
  });
});
