// Output of a command, with its colours.
import { useMemo } from "react";
import { type Span, spans } from "./ansi.ts";

export function Terminal({ text, label }: { text: string; label: string }) {
  const parts = useMemo(() => spans(text), [text]);
  return (
    <pre className="terminal" tabIndex={0} role="group" aria-label={label}>
      {parts.map((part, index) => (
        <Piece key={index} part={part} />
      ))}
    </pre>
  );
}

function Piece({ part }: { part: Span }) {
  const { style } = part;
  const names = [
    style.color !== undefined && `fg-${style.color}`,
    style.background !== undefined && `bg-${style.background}`,
    style.bold && "is-bold",
    style.dim && "is-dim",
    style.italic && "is-italic",
    style.underline && "is-underlined",
  ].filter((name) => typeof name === "string");
  return names.length === 0 ? part.text : <span className={names.join(" ")}>{part.text}</span>;
}
