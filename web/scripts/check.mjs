// What has to hold before a commit: types, house rules, and the size of what is sent to a browser.
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { isFresh } from "./types.mjs";

const WEB = fileURLToPath(new URL("..", import.meta.url));
const MOST_LINES = 600;
const MOST_BYTES = 300 * 1024;
/** Written in parts, so that this file does not find itself. */
const FORBIDDEN = [
  ["dangerously" + "SetInnerHTML", "show text as text"],
  ["inner" + "HTML", "show text as text"],
  ["TO" + "DO", "do it now"],
  ["FIX" + "ME", "do it now"],
  ["@ts-" + "ignore", "say what the type is"],
  ["as " + "any", "say what the type is"],
  ["console" + ".log", "tell the user, or nobody"],
  ["test" + ".only", "run them all"],
  ["test" + ".skip", "make it pass, or remove it"],
];

const problems = [];

function files(folder) {
  return readdirSync(join(WEB, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : [path];
  });
}

function checkSources() {
  const sources = [...files("src"), ...files("testing"), ...files("tests"), ...files("scripts"), ...files("public")].filter((path) => /\.(m?js|m?ts|tsx|css)$/.test(path));
  for (const path of sources) {
    const text = readFileSync(join(WEB, path), "utf8");
    const lines = text.split("\n");
    const isGenerated = /generated/.test(lines[0] ?? "");
    if (lines.length > MOST_LINES && !isGenerated) problems.push(`${path}: ${lines.length} lines, at most ${MOST_LINES}: split it by subject`);
    if (!/^(\/\/|\/\*) [A-Z]/.test(lines[0] ?? "")) problems.push(`${path}: its first line has to say what it is about`);
    if (!text.endsWith("\n")) problems.push(`${path}: does not end with a newline`);
    lines.forEach((line, index) => {
      if (/\s$/.test(line)) problems.push(`${path}:${index + 1}: white space at the end of the line`);
      if (path.startsWith("scripts")) return;
      for (const [word, remedy] of FORBIDDEN) if (line.includes(word)) problems.push(`${path}:${index + 1}: \`${word}\`: ${remedy}`);
    });
  }
}

function checkSize() {
  const dist = join(WEB, "dist");
  if (!statSync(dist, { throwIfNoEntry: false })?.isDirectory()) {
    problems.push("dist is not there: run `npm run build` first");
    return;
  }
  const scripts = files("dist").filter((path) => path.endsWith(".js"));
  const bytes = scripts.reduce((sum, path) => sum + gzipSync(readFileSync(join(WEB, path)), { level: 9 }).length, 0);
  process.stdout.write(`JavaScript, gzipped: ${(bytes / 1024).toFixed(1)} KB of ${MOST_BYTES / 1024} KB\n`);
  if (bytes > MOST_BYTES) problems.push(`the page has ${bytes} bytes of JavaScript, gzipped; at most ${MOST_BYTES}`);
  const html = readFileSync(join(dist, "index.html"), "utf8");
  if (/<script(?![^>]*\ssrc=)[^>]*>/.test(html) || /\sstyle=|<style/.test(html)) problems.push("dist/index.html has inline script or style, which its policy forbids");
  if (/(?:src|href)="(?:https?:)?\/\//.test(html)) problems.push("dist/index.html fetches something from elsewhere");
}

checkSources();
if (!isFresh()) problems.push("src/api/schema.ts is not what docs/openapi.json says: run `npm run types`");
const types = spawnSync(process.execPath, [join(WEB, "node_modules/typescript/bin/tsc"), "--noEmit"], { cwd: WEB, stdio: "inherit" });
if (types.status !== 0) problems.push("types do not fit (see above)");
checkSize();
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);
