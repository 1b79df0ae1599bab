// A call is allowed by somebody who has seen all of it, and for no more than the button says.
import { expect, test } from "./base.ts";

type Requests = readonly { path: string; body: Record<string, unknown> }[];
const decisions = (requests: Requests): unknown[] => requests.filter((request) => request.path.endsWith("/approve")).map((request) => request.body["decision"]);

/** Gives the call that waits other arguments. */
function callWith(daemon: { world: { needs: { approvals: { args: unknown }[] } } }, args: unknown): void {
  const { needs } = daemon.world;
  daemon.world.needs = { ...needs, approvals: needs.approvals.map((need) => ({ ...need, args })) };
}

test("hidden characters of a call are shown as escapes", async ({ page, daemon, address, project }) => {
  callWith(daemon, { command: "ls \u202Egnp.exe\u2066 a\u200Bb \u{E0041}\u0007", timeout_ms: 5 });
  await page.goto(`${address}/ui/p/${project}/needs`);
  const call = page.getByLabel("The exact call");
  await expect(call).toContainText("$ ls \\u{202e}gnp.exe\\u{2066} a\\u{200b}b \\u{e0041}\\u{7}");
  await expect(call.locator(".escape")).toHaveCount(5);
  await expect(call).toContainText('"timeout_ms": 5');
});

test("a long call is allowed only after all of it was shown", async ({ page, daemon, address, project }) => {
  callWith(daemon, { command: Array.from({ length: 120 }, (_, line) => `echo line ${line}`).join("\n") });
  await page.goto(`${address}/ui/p/${project}/needs`);
  const call = page.getByLabel("The exact call");
  const allow = page.getByRole("button", { name: /^Allow once/ });
  await expect(call).toContainText("echo line 119");
  await expect(allow).toBeDisabled();
  await page.keyboard.press("a");
  await expect(call).toBeFocused();
  // Who jumps to the end has not seen what is between.
  await call.evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await expect(allow).toBeDisabled();
  await call.evaluate((box) => box.scrollTo(0, 0));
  const end = await call.evaluate((box) => box.scrollHeight - box.clientHeight);
  for (let at = 0; at < end + 200; at += 200) {
    await call.evaluate((box, to) => new Promise((done) => {
      box.scrollTo(0, to);
      requestAnimationFrame(() => requestAnimationFrame(done));
    }), at);
  }
  await expect(allow).toBeEnabled();
  expect(decisions(daemon.requests)).toEqual([]);
  await page.keyboard.press("a");
  await expect(page.getByRole("group", { name: /^Approval/ })).toHaveCount(0);
  expect(decisions(daemon.requests)).toEqual(["once"]);
});

test("a call whose arguments are not known cannot be allowed", async ({ page, daemon, address, project }) => {
  callWith(daemon, null);
  await page.goto(`${address}/ui/p/${project}/needs`);
  await expect(page.getByText("Its arguments are not known here")).toBeVisible();
  await expect(page.getByRole("button", { name: /^Allow once/ })).toBeDisabled();
  await page.keyboard.press("a");
  await page.keyboard.press("t");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  expect(decisions(daemon.requests)).toEqual([]);
});

test("a wide grant says what it covers and asks once more", async ({ page, daemon, address, project }) => {
  await page.goto(`${address}/ui/p/${project}/needs`);
  const wide = page.getByRole("button", { name: /^All bash in this task/ });
  await expect(wide).toBeEnabled();
  await page.keyboard.press("t");
  await expect(page.getByRole("dialog")).toContainText("any arguments");
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  expect(decisions(daemon.requests)).toEqual([]);
  await wide.click();
  await page.getByRole("dialog").getByRole("button", { name: "Allow all bash in this task" }).click();
  await expect(page.getByRole("group", { name: /^Approval/ })).toHaveCount(0);
  expect(decisions(daemon.requests)).toEqual(["task"]);
});

test("a denial takes a reason for the agent", async ({ page, daemon, address, project }) => {
  await page.goto(`${address}/ui/p/${project}/needs`);
  await expect(page.getByRole("button", { name: /^Deny/ })).toBeVisible();
  await page.keyboard.press("d");
  await expect(page.getByLabel("Reason for the agent")).toBeFocused();
  await page.keyboard.type("Use the crate that is there.");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("group", { name: /^Approval/ })).toHaveCount(0);
  expect(daemon.requests.find((request) => request.path.endsWith("/approve"))?.body).toMatchObject({ decision: "deny", note: "Use the crate that is there." });
});

test("a host is allowed for as long as the button says", async ({ page, daemon, address, project }) => {
  const { needs } = daemon.world;
  const need = needs.approvals[0]!;
  const hosts = ["one.example", "two.example", "three.example", "four.\u202Eexample"];
  daemon.world.needs = { ...needs, approvals: hosts.map((host, index) => ({ ...need, approvalId: `h${index}`, callId: "", tool: "network", host, args: { host }, argsDigest: `host:${host}`, at: 100 + index })) };
  await page.goto(`${address}/ui/p/${project}/needs`);
  await expect(page.getByText("one.example")).toBeVisible();
  await expect(page.getByText("four.\\u{202e}example")).toBeVisible();
  const cards = page.getByRole("group", { name: /^Approval/ });
  await expect(cards).toHaveCount(4);
  await page.keyboard.press("a");
  await expect(cards).toHaveCount(3);
  await cards.first().getByRole("button", { name: /^This host in this task/ }).click();
  await expect(cards).toHaveCount(2);
  await cards.first().getByRole("button", { name: "Always in this project" }).click();
  await expect(page.getByRole("dialog")).toContainText("every task of this project");
  await page.getByRole("dialog").getByRole("button", { name: "Always allow three.example" }).click();
  await expect(cards).toHaveCount(1);
  await cards.first().getByRole("button", { name: /^Deny/ }).click();
  await expect(cards).toHaveCount(0);
  expect(decisions(daemon.requests)).toEqual(["once", "task", "always", "deny"]);
});
