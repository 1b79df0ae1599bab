// Addresses: every view has one, and it leads back to the view.
import { describe, expect, it } from "vitest";
import { PAGES, type Route, TABS, href, parse } from "../../src/shell/route.ts";

const PROJECT = "01KA2M8HG753VKTG8E000CMXDA";
const all: Route[] = [
  { view: "projects" },
  { view: "login" },
  { view: "overview", project: PROJECT },
  { view: "tree", project: PROJECT },
  { view: "needs", project: PROJECT },
  { view: "money", project: PROJECT },
  { view: "task", project: PROJECT, task: "01ABC", tab: "chat", at: 1234 },
  ...TABS.map((tab): Route => ({ view: "task", project: PROJECT, task: "01ABC", tab })),
  ...PAGES.map((page): Route => ({ view: "settings", project: PROJECT, page })),
];

describe("addresses", () => {
  it.each(all)("lead back: $view", (route) => {
    expect(parse(href(route))).toEqual(route);
  });

  it("escape what stands in them", () => {
    const odd: Route = { view: "task", project: "a/b", task: "../x?y#z", tab: "diff" };
    expect(href(odd)).toBe("/ui/p/a%2Fb/t/..%2Fx%3Fy%23z/diff");
    expect(parse(href(odd))).toEqual(odd);
  });

  it("name a place in a conversation, and pass over what is none", () => {
    const task: Route = { view: "task", project: "a", task: "b", tab: "chat" };
    expect(href({ ...task, at: 7 })).toBe("/ui/p/a/t/b?at=7");
    for (const odd of ["", "at=", "at=-1", "at=1.5", "at=x", "at=9999999999999999", "bt=1"]) expect(parse(`/ui/p/a/t/b?${odd}`), odd).toEqual(task);
    expect(parse("/ui/p/a/t/b/diff?at=7")).toEqual({ ...task, tab: "diff" });
  });

  it("begin at the projects, and say so when they lead nowhere", () => {
    for (const start of ["/", "/ui", "/ui/", "/ui/projects"]) expect(parse(start)).toEqual({ view: "projects" });
    for (const lost of ["/ui/x", `/ui/p/${PROJECT}/t`, `/ui/p/${PROJECT}/t/a/b`, `/ui/p/${PROJECT}/needs/x`, `/ui/p/${PROJECT}/settings/x`, "/ui/p", "/ui/p/a/t/b/chat/c", "/ui/p/%E0%A4%A"]) {
      expect(parse(lost).view, lost).toMatch(/nowhere|overview/);
    }
  });
});
