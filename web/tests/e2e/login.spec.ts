// Logging in and out.
import { test as plain } from "@playwright/test";
import { FakeDaemon } from "../../testing/daemon.mjs";
import { PROJECT, demo } from "../../testing/fixture.mjs";
import { expect } from "./base.ts";

const test = plain.extend<{ locked: FakeDaemon; address: string }>({
  locked: async ({}, use) => {
    const daemon = new FakeDaemon({ world: demo(), auth: true });
    await daemon.listen();
    await use(daemon);
    await daemon.close();
  },
  address: async ({ locked }, use) => use(`http://127.0.0.1:${(locked as unknown as { port: number }).port}`),
});

test("one command lets in, and the page comes back to where it was", async ({ page, locked, address }) => {
  await page.goto(`${address}/ui/p/${PROJECT}/money`);
  await expect(page.getByRole("heading", { name: "Log in to Matrix" })).toBeVisible();
  const command = (await page.locator(".exact pre").textContent()) ?? "";
  const key = command.split(" ").at(-1)?.replace("…", "") ?? "";
  await page.getByLabel("Answer").fill("bm90IHRoZSBhbnN3ZXI=");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("alert")).toContainText("was not made for this page");
  await page.getByLabel("Answer").fill(locked.grant(key));
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("heading", { name: "Cost", exact: true })).toBeVisible();
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  await expect(page.getByRole("heading", { name: "Log in to Matrix" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Log in to Matrix" })).toBeVisible();
});

test("a ticket lets in once and leaves the address at once", async ({ page, locked, address }) => {
  locked.tickets.add("t1cket");
  await page.goto(`${address}/ui/login#ticket=t1cket`);
  await expect(page.getByRole("heading", { name: "Projects" })).toBeVisible();
  expect(page.url()).not.toContain("t1cket");
  await page.context().clearCookies();
  await page.goto(`${address}/ui/p/${PROJECT}#ticket=t1cket`);
  await expect(page.getByRole("heading", { name: "Log in to Matrix" })).toBeVisible();
  expect(page.url()).not.toContain("t1cket");
});

test("a link that was used says so, and what to do", async ({ page, locked, address }) => {
  locked.tickets.add("once");
  await page.goto(`${address}/ui/p/${PROJECT}#ticket=once`);
  await expect(page.getByRole("treeitem").first()).toBeVisible();
  await page.context().clearCookies();
  await page.goto("about:blank");
  await page.goto(`${address}/ui/p/${PROJECT}#ticket=once`);
  await expect(page.getByRole("heading", { name: "Log in to Matrix" })).toBeVisible();
  await expect(page.getByRole("alert")).toContainText("was used already or is too old");
  await expect(page.getByRole("alert")).toContainText("mxd up");
});

test("a log-in link that is pasted into the open log-in page lets in", async ({ page, locked, address }) => {
  await page.goto(`${address}/ui/login`);
  await expect(page.getByRole("heading", { name: "Log in to Matrix" })).toBeVisible();
  locked.tickets.add("pasted");
  // The same address with another fragment does not load the page again.
  await page.evaluate(() => location.assign("#ticket=pasted"));
  await expect(page.getByRole("heading", { name: "Projects" })).toBeVisible();
  expect(page.url()).not.toContain("pasted");
});
