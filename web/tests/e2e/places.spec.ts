// Places in a conversation: what a search finds is shown where it was said.
import type { FakeDaemon } from "../../testing/daemon.mjs";
import { expect, test } from "./base.ts";

/** A long conversation: one thing said at its beginning, one inside a result, and a thousand others behind them. */
function long(daemon: FakeDaemon, task: string | undefined): void {
  const add = (fields: Record<string, unknown>): void => daemon.commit([{ task, ...fields }]);
  add({ type: "assistant_text", content: "The heron stands in the reeds." });
  add({ type: "tool_call", tool: "mcp__mxd__bash", toolCallId: "far", input: { command: "cat pond" } });
  add({ type: "tool_result", tool: "mcp__mxd__bash", toolCallId: "far", content: "a newt\n", isError: false });
  for (let i = 0; i < 1_300; i += 1) add({ type: "assistant_text", content: `Line ${i} of many.` });
}

test("a hit of the search opens the conversation at its place", async ({ page, daemon, address, project, ids }) => {
  long(daemon, ids["login"]);
  await page.goto(`${address}/ui/p/${project}`);
  await page.getByRole("treeitem", { name: /^harbour/ }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Task, view or action" }).fill("heron stands");
  await page.getByRole("option", { name: /The heron stands/ }).click();
  const row = page.locator(".chat-row.is-found");
  await expect(row).toHaveText("The heron stands in the reeds.");
  await expect(row).toBeInViewport();
  expect(page.url()).toContain("?at=");
  // The address is the place: it is there again after a reload, and for whoever is given the link.
  await page.reload();
  await expect(row).toHaveText("The heron stands in the reeds.");
  await expect(row).toBeInViewport();
  // What is said meanwhile does not pull the reader away.
  daemon.commit([{ task: ids["login"], type: "assistant_text", content: "The newest of all." }]);
  await expect(row).toBeInViewport();
  await page.getByRole("button", { name: "Follow" }).click();
  await expect(page.getByText("The newest of all.")).toBeInViewport();
  await expect(row).toHaveCount(0);
  expect(page.url()).not.toContain("?at=");
});

test("what was found in a result is shown open, also from one place to the next", async ({ page, daemon, address, project, ids }) => {
  long(daemon, ids["login"]);
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}`);
  await expect(page.getByText("Line 1299 of many.")).toBeInViewport();
  for (const [words, said] of [["a newt", "a newt"], ["Line 700 of", "Line 700 of many."]] as const) {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Task, view or action" }).fill(words);
    await page.getByRole("option", { name: new RegExp(said) }).click();
    await expect(page.locator(".chat-row.is-found")).toContainText(said);
    await expect(page.locator(".chat-row.is-found")).toBeInViewport();
  }
  await page.goBack();
  await expect(page.locator(".chat-row.is-found")).toContainText("a newt");
  await expect(page.locator(".chat-row.is-found")).toBeInViewport();
});

test("a place that is not there is the nearest one", async ({ page, daemon, address, project, ids }) => {
  daemon.commit([{ task: ids["login"], type: "assistant_text", content: "The last word." }]);
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}?at=999999`);
  await expect(page.locator(".chat-row.is-found")).toHaveText("The last word.");
});
