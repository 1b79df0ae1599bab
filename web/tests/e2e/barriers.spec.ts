// Every view, light and dark, wide and narrow: axe finds no barrier, and nothing is wider than the page.
import { createRequire } from "node:module";
import { FakeDaemon } from "../../testing/daemon.mjs";
import { PROJECT, demo } from "../../testing/fixture.mjs";
import { views } from "../../testing/views.mjs";
import { expect, test } from "./base.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Found {
  id: string;
  nodes: string[];
}

for (const view of views(demo().ids, PROJECT)) {
  for (const [size, viewport] of [["wide", { width: 1360, height: 860 }], ["narrow", { width: 380, height: 780 }]] as const) {
    test(`${view.name}, ${size}`, async ({ page, daemon, address }) => {
      await page.setViewportSize(viewport);
      const locked = new FakeDaemon({ world: demo(), auth: true });
      const at = view.locked === true ? await locked.listen() : address;
      await page.emulateMedia({ reducedMotion: "reduce", colorScheme: "light" });
      view.before?.(daemon);
      await page.goto(at + view.path);
      await page.waitForSelector(view.ready, { state: "attached" });
      if (size === "wide" || !["menu", "dialog"].includes(view.name)) await view.act?.(page, daemon);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      // The page's policy lets no foreign script in; the tool of the test is evaluated, not loaded.
      await page.evaluate((await import("node:fs")).readFileSync(AXE, "utf8"));
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ reducedMotion: "reduce", colorScheme });
        const found = await page.evaluate(async (): Promise<Found[]> => {
          const axe = (window as unknown as { axe: { run(root: Document, options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> } }).axe;
          const result = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] });
          return result.violations.map((one) => ({ id: one.id, nodes: one.nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 300)}`) }));
        });
        expect(found, colorScheme).toEqual([]);
      }
      if (view.locked === true) await locked.close();
    });
  }
}
