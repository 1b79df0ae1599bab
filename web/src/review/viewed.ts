// Which files of a task somebody has looked at, in the state in which they saw them.
import type { DiffFile, Id } from "../api/types.ts";
import { forget, keep, kept } from "../shell/theme.ts";

const key = (task: Id): string => `mxd.viewed.${task}`;

/** A short fingerprint of a file's changes: another change makes the file unseen again. */
export function fingerprint(file: DiffFile): string {
  let hash = 2166136261;
  for (const char of `${file.status} ${file.patch ?? `${file.additions} ${file.deletions}`}`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619);
  return (hash >>> 0).toString(36);
}

export type Viewed = Readonly<Record<string, string>>;

export function viewedOf(task: Id): Viewed {
  try {
    const list: unknown = JSON.parse(kept(key(task)) ?? "{}");
    return typeof list === "object" && list !== null ? (list as Viewed) : {};
  } catch {
    return {};
  }
}

export function keepViewed(task: Id, viewed: Viewed): void {
  if (Object.keys(viewed).length === 0) forget(key(task));
  else keep(key(task), JSON.stringify(viewed));
}

export function isViewed(viewed: Viewed, file: DiffFile): boolean {
  return viewed[file.path] === fingerprint(file);
}
