//! Where two branches disagree: which files, how, and the lines in question.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::super::changes::Names;
use super::super::error::GitError;
use super::super::limits;
use super::super::names::{ObjectId, readable};
use super::super::repository::{Place, Repository};
use super::super::run::{Call, Output, Overflow};

/// All disagreements of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicts {
    /// The files in question: how many, and their names.
    pub files: Names,
    /// The first of them, in detail.
    pub described: Vec<Conflict>,
    /// What git says about them.
    pub messages: Vec<String>,
}

/// A file that the branches disagree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Its path.
    pub path: String,
    /// The lines in question; none when the disagreement is about the file as a whole.
    pub hunks: Vec<Hunk>,
    /// Hunks beyond those.
    pub more_hunks: usize,
}

/// Lines that the branches disagree on, with git's marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The line of the merged file where it begins, counted from 1.
    pub line: usize,
    /// The text, cut to what is shown.
    pub text: String,
}

impl std::fmt::Display for Conflicts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Files in conflict: {}", self.files)?;
        for conflict in &self.described {
            write!(f, "\n\n{}", conflict.path)?;
            for hunk in &conflict.hunks {
                write!(f, "\n(line {})\n{}", hunk.line, hunk.text.trim_end())?;
            }
            if conflict.more_hunks > 0 {
                write!(f, "\n(and {} more places)", conflict.more_hunks)?;
            }
        }
        Ok(())
    }
}

/// Describes what `git merge-tree` answered: a tree, the files in conflict, an empty part, and messages.
pub(super) async fn describe(
    repository: &Repository,
    tree: &ObjectId,
    answer: &Output,
) -> Result<Conflicts, GitError> {
    let parts: Vec<&[u8]> = answer.stdout.split(|byte| *byte == 0).skip(1).collect();
    let end = parts.iter().position(|part| part.is_empty()).unwrap_or(parts.len());
    let (files, rest) = parts.split_at(end);
    let paths: Vec<&Path> = files.iter().map(|name| Path::new(OsStr::from_bytes(name))).collect();
    let mut described = Vec::new();
    for path in paths.iter().take(limits::CONFLICT_FILES) {
        described.push(describe_file(repository, tree, path).await?);
    }
    let files = Names::of(paths.into_iter(), limits::CONFLICT_FILES);
    Ok(Conflicts { files, described, messages: messages(rest) })
}

/// Each message is a count of paths, the paths, a kind and a text.
fn messages(parts: &[&[u8]]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = parts.get(1..).unwrap_or_default();
    while let Some((count, after)) = rest.split_first() {
        let count = String::from_utf8_lossy(count).parse::<usize>().ok();
        let Some((kind, text)) = count.and_then(|count| Some((after.get(count)?, after.get(count + 1)?)))
        else {
            break;
        };
        if kind.starts_with(b"CONFLICT") && found.len() < limits::CONFLICT_FILES {
            found.push(readable(text).trim_end_matches('\u{fffd}').to_owned());
        }
        rest = after.get(count.unwrap_or(0) + 2..).unwrap_or_default();
    }
    found
}

async fn describe_file(repository: &Repository, tree: &ObjectId, path: &Path) -> Result<Conflict, GitError> {
    let mut name = std::ffi::OsString::from(format!("{tree}:"));
    name.push(path);
    let limit = usize::try_from(limits::CONFLICT_FILE).unwrap_or(usize::MAX);
    let call = Call::new(["cat-file", "blob"]).arg(name).accepts(&[128]).at_most(limit, Overflow::Cut);
    let answer = repository.ask(Place::Store, call).await?;
    let (hunks, more_hunks) = hunks(&answer.text());
    Ok(Conflict { path: readable(path.as_os_str().as_bytes()), hunks, more_hunks })
}

/// The parts of a merged file between git's marks.
fn hunks(text: &str) -> (Vec<Hunk>, usize) {
    let mut found: Vec<Hunk> = Vec::new();
    let mut more = 0;
    let mut open: Option<Hunk> = None;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("<<<<<<< ") && open.is_none() {
            open = Some(Hunk { line: index + 1, text: String::new() });
        }
        let Some(hunk) = &mut open else { continue };
        if hunk.text.len() < limits::CONFLICT_HUNK {
            hunk.text.push_str(line);
            hunk.text.push('\n');
        }
        if line.starts_with(">>>>>>> ") {
            match found.len() < limits::CONFLICT_HUNKS {
                true => found.extend(open.take().map(cut)),
                false => more += 1,
            }
            open = None;
        }
    }
    (found, more)
}

fn cut(mut hunk: Hunk) -> Hunk {
    if let Some((end, _)) = hunk.text.char_indices().nth(limits::CONFLICT_HUNK) {
        hunk.text.truncate(end);
        hunk.text.push_str("…\n");
    }
    hunk
}
