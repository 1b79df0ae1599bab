// Types of the list of views for tests in TypeScript.
import type { Page } from "@playwright/test";
import type { FakeDaemon } from "./daemon.mjs";

export interface View {
  name: string;
  path: string;
  ready: string;
  locked?: boolean;
  /** Changes the daemon before the view is opened, and back afterwards. */
  before?: (daemon: FakeDaemon) => void;
  after?: (daemon: FakeDaemon) => void;
  act?: (page: Page, daemon?: FakeDaemon) => Promise<unknown>;
}

export function views(ids: Record<string, string>, project: string): View[];
