// The state of a task as a shape: idle, waiting, stopped, dead and quarantined look different without colour.
import type { ReactNode } from "react";
import type { TaskView } from "../api/types.ts";
import { word } from "../text/format.ts";

export type Tone = "still" | "working" | "good" | "attention" | "bad";

interface Drawn {
  readonly tone: Tone;
  readonly shape: ReactNode;
}

const line = { fill: "none", stroke: "currentColor", strokeWidth: 1.6, strokeLinecap: "round", strokeLinejoin: "round" } as const;
const ring = <circle cx="8" cy="8" r="5.4" {...line} />;

const SHAPES: Readonly<Record<string, Drawn>> = {
  draft: { tone: "still", shape: <circle cx="8" cy="8" r="5.4" {...line} strokeDasharray="2.2 2.6" /> },
  none: { tone: "still", shape: ring },
  launching: { tone: "working", shape: <path className="turning" d="M8 2.6a5.4 5.4 0 1 1-5.4 5.4" {...line} strokeDasharray="3 3" /> },
  thinking: {
    tone: "working",
    shape: (
      <>
        <path className="turning" d="M8 2.6a5.4 5.4 0 1 1-5.4 5.4" {...line} />
        <circle cx="8" cy="8" r="2" fill="currentColor" />
      </>
    ),
  },
  tool: {
    tone: "working",
    shape: (
      <>
        <path className="turning" d="M8 2.6a5.4 5.4 0 1 1-5.4 5.4" {...line} />
        <rect x="6.1" y="6.1" width="3.8" height="3.8" rx="0.6" fill="currentColor" />
      </>
    ),
  },
  checking: {
    tone: "working",
    shape: (
      <>
        <path className="turning" d="M8 2.6a5.4 5.4 0 1 1-5.4 5.4" {...line} />
        <path d="M5.9 8.2l1.5 1.5 2.7-3" {...line} />
      </>
    ),
  },
  compacting: { tone: "working", shape: <path className="breathing" d="M5 2.5l3 3 3-3M5 13.5l3-3 3 3M3 8h10" {...line} /> },
  waiting: {
    tone: "still",
    shape: (
      <>
        {ring}
        <path d="M8 5.2V8l1.8 1.2" {...line} />
      </>
    ),
  },
  verify: {
    tone: "attention",
    shape: (
      <>
        {ring}
        <circle cx="8" cy="8" r="2" fill="currentColor" />
      </>
    ),
  },
  blocked: { tone: "still", shape: <path d="M2.8 3.5v9M6 8h7M10.4 5.2L13.2 8l-2.8 2.8" {...line} /> },
  asking: {
    tone: "attention",
    shape: (
      <>
        <circle cx="8" cy="8" r="6.4" fill="currentColor" />
        <path d="M6.2 6.4c.1-1.1.9-1.7 1.9-1.7 1.1 0 1.9.6 1.9 1.6 0 1.4-1.9 1.4-1.9 2.7M8.1 11.2h.01" {...line} stroke="var(--surface)" />
      </>
    ),
  },
  stopped: { tone: "still", shape: <rect x="3.8" y="3.8" width="8.4" height="8.4" rx="1.4" {...line} /> },
  interrupted: { tone: "still", shape: <path d="M5.8 3.6v8.8M10.2 3.6v8.8" {...line} strokeWidth={2} /> },
  spent: {
    tone: "attention",
    shape: (
      <>
        <rect x="2.4" y="4" width="11.2" height="8" rx="1.4" {...line} />
        <path d="M5 8h6" {...line} />
      </>
    ),
  },
  failed: { tone: "bad", shape: <path d="M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6" {...line} strokeWidth={2} /> },
  stuck: {
    tone: "attention",
    shape: <path d="M3 8a5 5 0 0 1 8.6-3.5M13 8a5 5 0 0 1-8.6 3.5M11.8 1.8v2.9H8.9M4.2 14.2v-2.9h2.9" {...line} />,
  },
  refused: {
    tone: "bad",
    shape: (
      <>
        {ring}
        <path d="M4.4 4.4l7.2 7.2" {...line} />
      </>
    ),
  },
  done: { tone: "good", shape: <path d="M3 8.5l3.2 3.2L13 5" {...line} strokeWidth={2} /> },
  closed: { tone: "still", shape: <path d="M2.6 4h10.8v2.6H2.6zM3.8 6.6v6h8.4v-6M6.6 9h2.8" {...line} /> },
  folder: { tone: "still", shape: <path d="M2 4.5h4l1.5 1.5H14v7H2z" {...line} /> },
};

/** Which shape a task has: what its agent does when that says more than its status. */
export function shapeOf(task: Pick<TaskView, "kind" | "status" | "agent">): string {
  if (task.kind === "folder") return "folder";
  const { status } = task;
  if (status === "draft" || status === "closed") return status;
  const state = task.agent?.state ?? "none";
  if (status === "passed") return "done";
  if (status === "failed") return "failed";
  if (status === "verify" && (state === "waiting" || state === "done" || state === "none")) return "verify";
  return SHAPES[state] === undefined ? "none" : state;
}

const NAMES: Readonly<Record<string, string>> = {
  none: "not started",
  tool: "running a tool",
  waiting: "resting",
  verify: "waits for review",
  blocked: "waits for other tasks",
  asking: "needs you",
  spent: "out of money",
  stuck: "went round in circles",
  refused: "the model refused",
  done: "done",
};

export function nameOf(shape: string): string {
  return NAMES[shape] ?? word(shape);
}

export function toneOf(shape: string): Tone {
  return SHAPES[shape]?.tone ?? "still";
}

/** Hidden from whoever listens where words beside it say the same. */
export function Glyph({ shape, hidden = false }: { shape: string; hidden?: boolean }) {
  const drawn = SHAPES[shape] ?? SHAPES["none"];
  const named = hidden ? { "aria-hidden": true } : { role: "img", "aria-label": nameOf(shape) };
  return (
    <svg className={`glyph is-${drawn?.tone ?? "still"}`} viewBox="0 0 16 16" {...named}>
      {drawn?.shape}
    </svg>
  );
}
