// The changed files by folder: where one is, what was looked at, and the way to each file.
import type { DiffFile } from "../api/types.ts";
import { Icon } from "../design/Icon.tsx";
import { many } from "../text/format.ts";
import { type Viewed, isViewed } from "./viewed.ts";

const MARKS: Readonly<Record<DiffFile["status"], string>> = { added: "A", modified: "M", deleted: "D", renamed: "R", other: "·" };

export function sectionId(path: string): string {
  return `file-${path}`;
}

/** Shows a file and gives it the focus, so that the keyboard goes on from there. */
export function showFile(path: string): void {
  const section = document.getElementById(sectionId(path));
  section?.scrollIntoView({ block: "start" });
  section?.querySelector<HTMLElement>(".diff-head button")?.focus({ preventScroll: true });
}

/** Files under the folder they are in; the order of the folders is that of the paths. */
export function byFolder(files: readonly DiffFile[]): { folder: string; files: DiffFile[] }[] {
  const folders: { folder: string; files: DiffFile[] }[] = [];
  for (const file of files.toSorted((a, b) => a.path.localeCompare(b.path))) {
    const folder = file.path.includes("/") ? file.path.slice(0, file.path.lastIndexOf("/")) : "";
    const known = folders.find((one) => one.folder === folder);
    if (known === undefined) folders.push({ folder, files: [file] });
    else known.files.push(file);
  }
  return folders;
}

export function FileTree({ files, viewed }: { files: readonly DiffFile[]; viewed: Viewed }) {
  const seen = files.filter((file) => isViewed(viewed, file)).length;
  return (
    <nav className="file-tree" aria-label="Changed files">
      <div className="section-label">
        {seen} of {many(files.length, "file")} viewed
      </div>
      {byFolder(files).map(({ folder, files: inside }) => (
        <div key={folder} className="file-folder">
          {folder !== "" && <div className="file-folder-name mono">{folder}/</div>}
          <ul className="plain-list">
            {inside.map((file) => (
              <li key={file.path}>
                <button type="button" className={`file-row ${isViewed(viewed, file) ? "is-viewed" : ""}`} onClick={() => showFile(file.path)}>
                  <span className={`file-mark is-${file.status}`} title={file.status} aria-label={file.status} role="img">
                    {MARKS[file.status]}
                  </span>
                  <span className="ellipsis grow">{file.path.slice(folder === "" ? 0 : folder.length + 1)}</span>
                  {isViewed(viewed, file) && <Icon name="check" />}
                  {!isViewed(viewed, file) && !file.binary && (
                    <span className="num file-counts">
                      <span className="plus">+{file.additions}</span> <span className="minus">−{file.deletions}</span>
                    </span>
                  )}
                </button>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
