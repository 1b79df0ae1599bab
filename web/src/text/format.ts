// Numbers, moments and names as people read them.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An amount of money: cents from a dollar on, more digits below. */
export function usd(amount: number): string {
  if (amount === 0) return "$0";
  if (amount < 0.01) return `$${amount.toFixed(4)}`;
  if (amount < 1) return `$${amount.toFixed(3).replace(/0$/, "")}`;
  return `$${amount.toFixed(2)}`;
}

/** A count of tokens: 950, 12.4k, 1.2M. */
export function count(number: number): string {
  if (number < 1_000) return String(Math.round(number));
  if (number < 999_500) return `${short(number / 1_000)}k`;
  return `${short(number / 1_000_000)}M`;
}

function short(number: number): string {
  return number < 100 ? number.toFixed(1).replace(/\.0$/, "") : String(Math.round(number));
}

/** How long something took or has been going on. */
export function duration(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms <= DAY) return `${Math.floor(ms / HOUR)} h${ms % HOUR < MINUTE ? "" : ` ${Math.floor((ms % HOUR) / MINUTE)} min`}`;
  return `${Math.floor(ms / DAY)} d`;
}

/** How long ago, coarse enough not to change while one looks. */
export function ago(at: number, now: number): string {
  const ms = now - at;
  if (ms < MINUTE) return "now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h`;
  return `${Math.floor(ms / DAY)}d`;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const DAY_AND_CLOCK = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

export function clock(at: number): string {
  return CLOCK.format(at);
}

export function moment(at: number): string {
  return WHOLE.format(at);
}

export function day(at: number): string {
  return DAY_AND_CLOCK.format(at);
}

/** A size in bytes. */
export function bytes(number: number): string {
  if (number < 1024) return `${number} B`;
  if (number < 1024 * 1024) return `${(number / 1024).toFixed(0)} KB`;
  return `${(number / 1024 / 1024).toFixed(1)} MB`;
}

/** `1 task`, `2 tasks`. */
export function many(number: number, one: string, more: string = `${one}s`): string {
  return `${number} ${number === 1 ? one : more}`;
}

/** A name of the wire (`in_progress`) as a word. */
export function word(name: string): string {
  return name.replaceAll("_", " ");
}

/** A branch without the id of its task, which says nothing to people: `count-the-boats`. */
export function branchName(branch: string): string {
  return branch.replace(/^mxd\/[0-9A-Z]{26}\//, "");
}
