// The settings that can be changed on the page: what they mean, and who may say them.

import type { Origin } from "../api/types.ts";
import { count, duration, usd } from "../text/format.ts";

export type Kind = "text" | "number" | "flag" | "list" | "choice" | "json";
export type Layer = "global" | "repo" | "local";

export interface Setting {
  readonly path: string;
  readonly name: string;
  readonly says: string;
  readonly kind: Kind;
  readonly choices?: readonly string[];
  /** What a number counts, where that is not plain. */
  readonly unit?: "ms" | "usd" | "tokens";
  /** Whether a repository may say it: not where it could widen what agents may do. */
  readonly repo: boolean;
}

export interface SettingGroup {
  readonly title: string;
  readonly settings: readonly Setting[];
}

export const LAYER_NAMES: Readonly<Record<Layer, string>> = {
  global: "Everywhere",
  repo: "In the repository",
  local: "This project, only here",
};

/** How the daemon names where a value comes from. */
export const ORIGIN_NAMES: Readonly<Record<string, string>> = {
  user: "everywhere",
  repository: "repository",
  project: "this project",
  default: "default",
};

export const GENERAL: readonly SettingGroup[] = [
  {
    title: "Money and limits",
    settings: [
      { path: "budgetUsd", name: "Budget", says: "Dollars that the whole project may spend.", kind: "number", unit: "usd", repo: true },
      { path: "limits.agents", name: "Agents at once", says: "More than these wait for their turn.", kind: "number", repo: true },
      { path: "limits.turns", name: "Turns of one agent", says: "Then it rests and you are told.", kind: "number", repo: true },
      { path: "limits.wallTimeMs", name: "Time of one agent", says: "Milliseconds of work at most.", kind: "number", unit: "ms", repo: true },
      { path: "limits.tokens", name: "Tokens of one agent", says: "Read and written, together.", kind: "number", unit: "tokens", repo: true },
      { path: "maxDepth", name: "Depth of the tree", says: "How far tasks may split themselves.", kind: "number", repo: true },
    ],
  },
  {
    title: "Work",
    settings: [
      { path: "checks", name: "Checks", says: "Commands that have to succeed before a task is passed, one per line.", kind: "list", repo: true },
      { path: "include", name: "Untracked files to copy", says: "Ignored files that a new worktree gets, one pattern per line.", kind: "list", repo: true },
      { path: "clarifyTimeoutMs", name: "Question timeout", says: "Milliseconds after which a question closes unanswered.", kind: "number", unit: "ms", repo: false },
      { path: "compaction.bufferRatio", name: "Context kept free before compaction", says: "Share of the context that stays free.", kind: "number", repo: false },
    ],
  },
  {
    title: "Sandbox",
    settings: [
      { path: "sandbox.mode", name: "Sandbox", says: "Keeps commands of agents away from the rest of your machine; on takes the strongest level there is here.", kind: "choice", choices: ["on", "full", "landlock", "off"], repo: false },
      { path: "sandbox.network.allow", name: "Hosts that may be reached", says: "One per line.", kind: "list", repo: false },
      { path: "sandbox.network.deny", name: "Hosts that may never be reached", says: "One per line; these win.", kind: "list", repo: true },
      { path: "sandbox.read", name: "Folders that may be read", says: "Beside the worktree, one per line.", kind: "list", repo: false },
      { path: "sandbox.write", name: "Folders that may be written", says: "Beside the worktree, one per line.", kind: "list", repo: false },
      { path: "sandbox.memoryMb", name: "Memory of a command", says: "Megabytes at most.", kind: "number", repo: false },
    ],
  },
  {
    title: "Daemon",
    settings: [
      { path: "host", name: "Address", says: "Where it listens, from its next start on.", kind: "text", repo: false },
      { path: "port", name: "Port", says: "From its next start on.", kind: "number", repo: false },
      { path: "auth.sessionDays", name: "Days a login lasts", says: "Then one logs in again.", kind: "number", repo: false },
      { path: "sessionKeep", name: "Conversations kept", says: "Of tasks that come back.", kind: "number", repo: false },
    ],
  },
];

export const MODELS: readonly Setting[] = [
  { path: "defaultAuth", name: "Credentials of the root", says: "Which group the first agent uses.", kind: "text", repo: false },
  { path: "model", name: "Model of the root", says: "For the first agent.", kind: "text", repo: false },
  { path: "childAuth", name: "Sub-agent provider", says: "The root's unless set.", kind: "text", repo: false },
  { path: "childModel", name: "Sub-agent model", says: "The root's unless set.", kind: "text", repo: false },
  { path: "effort", name: "Reasoning effort", says: "How much the models reason before they answer.", kind: "choice", choices: ["low", "medium", "high", "xhigh", "max"], repo: false },
];

/** The value at a path such as `limits.agents`. */
export function valueAt(document: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, part) => (typeof value === "object" && value !== null ? (value as Record<string, unknown>)[part] : undefined), document);
}

/** A document that says one thing: what the daemon merges into a layer; `null` takes the value out of it. */
export function patchOf(path: string, value: unknown): Record<string, unknown> {
  return path.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as Record<string, unknown>;
}

/** The layer a value comes from: its own, or that of the nearest group above it. */
export function originOf(origins: Readonly<Record<string, Origin>>, path: string): string {
  const parts = path.split(".");
  for (let end = parts.length; end > 0; end -= 1) {
    const origin = origins[parts.slice(0, end).join(".")];
    if (origin !== undefined) return origin.from === "file" ? origin.layer : "default";
  }
  return "default";
}

/** What was typed, as a value; or why it is none. */
export function readValue(setting: Setting, text: string): { value: unknown } | { problem: string } {
  switch (setting.kind) {
    case "number": {
      const value = Number(text.trim());
      return text.trim() === "" || !Number.isFinite(value) || value < 0 ? { problem: "Write a number that is not negative." } : { value };
    }
    case "list":
      return { value: text.split("\n").map((line) => line.trim()).filter((line) => line !== "") };
    case "flag":
      return { value: text === "true" };
    case "json":
      try {
        return { value: JSON.parse(text) };
      } catch (error) {
        return { problem: error instanceof Error ? error.message : "That is no JSON." };
      }
    case "text":
    case "choice":
      return text.trim() === "" ? { problem: "Write something, or inherit." } : { value: text.trim() };
  }
}

export function showValue(value: unknown, unit?: Setting["unit"]): string {
  if (typeof value === "number" && unit !== undefined) return { ms: duration, usd, tokens: count }[unit](value);
  if (value === undefined || value === null) return "not set";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("\n");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
