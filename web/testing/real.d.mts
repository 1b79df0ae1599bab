// Types of the real daemon's handle for tests in TypeScript.
export interface Story {
  rehearse: object;
  settings?: object;
  /** No model is configured, and the repository has no set-up script. */
  bare?: boolean;
}

export class RealDaemon {
  constructor(script: Story);
  readonly repository: string;
  readonly model: string;
  readonly contact: { readonly address: string; readonly token: string };
  start(): Promise<string>;
  kill(): Promise<void>;
  again(): Promise<void>;
  api<T>(method: string, path: string, body?: unknown): Promise<T>;
  run(command: string): string;
  end(): Promise<void>;
}
