// A call that waits for a person: all of it is shown before it can be allowed, and each button says how far it reaches.
import { useRef, useState } from "react";
import type { ApprovalNeed } from "../api/types.ts";
import { Button, CopyButton } from "../design/controls.tsx";
import { confirm } from "../shell/dialogs.tsx";
import { toolName } from "../task/tools/names.ts";
import { visible, visiblePieces } from "../text/visible.ts";
import { decide } from "./cards.tsx";
import { useShownToEnd } from "./useShownToEnd.ts";

/** A call as it will run: a command as one types it, everything else as JSON. None when nobody knows its arguments. */
function exactCall(need: ApprovalNeed): string | undefined {
  const args = need.args as Record<string, unknown> | null | undefined;
  if (args === null || args === undefined) return undefined;
  const { name, server } = toolName(need.tool);
  const { command, ...rest } = args;
  if (server !== undefined || name !== "bash" || typeof command !== "string") return JSON.stringify(args, null, 2);
  const others = Object.keys(rest).length === 0 ? "" : `\n${JSON.stringify(rest, null, 2)}`;
  return `$ ${command}${others}`;
}

/** A text with everything in it that nobody would see spelled out. */
function Visible({ text }: { text: string }) {
  return visiblePieces(text).map((piece, index) =>
    piece.isEscape ? (
      <span key={index} className="escape">
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
}

async function allowAll(need: ApprovalNeed, tool: string): Promise<void> {
  const yes = await confirm({
    title: `Allow all ${tool} in this task?`,
    says: `“${visible(need.taskTitle)}” may then call ${tool} with any arguments, not only those you have just seen, and you are not asked again.`,
    does: ["It holds until the task is closed."],
    leaves: ["Rules that deny a call still deny it.", "Other tasks go on asking."],
    action: `Allow all ${tool} in this task`,
    danger: true,
  });
  if (yes) await decide(need, "task");
}

export function ApprovalCard({ need, keys }: { need: ApprovalNeed; keys: boolean }) {
  if (need.host !== undefined) return <HostCard need={need} host={visible(need.host)} keys={keys} />;
  return <CallCard need={need} keys={keys} />;
}

function CallCard({ need, keys }: { need: ApprovalNeed; keys: boolean }) {
  const { name, server } = toolName(need.tool);
  const tool = visible(name);
  const exact = exactCall(need);
  const box = useRef<HTMLPreElement>(null);
  const isShown = useShownToEnd(box, exact ?? "");
  const mayAllow = exact !== undefined && isShown;
  return (
    <>
      <p>
        Wants to run <strong className="mono">{tool}</strong>
        {server !== undefined && <> of {visible(server)}</>}. This is exactly what will run:
      </p>
      <div className="exact">
        <pre ref={box} tabIndex={0} aria-label="The exact call" data-need-exact="">
          {exact === undefined ? "Its arguments are not known here, so it cannot be allowed here." : <Visible text={exact} />}
        </pre>
        {exact !== undefined && <CopyButton text={visible(exact)} what="the call" />}
      </div>
      {exact !== undefined && !isShown && (
        <p className="field-note" role="status">
          There is more: scroll to its end to be able to allow it.
        </p>
      )}
      <p className="field-note">
        “Allow once” is about this call alone{need.rule === undefined ? "" : `. You are asked because of ${visible(need.rule)}`}. Digest <span className="mono">{need.argsDigest.slice(0, 20)}</span>
      </p>
      <div className="row wrap">
        <Button look="primary" disabled={!mayAllow} data-need-allow="" onClick={() => void decide(need, "once")}>
          Allow once {keys && <kbd>a</kbd>}
        </Button>
        <Button disabled={!mayAllow} data-need-allow-all="" onClick={() => void allowAll(need, tool)}>
          All {tool} in this task {keys && <kbd>t</kbd>}
        </Button>
      </div>
      <DenyForm need={need} keys={keys} />
    </>
  );
}

async function allowAlways(need: ApprovalNeed, host: string): Promise<void> {
  const yes = await confirm({
    title: `Always allow ${host} in this project?`,
    says: `Commands of every task of this project may then reach ${host}, and you are not asked again.`,
    does: ["It is added to your settings for this project, under the hosts that may be reached."],
    leaves: ["Rules that deny a host still deny it.", "Other projects go on asking."],
    action: `Always allow ${host}`,
    danger: true,
  });
  if (yes) await decide(need, "always");
}

/** A host that a command wants to reach, and that no rule speaks of. */
function HostCard({ need, host, keys }: { need: ApprovalNeed; host: string; keys: boolean }) {
  return (
    <>
      <p>
        A command wants to reach <strong className="mono">{host}</strong>, which no rule allows or denies. Nothing was looked up or sent yet; the command waits.
      </p>
      <div className="row wrap">
        <Button look="primary" data-need-allow="" onClick={() => void decide(need, "once")}>
          Allow once {keys && <kbd>a</kbd>}
        </Button>
        <Button data-need-allow-all="" onClick={() => void decide(need, "task")}>
          This host in this task {keys && <kbd>t</kbd>}
        </Button>
        <Button onClick={() => void allowAlways(need, host)}>Always in this project</Button>
      </div>
      <DenyForm need={need} keys={keys} />
    </>
  );
}

/** A denial, with a reason that the agent reads: as what came of its call, or as a message when it is about a host. */
function DenyForm({ need, keys }: { need: ApprovalNeed; keys: boolean }) {
  const [reason, setReason] = useState("");
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        void decide(need, "deny", reason);
      }}
    >
      <input className="input" value={reason} aria-label="Reason for the agent" placeholder="Why not, for the agent (may be empty)" data-need-reason="" onChange={(event) => setReason(event.target.value)} />
      <Button look="danger" type="submit">
        Deny {keys && <kbd>d</kbd>}
      </Button>
    </form>
  );
}
