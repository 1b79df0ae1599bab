// Where one writes to an agent: drafts are kept, pictures can be pasted, a slash begins a command.
import { type ClipboardEvent, type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { ApiError, api } from "../api/client.ts";
import type { ClarificationNeed, Id, TaskView } from "../api/types.ts";
import { Button, ErrorNotice, IconButton } from "../design/controls.tsx";
import { Icon } from "../design/Icon.tsx";
import { answer } from "../needs/cards.tsx";
import { complain } from "../shell/toasts.tsx";
import { LIMITS } from "../state/limits.ts";
import { isWorking } from "../state/select.ts";
import { useShown } from "../state/store.ts";
import { bytes, count } from "../text/format.ts";
import { act, taskPath } from "./actions.ts";
import { type SlashCommand, matching } from "./commands.ts";
import { type Picture, draftOf, keepDraft, keepPictures, messageId, picturesOf } from "./drafts.ts";
import type { MessageItem } from "./items.ts";
import { background } from "./tools/CallBody.tsx";

/** What models can look at. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

interface Unsent {
  readonly id: string;
  readonly content: string;
}

export function Composer({ task, waiting }: { task: TaskView; waiting: readonly MessageItem[] }) {
  const question = useOpenQuestion(task.id);
  const [text, setText] = useState(() => draftOf(task.id));
  const [pictures, setPictures] = useState<readonly Picture[]>(() => picturesOf(task.id));
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const [choice, setChoice] = useState(0);
  // The id stays with the text until it was taken, so that sending again after a lost answer is not a second message.
  const unsent = useRef<Unsent | undefined>(undefined);
  const box = useRef<HTMLTextAreaElement>(null);
  const commands = matching(text);
  useEffect(() => keepDraft(task.id, text), [task.id, text]);
  useEffect(() => keepPictures(task.id, pictures), [task.id, pictures]);
  useGrowing(box, text);
  const connected = useShown((shown) => shown.connection === "live");
  useEffect(() => {
    // That nobody answered is over when somebody does again; what was refused stays refused.
    if (connected) setError((old: unknown) => (old instanceof ApiError && old.status === 0 ? undefined : old));
  }, [connected]);

  const send = async (): Promise<void> => {
    const content = text.trim();
    if ((content === "" && pictures.length === 0) || sending) return;
    // An answer is text alone: whoever adds a picture writes a message.
    if (question !== undefined && pictures.length === 0) return reply(question, content);
    if (unsent.current?.content !== content) unsent.current = { id: messageId(), content };
    setSending(true);
    setError(undefined);
    try {
      const images = pictures.map(({ base64, mediaType }) => ({ base64, mediaType }));
      await api.post(taskPath(task.id, "/message"), { id: unsent.current.id, content, ...(images.length > 0 ? { images } : {}) });
      unsent.current = undefined;
      setText("");
      setPictures([]);
    } catch (reason) {
      if (!(reason instanceof ApiError && reason.status === 401)) setError(reason);
    } finally {
      setSending(false);
      box.current?.focus();
    }
  };
  const reply = async (open: ClarificationNeed, content: string): Promise<void> => {
    setSending(true);
    if (await answer(open, content)) setText("");
    setSending(false);
    box.current?.focus();
  };
  const run = (command: SlashCommand): void => {
    setText("");
    command.run(task);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (commands.length > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      setChoice((old) => (old + (event.key === "ArrowDown" ? 1 : -1) + commands.length) % commands.length);
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      const command = commands[choice] ?? commands[0];
      if (command !== undefined) run(command);
      else void send();
    } else if (event.key === "Escape") {
      box.current?.blur();
    }
  };
  const paste = (event: ClipboardEvent): void => {
    const files = [...event.clipboardData.files].filter((file) => PICTURES.includes(file.type));
    if (files.length === 0) return;
    event.preventDefault();
    void add(files);
  };
  const add = async (files: readonly File[]): Promise<void> => {
    const room = LIMITS.images - pictures.length;
    const taken = files.slice(0, room);
    if (files.length > room) complain(new Error(`At most ${LIMITS.images} pictures go with one message.`));
    for (const file of taken) if (file.size > LIMITS.imageBytes) complain(new Error(`${file.name} has ${bytes(file.size)}; a picture may have ${bytes(LIMITS.imageBytes)}.`));
    const fitting = taken.filter((file) => file.size <= LIMITS.imageBytes);
    const read = await Promise.all(fitting.map(async (file): Promise<Picture> => ({ name: file.name, mediaType: file.type, base64: await base64(file) })));
    setPictures((old) => [...old, ...read].slice(0, LIMITS.images));
  };

  return (
    <footer className="composer">
      <Waiting waiting={waiting} />
      <Background task={task} />
      {error !== undefined && <ErrorNotice error={error} />}
      {commands.length > 0 && <Commands commands={commands} choice={choice} run={run} />}
      <div className="composer-box" onDragOver={(event) => event.preventDefault()} onDrop={(event) => { event.preventDefault(); void add([...event.dataTransfer.files].filter((file) => PICTURES.includes(file.type))); }}>
        {pictures.length > 0 && (
          <div className="pictures">
            {pictures.map((picture, index) => (
              <figure key={index}>
                <img src={`data:${picture.mediaType};base64,${picture.base64}`} alt={picture.name} />
                <IconButton icon="cross" size="small" label={`Remove ${picture.name}`} onClick={() => setPictures(pictures.filter((one) => one !== picture))} />
              </figure>
            ))}
          </div>
        )}
        <textarea
          ref={box}
          id="composer"
          rows={1}
          value={text}
          placeholder={question === undefined ? placeholder(task) : "Answer the question"}
          aria-label={question === undefined ? `Message to ${task.title}` : "Your answer"}
          onChange={(event) => { setText(event.target.value); setChoice(0); }}
          onKeyDown={press}
          onPaste={paste}
        />
        <div className="composer-foot">
          <label className="button is-quiet is-small is-icon" title="Add a picture">
            <Icon name="image" />
            <span className="sr-only">Add a picture</span>
            <input className="sr-only" type="file" accept={PICTURES.join(",")} multiple onChange={(event) => void add([...(event.target.files ?? [])])} />
          </label>
          <Context task={task} />
          <span className="grow" />
          <span className="composer-keys muted">
            <kbd>Enter</kbd> sends, <kbd>/</kbd> commands
          </span>
          {isWorking(task) && (
            <Button size="small" icon="pause" onClick={() => void act(task.id, "interrupt")} title="Stop the current turn; the conversation stays">
              Interrupt
            </Button>
          )}
          <Button size="small" look="primary" icon="send" disabled={sending || (text.trim() === "" && pictures.length === 0)} onClick={() => void send()}>
            {question === undefined ? "Send" : "Answer"}
          </Button>
        </div>
      </div>
    </footer>
  );
}

/** The question that the composer answers: the only one of the task that is open. */
export function useOpenQuestion(task: Id): ClarificationNeed | undefined {
  return useShown((shown) => {
    const open = shown.needs.clarifications.filter((need) => need.taskId === task);
    return open.length === 1 ? open[0] : undefined;
  });
}

function placeholder(task: TaskView): string {
  if (task.status === "draft") return "A draft takes no messages yet";
  return task.agent?.state === "none" || task.agent === undefined ? "What should be done? The first message starts the agent" : `Write to ${task.title}`;
}

function useGrowing(box: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    const area = box.current;
    if (area === null) return;
    area.style.height = "auto";
    // Where nobody sees it, it has no height to be measured.
    if (area.scrollHeight > 0) area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
  }, [box, text]);
}

async function base64(file: File): Promise<string> {
  const data = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < data.length; at += 8_192) binary += String.fromCharCode(...data.subarray(at, at + 8_192));
  return btoa(binary);
}

function Waiting({ waiting }: { waiting: readonly MessageItem[] }) {
  if (waiting.length === 0) return null;
  return (
    <ul className="waiting" aria-label="Sent and not read yet">
      {waiting.map((message) => (
        <li key={message.id} className="chip" title={message.body.content ?? ""}>
          <Icon name="clock" />
          <span className="ellipsis">{message.body.content ?? message.body.title ?? message.body.source.replace("_", " ")}</span>
          <span className="sr-only">waits to be read</span>
        </li>
      ))}
    </ul>
  );
}

function Background({ task }: { task: TaskView }) {
  if (task.background.length === 0) return null;
  return (
    <ul className="waiting" aria-label="Commands in the background">
      {task.background.map((name) => (
        <li key={name} className="chip">
          <Icon name="terminal" />
          <span className="ellipsis">{name}</span>
          <IconButton icon="cross" size="small" label={`End ${name}`} onClick={() => void background.kill(name, task.id).catch(complain)} />
        </li>
      ))}
    </ul>
  );
}

function Commands({ commands, choice, run }: { commands: readonly SlashCommand[]; choice: number; run: (command: SlashCommand) => void }) {
  return (
    <ul className="commands" role="listbox" aria-label="Commands">
      {commands.map((command, index) => (
        <li key={command.name} role="option" aria-selected={index === choice} onMouseDown={(event) => { event.preventDefault(); run(command); }}>
          <span className="mono">/{command.name}</span> <span className="muted">{command.says}</span>
        </li>
      ))}
    </ul>
  );
}

function Context({ task }: { task: TaskView }) {
  const { context } = task;
  if (context === undefined || context.window === 0) return null;
  const share = Math.min(1, context.tokens / context.window);
  const text = `${context.estimated ? "about " : ""}${count(context.tokens)} of ${count(context.window)} tokens`;
  return (
    <button type="button" className="context" title={`The conversation fills ${text}. Click to summarise it now.`} onClick={() => void act(task.id, "compact")}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6" className="context-all" />
        <circle cx="8" cy="8" r="6" className={`context-used ${share > 0.8 ? "is-full" : ""}`} pathLength={100} strokeDasharray={`${share * 100} 100`} />
      </svg>
      <span className="num">{Math.round(share * 100)} %</span>
      <span className="sr-only">of the context used; summarise now</span>
    </button>
  );
}
