// Asking the daemon for something that a view shows, with its waiting and its failing.
import { useCallback, useEffect, useRef, useState } from "react";
import { api, daemonNow } from "../api/client.ts";

export interface Asked<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly asking: boolean;
  again(): void;
}

/** Asks at once and whenever `path` or `version` changes; the last answer stays until the next one is there. */
export function useAsk<T>(path: string | undefined, version: unknown = 0): Asked<T> {
  const [answer, setAnswer] = useState<{ path: string; value: T | undefined; error: unknown } | undefined>();
  const [asking, setAsking] = useState(false);
  const turn = useRef(0);
  const ask = useCallback(() => {
    if (path === undefined) return;
    turn.current += 1;
    const mine = turn.current;
    setAsking(true);
    api.get<T>(path).then(
      (value) => {
        if (mine === turn.current) setAnswer({ path, value, error: undefined });
      },
      (error: unknown) => {
        if (mine === turn.current) setAnswer((old) => ({ path, value: old?.path === path ? old.value : undefined, error }));
      },
    ).finally(() => {
      if (mine === turn.current) setAsking(false);
    });
  }, [path]);
  useEffect(ask, [ask, version]);
  const mine = answer?.path === path ? answer : undefined;
  return { value: mine?.value, error: mine?.error, asking, again: ask };
}

/** The time, refreshed often enough for what is shown in minutes. */
export function useNow(everyMs = 30_000): number {
  const [now, setNow] = useState(daemonNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(daemonNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
