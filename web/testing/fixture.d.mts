// Types of the fixture for tests in TypeScript.
import type { DiffView, EventView, Id, Needs, TaskView } from "../src/api/types.ts";

export interface World {
  tasks: Map<Id, TaskView>;
  events: EventView[];
  seq: number;
  needs: Needs;
  rootId: Id | undefined;
  diffs: Map<Id, DiffView>;
  ids: Record<string, Id>;
}

export const NOW: number;
export const PROJECT: Id;
export function ulid(number: number): Id;
export function demo(): World;
export function large(tasks: number, rows: number): World;
