// Tests in a browser against the small daemon. Each test has a daemon of its own, so none depends on another.
import { defineConfig } from "@playwright/test";
import { launchOptions } from "./testing/chromium.mjs";

export default defineConfig({
  testDir: "tests/e2e",
  fullyParallel: true,
  workers: 2,
  retries: 0,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: [["list"]],
  use: {
    launchOptions: launchOptions(),
    viewport: { width: 1360, height: 860 },
    locale: "en-GB",
    timezoneId: "UTC",
    trace: "off",
  },
});
