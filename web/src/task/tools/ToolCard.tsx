// A tool call and its result as one card; each tool shows what matters of it.
import { memo } from "react";
import { Button } from "../../design/controls.tsx";
import { Icon } from "../../design/Icon.tsx";
import { attempt } from "../../shell/toasts.tsx";
import { store } from "../../state/store.ts";
import { clock, duration, moment } from "../../text/format.ts";
import { readable } from "../../text/readable.ts";
import type { ToolItem } from "../items.ts";
import { useOpen } from "../open.ts";
import { CallBody, background } from "./CallBody.tsx";
import { aboutCall, iconOf, ruleName, shortName, toolName } from "./names.ts";

interface ToolCardProps {
  item: ToolItem;
  live: string | undefined;
  now: number;
}

export const ToolCard = memo(function ToolCard({ item, live, now }: ToolCardProps) {
  const edits = item.tool === "edit_file" || item.tool === "write_file";
  const [open, setOpen] = useOpen(item.key, edits || item.result?.isError === true || (item.result?.images.length ?? 0) > 0);
  const running = item.result === undefined && item.ended === undefined;
  const shown = open || (running && (live !== undefined || item.approval !== undefined));
  const { name } = toolName(item.tool);
  const { tasks } = store.get();
  return (
    <div role="group" className={`tool ${item.result?.isError === true ? "is-error" : ""} ${running ? "is-running" : ""}`} aria-label={`Tool call ${name}`}>
      <button type="button" className="tool-head" aria-expanded={shown} onClick={() => setOpen(!shown)}>
        <Icon name={iconOf(item.tool)} />
        <span className="tool-name">{shortName(item.tool)}</span>
        <span className="tool-summary mono ellipsis">{readable(tasks, aboutCall(item.tool, item.line))}</span>
        <Outcome item={item} now={now} />
      </button>
      {shown && (
        <div className="tool-body">
          <CallBody item={item} live={live} />
          <div className="tool-foot">
            {item.verdict !== undefined && (
              <span>
                {[item.verdict.class, [item.verdict.verdict, ruleName(item.verdict.rule)].filter(Boolean).join(" by ")].filter(Boolean).join(" · ")}
              </span>
            )}
            {running && item.tool === "bash" && item.approval === undefined && (
              <Button size="small" look="quiet" onClick={() => void attempt(background.move(item.callId, item.task), "It goes on in the background.")}>
                Move to the background
              </Button>
            )}
            <time title={moment(item.at)}>{clock(item.at)}</time>
          </div>
        </div>
      )}
    </div>
  );
});

function Outcome({ item, now }: { item: ToolItem; now: number }) {
  const { result } = item;
  if (result === undefined) {
    if (item.approval !== undefined && item.approval.given === undefined) return <span className="chip is-amber">needs you</span>;
    if (item.ended !== undefined) return <span className="chip">{item.ended}</span>;
    // These calls stay open on purpose until something happens: nothing runs meanwhile.
    if (item.tool === "yield" || item.tool === "done") return <span className="chip">open</span>;
    return (
      <span className="tool-outcome muted num">
        <span className="spinner" aria-label="running" role="img" /> {duration(Math.max(0, now - item.at))}
      </span>
    );
  }
  if (result.background !== undefined) return <span className="chip">in the background</span>;
  const took = duration(Math.max(0, result.at - item.at));
  return (
    <span className={`tool-outcome num ${result.isError ? "is-bad" : "muted"}`}>
      {result.isError && <Icon name="cross" />}
      {result.isError ? "failed" : ""} {took}
    </span>
  );
}
