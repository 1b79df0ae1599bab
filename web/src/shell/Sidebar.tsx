// The column of the tree, as wide as one drags it.
import { type ReactNode, useState } from "react";
import { keep, kept } from "./theme.ts";

const LEAST = 240;
const MOST = 640;
const USUAL = 368;

function clamp(width: number): number {
  return Number.isFinite(width) ? Math.min(MOST, Math.max(LEAST, Math.round(width))) : USUAL;
}

export function Sidebar({ children }: { children: ReactNode }) {
  const [width, setWidth] = useState(() => clamp(Number(kept("mxd.sidebar") ?? USUAL)));
  const set = (next: number): void => {
    setWidth(clamp(next));
    keep("mxd.sidebar", String(clamp(next)));
  };
  return (
    <div className="sidebar" style={{ "--sidebar": `${width}px` } as React.CSSProperties}>
      {children}
      <div
        className="sidebar-edge"
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the tree"
        aria-valuenow={width}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        tabIndex={0}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) set(event.clientX);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowLeft") set(width - 16);
          if (event.key === "ArrowRight") set(width + 16);
        }}
      />
    </div>
  );
}
