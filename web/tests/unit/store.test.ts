// Asking for pages while the stream goes on: who looks at a log has all of it.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { EventPage, EventView } from "../../src/api/types.ts";
import { NO_NEEDS } from "../../src/state/reduce.ts";
import { store } from "../../src/state/store.ts";

const said = (seq: number): EventView => ({ seq, at: seq, task: "a", type: "assistant_text", content: `text ${seq}` });
const page = (to: number): EventPage => ({ events: Array.from({ length: to }, (_, index) => said(index + 1)), hasMore: false, cursor: `1-${to}` });
const asked: { path: string; answer: (page: EventPage) => void }[] = [];

const snapshot = (seq: number): void => store.take({ kind: "snapshot", data: { cursor: `1-${seq}`, rootId: "a", needs: NO_NEEDS, tasks: [{ id: "a", kind: "task", title: "a", description: "", children: [], editedBy: "user", createdAt: 1, updatedAt: 1 }] } });
const commit = (seq: number): void => store.take({ kind: "commit", cursor: `1-${seq}`, data: { seq, at: seq, events: [said(seq)] } });
const settle = (): Promise<void> => new Promise((done) => setTimeout(done, 0));
const seqs = (): number[] => (store.get().logs["a"]?.events ?? []).map((event) => event.seq);

beforeEach(() => {
  asked.length = 0;
  const deaf = { addEventListener: () => {}, removeEventListener: () => {}, visibilityState: "visible" };
  vi.stubGlobal("window", deaf);
  vi.stubGlobal("document", deaf);
  vi.stubGlobal("requestAnimationFrame", () => 1);
  vi.stubGlobal("EventSource", class { addEventListener(): void {} close(): void {} });
  vi.stubGlobal("fetch", (path: string) => new Promise((done) => asked.push({ path, answer: (body) => done(new Response(JSON.stringify(body))) })));
  store.open("p");
});

afterEach(() => {
  store.close();
  vi.unstubAllGlobals();
});

it("has what was said while the page was on its way", async () => {
  snapshot(3);
  const looked = store.look("a");
  commit(4);
  asked[0]?.answer(page(3));
  await looked;
  expect(seqs()).toEqual([1, 2, 3, 4]);
});

it("asks again when a snapshot was newer than the page", async () => {
  const looked = store.look("a");
  snapshot(9);
  asked[0]?.answer(page(2));
  await settle();
  expect(asked.length).toBe(2);
  commit(10);
  asked[1]?.answer(page(9));
  await looked;
  expect(seqs()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(store.get().logs["a"]?.stale).toBe(false);
});

it("asks no more for a project that was left", async () => {
  const looked = store.look("a");
  snapshot(9);
  store.close();
  asked[0]?.answer(page(2));
  await looked;
  expect(asked.length).toBe(1);
  expect(store.get().logs).toEqual({});
});
