// Markdown as React elements. There is no HTML anywhere on the way: what looks like HTML is shown as text.
import { type Token, type Tokens, lexer } from "marked";
import { Fragment, type ReactNode, memo, useMemo } from "react";
import { CopyButton } from "../design/controls.tsx";
import { LIMITS } from "../state/limits.ts";
import { safeHref } from "./link.ts";

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => (text.length > LIMITS.markdownChars ? undefined : lexer(text, { gfm: true })), [text]);
  if (tokens === undefined) return <pre className="plain-text">{text}</pre>;
  return <div className="markdown">{blocks(tokens)}</div>;
});

function blocks(tokens: readonly Token[]): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{block(token as Tokens.Generic)}</Fragment>);
}

function block(token: Tokens.Generic): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return heading(token as Tokens.Heading);
    case "paragraph":
      return <p>{inlines(token.tokens)}</p>;
    case "text":
      return token.tokens === undefined ? decode(token["text"] as string) : <>{inlines(token.tokens)}</>;
    case "code":
      return <Code token={token as Tokens.Code} />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>;
    case "list":
      return list(token as Tokens.List);
    case "table":
      return table(token as Tokens.Table);
    case "hr":
      return <hr />;
    default:
      return <p className="plain-text">{token.raw}</p>;
  }
}

/** Headings inside of a text stand below those of the page. */
function heading(token: Tokens.Heading): ReactNode {
  const Tag = token.depth <= 1 ? "h2" : token.depth === 2 ? "h3" : "h4";
  return <Tag>{inlines(token.tokens)}</Tag>;
}

function Code({ token }: { token: Tokens.Code }) {
  const language = token.lang?.split(/\s/)[0];
  return (
    <div className="code-block">
      <div className="code-head">
        <span>{language === undefined || language === "" ? "text" : language}</span>
        <CopyButton text={token.text} what="code" />
      </div>
      <pre tabIndex={0}>
        <code>{token.text}</code>
      </pre>
    </div>
  );
}

function list(token: Tokens.List): ReactNode {
  const items = token.items.map((item, index) => (
    <li key={index} className={item.task ? "is-task" : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} readOnly disabled aria-label="item" />}
      {blocks(item.tokens.filter((part) => part.type !== "checkbox"))}
    </li>
  ));
  const start = typeof token.start === "number" ? token.start : undefined;
  return token.ordered ? <ol start={start}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: Tokens.Table): ReactNode {
  return (
    <div className="table-scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index} className={alignment(token.align[index])}>
                {inlines(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index} className={alignment(token.align[index])}>
                  {inlines(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function alignment(align: string | null | undefined): string | undefined {
  return align === "right" ? "is-right" : align === "center" ? "is-center" : undefined;
}

function inlines(tokens: readonly Token[] | undefined): ReactNode {
  return (tokens ?? []).map((token, index) => <Fragment key={index}>{inline(token as Tokens.Generic)}</Fragment>);
}

function inline(token: Tokens.Generic): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inlines(token.tokens)}</strong>;
    case "em":
      return <em>{inlines(token.tokens)}</em>;
    case "del":
      return <del>{inlines(token.tokens)}</del>;
    case "codespan":
      return <code>{token["text"] as string}</code>;
    case "br":
      return <br />;
    case "link":
      return link(token as Tokens.Link);
    case "image":
      // A picture from elsewhere would tell its server who reads: it is named, not fetched.
      return <span className="muted">[image: {(token["text"] as string) || (token["href"] as string)}]</span>;
    case "escape":
      return token["text"] as string;
    case "text":
      return token.tokens === undefined ? decode(token["text"] as string) : <>{inlines(token.tokens)}</>;
    default:
      return token.raw;
  }
}

function link(token: Tokens.Link): ReactNode {
  const href = safeHref(token.href);
  if (href === undefined) return token.raw;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {inlines(token.tokens)}
    </a>
  );
}

const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** Markdown lets one write the five characters of HTML as entities; React escapes the result again. */
function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
