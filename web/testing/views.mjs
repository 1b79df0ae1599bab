// Every view of the page, for pictures and for the search for barriers: where it is and when it is there.

import { bareReadiness, readiness } from "./answers.mjs";

export function views(ids, project) {
  const at = (rest = "") => `/ui/p/${project}${rest}`;
  const task = (id, tab = "") => at(`/t/${id}${tab}`);
  return [
    { name: "overview", path: at(), ready: ".new-task" },
    { name: "setup", path: at("/settings/setup"), ready: ".setup-step", before: (daemon) => { daemon.readiness = bareReadiness(); }, after: (daemon) => { daemon.readiness = readiness(); } },
    { name: "tree", path: at("/tasks"), ready: ".tree-row" },
    { name: "task", path: task(ids.refresh), ready: ".chat-row", act: stream(ids.refresh) },
    { name: "task-asking", path: task(ids.rate), ready: ".need-card" },
    { name: "task-failed", path: task(ids.migrate), ready: ".notice" },
    { name: "task-empty", path: task(ids.draft), ready: ".chat .empty" },
    { name: "diff", path: task(ids.refresh, "/diff"), ready: ".diff-line", act: comment },
    { name: "diff-split", path: task(ids.refresh, "/diff"), ready: ".diff-line", act: (page) => page.getByRole("button", { name: "Split" }).click() },
    { name: "evidence", path: task(ids.refresh, "/evidence"), ready: ".terminal" },
    { name: "ledger", path: task(ids.refresh, "/ledger"), ready: ".ledger" },
    { name: "details", path: task(ids.refresh, "/details"), ready: ".facts" },
    { name: "needs", path: at("/needs"), ready: ".need-card" },
    { name: "money", path: at("/money"), ready: ".plot" },
    { name: "settings", path: at("/settings"), ready: ".setting" },
    { name: "settings-models", path: at("/settings/models"), ready: ".setting" },
    { name: "settings-servers", path: at("/settings/servers"), ready: ".table" },
    { name: "settings-approvals", path: at("/settings/approvals"), ready: ".setting" },
    { name: "settings-sessions", path: at("/settings/sessions"), ready: ".setting" },
    { name: "projects", path: "/ui/projects", ready: ".project" },
    { name: "login", path: "/ui/login", ready: ".exact", locked: true },
    { name: "palette", path: task(ids.refresh), ready: ".chat-row", act: palette },
    { name: "menu", path: task(ids.refresh), ready: ".chat-row", act: menu },
    { name: "dialog", path: task(ids.refresh), ready: ".chat-row", act: dialog },
    { name: "help", path: at("/tasks"), ready: ".tree-row", act: (page) => page.locator("body").press("?") },
    { name: "missing", path: task("01HAAAAAAAAAAAAAAAAAAAAAAA"), ready: ".main .empty h1" },
  ];
}

function stream(task) {
  return async (page, daemon) => {
    if (daemon === undefined) return;
    daemon.delta({ task, type: "tool_output", toolCallId: openCall(daemon.world, task), content: "running 6 tests\ntest token::tests::a_token_is_bound_to_its_session ... \u001b[32mok\u001b[0m\n" });
    daemon.delta({ task, type: "text_delta", content: "While they run: the skew is a constant now, `clock::SKEW`, and **every** comparison goes through it" });
    await page.waitForSelector(".said.is-live");
  };
}

function openCall(world, task) {
  const done = new Set(world.events.filter((event) => event.type === "tool_result").map((event) => event.toolCallId));
  return world.events.findLast((event) => event.task === task && event.type === "tool_call" && !done.has(event.toolCallId))?.toolCallId;
}

async function comment(page) {
  await page.getByRole("button", { name: "Comment on line 118" }).first().click();
  await page.getByLabel("Comment", { exact: true }).fill("Revoke before the check, or a crash in between leaves the family alive.");
  await page.getByRole("button", { name: "Add to review" }).click();
  await page.waitForSelector(".review-bar");
}

async function palette(page) {
  await page.locator("body").press("Control+k");
  await page.getByRole("combobox", { name: "Task, view or action" }).fill("to");
}

async function menu(page) {
  await page.locator(".task-title").getByRole("button", { name: "Actions" }).click();
  await page.waitForSelector(".menu");
}

async function dialog(page) {
  await menu(page);
  await page.getByRole("menuitem", { name: "Stop" }).click();
  await page.waitForSelector("dialog[open]");
}
