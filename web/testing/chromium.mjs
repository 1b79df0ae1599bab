// Finds a Chromium, or installs one with the package client of the system, and says what it does.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/usr/bin/google-chrome-stable", "/snap/bin/chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];

const say = (text) => process.stderr.write(`chromium: ${text}\n`);

function found() {
  const named = process.env.MXD_CHROMIUM;
  if (named !== undefined && named !== "") {
    if (!existsSync(named)) throw new Error(`MXD_CHROMIUM names ${named}, which is not there.`);
    return named;
  }
  return [ofPlaywright(), ...PLACES].find((place) => place !== "" && existsSync(place));
}

/** Where Playwright keeps its own, once it is installed itself. */
function ofPlaywright() {
  try {
    return createRequire(import.meta.url)("@playwright/test").chromium.executablePath();
  } catch {
    return "";
  }
}

function run(command, args) {
  say(`${command} ${args.join(" ")}`);
  return spawnSync(command, args, { stdio: ["ignore", "ignore", "inherit"] }).status === 0;
}

/** The path of a Chromium that can be started. */
export function chromium() {
  const there = found();
  if (there !== undefined) return there;
  say("none found; installing one");
  const root = process.getuid?.() === 0;
  const installed = run("npx", ["--no-install", "playwright", "install", "chromium"]) || (root && run("apt-get", ["install", "-y", "--no-install-recommends", "chromium"]));
  const now = installed ? found() : undefined;
  if (now === undefined) throw new Error("There is no Chromium. Install one with your package manager, or set MXD_CHROMIUM to its path.");
  return now;
}

/** What a browser is started with: root has no sandbox of its own in a container. */
export function launchOptions() {
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return { executablePath: chromium(), args: [...args, "--font-render-hinting=none"] };
}
