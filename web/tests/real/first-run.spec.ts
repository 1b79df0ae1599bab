// A new user: from a daemon that knows nothing to a first task that is merged, by the page alone, with few clicks.
import { execFileSync } from "node:child_process";
import { type Page, expect, test } from "@playwright/test";
import { RealDaemon, type Story } from "../../testing/real.mjs";

const MOST_CLICKS = 12;
const call = (name: string, input: object): object => ({ tool_call: { name: `mcp__mxd__${name}`, input } });
const turn = (blocks: object[]): object => ({ reply: { blocks } });

const STORY: Story = {
  bare: true,
  rehearse: {
    conversations: [
      {
        first_message: { contains: "Title: Count the boats\n" },
        turns: [
          turn([{ text: "I write the number down." }, call("bash", { command: "echo two > count.txt && git add -A && git commit -q -m 'Two boats'" })]),
          turn([call("done", { status: "passed", summary: "Two boats are counted." })]),
        ],
      },
    ],
    default_reply: { blocks: [{ text: "I have nothing more to say." }] },
  },
};

/** Counts what the user presses: buttons, links, and fields that do not have the focus already. */
class Clicks {
  count = 0;
  async press(page: Page, name: string | RegExp): Promise<void> {
    this.count += 1;
    await page.getByRole("button", { name, exact: true }).click();
  }
  async type(page: Page, label: string, text: string): Promise<void> {
    const field = page.getByLabel(label, { exact: true });
    await field.waitFor();
    if (!(await field.evaluate((element) => element === document.activeElement))) {
      this.count += 1;
      await field.click();
    }
    await page.keyboard.insertText(text);
  }
}

test("from an empty daemon to a merged first task", async ({ page }) => {
  test.setTimeout(120_000);
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  const daemon = new RealDaemon(STORY);
  const clicks = new Clicks();
  try {
    const address = await daemon.start();
    // The link that `mxd up` prints.
    const { ticket } = (await daemon.api("POST", "/auth/ticket", {})) as { ticket: string };
    await page.goto(`${address}/ui/projects#ticket=${ticket}`);

    await clicks.type(page, "Folder", daemon.repository);
    await clicks.press(page, "Add");

    const steps = page.getByRole("list", { name: "Set-up steps" });
    const step = (title: string) => steps.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
    await expect(step("Model provider")).toContainText("Needed");
    await expect(step("Git identity and branch")).toContainText("Ready");
    await expect(page.getByRole("button", { name: "Start task" })).toBeDisabled();
    await clicks.type(page, "API key", "any key does");
    await clicks.type(page, "Base URL (optional)", daemon.model);
    await clicks.press(page, "Save key");
    await expect(step("Model provider")).toContainText("Ready");
    await clicks.press(page, "Set limit");
    await expect(step("Budget")).toContainText("Ready");
    await clicks.press(page, "Nothing to set up");
    await expect(step("Worktree set-up script")).toContainText("Ready");

    await clicks.type(page, "New task", "Count the boats\nWrite the number into count.txt.");
    await clicks.press(page, "Start task");
    await expect(page.getByRole("heading", { name: "Count the boats" })).toBeVisible();
    await expect(page.getByText("I write the number down.")).toBeVisible();
    await clicks.press(page, "Merge…");
    await expect(page.getByRole("dialog")).toContainText("Nothing is pushed anywhere.");
    await clicks.press(page, "Merge");
    await expect(page.getByText("Merged into main.")).toBeVisible();

    expect(execFileSync("git", ["-C", daemon.repository, "show", "main:count.txt"], { encoding: "utf8" })).toBe("two\n");
    expect(clicks.count).toBeLessThanOrEqual(MOST_CLICKS);
    test.info().annotations.push({ type: "clicks", description: `${clicks.count} of at most ${MOST_CLICKS}` });
    expect(faults).toEqual([]);
  } finally {
    await daemon.end();
  }
});
