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

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A new id for a message: sent twice, it is still one message. */
export function messageId(now: number = Date.now()): Id {
  let time = "";
  for (let i = 0, rest = now; i < 10; i += 1, rest = Math.floor(rest / 32)) time = (ALPHABET[rest % 32] ?? "0") + time;
  const random = crypto.getRandomValues(new Uint8Array(16));
  return time + [...random].map((byte) => ALPHABET[byte % 32]).join("");
}
