// What is shown while an agent works.
import { expect, test } from "./base.ts";

test("what is said while a conversation is being loaded is not lost", async ({ page, daemon, address, project, ids }) => {
  const say = (content: string): void => daemon.commit([{ task: ids["login"], type: "assistant_text", content }]);
  await page.route(`**/tasks/${ids["login"]}/events?limit=*`, async (route) => {
    const response = await route.fetch();
    say("Said meanwhile.");
    await page.waitForTimeout(300);
    await route.fulfill({ response });
  });
  await page.goto(`${address}/ui/p/${project}`);
  await page.getByRole("treeitem", { name: /^Login page/ }).click();
  await expect(page.getByText("The form posts without JavaScript, too.")).toBeVisible();
  await expect(page.getByText("Said meanwhile.")).toHaveCount(1);
  say("Said afterwards.");
  await expect(page.getByText("Said afterwards.")).toHaveCount(1);
});

test("a call says the same everywhere: the daemon's words, with titles in the place of ids", async ({ page, daemon, address, project, ids }) => {
  const task = ids["login"] ?? "";
  const line = `merge_task ${ids["dark"]}`;
  const open = daemon.world.tasks.get(task);
  Object.assign(open ?? {}, { lastLine: line });
  daemon.commit([{ task, type: "tool_call", tool: "mcp__mxd__merge_task", toolCallId: "m", input: { taskId: ids["dark"] } }], [task]);
  daemon.commit([{ task, type: "worktree_created", branch: `mxd/${task}/login-page`, path: "/somewhere", base: "9a41c07" }]);
  await page.goto(`${address}/ui/p/${project}/t/${task}`);
  await expect(page.getByRole("group", { name: "Tool call merge_task" }).locator(".tool-head")).toContainText("merge_task“Dark mode”");
  await expect(page.getByRole("treeitem", { name: /^Login page/ })).toContainText("merge_task “Dark mode”");
  await expect(page.getByRole("log")).toContainText("works on branch login-page");
  await page.getByRole("link", { name: "Ledger" }).click();
  await expect(page.getByRole("row", { name: /Dark mode/ }).getByRole("cell").nth(1)).toHaveText("merge_task");
  await expect(page.getByRole("row", { name: /Dark mode/ }).getByRole("cell").nth(2)).toHaveText("“Dark mode”");
});

test("the time beside a long note stays on one line", async ({ page, daemon, address, project, ids }) => {
  daemon.commit([{ task: ids["login"], type: "agent_stopped", reason: "because ".repeat(14) }]);
  daemon.commit([{ task: ids["login"], type: "done_requested", toolCallId: "d", status: "passed", summary: "All of it. ".repeat(60) }]);
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}`);
  await expect(page.locator(".note time").last()).toBeVisible();
  for (const time of await page.locator(".note time").all()) expect((await time.boundingBox())?.height).toBeLessThan(24);
});
