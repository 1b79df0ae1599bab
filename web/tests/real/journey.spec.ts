// The page with the real daemon and a scripted model: from the first login to a resume after the daemon was killed.
import { type Page, expect, test } from "@playwright/test";
import { RealDaemon, type Story } from "../../testing/real.mjs";

const call = (name: string, input: object): object => ({ tool_call: { name: `mcp__mxd__${name}`, input } });
const turn = (blocks: object[], more: object = {}): object => ({ reply: { blocks }, ...more });
const again = { until: { added: { not_contains: "outcome is unknown" } } };

const STORY: Story = {
  settings: { approvals: { rules: [{ name: "careful", args: [{ at: "/command", glob: "rm *" }], ruling: "ask" }] } },
  rehearse: {
    description: "A root that splits its work, asks, and waits; a task that changes a file.",
    resumes: true,
    conversations: [
      {
        first_message: { contains: "Title: boats\n" },
        turns: [
          turn([{ text: "I look at the list and hand the counting to **a task of its own**." }, call("create_task", { title: "Count the boats", description: "Write the number into count.txt." })], again),
          turn([{ text: "It can start." }, call("send_message", { taskId: "$first", title: "go", message: "Please count." })], { capture: ["Created the task (?<first>[0-9A-Z]{26})"], ...again }),
          turn([call("clarify", { question: "Do dinghies count?\nThere are two of them." })], again),
          turn([call("yield", {})], { until: { ever: { contains: ["Yes, they count.", "Three boats are counted."] } } }),
          turn([{ text: "All counted: three, dinghies included." }]),
          turn([{ text: "This will take a while, says the model, word by word by word." }], { gate: { name: "slow" } }),
          turn([{ text: "Back after the interruption." }]),
        ],
      },
      {
        first_message: { contains: "Title: Count the boats\n" },
        turns: [
          turn([{ thinking: { text: "Two lines, and one more." } }, { text: "I write it down." }, call("write_file", { path: "count.txt", content: "three\n" })], again),
          turn([call("bash", { command: "rm -f old.txt" })], again),
          turn([call("bash", { command: "git add -A && git commit -q -m 'Three boats' && echo committed" })], again),
          turn([call("done", { status: "passed", summary: "Three boats are counted." })]),
          turn([{ text: "Thank you for the review; it is right as it is." }]),
        ],
      },
    ],
    default_reply: { blocks: [{ text: "I have nothing more to say." }] },
  },
};

async function login(page: Page, daemon: RealDaemon, address: string): Promise<void> {
  await page.goto(`${address}/ui/projects`);
  const command = (await page.locator(".exact pre").textContent()) ?? "";
  await page.getByLabel("Answer").fill(daemon.run(command));
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("heading", { name: "Projects" })).toBeVisible();
}

test("a project from the first login to a resume", async ({ page }) => {
  test.setTimeout(600_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  const daemon = new RealDaemon(STORY);
  try {
    const address = await daemon.start();
    await login(page, daemon, address);

    // A project, and its first message.
    await page.getByRole("textbox", { name: "Folder" }).fill(daemon.repository);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("treeitem", { name: /^boats/ }).click();
    await page.getByLabel("Message to boats").fill("Count the boats, please.");
    await page.keyboard.press("Enter");
    await expect(page.getByText("Count the boats, please.").first()).toBeVisible();

    // The tree grows.
    await expect(page.getByRole("treeitem", { name: /^Count the boats/ })).toBeVisible();
    await expect(page.getByText("a task of its own")).toBeVisible();

    // A call that has to be allowed is seen as it is, and allowed; the question is answered.
    await page.getByRole("link", { name: /Needs you/ }).click();
    await expect(page.getByText("$ rm -f old.txt")).toBeVisible();
    await page.getByRole("button", { name: /^Allow once/ }).click();
    await expect(page.getByText("Do dinghies count?").first()).toBeVisible();
    await page.getByLabel("Your answer").fill("Yes, they count.");
    await page.getByRole("button", { name: "Answer" }).click();
    await expect(page.getByText("Nothing needs you")).toBeVisible();

    // What somebody said is found, and shown where it was said.
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Task, view or action" }).fill("hand the counting");
    await page.getByRole("option", { name: /hand the counting/ }).first().click();
    await expect(page.locator(".chat-row.is-found")).toContainText("a task of its own");
    await expect(page.locator(".chat-row.is-found")).toBeInViewport();

    // The work of the task: its conversation, its diff with a comment, its ledger.
    await page.getByRole("treeitem", { name: /^Count the boats/ }).click();
    await expect(page.getByRole("heading", { name: "Count the boats" })).toBeVisible();
    await expect(page.getByRole("group", { name: "Tool call write_file" })).toBeVisible();
    await expect(page.locator(".note").getByText("reports passed")).toBeVisible();
    await page.getByRole("link", { name: /^Changes/ }).click();
    await expect(page.getByRole("region", { name: "count.txt" })).toBeVisible();
    await page.getByRole("button", { name: "Comment on line 1", exact: true }).click();
    await page.getByLabel("Comment", { exact: true }).fill("As a number, please.");
    await page.getByRole("button", { name: "Add to review" }).click();
    await page.getByRole("button", { name: "Send review" }).click();
    await expect(page.getByText("Thank you for the review")).toBeVisible();
    await page.getByRole("link", { name: "Activity" }).click();
    await expect(page.getByRole("cell", { name: /bash/ }).first()).toBeVisible();

    // The daemon is killed under the open page in the middle of an answer, and comes back.
    await page.getByRole("treeitem", { name: /^boats/ }).click();
    await expect(page.getByText("All counted: three, dinghies included.")).toBeVisible();
    await page.getByLabel("Message to boats").fill("Once more, slowly.");
    await page.keyboard.press("Enter");
    await expect(page.getByText("Once more, slowly.").first()).toBeVisible();
    await daemon.kill();
    await daemon.again();
    await fetch(`${daemon.model}/rehearse/gates/slow`, { method: "POST" });
    await expect(page.getByText("word by word by word.")).toHaveCount(1, { timeout: 120_000 });
    await expect(page.getByText("Once more, slowly.", { exact: true })).toHaveCount(1);
    await expect(page.getByText("All counted: three, dinghies included.")).toHaveCount(1);
    await page.getByRole("log").evaluate((log) => log.scrollTo(0, 0));
    await expect(page.getByText("Count the boats, please.", { exact: true })).toHaveCount(1);

    // It is stopped, after one was told what that does not undo.
    await page.locator(".task-title").getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Stop" }).click();
    await expect(page.getByRole("dialog")).toContainText("Files they have changed stay changed.");
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    await expect(page.locator(".task-state")).toContainText("stopped");

    // A setting, money, a narrow page, and out.
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Change Agents at once" }).click();
    await page.getByLabel("Value").fill("5");
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.locator(".setting", { hasText: "Agents at once" })).toContainText("5");
    await page.getByRole("link", { name: "Cost" }).click();
    await expect(page.getByText("spent in all")).toBeVisible();
    await page.setViewportSize({ width: 380, height: 780 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Log out" }).click();
    await expect(page.getByRole("heading", { name: "Log in to Matrix" })).toBeVisible();
    expect(faults).toEqual([]);
  } finally {
    await daemon.end();
  }
});
