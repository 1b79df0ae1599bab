// The numbers of the page with a large project: first paint, latency of interactions, memory while it streams.
import { chromium as playwright } from "@playwright/test";
import { launchOptions } from "./chromium.mjs";
import { FakeDaemon } from "./daemon.mjs";
import { large, PROJECT } from "./fixture.mjs";

const TASKS = 1_000;
const ROWS = 10_000;
/** An hour at two commits and four deltas a second. */
const COMMITS = 7_200;

const world = large(TASKS, ROWS);
const daemon = new FakeDaemon({ world });
const address = await daemon.listen();
const browser = await playwright.launch({ ...launchOptions(), args: [...launchOptions().args, "--js-flags=--expose-gc", "--enable-precise-memory-info"] });
const page = await browser.newPage({ viewport: { width: 1360, height: 860 } });
const asJson = process.argv.includes("--json");
const rows = [];
const row = (name, value, unit, bar) => {
  const one = { name, value: Math.round(value * 10) / 10, unit, bar, ok: bar === undefined || value <= bar };
  rows.push(one);
  if (!asJson) process.stdout.write(`${one.ok ? " " : "!"} ${name.padEnd(44)} ${String(one.value).padStart(8)} ${unit}${bar === undefined ? "" : `  (at most ${bar})`}\n`);
};

function p95(list) {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)] ?? 0;
}

/** From a key or click until the frame that shows its effect is painted. */
async function latency(act) {
  await page.evaluate(() => {
    window.began = 0;
    window.took = undefined;
    const start = () => {
      window.began = performance.now();
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => (window.took = performance.now() - window.began);
        channel.port2.postMessage(0);
      });
    };
    for (const type of ["keydown", "pointerdown"]) document.addEventListener(type, start, { capture: true, once: true });
  });
  await act();
  await page.waitForFunction(() => window.took !== undefined);
  return page.evaluate(() => window.took);
}

async function heap() {
  return page.evaluate(async () => {
    for (let i = 0; i < 3; i += 1) {
      globalThis.gc();
      await new Promise((done) => setTimeout(done, 50));
    }
    return performance.memory.usedJSHeapSize / 1024 / 1024;
  });
}

await page.goto(`${address}/ui/p/${PROJECT}/t/${world.ids.busy}`);
await page.waitForSelector(".tree-row");
await page.waitForSelector(".chat-row");
const useful = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
row("first paint", useful, "ms");
row("tree and conversation there", await page.evaluate(() => performance.now()), "ms");

const earlier = page.locator(".chat-earlier");
for (let asked = 0; asked < (2 * ROWS) / 200 && (await earlier.count()) > 0; asked += 1) {
  // While a page is on its way there is no button, and that is fine.
  await earlier.getByRole("button").click({ timeout: 5_000 }).catch(() => {});
}
row("rows that are loaded", await page.evaluate(() => Number(document.querySelector(".chat-rows")?.clientHeight ?? 0) / 72), "rows of 72 px");
const keys = [];
await page.locator(".tree-row").first().focus();
for (let i = 0; i < 60; i += 1) keys.push(await latency(() => page.keyboard.press("ArrowDown")));
row("moving in a tree of 1,000 tasks, p95", p95(keys), "ms", 50);
const typed = [];
await page.locator("#composer").focus();
for (const letter of "what a long message this is, typed into a long conversation") typed.push(await latency(() => page.keyboard.press(letter === " " ? "Space" : letter)));
row("typing beside 10,000 rows, p95", p95(typed), "ms", 50);
const filtered = [];
await page.locator("#tree-filter").focus();
for (const letter of "task 77") filtered.push(await latency(() => page.keyboard.press(letter === " " ? "Space" : letter)));
row("filtering 1,000 tasks, p95", p95(filtered), "ms", 50);
await page.locator("#tree-filter").fill("");

const task = world.ids.busy;
const stream = async (from, to) => {
  for (let i = from; i < to; i += 1) {
    daemon.delta({ task, type: "text_delta", content: `piece ${i} ` });
    daemon.delta({ task, type: "text_delta", content: "and more " });
    daemon.commit([{ task, type: "assistant_text", content: `Streamed ${i}: ${"words ".repeat(20)}` }], [task]);
    if (i % 100 === 0) await new Promise((done) => setTimeout(done, 5));
  }
  await page.getByText(`Streamed ${to - 1}:`).first().waitFor({ timeout: 120_000 });
};
await page.getByRole("button", { name: "Follow" }).click();
await stream(0, COMMITS);
const first = await heap();
await stream(COMMITS, COMMITS * 2);
const second = await heap();
row("memory after one hour of streaming", first, "MB");
row("growth in a second hour", second - first, "MB", 4);

await browser.close();
await daemon.close();
if (asJson) process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(rows.every((one) => one.ok) ? 0 : 1);
