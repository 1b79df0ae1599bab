// Changing a layer of the settings, and what has to be done so that it holds.
import { api, path } from "../api/client.ts";
import type * as S from "../api/schema.ts";
import type { Id } from "../api/types.ts";
import { confirm } from "../shell/dialogs.tsx";
import { attempt, complain, say } from "../shell/toasts.tsx";
import type { Layer } from "./keys.ts";

export function layerPath(project: Id, layer: Layer): string {
  if (layer === "global") return "/config/global";
  return path`/projects/${project}/config` + (layer === "repo" ? "/repo" : "");
}

/** Merges a document into a layer; tells whether it worked. */
export async function write(where: string, document: unknown): Promise<boolean> {
  try {
    const changed = await api.patch<S.Changed>(where, document);
    if (changed.restartNeeded.length > 0) void offerRestart(changed.restartNeeded);
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

async function offerRestart(projects: readonly Id[]): Promise<void> {
  const yes = await confirm({
    title: "Agents are at work",
    says: "The setting is saved. A project in which agents work goes on with the old settings until it is restarted.",
    does: ["Restarting breaks off what runs; agents take it up again by themselves."],
    leaves: ["Nothing that was acknowledged is lost."],
    action: "Restart now",
  });
  if (!yes) return;
  const restarted = await Promise.all(projects.map((project) => attempt(api.post(path`/projects/${project}/restart`))));
  if (restarted.every(Boolean)) say("The new settings hold.");
}
