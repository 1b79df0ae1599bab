// Types of the list of views for tests in TypeScript.
import type { Page } from "@playwright/test";
import type { FakeDaemon } from "./daemon.mjs";

export interface ListedView {
  name: string;
  path: string;
  ready: string;
  locked?: boolean;
  act?: (page: Page, daemon: FakeDaemon) => Promise<void>;
}

export function views(ids: Record<string, string>, project: string): ListedView[];
