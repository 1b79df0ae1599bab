// From events of all tasks to lanes: what each agent did when, and how tasks depend on one another. Pure.
import { type EventView, type Id, type KnownEvent, known } from "../api/types.ts";
import { type Tasks, isWorking } from "../state/select.ts";

export type Activity = "thinking" | "tool" | "checking" | "waiting" | "needs";

export interface Segment {
  readonly activity: Activity;
  readonly from: number;
  readonly to: number;
  /** The commit that began it: where a click leads. */
  readonly seq: number;
}

export interface Mark {
  readonly kind: "failed" | "passed" | "stopped";
  readonly at: number;
  readonly seq: number;
}

export interface Lane {
  readonly task: Id;
  readonly segments: readonly Segment[];
  readonly marks: readonly Mark[];
}

export interface Arrow {
  readonly kind: "spawn" | "merge" | "after";
  readonly from: Id;
  readonly to: Id;
  readonly at: number;
}

export interface Timeline {
  readonly lanes: readonly Lane[];
  readonly arrows: readonly Arrow[];
  readonly first: number;
  readonly last: number;
}

const toolOf = (name: string): string => name.replace(/^mcp__mxd__/, "");

/** Reads the events of one task in their order, and closes a segment whenever its activity changes. */
class LaneBuilder {
  readonly segments: Segment[] = [];
  readonly marks: Mark[] = [];
  private current: { activity: Activity; from: number; seq: number } | undefined;
  private inTurn = false;
  private isChecking = false;
  private readonly calls = new Map<string, string>();
  private readonly asked = new Set<string>();

  take(event: KnownEvent): void {
    this.note(event);
    this.become(this.activity(), event.at, event.seq);
  }

  /** What goes on at the end goes on until now; otherwise it ended with the last event. */
  finish(end: number): void {
    this.become(undefined, end, 0);
  }

  private note(event: KnownEvent): void {
    const mark = (kind: Mark["kind"]): void => {
      this.marks.push({ kind, at: event.at, seq: event.seq });
    };
    switch (event.type) {
      case "turn_started":
        this.inTurn = true;
        return;
      case "turn_ended":
        this.inTurn = false;
        return;
      case "tool_call":
        this.calls.set(event.toolCallId, toolOf(event.tool));
        return;
      case "tool_result":
        this.calls.delete(event.toolCallId);
        return;
      case "approval_requested":
      case "host_approval_requested":
      case "clarification_requested":
        this.asked.add(event.id);
        return;
      case "approval_given":
      case "host_approval_given":
      case "host_approval_expired":
      case "clarification_answered":
      case "clarification_expired":
        this.asked.delete(event.id);
        return;
      case "done_requested":
        this.isChecking = true;
        return;
      case "done_notified":
        this.rest();
        return mark(event.status);
      case "agent_rested":
        this.inTurn = false;
        if (event.why === "yield") return;
        this.rest();
        return event.why === "failed" ? mark("failed") : undefined;
      case "agent_stopped":
      case "agent_interrupted":
        this.rest();
        return mark("stopped");
      case "orchestration_completed":
      case "task_reset":
      case "conversation_cleared":
        return this.rest();
      default:
        return;
    }
  }

  private rest(): void {
    this.inTurn = false;
    this.isChecking = false;
    this.calls.clear();
  }

  /** Whoever needs a person is held up, whatever else is open; a model that is writing is thinking, also when it has called a tool. */
  private activity(): Activity | undefined {
    if (this.asked.size > 0) return "needs";
    if (this.isChecking) return "checking";
    const open = [...this.calls.values()];
    if (this.inTurn && open.length === 0) return "thinking";
    if (open.some((tool) => tool !== "yield" && tool !== "clarify")) return "tool";
    if (open.length > 0) return "waiting";
    return this.inTurn ? "thinking" : undefined;
  }

  private become(activity: Activity | undefined, at: number, seq: number): void {
    if (this.current?.activity === activity) return;
    if (this.current !== undefined && at > this.current.from) this.segments.push({ activity: this.current.activity, from: this.current.from, to: at, seq: this.current.seq });
    this.current = activity === undefined ? undefined : { activity, from: at, seq };
  }
}

export function timeline(events: readonly EventView[], tasks: Tasks, now: number): Timeline {
  const builders = new Map<Id, LaneBuilder>();
  const arrows: Arrow[] = [];
  const merges = new Map<string, Arrow>();
  let [first, last] = [Infinity, -Infinity];
  const lastOf = new Map<Id, number>();
  for (const view of events) {
    const task = tasks[view.task];
    if (task === undefined || task.kind === "folder") continue;
    const event = known(view);
    [first, last] = [Math.min(first, view.at), Math.max(last, view.at)];
    lastOf.set(view.task, view.at);
    const builder = builders.get(view.task) ?? new LaneBuilder();
    builders.set(view.task, builder);
    builder.take(event);
    const owner = view.type === "task_started" ? ownerOf(tasks, view.task) : undefined;
    if (owner !== undefined) arrows.push({ kind: "spawn", from: owner, to: view.task, at: view.at });
    collectMerge(event, tasks, merges, arrows);
  }
  for (const [id, builder] of builders) {
    const task = tasks[id];
    const goesOn = task !== undefined && (isWorking(task) || ["waiting", "asking"].includes(task.agent?.state ?? ""));
    builder.finish(goesOn ? now : (lastOf.get(id) ?? now));
  }
  const lanes = [...builders].map(([task, { segments, marks }]) => ({ task, segments, marks })).filter((lane) => lane.segments.length + lane.marks.length > 0);
  arrows.push(...waits(lanes, tasks));
  const shown = new Set(lanes.map((lane) => lane.task));
  const isLive = [...builders.keys()].some((id) => tasks[id] !== undefined && isWorking(tasks[id]));
  return { lanes: inTreeOrder(lanes, tasks), arrows: arrows.filter((arrow) => shown.has(arrow.from) && shown.has(arrow.to)), first: Number.isFinite(first) ? first : now, last: isLive ? now : Number.isFinite(last) ? last : now };
}

/** The task above that an agent works at: folders are passed over. */
function ownerOf(tasks: Tasks, id: Id): Id | undefined {
  let at = tasks[id]?.parentId;
  while (at !== undefined && tasks[at]?.kind === "folder") at = tasks[at]?.parentId;
  return at;
}

function collectMerge(event: KnownEvent, tasks: Tasks, merges: Map<string, Arrow>, arrows: Arrow[]): void {
  if (event.type === "tool_call" && toolOf(event.tool) === "merge_task") {
    const merged = (event.input as { taskId?: unknown } | null)?.taskId;
    if (typeof merged === "string" && tasks[merged] !== undefined) merges.set(event.toolCallId, { kind: "merge", from: merged, to: event.task, at: event.at });
  } else if (event.type === "tool_result") {
    const arrow = merges.get(event.toolCallId);
    if (arrow !== undefined && !event.isError) arrows.push({ ...arrow, at: event.at });
    merges.delete(event.toolCallId);
  }
}

/** A task that waited for another one began after it. */
function waits(lanes: readonly Lane[], tasks: Tasks): Arrow[] {
  const starts = new Map(lanes.map((lane) => [lane.task, lane.segments[0]?.from]));
  return lanes.flatMap((lane) => {
    const at = starts.get(lane.task);
    return at === undefined ? [] : (tasks[lane.task]?.after ?? []).filter((id) => starts.has(id)).map((id): Arrow => ({ kind: "after", from: id, to: lane.task, at }));
  });
}

/** The order of the tree, so that lanes stand where their tasks stand beside them. */
function inTreeOrder(lanes: readonly Lane[], tasks: Tasks): Lane[] {
  const place = new Map<Id, number>();
  const visit = (id: Id): void => {
    if (place.has(id)) return;
    place.set(id, place.size);
    for (const child of tasks[id]?.children ?? []) visit(child);
  };
  for (const task of Object.values(tasks)) if (task.parentId === undefined) visit(task.id);
  return lanes.toSorted((a, b) => (place.get(a.task) ?? Infinity) - (place.get(b.task) ?? Infinity));
}

/** Segments that fall onto one pixel are one: a day of work has more of them than a screen has columns. */
export function visibleSegments(segments: readonly Segment[], from: number, to: number, width: number): Segment[] {
  const pixel = (to - from) / Math.max(1, width);
  const shown: Segment[] = [];
  for (const segment of segments) {
    if (segment.to < from || segment.from > to) continue;
    const before = shown.at(-1);
    const isSmall = segment.to - segment.from < pixel;
    if (before !== undefined && (isSmall || before.activity === segment.activity) && segment.from - before.to < pixel) shown[shown.length - 1] = { ...before, to: segment.to };
    else shown.push(segment);
  }
  return shown;
}
