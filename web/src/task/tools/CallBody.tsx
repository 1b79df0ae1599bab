// The inside of a tool card: one way of showing per tool, and one for all others.
import { type ReactNode, useMemo, useState } from "react";
import { api, path } from "../../api/client.ts";
import type { BlobRef, Id, ImageRef } from "../../api/types.ts";
import { Button, ErrorNotice } from "../../design/controls.tsx";
import { LIMITS } from "../../state/limits.ts";
import { store } from "../../state/store.ts";
import { bytes, many } from "../../text/format.ts";
import { PatchText } from "../../text/PatchText.tsx";
import { type PatchLine, lineDiff } from "../../text/patch.ts";
import { Terminal } from "../../text/Terminal.tsx";
import type { ToolItem } from "../items.ts";
import { SearchHits } from "./SearchHits.tsx";
import { argsOf } from "./names.ts";

interface CallBodyProps {
  item: ToolItem;
  live: string | undefined;
}

export function CallBody({ item, live }: CallBodyProps) {
  const images = item.result?.images ?? [];
  return (
    <>
      {item.malformed !== undefined && <p className="notice is-error">{item.malformed}</p>}
      <Asked item={item} />
      {item.result === undefined && live !== undefined && <Terminal text={live} label="Output so far" growing />}
      {item.result !== undefined && <Result item={item} />}
      {images.length > 0 && <Images images={images} />}
    </>
  );
}

/** What was asked for, where the head of the card does not say all of it. */
function Asked({ item }: { item: ToolItem }) {
  const args = argsOf(item.input);
  switch (item.tool) {
    case "bash":
      return <pre className="command">{`$ ${textOf(args["command"])}`}</pre>;
    case "edit_file":
      return <Edits args={args} />;
    case "write_file":
      return <PatchText lines={added(textOf(args["content"]))} label={`New content of ${textOf(args["path"])}`} />;
    case "read_file":
    case "list_files":
    case "search":
    case "yield":
      return null;
    default:
      return item.input === undefined ? null : <Arguments args={args} whole={item.input} />;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value, null, 2);
}

function added(content: string): PatchLine[] {
  return content.replace(/\n$/, "").split("\n").map((text) => ({ kind: "added", text }));
}

function Edits({ args }: { args: Readonly<Record<string, unknown>> }) {
  const list = Array.isArray(args["edits"]) ? (args["edits"] as unknown[]).map(argsOf) : [args];
  return (
    <div className="stack">
      {list.map((edit, index) => (
        <PatchText key={index} lines={lineDiff(textOf(edit["old_string"]), textOf(edit["new_string"]))} label={`Change ${index + 1} of ${textOf(args["path"])}`} />
      ))}
    </div>
  );
}

function Arguments({ args, whole }: { args: Readonly<Record<string, unknown>>; whole: unknown }) {
  const entries = Object.entries(args);
  if (entries.length === 0) return whole === null || typeof whole !== "object" ? <pre className="plain-text">{JSON.stringify(whole)}</pre> : null;
  return (
    <dl className="arguments">
      {entries.map(([key, value]) => (
        <div key={key}>
          <dt className="mono">{key}</dt>
          <dd className="plain-text">{textOf(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Result({ item }: { item: ToolItem }) {
  const result = item.result;
  if (result === undefined) return null;
  if (typeof result.content !== "string") return <Blob blob={result.content}>{(text) => <Shown item={item} text={text} />}</Blob>;
  return (
    <>
      <Shown item={item} text={result.content} />
      {result.blob !== undefined && <Blob blob={{ blob: result.blob, bytes: 0 }}>{(text) => <Terminal text={text} label="All of the output" />}</Blob>}
    </>
  );
}

function Shown({ item, text }: { item: ToolItem; text: string }) {
  if (text === "") return <p className="muted">It returned nothing.</p>;
  if (item.tool === "search" && item.result?.isError !== true) return <SearchHits text={text} />;
  if (item.tool === "edit_file" || item.tool === "write_file") return <p className={item.result?.isError === true ? "notice is-error" : "muted"}>{text}</p>;
  return <Long text={text}>{(part) => <Terminal text={part} label="Result" />}</Long>;
}

/** Long texts show their end first: that is where outcomes are. */
function Long({ text, children }: { text: string; children: (part: string) => ReactNode }) {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => text.split("\n"), [text]);
  const over = lines.length - LIMITS.resultLines;
  if (all || over <= 0) return <>{children(text)}</>;
  return (
    <>
      <Button size="small" look="quiet" icon="up" onClick={() => setAll(true)}>
        Show {many(over, "earlier line")}
      </Button>
      {children(lines.slice(over).join("\n"))}
    </>
  );
}

/** A text that is too large for the log is asked for when somebody wants to see it. */
export function Blob({ blob, children }: { blob: BlobRef; children: (text: string) => ReactNode }) {
  const [text, setText] = useState<string | undefined>();
  const [error, setError] = useState<unknown>();
  if (text !== undefined) return <>{children(text)}</>;
  const load = (): void => {
    fetch(blobPath(blob.blob), { credentials: "same-origin" })
      .then((response) => (response.ok ? response.text() : Promise.reject(new Error(`The daemon answered with status ${response.status}.`))))
      .then(setText, setError);
  };
  return (
    <div className="stack">
      {error !== undefined && <ErrorNotice error={error} />}
      <Button size="small" onClick={load}>
        Show everything{blob.bytes > 0 ? ` (${bytes(blob.bytes)})` : ""}
      </Button>
    </div>
  );
}

export function blobPath(digest: string): string {
  return path`/projects/${store.get().projectId ?? ""}/blobs/${digest}`;
}

export function Images({ images }: { images: readonly ImageRef[] }) {
  return (
    <div className="images">
      {images.map((image, index) => (
        <a key={index} href={blobPath(image.blob)} target="_blank" rel="noopener noreferrer">
          <img src={blobPath(image.blob)} alt={`Picture ${index + 1} (${image.mediaType})`} loading="lazy" />
        </a>
      ))}
    </div>
  );
}

function backgroundPath(rest: string): string {
  return path`/projects/${store.get().projectId ?? ""}/background` + rest;
}

/** What can be done to commands that run: put in the background, or ended there. */
export const background = {
  move: (call: string, task: Id): Promise<unknown> => api.post(backgroundPath("/move"), { sessionId: task, execId: call }),
  kill: (name: string, task: Id): Promise<unknown> => api.post(backgroundPath(path`/${name}/kill`), { sessionId: task }),
};
