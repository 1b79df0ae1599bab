// Comments on a diff: gathered, kept over a reload, and sent as one message when the review is finished.
import type { Id } from "../api/types.ts";
import { forget, keep, kept } from "../shell/theme.ts";

export interface ReviewComment {
  readonly file: string;
  /** The line in the new version, or in the old one where it was removed. */
  readonly line: number;
  readonly side: "new" | "old";
  readonly quote: string;
  readonly text: string;
}

const key = (task: Id): string => `mxd.review.${task}`;

export function reviewOf(task: Id): readonly ReviewComment[] {
  try {
    const list: unknown = JSON.parse(kept(key(task)) ?? "[]");
    return Array.isArray(list) ? (list as ReviewComment[]) : [];
  } catch {
    return [];
  }
}

export function keepReview(task: Id, comments: readonly ReviewComment[]): void {
  if (comments.length === 0) forget(key(task));
  else keep(key(task), JSON.stringify(comments));
}

/** The message that the agent reads: each comment with its place and the line it is about. */
export function reviewMessage(comments: readonly ReviewComment[], head: string): string {
  const files = [...new Set(comments.map((comment) => comment.file))];
  const parts = files.map((file) => {
    const mine = comments.filter((comment) => comment.file === file).sort((a, b) => a.line - b.line);
    return `### ${file}\n\n${mine.map(oneComment).join("\n\n")}`;
  });
  const many = comments.length === 1 ? "1 comment" : `${comments.length} comments`;
  return `Review of your changes up to ${head}, ${many}:\n\n${parts.join("\n\n")}`;
}

function oneComment(comment: ReviewComment): string {
  const where = comment.side === "new" ? `Line ${comment.line}` : `Line ${comment.line} before the change`;
  return `${where}: \`${comment.quote.trim().replaceAll("`", "'")}\`\n${comment.text.trim()}`;
}
