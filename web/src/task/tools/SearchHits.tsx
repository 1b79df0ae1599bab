// What a search found: files with their lines.
import { useMemo } from "react";

interface Hit {
  readonly number: string;
  readonly text: string;
  readonly match: boolean;
}

type Line = { readonly file: string } | { readonly note: string } | Hit;

/** Lines `12: text` are matches, `11- text` what stands around them; a line without either is a file or a remark. */
export function readHits(text: string): Line[] {
  const lines = text.split("\n");
  return lines
    .map((line, index): Line | undefined => {
      const hit = /^\s*(\d+)([:-])\s?(.*)$/.exec(line);
      if (hit !== null) return { number: hit[1] ?? "", text: hit[3] ?? "", match: hit[2] === ":" };
      if (line.trim() === "" || line === "--") return undefined;
      const next = lines[index + 1] ?? "";
      return /^\s*\d+[:-]/.test(next) ? { file: line } : { note: line };
    })
    .filter((line) => line !== undefined);
}

export function SearchHits({ text }: { text: string }) {
  const lines = useMemo(() => readHits(text), [text]);
  return (
    <div className="hits" role="group" aria-label="Search hits" tabIndex={0}>
      {lines.map((line, index) => {
        if ("file" in line) return <div key={index} className="hit-file mono">{line.file}</div>;
        if ("note" in line) return <div key={index} className="hit-note muted">{line.note}</div>;
        return (
          <div key={index} className={`hit mono ${line.match ? "is-match" : ""}`}>
            <span className="hit-number">{line.number}</span>
            <span className="hit-text">{line.text}</span>
          </div>
        );
      })}
    </div>
  );
}
