// Reviewing what a task changed.
import { expect, test } from "./base.ts";

test("code is highlighted and changed words are marked, all by class", async ({ page, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["refresh"]}/diff`);
  const file = page.getByRole("region", { name: "api/src/token.rs" });
  await expect(file.locator(".hl-keyword").first()).toBeVisible();
  await expect(file.locator(".is-added .is-changed").first()).toHaveText(", now");
  expect(await page.locator(".diff-lines [style]").count()).toBe(0);
});

test("the highlighter is not part of the first load", async ({ page, address, project, ids }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  await page.goto(`${address}/ui/p/${project}`);
  await expect(page.getByRole("treeitem").first()).toBeVisible();
  expect(loaded.filter((url) => url.includes("highlight"))).toEqual([]);
  await page.goto(`${address}/ui/p/${project}/t/${ids["refresh"]}/diff`);
  await expect.poll(() => loaded.some((url) => url.includes("highlight"))).toBe(true);
});

test("old and new stand side by side, and comments go to the side that was meant", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}/t/${ids["refresh"]}/diff`);
  await page.getByRole("button", { name: "Split" }).click();
  const pair = page.locator(".diff-pair").filter({ hasText: "//! Time.", has: page.locator(".is-removed") });
  await expect(pair.locator(".diff-half.is-removed")).toContainText("//! Time.");
  await expect(pair.locator(".diff-half.is-added")).toContainText("with the skew we tolerate");
  await pair.locator(".is-removed").getByRole("button", { name: "Comment on line 1" }).click();
  await page.getByLabel("Comment", { exact: true }).fill("Keep it short.");
  await page.getByRole("button", { name: "Add to review" }).click();
  await page.reload();
  await expect(page.getByRole("button", { name: "Split" })).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("button", { name: "Send review" }).click();
  await expect.poll(() => String(daemon.requests.at(-1)?.body["content"])).toContain("Line 1 before the change");
});

test("files that were viewed fold, are counted, and stay so until they change", async ({ page, daemon, address, project, ids }) => {
  const at = `${address}/ui/p/${project}/t/${ids["refresh"]}/diff`;
  await page.goto(at);
  const file = page.getByRole("region", { name: "api/src/token.rs" });
  await file.getByRole("checkbox", { name: "Viewed api/src/token.rs" }).check();
  await expect(file.locator(".diff-line")).toHaveCount(0);
  await expect(page.getByRole("navigation", { name: "Changed files" })).toContainText("1 of 4 files viewed");
  await page.reload();
  await expect(file.getByRole("checkbox")).toBeChecked();
  const diff = daemon.world.diffs.get(ids["refresh"] ?? "");
  diff!.files[0]!.patch = `${diff!.files[0]!.patch}\n+one more`;
  await page.goto("about:blank");
  await page.goto(at);
  await expect(file.getByRole("checkbox")).not.toBeChecked();
});

test("the tree of files leads to a file, by keyboard too", async ({ page, address, project, ids }) => {
  await page.setViewportSize({ width: 1360, height: 500 });
  await page.goto(`${address}/ui/p/${project}/t/${ids["refresh"]}/diff`);
  const tree = page.getByRole("navigation", { name: "Changed files" });
  await tree.getByRole("button", { name: /clock\.rs/ }).focus();
  await page.keyboard.press("Enter");
  const head = page.getByRole("region", { name: "api/src/clock.rs" }).getByRole("button", { name: /clock\.rs/ });
  await expect(head).toBeFocused();
  await expect(head).toBeInViewport();
});

test("code of agents stays text, also when it is highlighted", async ({ page, daemon, address, project, ids }) => {
  const patch = "@@ -0,0 +1,2 @@\n+const x = \"<img src=x onerror=alert(1)>\";\n+</span><script>alert(1)</script>";
  daemon.world.diffs.set(ids["login"] ?? "", { base: "a", head: "b", dirty: false, truncated: false, files: [{ path: "<b>evil</b>/x.js", status: "added", additions: 2, deletions: 0, binary: false, patch }] });
  await page.goto(`${address}/ui/p/${project}/t/${ids["login"]}/diff`);
  await expect(page.locator(".hl-string").first()).toContainText("<img src=x onerror=alert(1)>");
  expect(await page.locator(".review-columns img, .review-columns script, .review-columns b").count()).toBe(0);
});
