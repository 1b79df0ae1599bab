// Every text that an agent or a tool can choose tries to run something, in a real browser: nothing does.
import { poison } from "../../testing/corpus.mjs";
import { expect, test } from "./base.ts";

const PLACES = ["", "/needs", "/money", "/settings/servers"] as const;

test("nothing of what agents and tools say is run", async ({ page, daemon, address, project, ids }) => {
  test.setTimeout(300_000);
  poison(daemon.world);
  await page.addInitScript(() => {
    (window as unknown as { ran: number }).ran = 0;
    (window as unknown as { pwned(): void }).pwned = () => {
      (window as unknown as { ran: number }).ran += 1;
    };
  });
  let opened = 0;
  page.on("popup", () => (opened += 1));
  page.on("dialog", () => (opened += 1));
  const tabs = ["", "/diff", "/evidence", "/ledger", "/details"].map((tab) => `/t/${ids["refresh"]}${tab}`);
  for (const place of [...PLACES, ...tabs]) {
    await page.goto(`${address}/ui/p/${project}${place}`);
    await page.waitForSelector(".main > *");
    await page.getByRole("treeitem").first().waitFor();
    if (place === `/t/${ids["refresh"]}`) {
      await page.waitForSelector(".chat-row");
      // Every row is drawn once, with its cards open.
      for (let step = 0; step < 60; step += 1) {
        await page.evaluate(() => {
          for (const head of document.querySelectorAll<HTMLElement>(".tool-head[aria-expanded=false], .thought-head[aria-expanded=false], .boundary button[aria-expanded=false]")) head.click();
          const box = document.querySelector(".chat-scroll");
          if (box !== null) box.scrollTop -= 700;
        });
      }
    }
    const state = await page.evaluate(() => ({
      ran: (window as unknown as { ran: number }).ran,
      scripts: [...document.querySelectorAll("script")].filter((script) => !script.src.startsWith(location.origin)).length,
      handlers: [...document.querySelectorAll("*")].filter((element) => element.getAttributeNames().some((name) => name.startsWith("on"))).length,
      links: [...document.querySelectorAll<HTMLAnchorElement>("a[href]")].filter((link) => !/^(https?:|mailto:)$/.test(link.protocol)).length,
      frames: document.querySelectorAll("iframe, object, embed, base, form[action], style").length,
      width: document.documentElement.scrollWidth <= innerWidth,
    }));
    expect(state, place).toEqual({ ran: 0, scripts: 0, handlers: 0, links: 0, frames: 0, width: true });
  }
  expect(opened).toBe(0);
});
