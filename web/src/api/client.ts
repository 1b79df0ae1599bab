// Asking the daemon: one function per verb, errors that say what to do.
import type { ApiErrorBody } from "./types.ts";

/** A refusal or a failure, as the daemon words it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(status: number, body: ApiErrorBody) {
    super(body.message);
    this.name = "ApiError";
    this.status = status;
    this.code = body.code;
    this.hint = body.hint;
  }
}

/** Told when a request says that nobody is logged in. */
let onUnauthenticated: () => void = () => {};

export function whenUnauthenticated(told: () => void): void {
  onUnauthenticated = told;
}

/** How far the daemon's clock is ahead of the browser's; its answers say what time it is there. */
let clockOffset = 0;
/** The header counts whole seconds, and answers take a moment. */
const CLOCK_TOLERANCE_MS = 2_000;

export function daemonNow(): number {
  return Date.now() + clockOffset;
}

function readClock(date: string | null): void {
  const offset = Date.parse(date ?? "") - Date.now();
  if (Number.isFinite(offset)) clockOffset = Math.abs(offset) > CLOCK_TOLERANCE_MS ? offset : 0;
}

type Verb = "GET" | "POST" | "PATCH" | "DELETE";

async function ask<T>(verb: Verb, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method: verb, credentials: "same-origin", headers: { accept: "application/json" } };
  if (body !== undefined) {
    init.headers = { ...init.headers, "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new ApiError(0, {
      code: "unreachable",
      message: "The daemon does not answer.",
      hint: "Check it with `mxd status`. The page reconnects by itself.",
    });
  }
  readClock(response.headers.get("date"));
  if (response.ok) return (await readJson(response)) as T;
  const error = errorOf(response.status, await readJson(response));
  if (response.status === 401) onUnauthenticated();
  throw error;
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorOf(status: number, body: unknown): ApiError {
  const error = (body as { error?: Partial<ApiErrorBody> } | undefined)?.error;
  if (typeof error?.message === "string") {
    return new ApiError(status, { code: error.code ?? "error", message: error.message, ...hintOf(error.hint) });
  }
  return new ApiError(status, { code: "error", message: `The daemon answered with status ${status}.` });
}

function hintOf(hint: unknown): { hint?: string } {
  return typeof hint === "string" ? { hint } : {};
}

export const api = {
  get: <T>(path: string): Promise<T> => ask<T>("GET", path),
  post: <T>(path: string, body: unknown = {}): Promise<T> => ask<T>("POST", path, body),
  patch: <T>(path: string, body: unknown): Promise<T> => ask<T>("PATCH", path, body),
  delete: <T>(path: string): Promise<T> => ask<T>("DELETE", path),
};

/** Puts a path together; every part is escaped. */
export function path(strings: TemplateStringsArray, ...parts: (string | number)[]): string {
  return strings.reduce((text, piece, index) => {
    const part = parts[index];
    return text + piece + (part === undefined ? "" : encodeURIComponent(String(part)));
  }, "");
}
