// The changes of one file, in one column or two, with comments on its lines.
import { type ReactNode, useMemo, useState } from "react";
import type { DiffFile } from "../api/types.ts";
import { Button } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { LIMITS } from "../state/limits.ts";
import { many } from "../text/format.ts";
import { type PatchLine, patchLines } from "../text/patch.ts";
import type { ReviewComment } from "../task/review.ts";
import { sectionId } from "./FileTree.tsx";
import { useHighlighted } from "./highlight.ts";
import { changedWords, pieces, splitRows } from "./rows.ts";

export type Layout = "unified" | "split";

interface FileChangesProps {
  file: DiffFile;
  layout: Layout;
  isViewed: boolean;
  setViewed: (viewed: boolean) => void;
  comments: readonly ReviewComment[];
  add: (comment: ReviewComment) => void;
  drop: (comment: ReviewComment) => void;
}

export function FileChanges({ file, layout, isViewed, setViewed, comments, add, drop }: FileChangesProps) {
  const [chosen, setOpen] = useState<boolean | undefined>();
  // What was looked at is folded, unless somebody opens it again.
  const open = chosen ?? !isViewed;
  return (
    <section className="diff-file" id={sectionId(file.path)} aria-label={file.path}>
      <div className="diff-head">
        <button type="button" className="diff-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? "down" : "chevron"} />
          <span className="mono diff-path">
            {file.oldPath !== undefined && <span className="muted">{file.oldPath} → </span>}
            {file.path}
          </span>
          <span className="chip">{file.status}</span>
          <span className="num nowrap">
            <span className="plus">+{file.additions}</span> <span className="minus">−{file.deletions}</span>
          </span>
        </button>
        <label className="row check diff-viewed">
          <input
            type="checkbox"
            checked={isViewed}
            aria-label={`Viewed ${file.path}`}
            onChange={(event) => {
              setOpen(undefined);
              setViewed(event.target.checked);
            }}
          />
          Viewed
        </label>
      </div>
      {open && <Changes file={file} layout={layout} hands={{ file: file.path, comments, add, drop }} />}
    </section>
  );
}

function Changes({ file, layout, hands }: { file: DiffFile; layout: Layout; hands: CommentHands }) {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => patchLines(file.patch ?? ""), [file.patch]);
  const shown = useMemo(() => (all ? lines : lines.slice(0, LIMITS.diffLines)), [all, lines]);
  const tokens = useHighlighted(file.path, shown, true);
  const words = useMemo(() => changedWords(shown), [shown]);
  if (file.binary) return <p className="diff-note muted">Binary file; its content is not shown.</p>;
  if (lines.length === 0) return <p className="diff-note muted">No lines to show: only the name or the mode changed, or the file is too large.</p>;
  const text = (index: number): ReactNode => <LineText line={shown[index]} pieces={pieces(shown[index]?.text ?? "", tokens.get(index), words.get(index))} />;
  return (
    <div className={`diff-lines is-${layout}`} role="group" aria-label={`Changes of ${file.path}`} tabIndex={0}>
      {layout === "unified" ? shown.map((line, index) => <UnifiedLine key={index} line={line} text={text(index)} hands={hands} />) : <SplitLines lines={shown} text={text} hands={hands} />}
      {shown.length < lines.length && (
        <Button look="quiet" size="small" onClick={() => setAll(true)}>
          Show {many(lines.length - shown.length, "more line")}
        </Button>
      )}
    </div>
  );
}

function LineText({ line, pieces: parts }: { line: PatchLine | undefined; pieces: ReturnType<typeof pieces> }) {
  if (line === undefined || line.text === "") return <span className="diff-text"> </span>;
  return (
    <span className="diff-text">
      {parts.map((part, index) => {
        const names = [part.token !== undefined && `hl-${part.token}`, part.changed && "is-changed"].filter(Boolean).join(" ");
        return names === "" ? part.text : <span key={index} className={names}>{part.text}</span>;
      })}
    </span>
  );
}

interface CommentHands {
  readonly file: string;
  readonly comments: readonly ReviewComment[];
  readonly add: (comment: ReviewComment) => void;
  readonly drop: (comment: ReviewComment) => void;
}

interface Place {
  readonly side: "old" | "new";
  readonly number: number;
}

/** Where a comment on a line goes; a line that is on both sides is meant as it is now. */
function placeOf(line: PatchLine | undefined): Place | undefined {
  if (line?.new !== undefined) return { side: "new", number: line.new };
  return line?.old === undefined ? undefined : { side: "old", number: line.old };
}

const MARKS: Readonly<Record<PatchLine["kind"], string>> = { hunk: "", context: "", added: "+", removed: "−", note: "" };

function UnifiedLine({ line, text, hands }: { line: PatchLine; text: ReactNode; hands: CommentHands }) {
  const [writing, setWriting] = useState(false);
  const place = placeOf(line);
  return (
    <>
      <div className={`diff-line is-${line.kind}`}>
        <span className="diff-number num" aria-hidden="true">{line.old ?? ""}</span>
        <span className="diff-number num" aria-hidden="true">{line.new ?? ""}</span>
        <CommentButton place={place} onClick={() => setWriting(true)} />
        <span className="diff-mark" aria-hidden="true">{MARKS[line.kind]}</span>
        {text}
      </div>
      {place !== undefined && <Comments place={place} quote={line.text} hands={hands} writing={writing} setWriting={setWriting} />}
    </>
  );
}

function SplitLines({ lines, text, hands }: { lines: readonly PatchLine[]; text: (index: number) => ReactNode; hands: CommentHands }) {
  const rows = useMemo(() => splitRows(lines), [lines]);
  return rows.map((row, index) =>
    "whole" in row ? (
      <div key={index} className={`diff-line is-${lines[row.whole]?.kind ?? "note"}`}>
        <span className="diff-mark" aria-hidden="true" />
        {text(row.whole)}
      </div>
    ) : (
      <SplitRow key={index} left={row.left === undefined ? undefined : lines[row.left]} right={row.right === undefined ? undefined : lines[row.right]} texts={[row.left === undefined ? null : text(row.left), row.right === undefined ? null : text(row.right)]} hands={hands} />
    ),
  );
}

function SplitRow({ left, right, texts, hands }: { left: PatchLine | undefined; right: PatchLine | undefined; texts: readonly [ReactNode, ReactNode]; hands: CommentHands }) {
  const [writing, setWriting] = useState<"old" | "new" | undefined>();
  // An unchanged line stands on both sides and takes its comments on the right.
  const places = left === right ? [undefined, placeOf(right)] : [placeOf(left), placeOf(right)];
  const half = (line: PatchLine | undefined, index: 0 | 1): ReactNode => (
    <div className={`diff-line diff-half is-${line?.kind ?? "empty"}`}>
      <span className="diff-number num" aria-hidden="true">{(index === 0 ? line?.old : line?.new) ?? ""}</span>
      <CommentButton place={places[index]} onClick={() => setWriting(index === 0 ? "old" : "new")} />
      <span className="diff-mark" aria-hidden="true">{MARKS[line?.kind ?? "note"]}</span>
      {texts[index]}
    </div>
  );
  return (
    <>
      <div className="diff-pair">
        {half(left, 0)}
        {half(right, 1)}
      </div>
      {places.map((place, index) => {
        const side = index === 0 ? "old" : "new";
        const line = index === 0 ? left : right;
        return place === undefined ? null : <Comments key={side} place={place} quote={line?.text ?? ""} hands={hands} writing={writing === side} setWriting={(on) => setWriting(on ? side : undefined)} />;
      })}
    </>
  );
}

function CommentButton({ place, onClick }: { place: Place | undefined; onClick: () => void }) {
  if (place === undefined) return <span className="diff-comment-button" aria-hidden="true" />;
  return (
    <button type="button" className="diff-comment-button" aria-label={`Comment on line ${place.number}`} onClick={onClick}>
      <Icon name="plus" />
    </button>
  );
}

interface CommentsProps {
  place: Place;
  quote: string;
  hands: CommentHands;
  writing: boolean;
  setWriting: (writing: boolean) => void;
}

function Comments({ place, quote, hands, writing, setWriting }: CommentsProps) {
  const mine = hands.comments.filter((one) => one.line === place.number && one.side === place.side);
  return (
    <>
      {mine.map((comment, index) => (
        <div key={index} className="review-comment">
          <span className="grow plain-text">{comment.text}</span>
          <Button size="small" look="quiet" onClick={() => hands.drop(comment)}>
            Remove
          </Button>
        </div>
      ))}
      {writing && (
        <Writing
          onDone={(text) => {
            setWriting(false);
            if (text !== undefined) hands.add({ file: hands.file, line: place.number, side: place.side, quote, text });
          }}
        />
      )}
    </>
  );
}

function Writing({ onDone }: { onDone: (text: string | undefined) => void }) {
  const [text, setText] = useState("");
  const finish = (): void => onDone(text.trim() === "" ? undefined : text);
  return (
    <div className="review-comment is-writing">
      <textarea
        className="textarea"
        aria-label="Comment"
        placeholder="What should be different? Sent with the review."
        value={text}
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onDone(undefined);
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) finish();
        }}
      />
      <div className="row">
        <Button size="small" look="primary" onClick={finish}>
          Add to review
        </Button>
        <Button size="small" onClick={() => onDone(undefined)}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
