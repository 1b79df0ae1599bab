//! `list_files`: which files there are.

use std::collections::BinaryHeap;
use std::path::Path;

use mxd_core::tool::SideEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::content::counted;
use super::glob::{Pattern, PatternError};
use crate::confine::{ConfineError, Confinement, Entry, EntryKind, Tree, What};
use crate::outcome::Outcome;
use crate::scope::Scope;

/// What models call it.
pub const NAME: &str = "list_files";

/// What models are told about it.
pub const DESCRIPTION: &str = "Lists files and folders whose path fits a glob, sorted, folders with a slash at the \
    end. A pattern without a slash fits names at any depth. Files that .gitignore leaves out are not listed, hidden \
    ones only when the pattern names them, as in .github/**. At most 500 are listed.";

/// What it does to the world.
pub const EFFECT: SideEffect = SideEffect::Read;

/// The most paths that are listed.
const MAX_LISTED: usize = 500;

/// What to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// A glob such as `*.rs` or `src/**/*.rs`; everything when left out.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The folder to look in, relative to the worktree; the worktree when left out.
    #[serde(default)]
    pub path: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error(transparent)]
    Confine(#[from] ConfineError),
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error("{path} is a file, not a folder; read_file shows it")]
    NotAFolder { path: String },
    #[error("the folder {path} cannot be read")]
    Unreadable { path: String },
    #[error("listing was cancelled")]
    Cancelled,
}

/// Lists files.
pub fn run(args: &Args, scope: &Scope, cancel: &CancellationToken) -> Outcome {
    match list(args, scope, cancel) {
        Ok(words) => Outcome::text(words),
        Err(error) => Outcome::error(error.to_string()),
    }
}

fn list(args: &Args, scope: &Scope, cancel: &CancellationToken) -> Result<String, ListError> {
    let wanted = args.pattern.as_deref().unwrap_or("*");
    let pattern = Pattern::new(wanted)?;
    let path = args.path.as_deref().unwrap_or(".");
    let start = Confinement::of(scope)?.resolve(path)?;
    match start.what() {
        What::Folder => {}
        What::Entry(_) => return Err(ListError::NotAFolder { path: path.to_owned() }),
        // Says what is nearest.
        What::Missing(_) => drop(start.open()?),
    }
    let tree =
        Tree { start: &start, wanted_hidden: &|name| pattern.names_hidden(name), excluded: &[], cancel };
    let prefix = start.shown();
    let walked = tree.walk(Listing::default, |listing, entry| {
        if pattern.fits(entry.path) {
            listing.add(&prefix, entry);
        }
    });
    if walked.cancelled {
        return Err(ListError::Cancelled);
    }
    let listing = walked.gathered.into_iter().reduce(Listing::join).unwrap_or_default();
    if listing.found == 0 && walked.unreadable > 0 {
        return Err(ListError::Unreadable { path: path.to_owned() });
    }
    Ok(described(listing, wanted, path, walked.unreadable))
}

fn described(listing: Listing, wanted: &str, path: &str, unreadable: u64) -> String {
    if listing.found == 0 {
        return format!("no files fit {wanted} in {path} (hidden and ignored files are not looked at)\n");
    }
    let more = listing.found - listing.first.len() as u64;
    let mut text = listing.first.into_sorted_vec().join("\n");
    text.push('\n');
    if more > 0 {
        text.push_str(&format!("[cut: {more} more fit; narrow the pattern or the path]\n"));
    }
    if unreadable > 0 {
        text.push_str(&format!("[{} could not be read]\n", counted(unreadable, "folder")));
    }
    text
}

/// The first paths in order, and how many there are.
#[derive(Debug, Default)]
struct Listing {
    first: BinaryHeap<String>,
    found: u64,
}

impl Listing {
    fn add(&mut self, prefix: &Path, entry: &Entry<'_>) {
        let mut path = prefix.join(entry.path).to_string_lossy().into_owned();
        if entry.kind == EntryKind::Folder {
            path.push('/');
        }
        self.found += 1;
        self.keep(path);
    }

    fn keep(&mut self, path: String) {
        self.first.push(path);
        if self.first.len() > MAX_LISTED {
            self.first.pop();
        }
    }

    fn join(mut self, other: Self) -> Self {
        self.found += other.found;
        other.first.into_iter().for_each(|path| self.keep(path));
        self
    }
}
