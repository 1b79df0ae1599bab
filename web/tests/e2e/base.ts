// What every test has: a small daemon of its own, and a page that may not have a fault.
import { test as plain } from "@playwright/test";
import { FakeDaemon } from "../../testing/daemon.mjs";
import { NOW, PROJECT, demo } from "../../testing/fixture.mjs";

interface Own {
  daemon: FakeDaemon;
  address: string;
  project: string;
  ids: Record<string, string>;
}

export const test = plain.extend<Own>({
  daemon: async ({}, use) => {
    const daemon = new FakeDaemon({ world: demo() });
    await daemon.listen();
    await use(daemon);
    await daemon.close();
  },
  address: async ({ daemon }, use) => use(`http://127.0.0.1:${(daemon as unknown as { port: number }).port}`),
  ids: async ({ daemon }, use) => use(daemon.world.ids),
  project: async ({}, use) => use(PROJECT),
  page: async ({ page }, use) => {
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      // The browser reports refused requests and lost lines itself; a broken policy or a broken key is ours.
      if (/Content Security Policy|unique "key"|Maximum update/.test(message.text())) faults.push(message.text());
    });
    await page.clock.setSystemTime(NOW);
    await use(page);
    plain.expect(faults).toEqual([]);
  },
});

export { expect } from "@playwright/test";
