// Lines of the daemon about what happened, as people read them: the same words as in the terminal.

/** Letters of an id, of a commit, and of a commit that is still enough to name it. */
const ID = 26;
const COMMIT = /^[0-9a-fA-F]{40}$/;
const SHORT_COMMIT = 10;

/** Stands for the id in a branch until the stroke behind it goes, too; no line of the daemon has this character. */
const HOLE = "\u0000";

/** The titles of tasks by their ids. */
type Titles = Readonly<Record<string, { readonly title: string }>>;

/** A line with titles in the place of ids, and names that are short enough to be read. */
export function readable(tasks: Titles, line: string): string {
  let told = "";
  for (const { 0: part, index } of line.matchAll(/[0-9A-Za-z]+|[^0-9A-Za-z]+/g)) {
    const task = part.length === ID && Object.hasOwn(tasks, part) ? tasks[part] : undefined;
    if (task === undefined) told += COMMIT.test(part) ? part.slice(0, SHORT_COMMIT) : part;
    // The branch of a task ends with what its title says.
    else if (told.endsWith("mxd/") && line[index + ID] === "/") told = told.slice(0, -"mxd/".length) + HOLE;
    else told += `“${task.title}”`;
  }
  return told.replaceAll(`${HOLE}/`, "");
}

/**
 * A line and the whole text that it begins to tell, so that nothing is said twice: `reports passed: It is …` beside its
 * summary is `reports passed`. Nothing is left of a line that says no more than the text.
 */
export function withoutDetail(line: string, detail: string): string {
  const whole = detail.trim().replace(/\s+/g, " ");
  const tells = (part: string): boolean => part !== "" && (part === whole || (part.endsWith("…") && whole.startsWith(part.slice(0, -1))));
  if (whole === "" || tells(line)) return whole === "" ? line : "";
  for (let at = line.indexOf(": "); at >= 0; at = line.indexOf(": ", at + 1)) {
    if (tells(line.slice(at + 2))) return line.slice(0, at);
  }
  return line;
}
