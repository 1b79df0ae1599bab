// How the page is built: hashed files below /web/, no inline script, nothing fetched from elsewhere.
import { defineConfig } from "vite";

export default defineConfig({
  base: "/web/",
  publicDir: "public",
  build: {
    outDir: "dist",
    assetsDir: "assets",
    target: "es2022",
    // The first versions with light-dark(), which the two themes are made of.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    sourcemap: false,
    // A small picture inlined as a data: URL would ask for a wider policy than the page has.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  test: { include: ["tests/unit/**/*.test.{ts,tsx}"], environment: "node" },
} as Parameters<typeof defineConfig>[0]);
