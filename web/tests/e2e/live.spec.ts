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
