// What a task changed against its base, with comments that are sent together.
import { useEffect, useState } from "react";
import { api } from "../api/client.ts";
import type { CommitLine, DiffFile, DiffView, TaskView } from "../api/types.ts";
import { Button, ErrorNotice, Spinner } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { FileChanges, type Layout } from "../review/FileChanges.tsx";
import { FileTree } from "../review/FileTree.tsx";
import { fingerprint, isViewed, keepViewed, viewedOf } from "../review/viewed.ts";
import { go } from "../shell/router.ts";
import { keep, kept } from "../shell/theme.ts";
import { attempt, say } from "../shell/toasts.tsx";
import { useAsk } from "../shell/useAsk.ts";
import { store, useShown } from "../state/store.ts";
import { branchName, day, many } from "../text/format.ts";
import { branchAbove, merge, taskPath } from "./actions.ts";
import { messageId } from "./drafts.ts";
import { type ReviewComment, keepReview, reviewMessage, reviewOf } from "./review.ts";

const NO_COMMITS: readonly CommitLine[] = [];

export function Diff({ task }: { task: TaskView }) {
  const version = `${task.life?.turns}.${task.status}.${task.updatedAt}`;
  const diff = useAsk<DiffView>(taskPath(task.id, "/diff"), version);
  const log = useAsk<{ commits: CommitLine[] }>(taskPath(task.id, "/gitlog"), version);
  const [comments, setComments] = useState(() => reviewOf(task.id));
  const [viewed, setViewed] = useState(() => viewedOf(task.id));
  const [layout, setLayout] = useLayout();
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
  const look = (file: DiffFile, seen: boolean): void => {
    const { [file.path]: _, ...others } = viewed;
    const next = seen ? { ...others, [file.path]: fingerprint(file) } : others;
    setViewed(next);
    keepViewed(task.id, next);
  };
  return (
    <div className="view-scroll review-scroll" tabIndex={0} role="region" aria-label="Changes">
      <div className="view-page review-page">
        <Top task={task} diff={value} commits={commits} layout={layout} setLayout={setLayout} />
        {value.truncated && <p className="notice is-attention">There is more than can be shown here; `git diff {value.base}` in the worktree shows all of it.</p>}
        <div className={`review-columns is-${layout}`}>
          <FileTree files={value.files} viewed={viewed} />
          <div className="review-files">
            {value.files.map((file) => (
              <FileChanges
                key={file.path}
                file={file}
                layout={layout}
                isViewed={isViewed(viewed, file)}
                setViewed={(seen) => look(file, seen)}
                comments={comments.filter((one) => one.file === file.path)}
                add={(comment) => put([...comments, comment])}
                drop={(comment) => put(comments.filter((one) => one !== comment))}
              />
            ))}
          </div>
        </div>
      </div>
      {comments.length > 0 && <Finish task={task} comments={comments} head={value.head ?? value.base} done={() => put([])} />}
    </div>
  );
}

/** One column or two, as the user chose last; a narrow page has room for one. */
function useLayout(): [Layout, (layout: Layout) => void] {
  const [layout, setLayout] = useState<Layout>(() => (kept("mxd.diff") === "split" ? "split" : "unified"));
  return [
    layout,
    (next) => {
      setLayout(next);
      keep("mxd.diff", next);
    },
  ];
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

interface TopProps {
  task: TaskView;
  diff: DiffView;
  commits: readonly CommitLine[];
  layout: Layout;
  setLayout: (layout: Layout) => void;
}

function Top({ task, diff, commits, layout, setLayout }: TopProps) {
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
        {diff.dirty && <span className="chip is-amber">uncommitted changes</span>}
        <span className="grow" />
        <div className="segments" role="group" aria-label="Layout">
          {(["unified", "split"] as const).map((one) => (
            <button key={one} type="button" aria-pressed={layout === one} onClick={() => setLayout(one)}>
              {one === "unified" ? "Unified" : "Split"}
            </button>
          ))}
        </div>
        <Button icon="merge" onClick={() => void merge(task)}>
          Merge…
        </Button>
      </div>
      <Commits commits={commits} />
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
