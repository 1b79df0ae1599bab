// Types of the corpus for tests in TypeScript.
import type { World } from "./fixture.mjs";

export const ATTACKS: readonly string[];
export function poison(world: World): World;
