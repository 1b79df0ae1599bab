// A small daemon for developing and testing the page: the contract of the real one, from a fixture in memory.
import { createHash, createPublicKey, publicEncrypt, randomBytes, constants } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { BROKEN_PROJECT, NOW, OTHER_PROJECT, PROJECT, ulid } from "./fixture.mjs";
import { evidence, ledger, money, readiness, resolved, search, servers, settings } from "./answers.mjs";
import { withLine } from "./lines.mjs";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** The policy of the page: the same words as the real daemon's. */
export const POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self'",
  "font-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
].join("; ");

class Refusal extends Error {
  constructor(status, code, message, hint) {
    super(message);
    Object.assign(this, { status, code, hint });
  }
}

export class FakeDaemon {
  /** `auth` asks for a login; without it every request is somebody's. */
  constructor({ world, auth = false }) {
    this.world = world;
    this.auth = auth;
    this.epoch = 1;
    this.streams = new Set();
    this.sessions = new Set();
    this.challenges = new Map();
    this.tickets = new Set();
    this.requests = [];
    this.config = settings();
    this.readiness = readiness();
    this.counter = 10_000;
    this.projects = projectList(world);
  }

  async listen(port = 0) {
    this.server = createServer((request, response) => {
      this.handle(request, response).catch((error) => this.fail(response, error));
    });
    await new Promise((done) => this.server.listen(port, "127.0.0.1", done));
    this.port = this.server.address().port;
    return `http://127.0.0.1:${this.port}`;
  }

  async close() {
    for (const stream of this.streams) stream.destroy();
    this.streams.clear();
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** As if the process had been killed and started again: streams break, the epoch is another one. */
  async restart() {
    const port = this.port;
    await this.close();
    this.epoch += 1;
    await this.listen(port);
  }

  fail(response, error) {
    const status = error.status ?? 500;
    const body = { error: { code: error.code ?? "internal", message: error.message, hint: error.hint } };
    if (!response.headersSent) response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  }

  /** What its clock says; the fixture was written at one moment. */
  clock() {
    return NOW;
  }

  async handle(request, response) {
    response.setHeader("date", new Date(this.clock()).toUTCString());
    const url = new URL(request.url, "http://localhost");
    if (url.pathname === "/" || url.pathname.startsWith("/ui") || url.pathname.startsWith("/web/")) {
      return this.page(url.pathname, response);
    }
    const body = await readBody(request);
    if (request.method !== "GET") this.requests.push({ method: request.method, path: url.pathname, body });
    if (!url.pathname.startsWith("/auth/") && url.pathname !== "/health" && !this.allowed(request)) {
      throw new Refusal(401, "unauthenticated", "Nobody is logged in.", "Log in with `mxd auth`.");
    }
    if (url.pathname === "/events") return this.stream(request, response, url);
    const answer = await this.answer(request, url, body, response);
    if (answer === undefined) throw new Refusal(404, "not_found", `There is no ${url.pathname}.`);
    if (response.writableEnded) return;
    response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
    response.end(JSON.stringify(answer.body ?? {}));
  }

  allowed(request) {
    if (!this.auth) return true;
    const cookie = /mxd_session=([^;]+)/.exec(request.headers.cookie ?? "");
    return cookie !== null && this.sessions.has(cookie[1]);
  }

  async page(path, response) {
    const inside = path.startsWith("/web/") ? normalize(path.slice("/web/".length)) : "index.html";
    if (inside.startsWith("..")) throw new Refusal(404, "not_found", "There is no such file.");
    const bytes = await readFile(join(DIST, inside)).catch(() => {
      throw new Refusal(404, "not_found", `There is no ${inside}; \`npm run build\` makes the page.`);
    });
    response.writeHead(200, {
      "content-type": TYPES[extname(inside)] ?? "application/octet-stream",
      "content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
    });
    response.end(bytes);
  }

  async answer(request, url, body, response) {
    const parts = url.pathname.split("/").filter((part) => part !== "").map(decodeURIComponent);
    if (parts[0] === "auth") return this.authenticate(request, parts[1], body);
    if (parts[0] === "health") return { body: { status: "ok", version: "0.1.0", gitHash: "fixture", uptimeMs: 1, epoch: this.epoch } };
    if (parts[0] === "config" && parts[1] === "global") return this.settings(request, "global", body);
    if (parts[0] === "restart-daemon") return { status: 202, body: {} };
    if (parts[0] !== "projects") return undefined;
    if (parts.length === 1) return this.projectsRoot(request, body);
    const project = this.projects.find((one) => one.id === parts[1]);
    if (project === undefined) throw new Refusal(404, "project_not_found", "There is no such project.", "`mxd projects` lists them.");
    if (parts.length === 2) return this.project(request, project, body);
    return this.inProject(request, url, parts.slice(2), { body, response });
  }

  authenticate(request, what, body) {
    switch (what) {
      case "status":
        return { body: { enabled: true, authenticated: this.allowed(request), via: "cookie" } };
      case "challenge": {
        const challengeId = ulid((this.counter += 1));
        const answer = randomBytes(32).toString("hex");
        this.challenges.set(challengeId, { answer, key: body.publicKey });
        return { body: { challengeId, command: `mxd auth ${body.publicKey.slice(0, 24)}…`, expiresAt: Date.now() + 300_000 } };
      }
      case "login": {
        if (body.ticket !== undefined) return this.loginByTicket(body.ticket);
        const challenge = this.challenges.get(body.challengeId);
        this.challenges.delete(body.challengeId);
        if (challenge === undefined || challenge.answer !== body.answer) throw new Refusal(403, "wrong_answer", "That is not the answer.", "Start again: a challenge can be answered once.");
        return this.loggedIn();
      }
      case "logout":
        this.sessions.clear();
        return { body: {}, headers: { "set-cookie": "mxd_session=; Max-Age=0; Path=/" } };
      case "sessions":
        if (request.method === "DELETE") return { body: {} };
        return { body: { sessions: [
          { id: ulid(70), label: "Chromium on this machine", createdAt: NOW - 86_400_000, expiresAt: NOW + 29 * 86_400_000 },
          { id: ulid(71), label: "phone", createdAt: NOW - 9 * 86_400_000, expiresAt: NOW + 21 * 86_400_000 },
        ] } };
      default:
        return undefined;
    }
  }

  loginByTicket(ticket) {
    if (!this.tickets.delete(ticket)) throw new Refusal(401, "ticket", "the ticket was used or is too old", "Open the page again with `mxd up`.");
    return this.loggedIn();
  }

  loggedIn() {
    const token = randomBytes(24).toString("hex");
    this.sessions.add(token);
    return { body: { token, expiresAt: Date.now() + 86_400_000 }, headers: { "set-cookie": `mxd_session=${token}; HttpOnly; SameSite=Strict; Path=/` } };
  }

  /** What `mxd auth` prints for a challenge: the secret, sealed for the key of the page. */
  grant(publicKey) {
    const challenge = [...this.challenges.values()].findLast((one) => one.key.startsWith(publicKey));
    const key = createPublicKey({ key: Buffer.from(challenge.key, "base64"), format: "der", type: "spki" });
    const sealed = publicEncrypt({ key, oaepHash: "sha256", padding: constants.RSA_PKCS1_OAEP_PADDING }, Buffer.from(challenge.answer));
    return sealed.toString("base64");
  }

  projectsRoot(request, body) {
    if (request.method === "GET") return { body: { projects: this.projects } };
    if (!body.path.startsWith("/")) throw new Refusal(400, "path_not_absolute", "The path has to be absolute.", "Write it from the root, such as /home/me/code.");
    const project = { ...this.projects[1], id: ulid((this.counter += 1)), name: body.name ?? body.path.split("/").at(-1), path: body.path };
    this.projects.push(project);
    return { status: 201, body: project };
  }

  project(request, project, body) {
    if (request.method === "DELETE") this.projects = this.projects.filter((one) => one !== project);
    if (request.method === "PATCH") Object.assign(project, body, body.path ? { pathExists: true } : {});
    return { body: project };
  }

  settings(request, layer, body) {
    if (request.method !== "PATCH") return { body: this.config[layer] };
    merge(this.config[layer], body);
    return { body: { config: this.config[layer], restarted: [], restartNeeded: [] } };
  }

  inProject(request, url, parts, { body, response }) {
    const { world } = this;
    switch (parts[0]) {
      case "tasks":
        return parts.length === 1 ? this.tasksRoot(request, body) : this.inTask(request, url, parts.slice(1), body);
      case "events": {
        const limit = Number(url.searchParams.get("limit") ?? 200);
        return { body: { events: world.events.slice(-limit), hasMore: world.events.length > limit, cursor: this.cursor() } };
      }
      case "readiness":
        return { body: this.readiness };
      case "setup-hook":
        this.readiness.items.find((item) => item.name === "setupHook").state = "ready";
        this.readiness.ready = this.readiness.items.every((item) => item.state !== "missing");
        return { body: { committed: true } };
      case "needs":
        return { body: world.needs };
      case "clarify":
        return this.clarify(body);
      case "approve":
        return this.approve(body);
      case "search":
        return { body: search(world, url.searchParams.get("q") ?? "") };
      case "money":
        return { body: money(world) };
      case "servers":
        return { body: servers() };
      case "config":
        if (parts[1] === "all") return { body: resolved(this.config) };
        return this.settings(request, parts[1] === "repo" ? "repo" : "local", body);
      case "blobs": {
        const blob = world.blobs.get(parts[1]);
        if (blob === undefined) return undefined;
        response.writeHead(200, { "content-type": blob.type, "content-security-policy": "sandbox", "x-content-type-options": "nosniff" });
        response.end(blob.bytes);
        return {};
      }
      default:
        return { status: 202, body: {} };
    }
  }

  tasksRoot(request, body) {
    const { world } = this;
    if (request.method === "GET") return { body: { tasks: [...world.tasks.values()], rootId: world.rootId, cursor: this.cursor() } };
    if (typeof body.title !== "string" || body.title.trim() === "") throw new Refusal(422, "title_empty", "A task needs a title.", "Say in a few words what is to be done.");
    const id = ulid((this.counter += 1));
    const parentId = body.parentId ?? world.rootId;
    const task = world.task(id, { kind: body.kind ?? "task", title: body.title, description: body.description ?? "", parentId, status: body.draft ? "draft" : "pending", editedBy: "user", agent: { state: "none", why: "it starts with its first message" } });
    this.commit([{ task: id, type: "task_created", title: body.title }], [id, parentId]);
    return { status: 201, body: task };
  }

  inTask(request, url, parts, body) {
    const { world } = this;
    const task = [...world.tasks.values()].find((one) => one.id.startsWith(parts[0]));
    if (task === undefined) throw new Refusal(404, "task_not_found", "There is no such task.", "It may have been deleted.");
    switch (parts[1]) {
      case undefined:
        return this.task(request, task, body, url);
      case "events":
        return { body: this.events(task.id, url.searchParams) };
      case "message":
        return this.message(task, body);
      case "diff":
        return { body: world.diffs.get(task.id) ?? { base: "9a41c07", head: "9a41c07", dirty: false, files: [], truncated: false } };
      case "gitlog":
        return { body: { commits: [{ hash: "e81b33d0aa", message: "tokens: a replayed token ends its family", at: NOW - 600_000, author: "agent" }, { hash: "b71100fe21", message: "store: families of tokens", at: NOW - 1_800_000, author: "agent" }] } };
      case "evidence":
        return { body: evidence(world, task.id) };
      case "ledger":
        return { body: ledger(world, task.id) };
      case "reorder":
        task.children = body.children;
        this.commit([{ task: task.id, type: "children_reordered", children: body.children }], [task.id]);
        return { body: task };
      case "grant":
        task.budgetUsd = (task.budgetUsd ?? 0) + body.usd;
        task.remainingUsd = (task.remainingUsd ?? 0) + body.usd;
        this.commit([{ task: task.id, type: "budget_granted", amountUsd: body.usd }], [task.id]);
        return { body: task };
      default:
        return this.act(task, parts[1]);
    }
  }

  act(task, verb) {
    const states = { stop: "stopped", interrupt: "interrupted", retry: "thinking", continue: "thinking", compact: "compacting" };
    if (verb === "merge" && task.title === "Dark mode") throw new Refusal(409, "merge_conflict", "web/theme.css was changed on main, too.", "Send the task a message: it can rebase and resolve the 2 lines.");
    if (states[verb] !== undefined) task.agent = { state: states[verb], why: `you said ${verb}` };
    if (verb === "close") task.status = "closed";
    if (verb === "merge") task.status = "closed";
    this.commit([{ task: task.id, type: verb === "stop" ? "agent_stopped" : "agent_rested", why: verb }], [task.id]);
    return { status: 202, body: {} };
  }

  task(request, task, body, url) {
    const { world } = this;
    if (request.method === "DELETE") {
      if (task.children.length > 0 && url.searchParams.get("recursive") !== "true") throw new Refusal(409, "has_children", "There are tasks below it.", "Delete them first, or delete everything at once.");
      const removed = below(world, task.id);
      for (const id of removed) world.tasks.delete(id);
      const parent = world.tasks.get(task.parentId);
      parent.children = parent.children.filter((id) => id !== task.id);
      this.commit([], [parent.id], removed);
      return { body: {} };
    }
    if (request.method === "PATCH") this.change(task, body);
    return { body: task };
  }

  change(task, body) {
    const { world } = this;
    const changed = [task.id];
    const { parentId, index, draft, ...fields } = body;
    for (const [key, value] of Object.entries(fields)) {
      if (value === null) delete task[key];
      else task[key] = value;
    }
    if (draft !== undefined) task.status = draft ? "draft" : "pending";
    if (parentId !== undefined || index !== undefined) {
      const to = parentId ?? task.parentId;
      if (below(world, task.id).includes(to)) throw new Refusal(409, "would_be_a_circle", "A task cannot stand below itself.", "Choose another place.");
      const old = world.tasks.get(task.parentId);
      old.children = old.children.filter((id) => id !== task.id);
      const target = world.tasks.get(to);
      target.children = target.children.toSpliced(index ?? target.children.length, 0, task.id);
      task.parentId = to;
      changed.push(old.id, to);
    }
    this.commit([{ task: task.id, type: "task_updated", editedBy: "user" }], changed);
  }

  events(task, query) {
    const before = Number(query.get("before") ?? Infinity);
    const limit = Number(query.get("limit") ?? 200);
    const all = this.world.events.filter((event) => event.task === task && event.seq < before);
    return { events: all.slice(-limit), hasMore: all.length > limit, cursor: this.cursor() };
  }

  message(task, body) {
    const id = body.id ?? ulid((this.counter += 1));
    if (!this.world.events.some((event) => event.type === "message" && event.id === id)) {
      task.inbox += 1;
      const images = (body.images ?? []).map((image) => {
        const blob = createHash("sha256").update(image.base64).digest("hex");
        this.world.blobs.set(blob, { type: image.mediaType, bytes: Buffer.from(image.base64, "base64") });
        return { mediaType: image.mediaType, blob };
      });
      this.commit([{ task: task.id, type: "message", id, wake: true, body: { source: "user", content: body.content ?? body.message, images } }], [task.id]);
    }
    return { status: 202, body: { seq: this.world.seq, cursor: this.cursor(), taskId: task.id, messageId: id } };
  }

  clarify(body) {
    const { needs, tasks } = this.world;
    const open = needs.clarifications.find((one) => one.taskId === body.taskId);
    if (open === undefined) throw new Refusal(409, "not_open", "That question is not open any more.", "It was answered or has expired.");
    this.world.needs = { ...needs, clarifications: needs.clarifications.filter((one) => one !== open) };
    const task = tasks.get(body.taskId);
    task.questions = [];
    this.commit([{ task: task.id, type: "clarification_answered", id: open.clarificationId, answer: body.answer }], [task.id], [], true);
    return { body: {} };
  }

  approve(body) {
    const { needs, tasks } = this.world;
    const open = needs.approvals.find((one) => one.approvalId === body.approvalId);
    if (open === undefined) throw new Refusal(409, "not_open", "That request is not open any more.", "Somebody else has answered it.");
    if (body.argsDigest !== undefined && body.argsDigest !== open.argsDigest) throw new Refusal(409, "digest_differs", "The call is not the one you have seen.", "Look at it again.");
    this.world.needs = { ...needs, approvals: needs.approvals.filter((one) => one !== open) };
    const task = tasks.get(open.taskId);
    task.approvals = [];
    task.agent = { state: "tool", why: "bash runs" };
    this.commit([{ task: task.id, type: "approval_given", id: open.approvalId, verdict: body.decision === "deny" ? "deny" : "allow", scope: body.decision, by: "user" }], [task.id], [], true);
    return { body: {} };
  }

  cursor() {
    return `${this.epoch}-${this.world.seq}`;
  }

  /** Writes a commit and tells everybody who listens. */
  commit(events, changed = [], removed = [], needs = false) {
    const { world } = this;
    world.seq += 1;
    world.at += 1_000;
    const stamped = events.map((event) => withLine({ seq: world.seq, at: world.at, ...event }));
    world.events.push(...stamped);
    const tasks = changed.filter((id, index) => changed.indexOf(id) === index && world.tasks.has(id)).map((id) => world.tasks.get(id));
    const data = { seq: world.seq, at: world.at, events: stamped, tasks, removed, ...(needs ? { needs: world.needs } : {}) };
    for (const stream of this.streams) stream.write(`event: commit\nid: ${this.cursor()}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  delta(data) {
    for (const stream of this.streams) stream.write(`event: delta\ndata: ${JSON.stringify(data)}\n\n`);
  }

  stream(request, response, url) {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const { world } = this;
    const last = request.headers["last-event-id"] ?? url.searchParams.get("lastEventId");
    if (last !== undefined && last !== null) {
      const seq = Number(last.split("-").at(-1));
      for (const event of world.events.filter((one) => one.seq > seq)) {
        response.write(`event: commit\nid: ${this.epoch}-${event.seq}\ndata: ${JSON.stringify({ seq: event.seq, at: event.at, events: [event] })}\n\n`);
      }
    }
    const snapshot = { cursor: this.cursor(), rootId: world.rootId, tasks: [...world.tasks.values()], needs: world.needs };
    response.write(`event: snapshot\ndata: ${JSON.stringify(snapshot)}\n\n`);
    this.streams.add(response);
    request.on("close", () => this.streams.delete(response));
  }
}

function projectList(world) {
  const counts = {};
  for (const task of world.tasks.values()) if (task.status !== undefined) counts[task.status] = (counts[task.status] ?? 0) + 1;
  const common = { pathExists: true, createdAt: NOW - 9 * 86_400_000, state: "open", baseBranch: "main", counts: {}, costUsd: 0, running: 0, needs: 0 };
  return [
    { ...common, id: PROJECT, name: "harbour", path: "/home/ada/code/harbour", rootId: world.rootId, counts, costUsd: 6.412, running: 3, needs: 4 },
    { ...common, id: OTHER_PROJECT, name: "lighthouse", path: "/home/ada/code/lighthouse", rootId: ulid(4), counts: { passed: 3 }, costUsd: 0.72 },
    { ...common, id: BROKEN_PROJECT, name: "old-pier", path: "/mnt/gone/old-pier", rootId: ulid(5), pathExists: false, state: "broken", problem: "The folder is not there." },
  ];
}

function below(world, id) {
  const task = world.tasks.get(id);
  return [id, ...(task?.children ?? []).flatMap((child) => below(world, child))];
}

function merge(target, patch) {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete target[key];
    else if (typeof value === "object" && !Array.isArray(value)) target[key] = merge({ ...(target[key] ?? {}) }, value);
    else target[key] = value;
  }
  return target;
}

async function readBody(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text === "" ? {} : JSON.parse(text);
}
