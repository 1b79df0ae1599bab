// The state of the page: the same whatever way the daemon's messages reach it.
import { describe, expect, it } from "vitest";
import type { CommitMessage, EventView, SnapshotMessage, TaskView } from "../../src/api/types.ts";
import { LIMITS } from "../../src/state/limits.ts";
import { EMPTY, type Message, NO_NEEDS, type ProjectState, reduce, seqOf } from "../../src/state/reduce.ts";

function task(id: string, fields: Partial<TaskView> = {}): TaskView {
  return { id, kind: "task", title: id, description: "", children: [], editedBy: "user", createdAt: 1, updatedAt: 1, status: "pending", costUsd: 0, spentUsd: 0, after: [], checks: [], inbox: 0, questions: [], approvals: [], background: [], ...fields };
}

function said(seq: number, id = "a"): EventView {
  return { seq, at: seq, task: id, type: "assistant_text", content: `text ${seq}` };
}

const snapshot = (seq: number, tasks: TaskView[] = [task("a"), task("b")], epoch = 1): Message => ({
  kind: "snapshot",
  data: { cursor: `${epoch}-${seq}`, rootId: "a", tasks, needs: NO_NEEDS } satisfies SnapshotMessage,
});

const commit = (seq: number, more: Partial<CommitMessage> = {}, epoch = 1): Message => ({
  kind: "commit",
  cursor: `${epoch}-${seq}`,
  data: { seq, at: seq, events: [said(seq)], ...more },
});

const newest = (events: EventView[], cursor: string, hasMore = false): Message => ({ kind: "newest", task: "a", page: { events, hasMore, cursor } });

function after(...messages: Message[]): ProjectState {
  return messages.reduce(reduce, EMPTY);
}

const seqs = (state: ProjectState, id = "a"): number[] => (state.logs[id]?.events ?? []).map((event) => event.seq);

describe("reduce", () => {
  it("reads the number of a cursor and nothing of what is none", () => {
    expect(seqOf("7-12")).toBe(12);
    expect(seqOf(undefined)).toBe(-1);
    expect(seqOf("nonsense")).toBe(-1);
  });

  it("shows a commit once, however often it is told", () => {
    const once = after(snapshot(3), newest([said(2), said(3)], "1-3"), commit(4));
    expect(seqs(once)).toEqual([2, 3, 4]);
    expect(reduce(once, commit(4))).toBe(once);
    expect(reduce(once, commit(2))).toBe(once);
  });

  it("does not repeat what a page already had when the stream catches up", () => {
    // The page was asked for while commit 5 was on its way.
    const state = after(snapshot(3), newest([said(3), said(4), said(5)], "1-5"), commit(4), commit(5), commit(6));
    expect(seqs(state)).toEqual([3, 4, 5, 6]);
  });

  it("keeps only logs that somebody looks at", () => {
    const state = after(snapshot(1), commit(2));
    expect(state.logs).toEqual({});
    expect(state.cursor).toBe("1-2");
  });

  it("goes on without a gap after a reconnect that tells the missed commits", () => {
    const state = after(snapshot(2), newest([said(1), said(2)], "1-2"), commit(3, {}, 2), commit(4, {}, 2), snapshot(4, undefined, 2), commit(5, {}, 2));
    expect(seqs(state)).toEqual([1, 2, 3, 4, 5]);
    expect(state.logs["a"]?.stale).toBe(false);
    expect(state.cursor).toBe("2-5");
  });

  it("knows that something passed by when a snapshot is ahead", () => {
    const behind = after(snapshot(2), newest([said(1), said(2)], "1-2"), snapshot(9));
    expect(behind.logs["a"]?.stale).toBe(true);
    // A stale log takes nothing more until its newest page is there, or it would have a hole.
    expect(seqs(reduce(behind, commit(10)))).toEqual([1, 2]);
    const joined = after(snapshot(2), newest([said(1), said(2)], "1-2"), snapshot(4), newest([said(2), said(3), said(4)], "1-4", true));
    expect(seqs(joined)).toEqual([1, 2, 3, 4]);
    const torn = after(snapshot(2), newest([said(1), said(2)], "1-2"), snapshot(90), newest([said(88), said(89), said(90)], "1-90", true));
    expect(seqs(torn)).toEqual([88, 89, 90]);
    expect(torn.logs["a"]?.hasMore).toBe(true);
  });

  it("puts earlier pages in front, once", () => {
    const page: Message = { kind: "earlier", task: "a", before: 3, page: { events: [said(1), said(2)], hasMore: false, cursor: "1-4" } };
    const state = after(snapshot(4), newest([said(3), said(4)], "1-4", true), page, page);
    expect(seqs(state)).toEqual([1, 2, 3, 4]);
    expect(state.logs["a"]?.hasMore).toBe(false);
  });

  it("changes, adds and removes tasks and keeps the others as they were", () => {
    const before = after(snapshot(1));
    const state = reduce(before, commit(2, { tasks: [task("c"), task("a", { title: "new" })], removed: ["b"] }));
    expect(Object.keys(state.tasks).sort()).toEqual(["a", "c"]);
    expect(state.tasks["a"]?.title).toBe("new");
    const untouched = reduce(before, commit(2));
    expect(untouched.tasks).toBe(before.tasks);
  });

  it("shows text while it comes, and replaces it by what the log says", () => {
    const delta = (content: string): Message => ({ kind: "delta", data: { task: "a", type: "text_delta", content } });
    const live = after(snapshot(1), newest([], "1-1"), delta("Hel"), delta("lo"));
    expect(live.live["a"]?.text).toBe("Hello");
    const done = reduce(live, commit(2));
    expect(done.live["a"]?.text).toBe("");
    expect(seqs(done)).toEqual([2]);
  });

  it("marks words whose beginning was said before it listened", () => {
    const working = task("a", { agent: { state: "thinking", why: "" } });
    const delta = (content: string, type = "text_delta"): Message => ({ kind: "delta", data: { task: "a", type, content } });
    const late = after(snapshot(1, [working]), delta("dle"), delta(" of it"));
    expect(late.live["a"]?.text).toBe("…dle of it");
    const next = [commit(2), delta("Now all of it")].reduce(reduce, late);
    expect(next.live["a"]?.text).toBe("Now all of it");
    // A line that was lost in the middle of a word has lost some of its letters.
    expect([snapshot(2, [working]), delta("ter")].reduce(reduce, next).live["a"]?.text).toBe("…ter");
    expect(after(snapshot(1, [working]), delta("hm", "thinking_delta")).live["a"]?.thinking).toBe("…hm");
  });

  it("forgets live output of a call when its result is there, and everything live after a snapshot", () => {
    const output: Message = { kind: "delta", data: { task: "a", type: "tool_output", toolCallId: "c", content: "x" } };
    const result: EventView = { seq: 2, at: 2, task: "a", type: "tool_result", toolCallId: "c", content: "x", isError: false };
    expect(after(snapshot(1), output, commit(2, { events: [result] })).live["a"]?.output).toEqual({});
    expect(after(snapshot(1), output, snapshot(1)).live).toEqual({});
  });

  it("takes what a task has changed when it is told", () => {
    const told: Message = { kind: "delta", data: { task: "b", type: "diff", files: 2, additions: 7, deletions: 1 } };
    expect(after(snapshot(1), told).tasks["b"]?.diff).toEqual({ files: 2, additions: 7, deletions: 1 });
    expect(after(snapshot(1), { kind: "delta", data: { task: "gone", type: "diff", files: 1 } }).tasks["gone"]).toBeUndefined();
  });

  it("does not grow with the time it is open", () => {
    let state = after(snapshot(0), newest([], "1-0"));
    for (let seq = 1; seq <= LIMITS.eventsKept * 2; seq += 1) state = reduce(state, commit(seq));
    const kept = seqs(state);
    expect(kept.length).toBeLessThanOrEqual(LIMITS.eventsKept + LIMITS.eventsSlack);
    expect(kept.at(-1)).toBe(LIMITS.eventsKept * 2);
    expect(state.logs["a"]?.hasMore).toBe(true);
    const long: Message = { kind: "delta", data: { task: "a", type: "text_delta", content: "x".repeat(LIMITS.liveChars) } };
    expect(reduce(reduce(state, long), long).live["a"]?.text.length).toBe(LIMITS.liveChars);
  });

  it("comes to the same log however pages and commits are interleaved", () => {
    const all = Array.from({ length: 12 }, (_, index) => said(index + 1));
    let dice = 42;
    const roll = (sides: number): number => {
      dice = (Math.imul(dice, 1664525) + 1013904223) >>> 0;
      return dice % sides;
    };
    for (let round = 0; round < 200; round += 1) {
      let state = after(snapshot(0), newest([], "1-0"));
      let told = 0;
      while (told < all.length) {
        const what = roll(4);
        if (what === 0) {
          // A page that knows at least what was told, and perhaps more than that.
          const to = Math.min(all.length, told + roll(3));
          const from = Math.max(0, to - 1 - roll(5));
          state = reduce(state, newest(all.slice(from, to), `1-${to}`, from > 0));
        } else {
          told += 1;
          state = reduce(state, commit(told, { events: [all[told - 1] as EventView] }));
        }
      }
      const shown = seqs(state);
      const first = shown[0] ?? 1;
      expect(shown).toEqual(Array.from({ length: 12 - first + 1 }, (_, index) => first + index));
    }
  });

  it("keeps what is told while the first page is on its way", () => {
    const asked: Message = { kind: "asked", task: "a" };
    const state = after(snapshot(3), asked, commit(4), commit(5), newest([said(3), said(4)], "1-4"), commit(6));
    expect(seqs(state)).toEqual([3, 4, 5, 6]);
    expect(state.logs["a"]?.stale).toBe(false);
    // A snapshot that is newer than the page: what lies between the two was seen by nobody.
    const behind = after(snapshot(3), asked, snapshot(8), newest([said(3), said(4)], "1-4"), commit(9));
    expect(behind.logs["a"]?.stale).toBe(true);
    const whole = reduce(behind, newest([said(3), said(4), said(6), said(8)], "1-8"));
    expect(seqs(whole)).toEqual([3, 4, 6, 8, 9]);
    expect(whole.logs["a"]?.stale).toBe(false);
  });

  it("does not join an earlier page to a log that has let go of its oldest part meanwhile", () => {
    const page: Message = { kind: "earlier", task: "a", before: 3, page: { events: [said(1), said(2)], hasMore: false, cursor: "1-4" } };
    const state = after(snapshot(9), newest([said(8), said(9)], "1-9", true));
    expect(reduce(state, page)).toBe(state);
  });

  it("keeps the events of one commit together when it lets go of its oldest part", () => {
    let state = after(snapshot(0), newest([], "1-0"));
    for (let seq = 1; !state.logs["a"]?.hasMore; seq += 1) state = reduce(state, commit(seq, { events: [said(seq), said(seq), said(seq)] }));
    const kept = seqs(state);
    expect(kept.filter((seq) => seq === kept[0]).length).toBe(3);
  });

  it("ends with exactly the events of the log, whatever way and in whatever order the daemon's words arrive", () => {
    for (let seed = 1; seed <= 600; seed += 1) expect(new Line(seed).run(), `seed ${seed}`).toEqual([]);
  });
});

/** A daemon that writes, a stream that may break, pages that take their time, and somebody who looks at one task. */
class Line {
  private state = EMPTY;
  private readonly log: CommitMessage[] = [];
  /** What the stream has not delivered yet. */
  private stream: Message[] = [];
  /** The page that is under way, as far as the daemon has answered it. */
  private page: { asked: "newest" | "earlier"; before: number; answer?: Message } | undefined;
  private dice: number;

  constructor(seed: number) {
    this.dice = seed * 7_919;
  }

  private roll(sides: number): number {
    this.dice = (Math.imul(this.dice, 1664525) + 1013904223) >>> 0;
    return (this.dice >>> 8) % sides;
  }

  private write(): void {
    const seq = this.log.length + 1;
    const events = Array.from({ length: this.roll(3) }, () => ({ ...said(seq, this.roll(3) === 0 ? "b" : "a"), nth: this.roll(1_000_000) }));
    const made: CommitMessage = { seq, at: seq, events };
    this.log.push(made);
    this.stream.push({ kind: "commit", cursor: `1-${seq}`, data: made });
  }

  /** The line breaks: what was under way on it is lost, and is told again, or only a snapshot is. */
  private reconnect(): void {
    const known = seqOf(this.state.cursor);
    const again = this.roll(2) === 0 && known >= 0 ? this.log.filter((one) => one.seq > known) : [];
    this.stream = [...again.map((data): Message => ({ kind: "commit", cursor: `1-${data.seq}`, data })), snapshot(this.log.length)];
  }

  private deliver(): void {
    const message = this.stream.shift();
    if (message !== undefined) this.state = reduce(this.state, message);
  }

  private events(before: number): EventView[] {
    return this.log.flatMap((one) => one.events).filter((event) => event.task === "a" && event.seq < before);
  }

  private ask(): void {
    const log = this.state.logs["a"];
    if (this.page !== undefined) return;
    if (log === undefined || log.stale) {
      this.state = reduce(this.state, { kind: "asked", task: "a" });
      this.page = { asked: "newest", before: Infinity };
    } else if (log.hasMore && log.events[0] !== undefined) {
      this.page = { asked: "earlier", before: log.events[0].seq };
    }
  }

  /** The daemon reads what it has at this moment; the answer arrives at another one. */
  private answer(): void {
    const { page } = this;
    if (page === undefined || page.answer !== undefined) return;
    const all = this.events(page.before);
    const wanted = Math.max(0, all.length - 1 - this.roll(4));
    const from = all.findIndex((event) => event.seq === all[wanted]?.seq);
    const data = { events: all.slice(Math.max(0, from)), hasMore: from > 0, cursor: `1-${this.log.length}` };
    page.answer = page.asked === "newest" ? { kind: "newest", task: "a", page: data } : { kind: "earlier", task: "a", before: page.before, page: data };
  }

  private arrive(): void {
    const message = this.page?.answer;
    if (message === undefined) return;
    this.page = undefined;
    this.state = reduce(this.state, message);
  }

  /** What is wrong: with what is shown at any moment, and at the end, when everything has arrived. */
  run(): string[] {
    const wrong: string[] = [];
    this.stream.push(snapshot(0));
    for (let step = 0; step < 80; step += 1) {
      const what = this.roll(14);
      if (what < 4) this.write();
      else if (what < 8) this.deliver();
      else if (what < 10) this.ask();
      else if (what === 10) this.answer();
      else if (what === 11) this.arrive();
      else if (what === 12 && this.roll(3) === 0) this.reconnect();
      else if (what === 13 && this.roll(6) === 0) this.state = reduce(this.state, { kind: "forget", task: "a" });
      const shown = this.state.logs["a"]?.events ?? [];
      const [first] = shown;
      const there = this.events(Infinity).filter((event) => first !== undefined && event.seq >= first.seq);
      if (JSON.stringify(shown) !== JSON.stringify(there.slice(0, shown.length))) wrong.push(`step ${step} has a hole or a double`);
    }
    for (let rest = 0; rest < 500; rest += 1) [this.deliver, this.ask, this.answer, this.arrive].forEach((act) => act.call(this));
    if (JSON.stringify(this.state.logs["a"]?.events) !== JSON.stringify(this.events(Infinity))) wrong.push("the end is not the log");
    if (this.state.logs["a"]?.stale !== false) wrong.push("it is still stale");
    return wrong;
  }
}
