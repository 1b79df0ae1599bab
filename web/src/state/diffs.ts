// How much tasks have changed, asked for one task at a time and only for those that somebody sees.
import { useEffect, useSyncExternalStore } from "react";
import { api, path } from "../api/client.ts";
import type { DiffView, Id, TaskView } from "../api/types.ts";
import { isWorking } from "./select.ts";
import { store } from "./store.ts";

export interface DiffStat {
  readonly files: number;
  readonly additions: number;
  readonly deletions: number;
}

const MOST = 2_000;
/** Between two questions, so that a long tree costs the daemon next to nothing. */
const PAUSE_MS = 250;

const known = new Map<Id, { version: string; stat: DiffStat | undefined }>();
const wanted = new Map<Id, string>();
const readers = new Set<() => void>();
let asking = false;

export function statOf(diff: DiffView): DiffStat {
  const sum = (pick: (file: DiffView["files"][number]) => number): number => diff.files.reduce((total, file) => total + pick(file), 0);
  return { files: diff.files.length, additions: sum((file) => file.additions), deletions: sum((file) => file.deletions) };
}

/** A new turn or another status may have changed files; while an agent works, the old number stands. */
function versionOf(task: TaskView): string {
  return `${task.life?.turns ?? 0}.${task.status}`;
}

async function next(): Promise<void> {
  const [entry] = wanted;
  const project = store.get().projectId;
  if (asking || entry === undefined || project === undefined) return;
  asking = true;
  const [id, version] = entry;
  wanted.delete(id);
  // A task without a worktree has nothing to compare: that is no error of anybody.
  const diff = await api.get<DiffView>(path`/projects/${project}/tasks/${id}/diff`).catch(() => undefined);
  if (known.size > MOST) known.clear();
  known.set(id, { version, stat: diff === undefined ? undefined : statOf(diff) });
  for (const reader of readers) reader();
  setTimeout(() => {
    asking = false;
    void next();
  }, PAUSE_MS);
}

export function useDiffStat(task: TaskView): DiffStat | undefined {
  const version = versionOf(task);
  // What the daemon counted needs no second look at the repository.
  const ask = task.diff === undefined && task.worktreePath !== undefined && task.parentId !== undefined && !isWorking(task) && known.get(task.id)?.version !== version;
  useEffect(() => {
    if (!ask) return;
    wanted.set(task.id, version);
    void next();
    return () => {
      wanted.delete(task.id);
    };
  }, [ask, task.id, version]);
  const asked = useSyncExternalStore(
    (reader) => {
      readers.add(reader);
      return () => readers.delete(reader);
    },
    () => known.get(task.id)?.stat,
  );
  return task.diff ?? asked;
}
