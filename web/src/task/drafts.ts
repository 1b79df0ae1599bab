// What was written and not sent: kept per task, also over a reload.
import type { Id } from "../api/types.ts";
import { forget, keep, kept } from "../shell/theme.ts";

const key = (task: Id): string => `mxd.draft.${task}`;

export function draftOf(task: Id): string {
  return kept(key(task)) ?? "";
}

export function keepDraft(task: Id, text: string): void {
  if (text === "") forget(key(task));
  else keep(key(task), text);
}

/** A picture that goes with the next message. */
export interface Picture {
  readonly name: string;
  readonly mediaType: string;
  readonly base64: string;
}

/** Too large for the storage of a browser: kept only while the page is open. */
const pictures = new Map<Id, readonly Picture[]>();
const NO_PICTURES: readonly Picture[] = [];

export function picturesOf(task: Id): readonly Picture[] {
  return pictures.get(task) ?? NO_PICTURES;
}

export function keepPictures(task: Id, list: readonly Picture[]): void {
  if (list.length === 0) pictures.delete(task);
  else pictures.set(task, list);
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A new id for a message: sent twice, it is still one message. */
export function messageId(now: number = Date.now()): Id {
  let time = "";
  for (let i = 0, rest = now; i < 10; i += 1, rest = Math.floor(rest / 32)) time = (ALPHABET[rest % 32] ?? "0") + time;
  const random = crypto.getRandomValues(new Uint8Array(16));
  return time + [...random].map((byte) => ALPHABET[byte % 32]).join("");
}
