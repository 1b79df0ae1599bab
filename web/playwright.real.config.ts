// Tests in a browser against the real daemon: `cargo build --package mxd --package rehearse`, then `npm run e2e:real`.
import { defineConfig } from "@playwright/test";
import common from "./playwright.config.ts";

export default defineConfig({ ...common, testDir: "tests/real", workers: 1, expect: { timeout: 60_000 } });
