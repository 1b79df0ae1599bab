// Types of the small daemon for tests in TypeScript.
import type { ReadinessView } from "../src/api/schema.ts";
import type { World } from "./fixture.mjs";

export interface SeenRequest {
  method: string;
  path: string;
  body: Record<string, unknown>;
}

export class FakeDaemon {
  constructor(options: { world: World; auth?: boolean });
  readonly world: World;
  readonly requests: SeenRequest[];
  readonly tickets: Set<string>;
  readiness: ReadinessView;
  clock(): number;
  listen(port?: number): Promise<string>;
  close(): Promise<void>;
  restart(): Promise<void>;
  commit(events: Record<string, unknown>[], changed?: string[], removed?: string[], needs?: boolean): void;
  delta(data: Record<string, unknown>): void;
  grant(publicKey: string): string;
}

export const POLICY: string;
