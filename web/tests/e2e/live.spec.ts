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
  await page.getByRole("link", { name: "Activity" }).click();
  await expect(page.getByRole("row", { name: /Dark mode/ }).getByRole("cell").nth(1)).toHaveText("merge_task");
  await expect(page.getByRole("row", { name: /Dark mode/ }).getByRole("cell").nth(2)).toHaveText("“Dark mode”");
});

test.describe("where a clock has twelve hours", () => {
  test.use({ locale: "en-US" });

  test("the time beside a long note stays on one line", async ({ page, daemon, address, project, ids }) => {
    daemon.commit([{ task: ids["login"], type: "agent_stopped", reason: "because ".repeat(14) }]);
    daemon.commit([{ task: ids["login"], type: "done_requested", toolCallId: "d", status: "passed", summary: "All of it. ".repeat(60) }]);
    await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}`);
    await expect(page.locator(".note time").last()).toBeVisible();
    for (const time of await page.locator(".note time").all()) expect((await time.boundingBox())?.height).toBeLessThan(24);
  });
});

test("output of a command is followed, unless one looks at an earlier line", async ({ page, daemon, address, project, ids }) => {
  const task = ids["login"] ?? "";
  daemon.commit([{ task, type: "tool_call", tool: "mcp__mxd__bash", toolCallId: "b", input: { command: "count" } }]);
  await page.goto(`${address}/ui/p/${project}/t/${task}`);
  await expect(page.getByRole("group", { name: "Tool call bash" })).toBeVisible();
  const print = (from: number, to: number): void => {
    for (let line = from; line <= to; line += 1) daemon.delta({ task, type: "tool_output", toolCallId: "b", content: `line ${line}\n` });
  };
  const box = page.getByRole("group", { name: "Output so far" });
  const left = (): Promise<number> => box.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop);
  print(1, 60);
  await expect(box).toContainText("line 60");
  await expect.poll(left).toBeLessThan(4);
  print(61, 90);
  await expect(box).toContainText("line 90");
  await expect.poll(left).toBeLessThan(4);
  await box.evaluate((element) => element.scrollTo(0, 100));
  await page.waitForTimeout(100);
  print(91, 120);
  await expect(box).toContainText("line 120");
  expect(await box.evaluate((element) => element.scrollTop)).toBe(100);
  await box.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await page.waitForTimeout(100);
  print(121, 150);
  await expect(box).toContainText("line 150");
  await expect.poll(left).toBeLessThan(4);
});

test("words whose beginning the page has not seen say so until all of them are there", async ({ page, daemon, address, project, ids }) => {
  const task = ids["login"] ?? "";
  await page.goto(`${address}/ui/p/${project}/t/${task}`);
  await expect(page.getByText("Make it work without JavaScript first.")).toBeVisible();
  daemon.delta({ task, type: "text_delta", content: "ddle of a word" });
  await expect(page.locator(".said.is-live")).toHaveText("…ddle of a word");
  daemon.commit([{ task, type: "assistant_text", content: "In the middle of a word." }]);
  await expect(page.locator(".said.is-live")).toHaveCount(0);
  await expect(page.getByText("In the middle of a word.")).toBeVisible();
  daemon.delta({ task, type: "text_delta", content: "From its beginning" });
  await expect(page.locator(".said.is-live")).toHaveText("From its beginning");
});

test("a message that could not be sent complains no longer when the daemon is back", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}`);
  await page.getByLabel("Message to Login page").fill("Is anybody there?");
  const { port } = daemon as unknown as { port: number };
  await daemon.close();
  await page.getByLabel("Message to Login page").press("Enter");
  await expect(page.locator(".composer").getByRole("alert")).toContainText("does not answer");
  await daemon.listen(port);
  await expect(page.locator(".composer").getByRole("alert")).toHaveCount(0);
  await expect(page.getByLabel("Message to Login page")).toHaveValue("Is anybody there?");
});

test("on a phone, the box to write in has room although it was made where nobody saw it", async ({ page, address, project }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${address}/ui/p/${project}/tasks`);
  await page.getByRole("treeitem", { name: /^harbour/ }).click();
  const box = page.getByLabel("Your answer");
  await expect(box).toBeVisible();
  expect((await box.boundingBox())?.height).toBeGreaterThan(30);
});
