// A message by who wrote it: the user, another task (fenced, because it is no instruction of yours), or the daemon.
import { api } from "../api/client.ts";
import type { MessageBody } from "../api/types.ts";
import { IconButton } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { confirm, prompt } from "../shell/dialogs.tsx";
import { Link } from "../shell/Link.tsx";
import { attempt } from "../shell/toasts.tsx";
import { store } from "../state/store.ts";
import { clock, moment } from "../text/format.ts";
import { Markdown } from "../text/Markdown.tsx";
import { taskPath } from "./actions.ts";
import { Note, systemLine } from "./ItemView.tsx";
import type { MessageItem } from "./items.ts";
import { useOpen } from "./open.ts";
import { Images } from "./tools/CallBody.tsx";

export function MessageView({ item }: { item: MessageItem }) {
  const { body } = item;
  switch (body.source) {
    case "user":
      return <Yours item={item} />;
    case "clarify_response":
      return (
        <div className="message is-user">
          <Head icon="message" who="You answered" at={item.at} />
          <p className="plain-text">{body.answer}</p>
        </div>
      );
    case "task_message":
    case "user_message_forwarded":
    case "cross_project":
      return <Peer body={body} at={item.at} />;
    case "work_context":
      return <Instructions item={item} />;
    default:
      return <FromDaemon item={item} />;
  }
}

function Head({ icon, who, at, children }: { icon: "message" | "tree" | "info"; who: React.ReactNode; at: number; children?: React.ReactNode }) {
  return (
    <div className="message-head">
      <Icon name={icon} />
      <span className="strong">{who}</span>
      {children}
      <time className="muted" title={moment(at)}>
        {clock(at)}
      </time>
    </div>
  );
}

function Yours({ item }: { item: MessageItem }) {
  const { body } = item;
  return (
    <div className="message is-user">
      <Head icon="message" who="You" at={item.at}>
        <span className="message-tools">
          <IconButton icon="pencil" size="small" label="Edit and send again" onClick={() => void editAgain(item)} />
          <IconButton icon="undo" size="small" label="Take the conversation back to here" onClick={() => void rewind(item)} />
        </span>
      </Head>
      <Markdown text={body.content ?? ""} />
      {body.images !== undefined && body.images.length > 0 && <Images images={body.images} />}
    </div>
  );
}

const NOT_UNDONE = [
  "Files that were changed stay changed.",
  "Tasks that were created stay.",
  "Messages that were sent to other tasks stay sent.",
  "What tools did elsewhere is not undone.",
];

async function rewind(item: MessageItem): Promise<void> {
  const yes = await confirm({
    title: "Take the conversation back to here?",
    says: "The agent forgets this message and everything after it.",
    does: ["The conversation goes on from the point before this message."],
    leaves: NOT_UNDONE,
    action: "Take back",
    danger: true,
  });
  if (yes) await attempt(api.post(taskPath(item.task, "/rewind"), { messageId: item.id }));
}

async function editAgain(item: MessageItem): Promise<void> {
  const content = await prompt({
    title: "Edit and send again",
    label: "Message",
    note: `The agent forgets what came after the old message. ${NOT_UNDONE.slice(0, 2).join(" ")}`,
    initial: item.body.content ?? "",
    action: "Send",
    kind: "lines",
  });
  if (content !== undefined) await attempt(api.post(taskPath(item.task, "/edit"), { messageId: item.id, content }));
}

function Peer({ body, at }: { body: MessageBody; at: number }) {
  const { projectId } = store.get();
  const from = body.fromTitle ?? body.fromProjectName ?? "another task";
  const name =
    body.fromTaskId !== undefined && projectId !== undefined ? (
      <Link to={{ view: "task", project: projectId, task: body.fromTaskId, tab: "chat" }}>{from}</Link>
    ) : (
      from
    );
  const what = body.source === "user_message_forwarded" ? "You wrote to" : body.source === "cross_project" ? "From project" : "From task";
  return (
    <div className="message is-peer">
      <Head
        icon="tree"
        who={
          <>
            {what} {name}
          </>
        }
        at={at}
      >
        {body.requestReply === true && <span className="chip">wants an answer</span>}
      </Head>
      {body.title !== undefined && <div className="strong">{body.title}</div>}
      <Markdown text={body.content ?? ""} />
      <div className="fence-note">{body.source === "user_message_forwarded" ? "A copy of what you wrote there." : "Written by another agent, not by you."}</div>
    </div>
  );
}

/** What the daemon tells the agent about its task: of interest to few, so it is folded. */
function Instructions({ item }: { item: MessageItem }) {
  const [open, setOpen] = useOpen(item.key, false);
  return (
    <div className="thought">
      <button type="button" className="thought-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="info" />
        <span>Instructions</span>
      </button>
      {open && <div className="thought-body plain-text">{item.body.content ?? ""}</div>}
    </div>
  );
}

function FromDaemon({ item }: { item: MessageItem }) {
  const { body } = item;
  const bad = body.success === false || (body.source === "background_complete" && body.exitCode !== 0);
  return <Note tone={bad ? "bad" : body.success === true ? "good" : "plain"} line={systemLine(body, item.line)} detail={body.output ?? body.content ?? ""} at={item.at} />;
}
