// Types for the configuration of the tests.
export function chromium(): string;
export function launchOptions(): { executablePath: string; args: string[] };
