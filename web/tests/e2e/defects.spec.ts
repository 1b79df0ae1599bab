// Defects that users met, each shown by what they did.
import { expect, test } from "./base.ts";

const PNG = Buffer.from("not really a picture");
const pictures = ["a.png", "b.png", "c.png"].map((name) => ({ name, mimeType: "image/png", buffer: PNG }));

test("three pictures added at once all stay, also while another task is looked at", async ({ page, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}`);
  await page.locator(".composer input[type=file]").setInputFiles(pictures);
  await expect(page.locator(".composer figure")).toHaveCount(3);
  await page.getByRole("treeitem", { name: /^Dark mode/ }).click();
  await expect(page.getByLabel("Message to Dark mode")).toBeVisible();
  await expect(page.locator(".composer figure")).toHaveCount(0);
  await page.getByRole("treeitem", { name: /^Login page/ }).click();
  await expect(page.locator(".composer figure")).toHaveCount(3);
});

test("a task without budget left offers to raise it, not to retry", async ({ page, daemon, address, project, ids }) => {
  const bench = ids["bench"] ?? "";
  daemon.world.needs = { ...daemon.world.needs, failed: [{ taskId: bench, taskTitle: "Benchmarks of the token store", why: "it has used up its $0.50", at: 1 }] };
  await page.goto(`${address}/ui/p/${project}/needs`);
  const card = page.getByRole("group", { name: /Benchmarks/ });
  await expect(card.getByRole("button", { name: "Retry" })).toHaveCount(0);
  await card.getByRole("button", { name: "Raise budget" }).click();
  await page.getByLabel("Amount to add (USD)").fill("0.75");
  await page.getByRole("dialog").getByRole("button", { name: "Raise budget" }).click();
  await expect.poll(() => daemon.requests.at(-1)).toMatchObject({ path: `/projects/${project}/tasks/${bench}/grant`, body: { usd: 0.75 } });
});

test("finished output opens at its end", async ({ page, daemon, address, project, ids }) => {
  const task = ids["login"] ?? "";
  const content = Array.from({ length: 200 }, (_, line) => `line ${line}`).join("\n");
  daemon.commit([{ task, type: "tool_call", tool: "mcp__mxd__bash", toolCallId: "b", input: { command: "count" } }]);
  daemon.commit([{ task, type: "tool_result", tool: "mcp__mxd__bash", toolCallId: "b", content, isError: false }]);
  await page.goto(`${address}/ui/p/${project}/t/${task}`);
  await page.getByRole("group", { name: "Tool call bash" }).getByRole("button").first().click();
  const box = page.getByRole("group", { name: "Result" });
  expect(await box.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop)).toBeLessThan(4);
});

test("an open question is shown once, and the composer answers it", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["root"]}`);
  await expect(page.getByText("Two halves that hardly touch")).toBeVisible();
  await expect(page.getByText("May the migration lock the sessions table?")).toHaveCount(1);
  await page.getByLabel("Your answer").fill("Lock it, at night.");
  await page.keyboard.press("Enter");
  await expect.poll(() => daemon.requests.map((request) => request.path.split("/").at(-1))).toEqual(["clarify"]);
  expect(daemon.requests[0]?.body).toMatchObject({ answer: "Lock it, at night." });
  await expect(page.getByLabel("Message to harbour")).toBeVisible();
});

test("every view has a title of its own", async ({ page, address, project, ids }) => {
  const titles: readonly [string, string][] = [
    ["", "(4) Overview · harbour"],
    [`/t/${ids["login"]}`, "(4) Login page · harbour"],
    [`/t/${ids["login"]}/diff`, "(4) Login page: Changes · harbour"],
    ["/money", "(4) Cost · harbour"],
    ["/settings", "(4) Settings · harbour"],
  ];
  for (const [path, title] of titles) {
    await page.goto(`${address}/ui/p/${project}${path}`);
    await expect(page).toHaveTitle(title);
  }
});

test("what the daemon tells an agent about its place is folded away", async ({ page, daemon, address, project, ids }) => {
  const task = ids["login"] ?? "";
  daemon.commit([{ task, type: "message", id: "w1", wake: true, body: { source: "work_context", content: "# Your task\nTask: 01M7XXXX\nTitle: Login page" } }]);
  daemon.commit([{ task, type: "messages_consumed", messageIds: ["w1"] }]);
  await page.goto(`${address}/ui/p/${project}/t/${task}`);
  const fold = page.getByRole("button", { name: "Instructions" });
  await expect(fold).toBeVisible();
  await expect(page.getByText("Task: 01M7XXXX")).toHaveCount(0);
  await fold.click();
  await expect(page.getByText("Task: 01M7XXXX")).toBeVisible();
});

test("whoever is disconnected can try now, and nothing pretends to run", async ({ page, daemon, address, project, ids }) => {
  await page.clock.install();
  await page.goto(`${address}/ui/p/${project}/t/${ids["refresh"]}`);
  await expect(page.getByRole("treeitem").first()).toBeVisible();
  let refused = 0;
  await page.route("**/events?projectId=*", (route) => {
    refused += 1;
    return route.abort();
  });
  await daemon.restart();
  await expect.poll(() => refused).toBeGreaterThan(0);
  await page.clock.runFor(6_000);
  await expect(page.getByRole("alert")).toContainText("Showing the last known state; reconnecting…");
  await expect(page.locator(".app")).toHaveClass(/is-offline/);
  await page.unroute("**/events?projectId=*");
  await page.getByRole("button", { name: "Try now" }).click();
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(page.locator(".app")).not.toHaveClass(/is-offline/);
});

test("ages are those of the daemon's clock, not of the browser's", async ({ page, daemon, address, project }) => {
  await page.clock.setSystemTime(daemon.clock() + 3 * 3_600_000);
  await page.goto(`${address}/ui/p/${project}/needs`);
  await expect(page.getByRole("group", { name: /^Approval/ }).getByRole("heading")).toContainText("6m");
});

test("the list of commits ends where the branch began", async ({ page, daemon, address, project, ids }) => {
  const task = ids["refresh"] ?? "";
  daemon.commit([{ task, type: "worktree_created", branch: `mxd/${task}/x`, path: "/somewhere", base: "b71100fe21" }]);
  await page.goto(`${address}/ui/p/${project}/t/${task}/diff`);
  await expect(page.getByText("tokens: a replayed token ends its family")).toBeVisible();
  await expect(page.getByText("store: families of tokens")).toHaveCount(0);
});

test("a task whose numbers are known is not asked for its whole diff", async ({ page, daemon, address, project, ids }) => {
  const sessions = daemon.world.tasks.get(ids["sessions"] ?? "");
  Object.assign(sessions ?? {}, { worktreePath: "/somewhere", diff: { files: 2, additions: 402, deletions: 118 } });
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${address}/ui/p/${project}/tasks`);
  await expect(page.getByRole("treeitem", { name: /^Sessions/ })).toContainText("+402");
  expect(asked.filter((path) => path.endsWith(`${ids["sessions"]}/diff`))).toEqual([]);
});

test("the changes of the project itself are no error", async ({ page, address, project, ids }) => {
  await page.route("**/tasks/*/diff", (route) => route.fulfill({ status: 409, json: { error: { code: "no_worktree", message: "the task has no worktree" } } }));
  await page.goto(`${address}/ui/p/${project}/t/${ids["root"]}/diff`);
  await expect(page.getByText("No changes", { exact: true })).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});
