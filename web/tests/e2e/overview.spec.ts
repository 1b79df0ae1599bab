// The landing view: what needs you with the button that helps, and the timeline of all agents.
import { expect, test } from "./base.ts";

test("each need has its button, and an option answers a question at once", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}`);
  const needs = page.getByRole("region", { name: "Needs you" });
  await expect(needs.getByRole("listitem").first()).toContainText("Wants to run bash");
  await needs.getByRole("button", { name: "Take the slow way" }).click();
  await expect(needs.getByText("May the migration lock")).toHaveCount(0);
  expect(daemon.requests.at(-1)?.body).toMatchObject({ taskId: ids["root"], answer: "Take the slow way" });
  // What is to be allowed is read first: there is no way to allow it from here.
  await expect(needs.getByRole("button", { name: /Allow/ })).toHaveCount(0);
  await needs.getByRole("button", { name: "Review" }).click();
  await expect(page.getByRole("heading", { name: "Needs you" })).toBeVisible();
});

test("finished work that is not merged is listed for review", async ({ page, daemon, address, project, ids }) => {
  Object.assign(daemon.world.tasks.get(ids["sessions"] ?? "") ?? {}, { diff: { files: 2, additions: 402, deletions: 118 } });
  await page.goto(`${address}/ui/p/${project}`);
  const line = page.getByRole("region", { name: "Needs you" }).getByRole("listitem").filter({ hasText: "Sessions in SQLite" });
  await expect(line).toContainText("+402");
  await line.getByRole("button", { name: "Merge…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await expect.poll(() => daemon.requests.at(-1)?.path).toContain("/merge");
});

test("the timeline has a lane for each agent, grows live, and leads to what happened", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}`);
  const panel = page.getByRole("region", { name: "Timeline" });
  await expect(panel.getByRole("link", { name: /^Rate limiting, .*needs you/ })).toBeVisible();
  await expect(panel.getByRole("link", { name: /^Dark mode/ })).toHaveCount(0);
  daemon.commit([{ task: ids["dark"], type: "turn_started", turn: 1 }], [ids["dark"] ?? ""]);
  daemon.commit([{ task: ids["dark"], type: "agent_rested", why: "failed" }], [ids["dark"] ?? ""]);
  await expect(panel.getByRole("link", { name: /^Dark mode, thinking .*failed/ })).toBeVisible();
  const bar = panel.locator(".timeline-plot > svg .lane-bar.is-needs").first();
  await bar.hover();
  await expect(panel.locator("figcaption")).toContainText("Needs you");
  await bar.click();
  await expect(page).toHaveURL(/\/t\/[0-9A-Z]+\?at=\d+$/);
});
