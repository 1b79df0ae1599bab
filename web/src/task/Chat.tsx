// The conversation of a task: virtual rows that follow what is new, earlier pages on demand, and a search.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { TaskView } from "../api/types.ts";
import { Button, ErrorNotice, IconButton, Spinner } from "../design/controls.tsx";
import { useKeys } from "../shell/keys.ts";
import { useNow } from "../shell/useAsk.ts";
import { isWorking } from "../state/select.ts";
import { store, useShown } from "../state/store.ts";
import { Markdown } from "../text/Markdown.tsx";
import { Composer } from "./Composer.tsx";
import { ItemView } from "./ItemView.tsx";
import { conversation } from "./items.ts";
import { OpenNeeds } from "./OpenNeeds.tsx";
import { hits } from "./search.ts";

const NONE = [] as const;

export function Chat({ task }: { task: TaskView }) {
  const log = useShown((shown) => shown.logs[task.id]);
  const asking = useShown((shown) => shown.asking.has(task.id));
  const [error, setError] = useState<unknown>();
  const stale = log?.stale;
  useEffect(() => {
    setError(undefined);
    store.look(task.id).catch(setError);
  }, [task.id, stale]);
  const events = log?.events ?? NONE;
  const talk = useMemo(() => conversation(events), [events]);
  return (
    <div className="chat">
      {error !== undefined && (
        <div className="chat-error">
          <ErrorNotice error={error}>
            <Button size="small" onClick={() => void store.look(task.id).then(() => setError(undefined), setError)}>
              Try again
            </Button>
          </ErrorNotice>
        </div>
      )}
      <Scroll key={task.id} task={task} talk={talk} hasMore={log?.hasMore ?? false} asking={asking} loaded={log !== undefined} />
      <OpenNeeds task={task} />
      <Composer key={`composer-${task.id}`} task={task} waiting={talk.waiting} />
    </div>
  );
}

interface ScrollProps {
  task: TaskView;
  talk: ReturnType<typeof conversation>;
  hasMore: boolean;
  asking: boolean;
  loaded: boolean;
}

function Scroll({ task, talk, hasMore, asking, loaded }: ScrollProps) {
  const live = useShown((shown) => shown.live[task.id]);
  const [searching, setSearching] = useState(false);
  const [found, setFound] = useState<number | undefined>();
  const scroller = useRef<HTMLDivElement>(null);
  const now = useNow(isWorking(task) ? 1_000 : 30_000);
  const { items } = talk;
  const liveRows = (live?.thinking ? 1 : 0) + (live?.text ? 1 : 0);
  const count = items.length + liveRows;
  // The same function as long as the items are the same: another one has all rows measured again.
  const keyOf = useCallback((index: number) => items[index]?.key ?? `live-${index - items.length}`, [items]);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => 72,
    overscan: 6,
    paddingStart: 16,
    paddingEnd: 16,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: 48,
    getItemKey: keyOf,
  });
  const [away, setAway] = useState(false);
  const toEnd = useCallback(() => virtual.scrollToEnd(), [virtual]);
  useEffect(() => {
    if (loaded) toEnd();
  }, [loaded, toEnd]);
  const size = virtual.getTotalSize();
  const wasAway = useRef(false);
  wasAway.current = away;
  useEffect(() => {
    // A row that grows while it is written moves the end away from under the reader's eye.
    if (!wasAway.current) virtual.scrollToEnd();
  }, [size, virtual]);
  const onScroll = (): void => {
    const box = scroller.current;
    if (box === null) return;
    setAway(box.scrollHeight - box.scrollTop - box.clientHeight > 64);
    if (box.scrollTop < 200 && hasMore && !asking) void store.earlier(task.id).catch(() => {});
  };
  useKeys(useMemo(() => [{ key: "mod+f", act: () => setSearching(true) }], []));
  return (
    <div className="chat-scroll-box">
      {searching && <Search talk={talk} onFound={(index) => { setFound(index); if (index !== undefined) virtual.scrollToIndex(index, { align: "center" }); }} onClose={() => { setSearching(false); setFound(undefined); }} />}
      <div ref={scroller} className="chat-scroll" onScroll={onScroll} tabIndex={0} role="log" aria-label={`Conversation of ${task.title}`}>
        {hasMore && (
          <div className="chat-earlier">
            {asking ? <Spinner label="Loading earlier history" /> : <Button size="small" look="quiet" onClick={() => void store.earlier(task.id)}>Load earlier history</Button>}
          </div>
        )}
        {!loaded && asking && <div className="empty"><Spinner label="Loading the conversation" /></div>}
        {loaded && count === 0 && <Nothing task={task} />}
        <div className="chat-rows" style={{ height: size }}>
          {virtual.getVirtualItems().map((row) => {
            const item = items[row.index];
            const forgotten = item !== undefined && item.kind !== "boundary" && talk.isForgotten(item.seq);
            return (
              <div key={row.key} data-index={row.index} ref={virtual.measureElement} className={`chat-row ${forgotten ? "is-forgotten" : ""} ${found === row.index ? "is-found" : ""}`} style={{ transform: `translateY(${row.start}px)` }}>
                {item !== undefined ? (
                  <ItemView item={item} live={item.kind === "tool" ? live?.output[item.callId] : undefined} now={now} />
                ) : (
                  <Live text={row.index - items.length === 0 && live?.thinking ? live.thinking : (live?.text ?? "")} thinking={row.index - items.length === 0 && Boolean(live?.thinking)} />
                )}
              </div>
            );
          })}
        </div>
      </div>
      {away && (
        <Button className="follow" size="small" icon="down" onClick={toEnd}>
          Follow
        </Button>
      )}
      <IconButton className="chat-search-button" icon="search" label="Search this conversation (Ctrl F)" onClick={() => setSearching(true)} />
    </div>
  );
}

function Live({ text, thinking }: { text: string; thinking: boolean }) {
  if (thinking) {
    return (
      <div className="thought is-live">
        <div className="thought-body">{text}</div>
      </div>
    );
  }
  return (
    <div className="said is-live">
      <Markdown text={text} />
    </div>
  );
}

function Nothing({ task }: { task: TaskView }) {
  return (
    <div className="empty">
      <strong>Nothing has been said yet</strong>
      <span>{task.status === "draft" ? "This is a draft. Make it pending in Details, then write to it." : "The first message starts the agent."}</span>
    </div>
  );
}

interface SearchProps {
  talk: ReturnType<typeof conversation>;
  onFound: (index: number | undefined) => void;
  onClose: () => void;
}

function Search({ talk, onFound, onClose }: SearchProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useMemo(() => hits(talk.items, text), [talk, text]);
  const show = (to: number): void => {
    if (list.length === 0) return onFound(undefined);
    const index = (to + list.length) % list.length;
    setAt(index);
    onFound(list[index]);
  };
  return (
    <div className="chat-search" role="search">
      <input
        className="input"
        type="search"
        aria-label="Search this conversation"
        placeholder="Search what is loaded"
        value={text}
        autoFocus
        onChange={(event) => {
          setText(event.target.value);
          const next = hits(talk.items, event.target.value);
          setAt(next.length - 1);
          onFound(next.at(-1));
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") show(at + (event.shiftKey ? 1 : -1));
          else if (event.key === "Escape") onClose();
        }}
      />
      <span className="muted num nowrap" role="status">
        {text === "" ? "" : list.length === 0 ? "none" : `${at + 1} of ${list.length}`}
      </span>
      <IconButton icon="up" label="Earlier hit" onClick={() => show(at - 1)} />
      <IconButton icon="down" label="Later hit" onClick={() => show(at + 1)} />
      <IconButton icon="cross" label="Close search" onClick={onClose} />
    </div>
  );
}
