// Types of the answers that tests use.
import type { ReadinessView } from "../src/api/schema.ts";

export function readiness(): ReadinessView;
export function bareReadiness(): ReadinessView;
