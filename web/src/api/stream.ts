// The stream of a project: connects, reconnects with the last cursor, and says how it stands.
import { path } from "./client.ts";
import type { CommitMessage, DeltaMessage, SnapshotMessage } from "./types.ts";
import type { Message } from "../state/reduce.ts";

export type Connection = "connecting" | "live" | "lost" | "expired";

export interface StreamSink {
  take(message: Message): void;
  connection(now: Connection): void;
  /** The newest cursor, to go on from. */
  cursor(): string | undefined;
}

/** No event for so long, not even a heartbeat, means that the line is dead although nobody said so. */
const SILENCE_MS = 40_000;
const FIRST_PAUSE_MS = 500;
/** The daemon is on this machine or near it: asking often costs nothing, and a restart takes a second or two. */
const LONGEST_PAUSE_MS = 2_000;

export interface Following {
  stop(): void;
  /** Connects at once instead of after the pause. */
  tryNow(): void;
}

/** Follows a project until it is stopped. */
export function follow(projectId: string, sink: StreamSink): Following {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let pause = FIRST_PAUSE_MS;
  let closed = false;

  const listen = (): void => {
    clearTimeout(silence);
    silence = setTimeout(again, SILENCE_MS);
  };

  const again = (): void => {
    source?.close();
    clearTimeout(silence);
    clearTimeout(timer);
    if (closed) return;
    sink.connection("lost");
    timer = setTimeout(connect, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  };

  const connect = (): void => {
    const cursor = sink.cursor();
    const from = cursor === undefined ? "" : path`&lastEventId=${cursor}`;
    const opened = new EventSource(path`/events?projectId=${projectId}` + from, { withCredentials: true });
    source = opened;
    const hear = <T>(name: string, take: (data: T, id: string) => void): void => {
      opened.addEventListener(name, (event) => {
        if (source !== opened) return;
        listen();
        pause = FIRST_PAUSE_MS;
        sink.connection("live");
        const message = event as MessageEvent<string>;
        take((message.data === "" ? {} : JSON.parse(message.data)) as T, message.lastEventId);
      });
    };
    hear<SnapshotMessage>("snapshot", (data) => sink.take({ kind: "snapshot", data }));
    hear<CommitMessage>("commit", (data, id) =>
      sink.take({ kind: "commit", cursor: id === "" ? undefined : id, data }),
    );
    hear<DeltaMessage>("delta", (data) => sink.take({ kind: "delta", data }));
    hear("heartbeat", () => {});
    opened.addEventListener("auth_expired", () => {
      stop();
      sink.connection("expired");
    });
    // The browser would try again by itself, but without the cursor of a snapshot, which has no id.
    opened.onerror = again;
    listen();
  };

  const wake = (): void => {
    if (closed || source?.readyState === EventSource.OPEN) return;
    pause = FIRST_PAUSE_MS;
    clearTimeout(timer);
    source?.close();
    connect();
  };

  const stop = (): void => {
    closed = true;
    source?.close();
    clearTimeout(timer);
    clearTimeout(silence);
    window.removeEventListener("online", wake);
    document.removeEventListener("visibilitychange", whenSeen);
  };

  const whenSeen = (): void => {
    if (document.visibilityState === "visible") wake();
  };

  window.addEventListener("online", wake);
  document.addEventListener("visibilitychange", whenSeen);
  sink.connection("connecting");
  connect();
  return { stop, tryNow: wake };
}
