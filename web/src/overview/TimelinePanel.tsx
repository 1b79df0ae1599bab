// The timeline of all agents: one lane each, what it did when, and arrows between tasks.
import { type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { path } from "../api/client.ts";
import type { EventPage, EventView, Id } from "../api/types.ts";
import { ErrorNotice, Spinner } from "../design/controls.tsx";
import { Glyph, shapeOf } from "../design/Glyph.tsx";
import { useWidth } from "../money/plots.tsx";
import { Link } from "../shell/Link.tsx";
import { go } from "../shell/router.ts";
import { useAsk, useNow } from "../shell/useAsk.ts";
import { store, useShown } from "../state/store.ts";
import { clock, duration } from "../text/format.ts";
import { type Activity, type Lane, type Segment, type Timeline, timeline, visibleSegments } from "./timeline.ts";

const LANE = 28;
const AXIS = 24;
const PAGE = 1_000;
/** How much is kept while the page is open; older events are not drawn any more. */
const MOST_EVENTS = 20_000;
const MINUTE = 60_000;
const SPANS: readonly { name: string; ms: number }[] = [
  { name: "15 min", ms: 15 * MINUTE },
  { name: "1 h", ms: 60 * MINUTE },
  { name: "8 h", ms: 480 * MINUTE },
  { name: "All", ms: Infinity },
];
const NAMES: Readonly<Record<Activity, string>> = { thinking: "Thinking", tool: "Running a tool", checking: "Running checks", waiting: "Waiting for sub-tasks", needs: "Needs you" };

/** The newest events of all tasks, and everything that is told afterwards. */
function useEvents(project: Id): { events: readonly EventView[]; hasMore: boolean; error: unknown } {
  const connected = useShown((shown) => shown.connection === "live");
  const asked = useAsk<EventPage>(path`/projects/${project}/events?limit=${PAGE}`, connected);
  const [heard, setHeard] = useState<readonly EventView[]>([]);
  useEffect(() => store.hear((events) => setHeard((old) => [...old, ...events].slice(-MOST_EVENTS))), []);
  const page = asked.value;
  const events = useMemo(() => {
    const newest = page?.events.at(-1)?.seq ?? -1;
    return [...(page?.events ?? []), ...heard.filter((event) => event.seq > newest)];
  }, [page, heard]);
  return { events: page === undefined ? [] : events, hasMore: page?.hasMore ?? false, error: asked.error };
}

export function TimelinePanel({ project }: { project: Id }) {
  const { events, hasMore, error } = useEvents(project);
  const tasks = useShown((shown) => shown.tasks);
  const now = useNow(5_000);
  const [span, setSpan] = useState(SPANS.length - 1);
  const whole = useMemo(() => timeline(events, tasks, now), [events, tasks, now]);
  const to = Math.max(whole.last, whole.first + MINUTE);
  const from = Math.max(whole.first, to - (SPANS[span]?.ms ?? Infinity));
  const lanes = whole.lanes.filter((lane) => lane.segments.some((segment) => segment.to >= from) || lane.marks.some((mark) => mark.at >= from));
  return (
    <section className="panel timeline-panel" aria-labelledby="timeline-title">
      <div className="row wrap">
        <h2 id="timeline-title" className="grow">
          Timeline
        </h2>
        <div className="segments" role="group" aria-label="Time span">
          {SPANS.map((one, index) => (
            <button key={one.name} type="button" aria-pressed={span === index} onClick={() => setSpan(index)}>
              {one.name}
            </button>
          ))}
        </div>
      </div>
      {error !== undefined && <ErrorNotice error={error} />}
      {events.length === 0 && error === undefined && <Spinner label="Loading the timeline" />}
      {events.length > 0 && lanes.length === 0 && <p className="muted">No agent has worked yet.</p>}
      {lanes.length > 0 && <Lanes project={project} lanes={lanes} whole={whole} from={from} to={to} />}
      {hasMore && <p className="field-note">Shows the newest events of the log; earlier ones are in each task's Chat.</p>}
    </section>
  );
}

interface LanesProps {
  project: Id;
  lanes: readonly Lane[];
  whole: Timeline;
  from: number;
  to: number;
}

interface Pointed {
  readonly lane: Lane;
  readonly at: number;
  readonly segment: Segment | undefined;
}

function Lanes({ project, lanes, whole, from, to }: LanesProps) {
  const tasks = useShown((shown) => shown.tasks);
  const [frame, width] = useWidth();
  const [pointed, setPointed] = useState<Pointed | undefined>();
  const svg = useRef<SVGSVGElement>(null);
  const height = lanes.length * LANE;
  const x = (at: number): number => ((Math.min(Math.max(at, from), to) - from) / (to - from)) * width;
  const under = (event: PointerEvent | React.MouseEvent): Pointed | undefined => {
    const box = svg.current?.getBoundingClientRect();
    const lane = box === undefined ? undefined : lanes[Math.floor((event.clientY - box.top) / LANE)];
    if (box === undefined || lane === undefined) return undefined;
    const at = from + ((event.clientX - box.left) / box.width) * (to - from);
    return { lane, at, segment: lane.segments.find((one) => one.from <= at && one.to >= at) };
  };
  const open = (event: React.MouseEvent): void => {
    const hit = under(event);
    if (hit === undefined) return;
    // Between two activities, the one before is what led there.
    const segment = hit.segment ?? hit.lane.segments.findLast((one) => one.from <= hit.at);
    go({ view: "task", project, task: hit.lane.task, tab: "chat", ...(segment === undefined ? {} : { at: segment.seq }) });
  };
  return (
    <div className="timeline">
      <ul className="plain-list timeline-names">
        {lanes.map((lane) => {
          const task = tasks[lane.task];
          return (
            <li key={lane.task}>
              <Link to={{ view: "task", project, task: lane.task, tab: "chat" }} aria-label={spoken(task?.title ?? lane.task, lane)}>
                {task !== undefined && <Glyph shape={shapeOf(task)} hidden />}
                <span className="ellipsis">{task?.title ?? lane.task}</span>
              </Link>
            </li>
          );
        })}
      </ul>
      <figure ref={frame} className="timeline-plot">
        <svg ref={svg} width={width} height={height + AXIS} aria-hidden="true" onPointerMove={(event) => setPointed(under(event))} onPointerLeave={() => setPointed(undefined)} onClick={open}>
          {[0.25, 0.5, 0.75].map((part) => (
            <line key={part} className="plot-grid" x1={part * width} x2={part * width} y1={0} y2={height} />
          ))}
          <Arrows lanes={lanes} whole={whole} from={from} x={x} />
          {lanes.map((lane, row) => (
            <LaneShapes key={lane.task} lane={lane} row={row} from={from} to={to} width={width} x={x} />
          ))}
          {(width < 420 ? [0, 1] : [0, 0.25, 0.5, 0.75, 1]).map((part) => (
            <text key={part} className={`plot-label ${part === 0 ? "" : part === 1 ? "is-end" : "is-middle"}`} x={part * width} y={height + 16}>
              {clock(from + part * (to - from))}
            </text>
          ))}
        </svg>
        <figcaption className="timeline-caption">{pointed === undefined ? <Legend /> : <PointedText pointed={pointed} title={tasks[pointed.lane.task]?.title ?? ""} />}</figcaption>
      </figure>
    </div>
  );
}

/** What a lane shows, for whoever does not see it. */
function spoken(title: string, lane: Lane): string {
  const sum = (activity: Activity): number => lane.segments.filter((one) => one.activity === activity).reduce((total, one) => total + one.to - one.from, 0);
  const parts = (Object.keys(NAMES) as Activity[]).filter((one) => sum(one) > 0).map((one) => `${NAMES[one].toLowerCase()} ${duration(sum(one))}`);
  const failed = lane.marks.some((mark) => mark.kind === "failed") ? ["failed"] : [];
  return [title, ...parts, ...failed].join(", ");
}

function PointedText({ pointed, title }: { pointed: Pointed; title: string }) {
  const { segment } = pointed;
  return (
    <>
      <span className="num">{clock(pointed.at)}</span> · {title} · {segment === undefined ? "idle" : `${NAMES[segment.activity]} ${duration(segment.to - segment.from)}`}
    </>
  );
}

function Legend() {
  return (Object.keys(NAMES) as Activity[]).map((one) => (
    <span key={one} className="timeline-key">
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <rect className={`lane-bar is-${one}`} x="0" y="2" width="12" height="8" rx="2" />
      </svg>
      {NAMES[one]}
    </span>
  ));
}

interface LaneShapesProps {
  lane: Lane;
  row: number;
  from: number;
  to: number;
  width: number;
  x: (at: number) => number;
}

const MARK_PATHS = { failed: "M-4 -4L4 4M4 -4L-4 4", passed: "M-5 0L-1.5 3.5L5 -4", stopped: "M-3.5 -3.5h7v7h-7z" } as const;

function LaneShapes({ lane, row, from, to, width, x }: LaneShapesProps) {
  const top = row * LANE;
  return (
    <g>
      <line className="lane-line" x1={0} x2={width} y1={top + LANE / 2} y2={top + LANE / 2} />
      {visibleSegments(lane.segments, from, to, width).map((segment) => {
        // Shape helps where colour does not: what waits is thin, what needs you is tall.
        const inset = segment.activity === "waiting" ? 11 : segment.activity === "needs" ? 4 : 7;
        return <rect key={`${segment.seq}.${segment.from}`} className={`lane-bar is-${segment.activity}`} x={x(segment.from)} y={top + inset} width={Math.max(2, x(segment.to) - x(segment.from))} height={LANE - 2 * inset} rx={2} />;
      })}
      {lane.marks.filter((mark) => mark.at >= from).map((mark) => (
        <g key={`${mark.seq}.${mark.kind}`} transform={`translate(${Math.min(width - 8, Math.max(8, x(mark.at)))} ${top + LANE / 2})`}>
          <circle className="lane-mark-ground" r={8} />
          <path className={`lane-mark is-${mark.kind}`} d={MARK_PATHS[mark.kind]} />
        </g>
      ))}
    </g>
  );
}

function Arrows({ lanes, whole, from, x }: { lanes: readonly Lane[]; whole: Timeline; from: number; x: (at: number) => number }) {
  const rows = new Map(lanes.map((lane, row) => [lane.task, row]));
  return whole.arrows.map((arrow, index) => {
    const [a, b] = [rows.get(arrow.from), rows.get(arrow.to)];
    if (a === undefined || b === undefined || a === b || arrow.at < from) return null;
    const [y1, y2, at] = [a * LANE + LANE / 2, b * LANE + LANE / 2, x(arrow.at)];
    const tip = y2 > y1 ? -5 : 5;
    return (
      <g key={index} className={`lane-arrow is-${arrow.kind}`}>
        <line x1={at} x2={at} y1={y1} y2={y2} />
        <path d={`M${at - 3.5} ${y2 + tip}L${at} ${y2}L${at + 3.5} ${y2 + tip}`} />
      </g>
    );
  });
}
