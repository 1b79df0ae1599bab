// Setting a project up in the page, and creating a task in one form.
import { bareReadiness } from "../../testing/answers.mjs";
import { expect, test } from "./base.ts";

test("a project that is not ready says what is needed, and nothing can be started before", async ({ page, daemon, address, project }) => {
  daemon.readiness = bareReadiness();
  await page.goto(`${address}/ui/p/${project}`);
  await expect(page.getByRole("heading", { name: "Set up this project" })).toBeVisible();
  await page.getByLabel("New task", { exact: true }).fill("Anything");
  await expect(page.getByRole("button", { name: "Start task" })).toBeDisabled();
  await expect(page.getByText("Complete the set-up to start it.")).toBeVisible();
});

test("the set-up script takes each of its three answers", async ({ page, daemon, address, project }) => {
  const answers: readonly [string, () => Promise<void>, object][] = [
    ["example", () => page.getByRole("button", { name: "Use this script" }).click(), { choice: "example" }],
    ["nothing", () => page.getByRole("button", { name: "Nothing to set up" }).click(), { choice: "nothing" }],
    [
      "text",
      async () => {
        await page.getByRole("button", { name: "Edit it first" }).click();
        await page.getByLabel("Script", { exact: true }).fill("#!/bin/sh\nmake deps\n");
        await page.getByRole("button", { name: "Save and commit" }).click();
      },
      { choice: "text", text: "#!/bin/sh\nmake deps\n" },
    ],
  ];
  for (const [name, give, body] of answers) {
    daemon.readiness = bareReadiness();
    await page.goto(`${address}/ui/p/${project}/settings/setup`);
    await give();
    await expect(page.getByRole("listitem").filter({ hasText: "Worktree set-up script" }), name).toContainText("Ready");
    expect(daemon.requests.at(-1), name).toMatchObject({ path: `/projects/${project}/setup-hook`, body });
  }
});

test("a key that the daemon already has is used with one click", async ({ page, daemon, address, project }) => {
  daemon.readiness = { ...bareReadiness(), foundKeys: [{ variable: "ANTHROPIC_API_KEY", provider: "anthropic" }] };
  await page.route("**/config/global", (route) => (route.request().method() === "GET" ? route.fulfill({ json: {} }) : route.continue()));
  await page.goto(`${address}/ui/p/${project}`);
  await page.getByRole("button", { name: "Use ANTHROPIC_API_KEY" }).click();
  await expect.poll(() => daemon.requests.at(-1)?.body).toEqual({ authGroups: { main: { provider: "anthropic", anthropicApiKey: "$env:ANTHROPIC_API_KEY" } }, defaultAuth: "main" });
});

test("a task is created with its options and started", async ({ page, daemon, address, project, ids }) => {
  await page.goto(`${address}/ui/p/${project}`);
  await expect(page.getByRole("heading", { name: "Set up this project" })).toHaveCount(0);
  await page.getByLabel("New task", { exact: true }).fill("# Count the boats\nAll of them.");
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByLabel("Budget (USD)").fill("2.5");
  await page.getByLabel("Checks", { exact: true }).fill("make test\n\nmake lint");
  await page.getByLabel("Start after").selectOption({ label: "Login page" });
  await page.getByRole("button", { name: "Start task" }).click();
  await expect(page.getByRole("heading", { name: "Count the boats" })).toBeVisible();
  const [created, started] = daemon.requests;
  expect(created?.body).toEqual({ title: "Count the boats", description: "# Count the boats\nAll of them.", budgetUsd: 2.5, checks: ["make test", "make lint"], after: [ids["login"]] });
  expect(started?.path).toMatch(/\/message$/);
});

test("a task whose start is lost keeps its message in the composer", async ({ page, daemon, address, project }) => {
  await page.route("**/message", (route) => route.abort());
  await page.goto(`${address}/ui/p/${project}`);
  await page.getByLabel("New task", { exact: true }).fill("Count the boats");
  await page.getByRole("button", { name: "Start task" }).click();
  await expect(page.getByLabel("Message to Count the boats")).toHaveValue("Please start.");
  expect(daemon.requests.filter((request) => request.path.endsWith("/tasks")).length).toBe(1);
});

test("a prompt that was not sent survives a reload", async ({ page, address, project }) => {
  await page.goto(`${address}/ui/p/${project}`);
  await page.getByLabel("New task", { exact: true }).fill("Half a thought");
  await page.reload();
  await expect(page.getByLabel("New task", { exact: true })).toHaveValue("Half a thought");
});
