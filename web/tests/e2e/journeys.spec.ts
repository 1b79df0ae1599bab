// What people do with the page, from outside.
import { expect, test } from "./base.ts";

test("a new task is written down, written to, and its answer is watched", async ({ page, daemon, address, project }) => {
  await page.goto(`${address}/ui/p/${project}`);
  await page.getByRole("button", { name: "New task (n)" }).click();
  await page.getByLabel(/New task in/).fill("Count the boats");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Count the boats" })).toBeVisible();
  const id = page.url().split("/").at(-1) ?? "";
  await page.getByLabel("Message to Count the boats").fill("How many are there?");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("list", { name: "Sent and not read yet" })).toContainText("How many are there?");
  await expect(page.getByLabel("Message to Count the boats")).toHaveValue("");
  const sent = daemon.requests.find((request) => request.path.endsWith("/message"));
  daemon.commit([{ task: id, type: "messages_consumed", messageIds: [String(sent?.body["id"])] }]);
  await expect(page.getByRole("log")).toContainText("How many are there?");
  daemon.delta({ task: id, type: "text_delta", content: "There are " });
  daemon.delta({ task: id, type: "text_delta", content: "**seven**" });
  await expect(page.locator(".said.is-live")).toHaveText("There are seven");
  daemon.commit([{ task: id, type: "assistant_text", content: "There are **seven**." }]);
  await expect(page.locator(".said.is-live")).toHaveCount(0);
  await expect(page.getByText("There are seven.")).toHaveCount(1);
});

test("what happens while the daemon is away is there afterwards, once", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}`);
  await expect(page.getByText("Make it work without JavaScript first.")).toBeVisible();
  const add = (content: string): void => daemon.commit([{ task: ids["login"], type: "assistant_text", content }]);
  add("Before the fall.");
  await expect(page.getByText("Before the fall.")).toHaveCount(1);
  await daemon.restart();
  add("Said into the dark.");
  await expect(page.getByText("Said into the dark.")).toHaveCount(1);
  add("After it.");
  await expect(page.getByText("After it.")).toHaveCount(1);
  await expect(page.getByText("Before the fall.")).toHaveCount(1);
  await expect(page.getByText("Said into the dark.")).toHaveCount(1);
});

test("a message is not lost and not sent twice when its answer does not come", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}`);
  const box = page.getByLabel("Message to Login page");
  await box.fill("Only once, please.");
  let lose = true;
  await page.route("**/message", async (route) => {
    const response = await route.fetch();
    if (!lose) return route.fulfill({ response });
    lose = false;
    return route.abort();
  });
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("does not answer");
  await expect(box).toHaveValue("Only once, please.");
  await box.press("Enter");
  await expect(box).toHaveValue("");
  await expect(page.getByRole("list", { name: "Sent and not read yet" }).getByRole("listitem")).toHaveCount(1);
  expect(new Set(daemon.requests.filter((request) => request.path.endsWith("/message")).map((request) => request.body["id"])).size).toBe(1);
});

test("a draft survives a reload", async ({ page, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}`);
  await page.getByLabel("Message to Login page").fill("Not finished yet");
  await page.reload();
  await expect(page.getByLabel("Message to Login page")).toHaveValue("Not finished yet");
});

test("needs are answered by keyboard, bound to what was seen", async ({ page, daemon, address, project }) => {
  await page.goto(`${address}/ui/p/${project}/needs`);
  await expect(page).toHaveTitle("(4) Needs you · harbour");
  await expect(page.getByText("$ cargo add governor --features quanta && cargo fetch")).toBeVisible();
  await page.keyboard.press("a");
  await expect(page.getByRole("group", { name: /^Approval/ })).toHaveCount(0);
  const given = daemon.requests.find((request) => request.path.endsWith("/approve"));
  expect(given?.body).toMatchObject({ decision: "once", argsDigest: "sha256:9c1f6d7a42e1b8c05b1d2f" });
  // The next card took its place; the same key again must not answer it.
  await page.keyboard.press("a");
  await page.keyboard.press("j");
  await page.keyboard.press("i");
  await page.keyboard.type("Lock it, at night.");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("group", { name: /^Question/ })).toHaveCount(0);
  expect(daemon.requests.find((request) => request.path.endsWith("/clarify"))?.body).toMatchObject({ answer: "Lock it, at night." });
  expect(daemon.requests.filter((request) => request.path.endsWith("/approve")).length).toBe(1);
  await expect(page).toHaveTitle("(2) Needs you · harbour");
});

test("comments on a diff are kept and sent as one message", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["refresh"]}/diff`);
  const comment = async (line: number, text: string): Promise<void> => {
    await page.getByRole("button", { name: `Comment on line ${line}`, exact: true }).first().click();
    await page.getByLabel("Comment", { exact: true }).fill(text);
    await page.getByRole("button", { name: "Add to review" }).click();
  };
  await comment(118, "Revoke first.");
  await comment(121, "Why here?");
  await page.reload();
  await expect(page.getByRole("region", { name: "Review" })).toContainText("2 comments");
  expect(daemon.requests).toEqual([]);
  await page.getByRole("button", { name: "Send review" }).click();
  await expect(page.getByRole("list", { name: "Sent and not read yet" })).toContainText("Review of your changes");
  const sent = daemon.requests.filter((request) => request.path.endsWith("/message"));
  expect(sent.length).toBe(1);
  expect(sent[0]?.body["content"]).toContain("Why here?");
});

test("stopping says what is not undone, and cancelling does nothing", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["refresh"]}`);
  const open = async (): Promise<void> => {
    await page.locator(".task-title").getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Stop" }).click();
  };
  await open();
  await expect(page.getByRole("dialog")).toContainText("Files they have changed stay changed.");
  await expect(page.getByRole("dialog")).toContainText("the agents of all tasks below it");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  expect(daemon.requests).toEqual([]);
  await open();
  await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
  await expect(page.locator(".task-state")).toContainText("stopped");
});

test("the tree is walked, folded and rearranged by keyboard", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}`);
  await page.getByRole("treeitem", { name: /^harbour/ }).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("treeitem", { name: /^api/ })).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(page.getByRole("treeitem", { name: /^Refresh/ })).toHaveCount(0);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("treeitem", { name: /^Refresh/ })).toBeFocused();
  await page.keyboard.press("Alt+ArrowDown");
  await expect.poll(() => daemon.world.tasks.get(ids["refresh"] ?? "")?.parentId).toBeTruthy();
  await expect.poll(() => daemon.requests.at(-1)?.body).toMatchObject({ index: 1 });
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`${ids["refresh"]}$`));
});

test("a task is dragged into another", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}`);
  await page.getByRole("treeitem", { name: /^Release notes/ }).dragTo(page.getByRole("treeitem", { name: /^api/ }));
  await expect.poll(() => daemon.requests.at(-1)?.body).toMatchObject({ index: 3 });
  const api = daemon.world.tasks.get(ids["refresh"] ?? "")?.parentId;
  expect(daemon.world.tasks.get(ids["stuck"] ?? "")?.parentId).toBe(api);
});

test("the palette leads anywhere", async ({ page, address, project }) => {
  await page.goto(`${address}/ui/p/${project}`);
  await page.getByRole("treeitem", { name: /^harbour/ }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Task, view or action" }).fill("dark mode");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Dark mode" })).toBeVisible();
  await page.locator("body").press("g");
  await page.locator("body").press("m");
  await expect(page.getByRole("heading", { name: "Cost", exact: true })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("heading", { name: "Dark mode" })).toBeVisible();
});

test("a slash begins a command, not a message", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}`);
  await page.getByLabel("Message to Login page").fill("/comp");
  await expect(page.getByRole("listbox", { name: "Commands" })).toContainText("/compact");
  await page.keyboard.press("Enter");
  await expect.poll(() => daemon.requests.map((request) => request.path.split("/").at(-1))).toEqual(["compact"]);
});

test("a setting is changed in a layer and inherits again", async ({ page, daemon, address, project }) => {
  await page.goto(`${address}/ui/p/${project}/settings`);
  await page.getByRole("button", { name: "Change Agents at once" }).click();
  await page.getByLabel("Value").fill("3");
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => daemon.requests.at(-1)).toMatchObject({ method: "PATCH", body: { limits: { agents: 3 } } });
  await page.getByRole("button", { name: "Change Agents at once" }).click();
  await page.getByRole("button", { name: "Inherit" }).click();
  await expect.poll(() => daemon.requests.at(-1)).toMatchObject({ body: { limits: { agents: null } } });
});

test("a key can be written and is never shown", async ({ page, daemon, address, project }) => {
  await page.goto(`${address}/ui/p/${project}/settings/models`);
  await page.getByRole("button", { name: "Change", exact: true }).first().click();
  await expect(page.getByLabel("Key")).toHaveValue("");
  await page.getByLabel("Key").fill("sk-new");
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => daemon.requests.at(-1)?.body).toMatchObject({ authGroups: { main: { anthropicApiKey: "sk-new" } } });
  await expect(page.getByRole("dialog")).toHaveCount(0);
  expect(await page.content()).not.toContain("sk-new");
});

test("a picture is pasted and goes with the message", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}`);
  await page.getByLabel("Message to Login page").fill("Like this:");
  await page.locator(".composer input[type=file]").setInputFiles({ name: "a.png", mimeType: "image/png", buffer: Buffer.from("not really a picture") });
  await expect(page.getByAltText("a.png")).toBeAttached();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect.poll(() => daemon.requests.at(-1)?.body["images"]).toEqual([{ base64: Buffer.from("not really a picture").toString("base64"), mediaType: "image/png" }]);
});

test("a picture that is too large is refused with its reason", async ({ page, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}`);
  await page.locator(".composer input[type=file]").setInputFiles({ name: "big.png", mimeType: "image/png", buffer: Buffer.alloc(6 * 1024 * 1024) });
  await expect(page.getByText("big.png has 6.0 MB; a picture may have 5.0 MB.")).toBeVisible();
});

test("a refusal of the daemon is shown with its advice", async ({ page, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["dark"]}`);
  await page.locator(".task-title").getByRole("button", { name: "Actions" }).click();
  await page.getByRole("menuitem", { name: "Merge" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await expect(page.getByText("it can rebase and resolve the 2 lines")).toBeVisible();
});
