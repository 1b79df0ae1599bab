// What a task did and what it cost, said as it is.
import { expect, test } from "./base.ts";

test("a task whose work was merged says so and shows its commits", async ({ page, daemon, address, project, ids }) => {
  const task = ids["login"] ?? "";
  const begin = (base: string): void => daemon.commit([{ task, type: "worktree_created", branch: `mxd/${task}/login-page`, path: "/somewhere", base }]);
  begin("b71100fe21");
  await page.goto(`${address}/ui/p/${project}/t/${task}/diff`);
  await expect(page.getByText("Merged into main")).toBeVisible();
  await expect(page.getByText("tokens: a replayed token ends its family")).toBeVisible();
  await expect(page.getByText("store: families of tokens")).toHaveCount(0);
  // A branch that stands where it began has nothing that could be merged.
  begin("e81b33d0aa");
  await expect(page.getByText("No changes", { exact: true })).toBeVisible();
  await expect(page.getByText("Merged into main")).toHaveCount(0);
});

test("a short project has its bars and a sentence about its time", async ({ page, address, project, ids }) => {
  const spent = (title: string, costUsd: number, more: object = {}): object => ({ taskId: ids["root"], title, costUsd, inputTokens: 1, outputTokens: 1, cacheReadTokens: 1, cacheWriteTokens: 1, ...more });
  const money = { totalUsd: 0.15, tasks: [spent("harbour", 0.05, { budgetUsd: 5 }), spent("Login page", 0.1)], series: [{ at: Date.UTC(2026, 10, 16, 9), usd: 0.15, tokens: 9 }], cache: { hitRate: 0.9, breaks: [] }, escrow: [] };
  await page.route("**/money", (route) => (route.request().resourceType() === "document" ? route.continue() : route.fulfill({ json: money })));
  await page.goto(`${address}/ui/p/${project}/money`);
  await expect(page.getByRole("heading", { name: "Over time" })).toBeVisible();
  await expect(page.getByText(/All of it was spent within the hour/)).toBeVisible();
  const widths = await page.locator(".bar-value").evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("width"))));
  expect(widths).toEqual([100, 50]);
  // A limit that is far off says nothing as a bar; its number stands beside it.
  await expect(page.locator(".bar-limit")).toHaveCount(0);
  await expect(page.getByText("$0.05 of $5.00")).toBeVisible();
});

test("a call that ended the work is not open, and a rule says only what it adds", async ({ page, daemon, address, project, ids }) => {
  const task = ids["sessions"] ?? "";
  daemon.commit([{ task, type: "tool_call", tool: "mcp__mxd__bash", toolCallId: "b", input: { command: "ls" } }]);
  daemon.commit([{ task, type: "tool_verdict", toolCallId: "b", verdict: "allow", rule: "allowed", class: "shell" }]);
  daemon.commit([{ task, type: "tool_result", tool: "mcp__mxd__bash", toolCallId: "b", content: "no", isError: true }]);
  daemon.commit([{ task, type: "tool_call", tool: "mcp__mxd__done", toolCallId: "d", input: { status: "passed", summary: "All of it." } }]);
  daemon.commit([{ task, type: "done_requested", toolCallId: "d", status: "passed", summary: "All of it." }]);
  await page.goto(`${address}/ui/p/${project}/t/${task}`);
  const card = page.getByRole("group", { name: "Tool call done" });
  await expect(card.locator(".chip")).toHaveText("open");
  daemon.commit([{ task, type: "done_notified", status: "passed", summary: "All of it." }]);
  await expect(card.locator(".chip")).toHaveText("passed");
  await expect(card).not.toHaveClass(/is-running/);
  await expect(page.getByRole("group", { name: "Tool call bash" }).locator(".tool-foot")).toContainText("shell · allow");
  await expect(page.getByText("by allowed")).toHaveCount(0);
  await page.getByRole("link", { name: "Activity" }).click();
  await expect(page.getByRole("row", { name: /All of it/ }).getByRole("cell").last()).toHaveText("passed");
  await expect(page.getByText("allowed", { exact: true })).toHaveCount(0);
});

test("how long a task has been at work is not how long its tool runs", async ({ page, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["refresh"]}`);
  await expect(page.locator(".task-state")).toContainText("begun 36 min ago");
});

test("on a phone, the button of the search covers nothing", async ({ page, address, project, ids }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${address}/ui/p/${project}/t/${ids["refresh"]}`);
  const button = await page.getByRole("button", { name: /^Search this conversation/ }).boundingBox();
  const log = await page.getByRole("log").boundingBox();
  expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(log?.y ?? 0);
});
