// Output of a command, with its colours.
import { type RefObject, useLayoutEffect, useMemo, useRef } from "react";
import { type Span, spans } from "./ansi.ts";

interface TerminalProps {
  text: string;
  label: string;
  /** Whether more is to come: then its end stays in sight. Output that is complete opens at its end once. */
  growing?: boolean;
}

export function Terminal({ text, label, growing = false }: TerminalProps) {
  const parts = useMemo(() => spans(text), [text]);
  const box = useRef<HTMLPreElement>(null);
  const onScroll = useFollowing(box, text, growing);
  return (
    <pre ref={box} className="terminal" tabIndex={0} role="group" aria-label={label} onScroll={onScroll}>
      {parts.map((part, index) => (
        <Piece key={index} part={part} />
      ))}
    </pre>
  );
}

/** Keeps the end in sight while the text grows, unless the reader has gone back to an earlier line. */
function useFollowing(box: RefObject<HTMLPreElement | null>, text: string, growing: boolean): () => void {
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    const element = box.current;
    if (growing && atEnd.current && element !== null) element.scrollTop = element.scrollHeight;
  }, [box, text, growing]);
  useLayoutEffect(() => {
    // Outcomes stand at the end of an output.
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [box]);
  return () => {
    const element = box.current;
    if (element !== null) atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 16;
  };
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
