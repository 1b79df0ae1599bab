// The conversation of a task: virtual rows that follow what is new, earlier pages on demand, and a search.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Id, TaskView } from "../api/types.ts";
import { Button, ErrorNotice, IconButton, Spinner } from "../design/controls.tsx";
import { useKeys } from "../shell/keys.ts";
import { go } from "../shell/router.ts";
import { complain } from "../shell/toasts.tsx";
import { useNow } from "../shell/useAsk.ts";
import { isWorking } from "../state/select.ts";
import { store, useShown } from "../state/store.ts";
import { Markdown } from "../text/Markdown.tsx";
import { Composer } from "./Composer.tsx";
import { ItemView } from "./ItemView.tsx";
import { type Item, conversation, indexAt } from "./items.ts";
import { setOpen } from "./open.ts";
import { OpenNeeds } from "./OpenNeeds.tsx";
import { hits } from "./search.ts";

const NONE = [] as const;

export function Chat({ task, at }: { task: TaskView; at: number | undefined }) {
  const log = useShown((shown) => shown.logs[task.id]);
  const asking = useShown((shown) => shown.asking.has(task.id));
  const [error, setError] = useState<unknown>();
  const stale = log?.stale;
  // Whoever could not be asked is asked again when the line is there again.
  const connected = useShown((shown) => shown.connection === "live");
  useEffect(() => {
    setError(undefined);
    store.look(task.id).catch(setError);
  }, [task.id, stale, connected]);
  // Asked here, so that whoever hears of it has the events already.
  const there = useReached(task.id, at);
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
      <Scroll key={task.id} task={task} at={at} there={there} talk={talk} hasMore={log?.hasMore ?? false} asking={asking} loaded={log !== undefined && log.through >= 0} />
      <OpenNeeds task={task} />
      <Composer key={`composer-${task.id}`} task={task} waiting={talk.waiting} />
    </div>
  );
}

interface ScrollProps {
  task: TaskView;
  /** The commit that is meant, when a link names one. */
  at: number | undefined;
  /** Whether its events are loaded. */
  there: boolean;
  talk: ReturnType<typeof conversation>;
  hasMore: boolean;
  asking: boolean;
  loaded: boolean;
}

function Scroll({ task, at, there, talk, hasMore, asking, loaded }: ScrollProps) {
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
    // Whoever looks at a place stays there, whatever is said meanwhile.
    anchorTo: at === undefined ? "end" : "start",
    followOnAppend: at === undefined,
    scrollEndThreshold: 48,
    getItemKey: keyOf,
  });
  const [away, setAway] = useState(false);
  const toEnd = useCallback(() => virtual.scrollToEnd(), [virtual]);
  useEffect(() => {
    if (loaded && at === undefined) toEnd();
  }, [loaded, at, toEnd]);
  const meant = useMeant({ at: there ? at : undefined, items, show: (index) => virtual.scrollToIndex(index, { align: "center" }) });
  const size = virtual.getTotalSize();
  const wasAway = useRef(false);
  wasAway.current = away || at !== undefined;
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
              <div key={row.key} data-index={row.index} ref={virtual.measureElement} className={`chat-row ${forgotten ? "is-forgotten" : ""} ${(found ?? meant) === row.index ? "is-found" : ""}`} style={{ transform: `translateY(${row.start}px)` }}>
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
      {(away || at !== undefined) && (
        <Button
          className="follow"
          size="small"
          icon="down"
          onClick={() => {
            const route = { view: "task", project: store.get().projectId ?? "", task: task.id, tab: "chat" } as const;
            // Without a place in the address, the end is what is shown.
            if (at !== undefined) go(route, "correct");
            else toEnd();
          }}
        >
          Follow
        </Button>
      )}
      <IconButton className="chat-search-button" icon="search" label="Search this conversation (Ctrl F)" onClick={() => setSearching(true)} />
    </div>
  );
}

/** Fetches the place that a link means, from however far back; whether it is there. */
function useReached(task: Id, at: number | undefined): boolean {
  const [reached, setReached] = useState<number | undefined>();
  useEffect(() => {
    if (at === undefined) return;
    let current = true;
    store.reach(task, at).then(
      (there) => {
        if (current && there) setReached(at);
        else if (current) complain(new Error("That place is too far back to be shown."));
      },
      () => {},
    );
    return () => {
      current = false;
    };
  }, [task, at]);
  return at !== undefined && reached === at;
}

interface Meant {
  at: number | undefined;
  items: readonly Item[];
  show: (index: number) => void;
}

/** The row that a link means, opened and shown once. */
function useMeant({ at, items, show }: Meant): number | undefined {
  const index = at === undefined ? undefined : indexAt(items, at);
  const shown = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (at === undefined) shown.current = undefined;
    if (index === undefined || shown.current === at) return;
    shown.current = at;
    const item = items[index];
    if (item !== undefined) setOpen(item.key, true);
    show(index);
  }, [index, at, items, show]);
  return index;
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
