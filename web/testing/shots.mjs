// Pictures of every view, light and dark, on a desk and on a phone: `npm run build && npm run shots [folder] [only]`.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium as playwright } from "@playwright/test";
import { launchOptions } from "./chromium.mjs";
import { FakeDaemon } from "./daemon.mjs";
import { demo, NOW, PROJECT } from "./fixture.mjs";
import { views } from "./views.mjs";

const folder = process.argv[2] ?? fileURLToPath(new URL("../../target/shots/", import.meta.url));
const only = process.argv[3];
const SIZES = { desk: { width: 1360, height: 860 }, phone: { width: 380, height: 780 } };

await mkdir(folder, { recursive: true });
const browser = await playwright.launch(launchOptions());
const daemon = new FakeDaemon({ world: demo() });
const address = await daemon.listen();
const locked = new FakeDaemon({ world: demo(), auth: true });
const lockedAddress = await locked.listen();

for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: 1, reducedMotion: "reduce", locale: "en-GB", timezoneId: "UTC" });
    const page = await context.newPage();
    await page.clock.setFixedTime(NOW);
    page.on("pageerror", (error) => process.stderr.write(`page error: ${error.stack}\n`));
    page.on("console", (message) => message.type() === "error" && process.stderr.write(`console: ${message.text()}\n`));
    for (const view of views(daemon.world.ids, PROJECT)) {
      if (only !== undefined && !`${view.name}-${size}-${colorScheme}`.includes(only)) continue;
      view.before?.(daemon);
      await page.goto((view.locked ? lockedAddress : address) + view.path);
      await page.waitForSelector(view.ready);
      await view.act?.(page, daemon);
      await page.waitForTimeout(150);
      const file = join(folder, `${view.name}-${size}-${colorScheme}.png`);
      await page.screenshot({ path: file });
      view.after?.(daemon);
      process.stdout.write(`${file}\n`);
    }
    await context.close();
  }
}
await browser.close();
await daemon.close();
await locked.close();
