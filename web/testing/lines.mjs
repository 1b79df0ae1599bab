// The one line that the daemon says of an event, as far as the fixture needs it.

const SUBJECTS = {
  bash: ["command"], read_file: ["path"], write_file: ["path"], edit_file: ["path"], search: ["pattern", "path"], create_task: ["title"],
  send_message: ["taskId", "message"], merge_task: ["taskId"], clarify: ["question"], done: ["status", "summary"],
};

/** A text as one line that is not too long. */
function oneLine(text, most) {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…` : line;
}

export function callLine(wire, input) {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(wire) ?? [];
  const name = tool === undefined ? wire : server === "mxd" ? tool : `${server}/${tool}`;
  const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const fields = Object.hasOwn(SUBJECTS, name) ? SUBJECTS[name] : undefined;
  const known = fields?.filter((field) => input?.[field] !== undefined).map((field) => text(input[field]));
  const subject = (known ?? Object.entries(input ?? {}).map(([field, value]) => `${field}=${text(value)}`)).join(" ");
  return subject === "" ? name : `${name} ${oneLine(subject, 120)}`;
}

function said(event) {
  switch (event.type) {
    case "tool_call":
      return callLine(event.tool, event.input);
    case "task_status_changed":
      return `${event.from} → ${event.to}${event.reason === undefined ? "" : `: ${event.reason}`}`;
    case "worktree_created":
      return `works on branch ${event.branch}`;
    case "done_requested":
      return `reports ${event.status}: ${event.summary}`;
    case "agent_stopped":
      return event.reason === undefined ? "stopped" : `stopped: ${event.reason}`;
    case "agent_interrupted":
      return "its turn was interrupted";
    case "budget_granted":
      return `$${event.amountUsd} granted`;
    case "message":
      return messageLine(event.body);
    default:
      return undefined;
  }
}

function messageLine(body) {
  if (body.source === "task_complete") return `${body.title} ${body.success ? "passed" : "failed"}: ${body.output}`;
  if (body.source === "background_complete") return `in the background, exit ${body.exitCode}: ${body.command}`;
  return body.source === "user" ? `you: ${body.content}` : undefined;
}

/** The event with its line, where it has one. */
export function withLine(event) {
  const line = said(event);
  return line === undefined || event.line !== undefined ? event : { ...event, line: oneLine(line, 160) };
}
