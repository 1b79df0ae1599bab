// What a task changed against its base, with comments that are sent together.
import { useEffect, useMemo, useState } from "react";
import { api } from "../api/client.ts";
import type { CommitLine, DiffFile, DiffView, TaskView } from "../api/types.ts";
import { Button, ErrorNotice, Spinner } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { go } from "../shell/router.ts";
import { attempt, say } from "../shell/toasts.tsx";
import { useAsk } from "../shell/useAsk.ts";
import { LIMITS } from "../state/limits.ts";
import { store, useShown } from "../state/store.ts";
import { branchName, day, many } from "../text/format.ts";
import { type PatchLine, patchLines } from "../text/patch.ts";
import { branchAbove, merge, taskPath } from "./actions.ts";
import { messageId } from "./drafts.ts";
import { type ReviewComment, keepReview, reviewMessage, reviewOf } from "./review.ts";

const NO_COMMITS: readonly CommitLine[] = [];

export function Diff({ task }: { task: TaskView }) {
  const version = `${task.life?.turns}.${task.status}.${task.updatedAt}`;
  const diff = useAsk<DiffView>(taskPath(task.id, "/diff"), version);
  const log = useAsk<{ commits: CommitLine[] }>(taskPath(task.id, "/gitlog"), version);
  const [comments, setComments] = useState(() => reviewOf(task.id));
  const put = (next: readonly ReviewComment[]): void => {
    setComments(next);
    keepReview(task.id, next);
  };
  const commits = useOwnCommits(task, log.value?.commits ?? NO_COMMITS);
  // The project itself has no branch of its own to compare.
  if (diff.value === undefined && diff.error !== undefined && task.parentId === undefined) return <NoChanges task={task} />;
  if (diff.value === undefined) {
    return <div className="view-scroll"><div className="view-page">{diff.error === undefined ? <Spinner label="Comparing" /> : <ErrorNotice error={diff.error} />}</div></div>;
  }
  const { value } = diff;
  if (value.files.length === 0) return <Unchanged task={task} diff={value} commits={commits} />;
  return (
    <div className="view-scroll" tabIndex={0} role="region" aria-label="Changes">
      <div className="view-page is-wide">
        <Top task={task} diff={value} commits={commits} />
        {value.truncated && <p className="notice is-attention">There is more than can be shown here; `git diff {value.base}` in the worktree shows all of it.</p>}
        {value.files.map((file) => (
          <File key={file.path} file={file} comments={comments.filter((one) => one.file === file.path)} add={(comment) => put([...comments, comment])} drop={(comment) => put(comments.filter((one) => one !== comment))} />
        ))}
      </div>
      {comments.length > 0 && <Finish task={task} comments={comments} head={value.head ?? value.base} done={() => put([])} />}
    </div>
  );
}

/** The commits that the task itself made. Its log says where its branch began; without it, the time has to do. */
function useOwnCommits(task: TaskView, commits: readonly CommitLine[]): readonly CommitLine[] {
  useEffect(() => {
    store.look(task.id).catch(() => {});
  }, [task.id]);
  const began = useShown((shown) => shown.logs[task.id]?.events.findLast((event) => event.type === "worktree_created")?.["base"]);
  return task.branch === undefined || task.parentId === undefined ? NO_COMMITS : ownCommits(commits, began, task.life?.since);
}

/** Where nothing differs from the branch above, the work was merged, or there was none. */
function Unchanged({ task, diff, commits: own }: { task: TaskView; diff: DiffView; commits: readonly CommitLine[] }) {
  if (own.length === 0 || diff.head !== diff.base) {
    return <NoChanges task={task} />;
  }
  return (
    <div className="view-scroll" tabIndex={0} role="region" aria-label="Changes">
      <div className="view-page is-wide">
        <p className="notice">
          <Icon name="merge" />
          <span className="grow">
            <span className="strong block">Merged into {branchAbove(task)}</span>
            Everything that {branchName(task.branch ?? "")} has is there, too. These are the commits since it began.
          </span>
        </p>
        <Commits commits={own} />
      </div>
    </div>
  );
}

function NoChanges({ task }: { task: TaskView }) {
  return (
    <div className="empty">
      <strong>No changes</strong>
      <span>{task.branch === undefined || task.parentId === undefined ? "This task has no branch of its own." : `No changes compared with ${branchAbove(task)}.`}</span>
    </div>
  );
}

/** The commits of a branch since it began; the newest come first. */
export function ownCommits(commits: readonly CommitLine[], began: unknown, since: number | undefined): readonly CommitLine[] {
  const start = commits.findIndex((commit) => commit.hash === began);
  return start >= 0 ? commits.slice(0, start) : commits.filter((commit) => since !== undefined && commit.at > since);
}

function Commits({ commits }: { commits: readonly CommitLine[] }) {
  if (commits.length === 0) return null;
  return (
    <ul className="commits plain-list">
      {commits.map((commit) => (
        <li key={commit.hash} className="row">
          <span className="mono muted">{commit.hash.slice(0, 7)}</span>
          <span className="ellipsis grow">{commit.message}</span>
          <span className="muted nowrap">{day(commit.at)}</span>
        </li>
      ))}
    </ul>
  );
}

function Top({ task, diff, commits }: { task: TaskView; diff: DiffView; commits: readonly CommitLine[] }) {
  const additions = diff.files.reduce((sum, file) => sum + file.additions, 0);
  const deletions = diff.files.reduce((sum, file) => sum + file.deletions, 0);
  return (
    <div className="diff-top">
      <div className="row wrap">
        <span className="strong">{many(diff.files.length, "file")}</span>
        <span className="num">
          <span className="plus">+{additions}</span> <span className="minus">−{deletions}</span>
        </span>
        <span className="muted mono">
          {diff.base.slice(0, 10)}{diff.head === undefined ? "" : ` → ${diff.head.slice(0, 10)}`}
        </span>
        {diff.dirty && <span className="chip is-amber">has changes that are not committed</span>}
        <span className="grow" />
        <Button icon="merge" onClick={() => void merge(task)}>
          Merge…
        </Button>
      </div>
      <Commits commits={commits} />
    </div>
  );
}

interface FileProps {
  file: DiffFile;
  comments: readonly ReviewComment[];
  add: (comment: ReviewComment) => void;
  drop: (comment: ReviewComment) => void;
}

function File({ file, comments, add, drop }: FileProps) {
  const [open, setOpen] = useState(true);
  const [all, setAll] = useState(false);
  const lines = useMemo(() => patchLines(file.patch ?? ""), [file.patch]);
  const shown = all ? lines : lines.slice(0, LIMITS.diffLines);
  return (
    <section className="diff-file" aria-label={file.path}>
      <button type="button" className="diff-head" aria-expanded={open} onClick={() => setOpen(!open)}>
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
      {open && file.binary && <p className="diff-note muted">A binary file; its bytes are not shown.</p>}
      {open && !file.binary && lines.length === 0 && <p className="diff-note muted">Nothing to show: only its name or mode changed, or it is too large.</p>}
      {open && !file.binary && lines.length > 0 && (
        <div className="diff-lines" role="group" aria-label={`Changes of ${file.path}`} tabIndex={0}>
          {shown.map((line, index) => (
            <Line key={index} file={file.path} line={line} comments={comments} add={add} drop={drop} />
          ))}
          {shown.length < lines.length && (
            <Button look="quiet" size="small" onClick={() => setAll(true)}>
              Show {many(lines.length - shown.length, "more line")}
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

interface LineProps {
  file: string;
  line: PatchLine;
  comments: readonly ReviewComment[];
  add: (comment: ReviewComment) => void;
  drop: (comment: ReviewComment) => void;
}

function Line({ file, line, comments, add, drop }: LineProps) {
  const [writing, setWriting] = useState(false);
  const side = line.new === undefined ? "old" : "new";
  const number = line.new ?? line.old;
  const mine = comments.filter((one) => one.line === number && one.side === side);
  const mark = line.kind === "added" ? "+" : line.kind === "removed" ? "−" : "";
  return (
    <>
      <div className={`diff-line is-${line.kind}`}>
        <span className="diff-number num" aria-hidden="true">{line.old ?? ""}</span>
        <span className="diff-number num" aria-hidden="true">{line.new ?? ""}</span>
        {number !== undefined ? (
          <button type="button" className="diff-comment-button" aria-label={`Comment on line ${number}`} onClick={() => setWriting(true)}>
            <Icon name="plus" />
          </button>
        ) : (
          <span className="diff-comment-button" aria-hidden="true" />
        )}
        <span className="diff-mark" aria-hidden="true">{mark}</span>
        <span className="diff-text">{line.text === "" ? " " : line.text}</span>
      </div>
      {mine.map((comment, index) => (
        <div key={index} className="review-comment">
          <span className="grow plain-text">{comment.text}</span>
          <Button size="small" look="quiet" onClick={() => drop(comment)}>
            Remove
          </Button>
        </div>
      ))}
      {writing && number !== undefined && (
        <Writing
          onDone={(text) => {
            setWriting(false);
            if (text !== undefined) add({ file, line: number, side, quote: line.text, text });
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
        placeholder="What should be different? It is sent when you finish the review."
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

function Finish({ task, comments, head, done }: { task: TaskView; comments: readonly ReviewComment[]; head: string; done: () => void }) {
  const [sending, setSending] = useState(false);
  const send = async (): Promise<void> => {
    setSending(true);
    const sent = await attempt(api.post(taskPath(task.id, "/message"), { id: messageId(), content: reviewMessage(comments, head) }));
    setSending(false);
    if (!sent) return;
    done();
    say("The review was sent as one message.");
    const { projectId } = store.get();
    if (projectId !== undefined) go({ view: "task", project: projectId, task: task.id, tab: "chat" });
  };
  return (
    <div className="review-bar" role="region" aria-label="Review">
      <span className="strong">{many(comments.length, "comment")}</span>
      <span className="muted">kept here until you send them</span>
      <span className="grow" />
      <Button onClick={done}>Discard</Button>
      <Button look="primary" icon="send" disabled={sending} onClick={() => void send()}>
        Send review
      </Button>
    </div>
  );
}
