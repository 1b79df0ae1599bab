// Lines of a diff in a card; the diff view of a task has its own with comments.
import { LIMITS } from "../state/limits.ts";
import type { PatchLine } from "./patch.ts";

const MARK: Readonly<Record<PatchLine["kind"], string>> = { hunk: " ", context: " ", added: "+", removed: "−", note: " " };

export function PatchText({ lines, label }: { lines: readonly PatchLine[]; label: string }) {
  const shown = lines.slice(0, LIMITS.resultLines);
  return (
    <div className="patch" role="group" tabIndex={0} aria-label={label}>
      {shown.map((line, index) => (
        <div key={index} className={`patch-line is-${line.kind}`}>
          <span className="patch-mark" aria-hidden="true">
            {MARK[line.kind]}
          </span>
          <span className="patch-text">{line.text === "" ? " " : line.text}</span>
        </div>
      ))}
      {lines.length > shown.length && <div className="patch-line is-note">… {lines.length - shown.length} more lines</div>}
    </div>
  );
}
