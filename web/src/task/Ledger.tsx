// Every tool call of a task: what class it is, what the gate said and why, how long it took, how it ended.
import { useMemo, useState } from "react";
import { api } from "../api/client.ts";
import type { LedgerCall, TaskView } from "../api/types.ts";
import { Button, ErrorNotice, Spinner } from "../design/controls.tsx";
import { complain } from "../shell/toasts.tsx";
import { useAsk } from "../shell/useAsk.ts";
import { store } from "../state/store.ts";
import { clock, duration, moment } from "../text/format.ts";
import { readable } from "../text/readable.ts";
import { taskPath } from "./actions.ts";
import { aboutCall, ruleName, shortName } from "./tools/names.ts";

interface LedgerPage {
  calls: LedgerCall[];
  hasMore: boolean;
}

export function Ledger({ task }: { task: TaskView }) {
  const asked = useAsk<LedgerPage>(taskPath(task.id, "/ledger?limit=200"), task.life?.toolCalls);
  const [earlier, setEarlier] = useState<LedgerPage>({ calls: [], hasMore: true });
  const [text, setText] = useState("");
  const calls = useMemo(() => {
    const newest = asked.value?.calls ?? [];
    const first = newest[0]?.seq ?? Infinity;
    const all = [...earlier.calls.filter((call) => call.seq < first), ...newest];
    const wanted = text.trim().toLowerCase();
    return all.filter((call) => wanted === "" || `${call.tool} ${call.class} ${call.verdict} ${call.rule} ${said(call)}`.toLowerCase().includes(wanted));
  }, [asked.value, earlier, text]);
  const hasMore = (asked.value?.hasMore ?? false) && earlier.hasMore;
  const more = (): void => {
    const before = earlier.calls[0]?.seq ?? asked.value?.calls[0]?.seq;
    if (before === undefined) return;
    api
      .get<LedgerPage>(taskPath(task.id, `/ledger?limit=200&before=${before}`))
      .then((page) => setEarlier((old) => ({ calls: [...page.calls, ...old.calls], hasMore: page.hasMore })))
      .catch(complain);
  };
  return (
    <div className="view-scroll" tabIndex={0} role="region" aria-label="Ledger">
      <div className="view-page is-wide">
        {asked.error !== undefined && <ErrorNotice error={asked.error} />}
        {asked.value === undefined && asked.error === undefined && <Spinner label="Loading" />}
        <input className="input ledger-filter" type="search" aria-label="Filter calls" placeholder="Filter by tool, class, verdict or rule" value={text} onChange={(event) => setText(event.target.value)} />
        {hasMore && (
          <Button size="small" look="quiet" onClick={more}>
            Load earlier calls
          </Button>
        )}
        {calls.length > 0 && <Table task={task} calls={calls} />}
        {asked.value !== undefined && calls.length === 0 && (
          <div className="empty">
            <strong>{text === "" ? "No tool was called yet" : "No call fits"}</strong>
          </div>
        )}
      </div>
    </div>
  );
}

/** What the daemon says of the call, with titles in the place of ids. */
function said(call: LedgerCall): string {
  return readable(store.get().tasks, aboutCall(call.tool, call.line));
}

/** How a call ended. One that says that the work is done has no result when it is believed: the task has. */
function outcome(task: TaskView, call: LedgerCall): string {
  if (call.ok !== undefined) return call.ok ? "ok" : "failed";
  const over = shortName(call.tool) === "done" && (task.status === "passed" || task.status === "failed");
  return over ? (task.status ?? "") : "open";
}

function Table({ task, calls }: { task: TaskView; calls: readonly LedgerCall[] }) {
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label="Calls">
      <table className="table ledger">
        <thead>
          <tr>
            <th>When</th>
            <th>Tool</th>
            <th>What</th>
            <th>Class</th>
            <th>Verdict</th>
            <th className="is-right">Took</th>
            <th>Outcome</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <tr key={`${call.seq}.${call.callId}`}>
              <td className="num nowrap muted" title={moment(call.at)}>
                {clock(call.at)}
              </td>
              <td className="mono nowrap">{shortName(call.tool)}</td>
              <td className="mono ledger-line">{said(call)}</td>
              <td>{call.class ?? ""}</td>
              <td>
                <span className={`chip ${call.verdict === "deny" ? "is-red" : call.verdict === "ask" ? "is-amber" : ""}`}>{call.verdict ?? "none"}</span>
                {ruleName(call.rule) !== undefined && <div className="muted small">{call.rule}</div>}
              </td>
              <td className="num nowrap is-right">{call.durationMs === undefined ? "" : duration(call.durationMs)}</td>
              <td className={call.ok === false ? "is-bad" : ""}>{outcome(task, call)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
