// One thing in a conversation.
import { memo } from "react";
import type { BlobRef, Id, MessageBody } from "../api/types.ts";
import { Icon } from "../design/Icon.tsx";
import { Link } from "../shell/Link.tsx";
import { store } from "../state/store.ts";
import { clock, moment, word } from "../text/format.ts";
import { Markdown } from "../text/Markdown.tsx";
import { readable, withoutDetail } from "../text/readable.ts";
import { Terminal } from "../text/Terminal.tsx";
import type { Item, NoteTone } from "./items.ts";
import { MessageView } from "./MessageView.tsx";
import { useOpen } from "./open.ts";
import { Blob } from "./tools/CallBody.tsx";
import { ToolCard } from "./tools/ToolCard.tsx";

interface ItemViewProps {
  item: Item;
  live: string | undefined;
  now: number;
}

export const ItemView = memo(function ItemView({ item, live, now }: ItemViewProps) {
  switch (item.kind) {
    case "message":
      return <MessageView item={item} />;
    case "text":
      return (
        <div className="said">
          <Body content={item.content} />
        </div>
      );
    case "thinking":
      return <Thinking id={item.key} content={item.content} sealed={item.sealed} />;
    case "tool":
      return <ToolCard item={item} live={live} now={item.result === undefined ? now : 0} />;
    case "boundary":
      return <Boundary id={item.key} title={item.title} detail={item.detail} task={item.task} />;
    case "note":
      return <Note tone={item.tone} line={item.text} detail={item.detail ?? ""} at={item.at} />;
    case "error":
      return (
        <div className="notice is-error">
          <Icon name="warning" />
          <div className="grow">
            <div className="strong">{item.message}</div>
            {item.advice !== undefined && <div>{item.advice}</div>}
          </div>
          <time className="muted" title={moment(item.at)}>
            {clock(item.at)}
          </time>
        </div>
      );
    case "check":
      return <Check item={item} />;
    case "question":
      return (
        <div className="asked">
          <div className="message-head">
            <Icon name="bell" />
            <span className="strong">Asked you</span>
            {item.expired === true && <span className="chip">not answered in time</span>}
          </div>
          {item.answer === undefined && item.expired !== true ? <p className="muted">Waiting for your answer below.</p> : <Markdown text={item.question} />}
          {item.answer !== undefined && (
            <div className="answer">
              <span className="muted">You answered</span> {item.answer}
            </div>
          )}
        </div>
      );
  }
});

/** A line of the daemon, and the text that it begins to tell. */
export function Note({ tone, line, detail, at }: { tone: NoteTone; line: string; detail: string; at: number }) {
  const { tasks } = store.get();
  const text = withoutDetail(line, detail);
  return (
    <div className={`note is-${tone}`}>
      {text !== "" && <span className="note-line">{readable(tasks, text)}</span>}
      {detail !== "" && <span className="note-detail">{readable(tasks, detail)}</span>}
      <time className="muted" title={moment(at)}>
        {clock(at)}
      </time>
    </div>
  );
}

function Body({ content }: { content: string | BlobRef }) {
  if (typeof content === "string") return <Markdown text={content} />;
  return <Blob blob={content}>{(text) => <Markdown text={text} />}</Blob>;
}

function Thinking({ id, content, sealed }: { id: string; content: string | BlobRef; sealed: boolean }) {
  const [open, setOpen] = useOpen(id, false);
  if (sealed) return <div className="thought muted">Hidden reasoning</div>;
  const first = typeof content === "string" ? content.trim().split("\n")[0] : "a long thought";
  return (
    <div className="thought">
      <button type="button" className="thought-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="brain" />
        <span className="ellipsis">{open ? "Thought" : first}</span>
      </button>
      {open && (
        <div className="thought-body">
          <Body content={content} />
        </div>
      )}
    </div>
  );
}

function Boundary({ id, title, detail, task }: { id: string; title: string; detail: string | undefined; task: Id | undefined }) {
  const [open, setOpen] = useOpen(id, false);
  const { projectId, tasks } = store.get();
  return (
    <div className="boundary">
      <div className="boundary-line">
        <Icon name={task === undefined ? "fold" : "branch"} />
        <span>{title}</span>
        {task !== undefined && projectId !== undefined && (
          <Link to={{ view: "task", project: projectId, task, tab: "chat" }}>{tasks[task]?.title ?? "that task"}</Link>
        )}
        {detail !== undefined && (
          <button type="button" className="button is-quiet is-small" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Hide summary" : "Show summary"}
          </button>
        )}
      </div>
      {open && detail !== undefined && (
        <div className="boundary-body">
          <Markdown text={detail} />
        </div>
      )}
    </div>
  );
}

function Check({ item }: { item: Extract<Item, { kind: "check" }> }) {
  const good = item.exitCode === 0;
  const [open, setOpen] = useOpen(item.key, !good);
  return (
    <div role="group" className={`tool ${good ? "" : "is-error"}`} aria-label="Check">
      <button type="button" className="tool-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={good ? "check" : "cross"} />
        <span className="tool-name">check</span>
        <span className="tool-summary mono ellipsis">{item.command}</span>
        <span className={`tool-outcome num ${good ? "muted" : "is-bad"}`}>{item.exitCode === undefined ? "ended" : `exit ${item.exitCode}`}</span>
      </button>
      {open && (
        <div className="tool-body">
          <Terminal text={item.output} label="Output of the check" />
          <div className="tool-foot">on tree {item.tree.slice(0, 10)}</div>
        </div>
      )}
    </div>
  );
}

/** What a message of the daemon itself says in one line; of some it has none, because they are only for the agent. */
export function systemLine(body: MessageBody, line: string | undefined): string {
  switch (body.source) {
    case "tree_change":
      return `${body.title ?? "A task"} was ${(body.action ?? "changed").replace("_", " ")}`;
    case "interrupt":
      return "interrupted";
    case "work_context":
      return "Instructions";
    default:
      return line ?? word(body.source);
  }
}
