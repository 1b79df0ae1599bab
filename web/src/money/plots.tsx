// Plots one can read: an axis with round numbers, values that can be pointed at, and a table for whoever listens.
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { clock, count, day, usd } from "../text/format.ts";
import { ticks } from "./scale.ts";

interface Point {
  readonly at: number;
  readonly usd: number;
  readonly tokens: number;
}

const HEIGHT = 240;
const LEFT = 52;
const RIGHT = 16;
const TOP = 16;
const BOTTOM = 28;

/** Money spent so far, with the moments at which the cache broke. */
export function Cumulative({ series, breaks }: { series: readonly Point[]; breaks: readonly { at: number; reason: string }[] }) {
  const [hover, setHover] = useState<number | undefined>();
  const [frame, width] = useWidth();
  const first = series[0]?.at ?? 0;
  const last = series.at(-1)?.at ?? 1;
  const steps = ticks(Math.max(...series.map((point) => point.usd), 0.0001), 4);
  const top = steps.at(-1) ?? 1;
  const x = (at: number): number => LEFT + ((at - first) / Math.max(1, last - first)) * (width - LEFT - RIGHT);
  const y = (value: number): number => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const line = series.map((point) => `${x(point.at).toFixed(1)},${y(point.usd).toFixed(1)}`).join(" ");
  const area = `${x(first).toFixed(1)},${y(0)} ${line} ${x(last).toFixed(1)},${y(0)}`;
  const shown = hover === undefined ? undefined : series[hover];
  const point = (event: React.PointerEvent<SVGSVGElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = first + (((event.clientX - box.left) / box.width) * width - LEFT) / (width - LEFT - RIGHT) * (last - first);
    let best = 0;
    series.forEach((one, index) => {
      if (Math.abs(one.at - at) < Math.abs((series[best]?.at ?? 0) - at)) best = index;
    });
    setHover(best);
  };
  const times = (width < 520 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((part) => first + part * (last - first));
  return (
    <figure className="plot" ref={frame}>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`Spent over time: ${usd(series.at(-1)?.usd ?? 0)} from ${day(first)} to ${day(last)}`} onPointerMove={point} onPointerLeave={() => setHover(undefined)}>
        {steps.map((step) => (
          <g key={step}>
            <line className="plot-grid" x1={LEFT} x2={width - RIGHT} y1={y(step)} y2={y(step)} />
            <text className="plot-label is-end" x={LEFT - 8} y={y(step) + 4}>
              {usd(step)}
            </text>
          </g>
        ))}
        {times.map((at, index) => (
          <text key={index} className={`plot-label ${index === 0 ? "" : index === times.length - 1 ? "is-end" : "is-middle"}`} x={x(at)} y={HEIGHT - 8}>
            {clock(at)}
          </text>
        ))}
        <polygon className="plot-area" points={area} />
        <polyline className="plot-line" points={line} />
        {breaks.filter((one) => one.at >= first && one.at <= last).map((one, index) => (
          <g key={index} className="plot-break">
            <line x1={x(one.at)} x2={x(one.at)} y1={TOP} y2={HEIGHT - BOTTOM} />
            <path d={`M${x(one.at)} ${TOP - 6}l5 5-5 5-5-5z`}>
              <title>{`Cache broke: ${one.reason.replace("_", " ")}`}</title>
            </path>
          </g>
        ))}
        {shown !== undefined && (
          <g>
            <line className="plot-cursor" x1={x(shown.at)} x2={x(shown.at)} y1={TOP} y2={HEIGHT - BOTTOM} />
            <circle className="plot-dot" cx={x(shown.at)} cy={y(shown.usd)} r="4" />
          </g>
        )}
      </svg>
      <figcaption className="muted">
        {shown === undefined ? (
          <>
            <span className="plot-key" aria-hidden="true" /> Diamonds mark where the cache broke.
          </>
        ) : (
          <span className="num">
            {day(shown.at)} · {usd(shown.usd)} so far · {count(shown.tokens)} tokens in this step
          </span>
        )}
      </figcaption>
    </figure>
  );
}

/** As wide as there is room, so that letters keep their size on a phone. */
export function useWidth(): [RefObject<HTMLElement | null>, number] {
  const frame = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(860);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, Math.round(element.clientWidth))));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [frame, width];
}

interface Bar {
  readonly key: string;
  readonly name: ReactNode;
  readonly value: number;
  readonly limit?: number;
  readonly label: string;
}

export function Bars({ rows }: { rows: readonly Bar[] }) {
  // What was spent is what is compared: one large limit would make lines of all bars.
  const top = Math.max(...rows.map((row) => row.value), 0.0001);
  return (
    <ul className="bars plain-list">
      {rows.map((row) => (
        <li key={row.key}>
          <span className="bar-name ellipsis">{row.name}</span>
          <svg className="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            {row.limit !== undefined && row.limit <= top && <rect className="bar-limit" width={(row.limit / top) * 100} height="8" rx="1" />}
            <rect className={`bar-value ${row.limit !== undefined && row.value >= row.limit ? "is-full" : ""}`} width={Math.max(0.4, (row.value / top) * 100)} height="8" rx="1" />
          </svg>
          <span className="bar-label num">{row.label}</span>
        </li>
      ))}
    </ul>
  );
}
