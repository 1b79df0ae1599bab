// What the page makes of a stream is what the daemon makes of its log: change by change, and whoever comes late.
import { expect, test } from "@playwright/test";
import type { CommitMessage, SnapshotMessage, TaskView } from "../../src/api/types.ts";
import { EMPTY, type Message, type ProjectState, reduce } from "../../src/state/reduce.ts";
import { RealDaemon, type Story } from "../../testing/real.mjs";

const call = (name: string, input: object): object => ({ tool_call: { name: `mcp__mxd__${name}`, input } });
const turn = (blocks: object[], more: object = {}): object => ({ reply: { blocks }, ...more });

const STORY: Story = {
  settings: {},
  rehearse: {
    conversations: [
      {
        first_message: { contains: "Title: boats\n" },
        turns: [
          turn([call("create_task", { title: "Paint", description: "Paint the boats." })]),
          turn([call("send_message", { taskId: "$first", title: "go", message: "Please paint." })], { capture: ["Created the task (?<first>[0-9A-Z]{26})"] }),
          turn([call("clarify", { question: "Which colour?" })]),
          turn([call("yield", {})], { until: { ever: { contains: ["It is painted."] } } }),
          turn([call("update_task", { taskId: "$first", title: "Painted" })]),
          turn([{ text: "All is done." }]),
        ],
      },
      {
        first_message: { contains: "Title: Paint\n" },
        turns: [
          turn([call("bash", { command: "echo red > boat && git add -A && git commit -qm red" })]),
          turn([call("done", { status: "passed", summary: "It is painted." })]),
        ],
      },
    ],
    default_reply: { blocks: [{ text: "Noted." }] },
  },
};

function read(event: string | undefined, data: string, id: string | undefined): Message | undefined {
  if (event === "snapshot") return { kind: "snapshot", data: JSON.parse(data) as SnapshotMessage };
  if (event === "commit") return { kind: "commit", cursor: id, data: JSON.parse(data) as CommitMessage };
  return undefined;
}

const isSnapshot = (message: Message): boolean => message.kind === "snapshot";

/** Whether a task of this title is shown. A reader who is late hears of changes first and is shown the tree afterwards. */
const shows =
  (title: string) =>
  (message: Message): boolean =>
    (message.kind === "snapshot" || message.kind === "commit") && (message.data.tasks ?? []).some((task) => task.title === title);

const says =
  (text: string) =>
  (message: Message): boolean =>
    JSON.stringify(message).includes(text);

/** Follows a project from a cursor on, until what is wanted was told. */
async function follow(daemon: RealDaemon, project: string, from: string | undefined, wanted: (message: Message) => boolean): Promise<Message[]> {
  const { address, token } = daemon.contact;
  const headers = { authorization: `Bearer ${token}`, ...(from === undefined ? {} : { "last-event-id": from }) };
  const answer = await fetch(`http://${address}/events?projectId=${project}`, { headers });
  const messages: Message[] = [];
  let unread = "";
  const decoder = new TextDecoder();
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    unread += decoder.decode(chunk, { stream: true });
    for (let end = unread.indexOf("\n\n"); end >= 0; end = unread.indexOf("\n\n")) {
      const block = unread.slice(0, end);
      unread = unread.slice(end + 2);
      const field = (name: string): string | undefined => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
      const data = field("data") ?? "{}";
      const message = read(field("event"), data, field("id"));
      if (message !== undefined) messages.push(message);
      if (message !== undefined && wanted(message)) return messages;
    }
  }
  return messages;
}

/** The tree as the page has it. What an agent does goes on meanwhile, so it is left out. */
function tree(messages: Message[]): object[] {
  const state: ProjectState = messages.reduce(reduce, EMPTY);
  const shape = ({ id, title, kind, parentId, children, status, color, checks, after }: TaskView): object => ({ id, title, kind, parentId, children, status, color, checks, after });
  return Object.values(state.tasks).map(shape).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

test("changes, a late reader and the daemon agree", async () => {
  test.setTimeout(300_000);
  const daemon = new RealDaemon(STORY);
  try {
    await daemon.start();
    const project = (await daemon.api("POST", "/projects", { path: daemon.repository })) as { id: string; rootId: string };
    const early = follow(daemon, project.id, undefined, shows("the last word"));
    await daemon.api("POST", `/projects/${project.id}/tasks/${project.rootId}/message`, { content: "Paint the boats." });
    await follow(daemon, project.id, undefined, says("All is done."));
    const tasks = `/projects/${project.id}/tasks`;
    const made = (await daemon.api("POST", tasks, { title: "Moored", draft: true })) as { id: string };
    const folder = (await daemon.api("POST", tasks, { kind: "folder", title: "Ideas", index: 0 })) as { id: string };
    await daemon.api("PATCH", `${tasks}/${made.id}`, { parentId: folder.id });
    const gone = (await daemon.api("POST", tasks, { title: "Gone", draft: true })) as { id: string };
    await daemon.api("DELETE", `${tasks}/${gone.id}`);
    await daemon.api("PATCH", `${tasks}/${made.id}`, { title: "the last word", color: "blue" });
    const messages = await early;
    const commits = messages.filter((message) => message.kind === "commit");
    expect(commits.length).toBeGreaterThan(20);

    const middle = commits[Math.floor(commits.length / 2)];
    const cursor = middle?.kind === "commit" ? middle.cursor : undefined;
    const late = await follow(daemon, project.id, cursor, isSnapshot);
    const fresh = await follow(daemon, project.id, undefined, isSnapshot);
    const truth = tree(fresh);
    expect(truth).toEqual(expect.arrayContaining(["Ideas", "Painted", "boats", "the last word"].map((title) => expect.objectContaining({ title }) as object)));
    expect(truth).toHaveLength(4);
    expect(tree(late)).toEqual(truth);
    expect(tree(messages)).toEqual(truth);
  } finally {
    await daemon.end();
  }
});
