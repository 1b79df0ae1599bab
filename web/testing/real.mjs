// The real daemon with a scripted model, in a folder of its own: started, killed, started again, and ended.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as ask } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const TARGET = fileURLToPath(new URL("../../target/debug/", import.meta.url));
const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** A program of this repository; `MXD_TARGET` names another folder of builds. */
function program(name) {
  const path = join(process.env.MXD_TARGET ?? TARGET, name);
  if (!existsSync(path)) throw new Error(`${path} is not there: \`cargo build --package ${name}\` makes it.`);
  return path;
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function until(what, look, patience = 60_000) {
  const end = Date.now() + patience;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`${what} is not there in time.`);
    await pause(50);
  }
}

export class RealDaemon {
  /** `script` is what the model says, in the form that rehearse reads. */
  constructor(script) {
    this.folder = mkdtempSync(join(tmpdir(), "mxd-page-"));
    this.data = join(this.folder, "data");
    this.repository = join(this.folder, "boats");
    this.script = script;
  }

  async start() {
    this.makeRepository();
    await this.startModel();
    mkdirSync(this.data, { mode: 0o700 });
    if (this.script.bare === true) return this.serve();
    const group = { provider: "anthropic", anthropicBaseUrl: this.model, anthropicApiKey: "$env:MXD_TEST_KEY" };
    writeFileSync(join(this.data, "config.json"), JSON.stringify({ authGroups: { test: group }, defaultAuth: "test", ...this.script.settings }), { mode: 0o600 });
    return this.serve();
  }

  async serve() {
    await this.startDaemon(0);
    await this.startFront();
    return this.front;
  }

  makeRepository() {
    mkdirSync(this.repository);
    writeFileSync(join(this.repository, "boats.txt"), "one\ntwo\n");
    if (this.script.bare !== true) {
      mkdirSync(join(this.repository, ".mxd/hooks"), { recursive: true });
      writeFileSync(join(this.repository, ".mxd/hooks/setup_worktree.sh"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    }
    const git = (...args) => execFileSync("git", ["-C", this.repository, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], { stdio: "ignore" });
    git("init", "-q", "-b", "main");
    git("config", "user.name", "Ada");
    git("config", "user.email", "ada@example.org");
    git("add", "-A");
    git("commit", "-q", "-m", "boats");
  }

  async startModel() {
    const file = join(this.folder, "script.json");
    writeFileSync(file, JSON.stringify(this.script.rehearse));
    this.rehearse = spawn(program("rehearse"), ["serve", file, "--port", "0"], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    this.rehearse.stdout.on("data", (text) => (said += text));
    this.rehearse.stderr.on("data", (text) => (said += text));
    await until("The scripted model", () => (said.includes("ready") ? true : undefined));
    this.model = /anthropic (\S+)/.exec(said)[1];
  }

  async startDaemon(port) {
    const env = { ...process.env, MXD_DATA_DIR: this.data, MXD_TEST_KEY: "any key does", MXD_LOG: "warn" };
    this.process = spawn(program("mxd"), ["serve", "--port", String(port)], { env, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    this.process.stderr.on("data", (text) => (said = (said + text).slice(-8_000)));
    const { pid } = this.process;
    this.contact = await until(`The daemon`, async () => {
      if (this.process.exitCode !== null) throw new Error(`The daemon has ended: ${said}`);
      const file = join(this.data, "daemon.json");
      if (!existsSync(file)) return undefined;
      const contact = JSON.parse(readFileSync(file, "utf8"));
      if (contact.pid !== pid) return undefined;
      const health = await fetch(`http://${contact.address}/health`).then((response) => response.json(), () => undefined);
      return health?.status === "ok" ? contact : undefined;
    });
  }

  /** Ends the daemon without a warning. */
  async kill() {
    const ended = new Promise((done) => this.process.once("exit", done));
    this.process.kill("SIGKILL");
    await ended;
  }

  /** Starts it again where it was. */
  async again() {
    await this.startDaemon(Number(this.contact.address.split(":").at(-1)));
  }

  async api(method, path, body) {
    const headers = { authorization: `Bearer ${this.contact.token}`, "content-type": "application/json" };
    const response = await fetch(`http://${this.contact.address}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** What the command that the page shows prints, run as a person would run it. */
  run(command) {
    const [, ...args] = command.trim().split(/\s+/);
    return execFileSync(program("mxd"), args, { env: { ...process.env, MXD_DATA_DIR: this.data }, encoding: "utf8" });
  }

  /** A daemon that was built without the page gets it from here; one that has it is asked itself. */
  async startFront() {
    // `MXD_PAGE=dist` takes the page of this folder also where the daemon has one.
    const own = process.env.MXD_PAGE !== "dist" && (await fetch(`http://${this.contact.address}/web/theme.js`).then((response) => response.ok, () => false));
    if (own) {
      this.front = `http://${this.contact.address}`;
      return;
    }
    this.server = createServer((request, response) => this.pass(request, response));
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.front = `http://127.0.0.1:${this.server.address().port}`;
  }

  pass(request, response) {
    const path = request.url.split("?")[0];
    if (path === "/" || path.startsWith("/ui") || path.startsWith("/web/")) {
      const file = join(DIST, path.startsWith("/web/") ? normalize(path.slice(5)) : "index.html");
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
      response.end(readFileSync(file));
      return;
    }
    const { address } = this.contact;
    const headers = { ...request.headers, host: address };
    if (headers.origin !== undefined) headers.origin = `http://${address}`;
    const [hostname, port] = address.split(":");
    const onward = ask({ hostname, port, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  }

  async end() {
    this.server?.closeAllConnections();
    this.server?.close();
    this.process?.kill("SIGKILL");
    this.rehearse?.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}
