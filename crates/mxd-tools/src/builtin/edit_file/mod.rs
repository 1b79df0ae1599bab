//! `edit_file`: exact replacements, all of them or none.

mod document;
mod nearest;
mod region;
mod replace;

use mxd_core::tool::SideEffect;
use schemars::JsonSchema;
use serde::Deserialize;

use super::content::counted;
use crate::confine::{ConfineError, Confinement};
use crate::outcome::Outcome;
use crate::scope::Scope;
use document::{Document, DocumentError};
use replace::{Mismatch, Replacement};

/// What models call it.
pub const NAME: &str = "edit_file";

/// What models are told about it.
pub const DESCRIPTION: &str = "Replaces text in a file. old_string must be exactly what the file contains, without \
    the line numbers of read_file, and must occur once, unless replace_all is set. For several changes give edits: \
    they are applied in order, all or none. Line ends and encoding of the file are kept.";

/// What it does to the world.
pub const EFFECT: SideEffect = SideEffect::Write;

/// The most edits in one call.
const MAX_EDITS: usize = 100;

/// What to change: either one replacement, or several as `edits`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, relative to the worktree.
    pub path: String,
    /// The text to be replaced, exactly as it is in the file.
    #[serde(default)]
    pub old_string: Option<String>,
    /// What comes in its place.
    #[serde(default)]
    pub new_string: Option<String>,
    /// Replace every occurrence instead of the only one.
    #[serde(default)]
    pub replace_all: Option<bool>,
    /// Several replacements, instead of the three above.
    #[serde(default)]
    pub edits: Option<Vec<Edit>>,
}

/// One of several replacements.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The text to be replaced, exactly as it is in the file after the edits before this one.
    pub old_string: String,
    /// What comes in its place.
    pub new_string: String,
    /// Replace every occurrence instead of the only one.
    #[serde(default)]
    pub replace_all: bool,
}

#[derive(Debug, thiserror::Error)]
enum EditError {
    #[error(transparent)]
    Confine(#[from] ConfineError),
    #[error("{path} cannot be edited: {source}")]
    Document { path: String, source: DocumentError },
    #[error("give either old_string and new_string, or edits, and not both")]
    Form,
    #[error("{count} edits are given; at most {MAX_EDITS} are possible in one call")]
    TooMany { count: usize },
    #[error("{which}old_string is empty; to create a file or replace all of it, use write_file")]
    Empty { which: Which },
    #[error("{which}old_string and new_string are the same; there is nothing to change")]
    Same { which: Which },
    #[error("{which}old_string is not in {path}; nothing was changed. {hint}")]
    NotFound { which: Which, path: String, hint: String },
    #[error(
        "{which}old_string is {count} times in {path}, at {lines}; nothing was changed. Give more of the text \
         around it so that it fits once, or set replace_all"
    )]
    NotUnique { which: Which, path: String, count: usize, lines: String },
}

/// Which of several edits is meant. Says nothing when there is one.
#[derive(Debug, Clone, Copy)]
struct Which {
    number: usize,
    of: usize,
}

impl std::fmt::Display for Which {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.of > 1 { write!(f, "edit {} of {}: ", self.number, self.of) } else { Ok(()) }
    }
}

/// Edits a file.
pub fn run(args: &Args, scope: &Scope) -> Outcome {
    if let Some(problem) = scope.cell.disk_problem() {
        return Outcome::error(format!("nothing was written: {problem}"));
    }
    match edit(args, scope) {
        Ok(words) => Outcome::text(words),
        Err(error) => Outcome::error(error.to_string()),
    }
}

fn edit(args: &Args, scope: &Scope) -> Result<String, EditError> {
    let edits = edits(args)?;
    let place = Confinement::of(scope)?.resolve(&args.path)?;
    // Says what is wrong with the path before anything is made for it.
    drop(place.open()?);
    let target = place.target()?;
    let _turn = scope.files.take_turn(&target);
    let standing = target.standing()?;
    let content = target.open()?.read_whole(&args.path)?;
    let had_changed =
        standing.as_ref().is_some_and(|now| scope.files.changed_since(&target, now, Some(&content)));

    let failed = |source| EditError::Document { path: args.path.clone(), source };
    let mut document = Document::read(&content).map_err(failed)?;
    let done = apply(&edits, &mut document, &args.path)?;
    let content = document.into_bytes();
    let replaced = target.replace(&content, standing.as_ref())?;
    scope.files.have_written(&target, &replaced, &content);

    let times = counted(done.times as u64, "replacement");
    let mut words = format!("edited {} ({times})\n{}", target.shown(), done.shown);
    if done.converted {
        words.push_str("[the file has CRLF line ends; yours were converted]\n");
    }
    if had_changed {
        words.push_str("[the file had been changed by somebody else since you last read it]\n");
    }
    Ok(words)
}

/// The edits, whichever way they were given.
fn edits(args: &Args) -> Result<Vec<Edit>, EditError> {
    let edits = match (args.old_string.clone(), args.new_string.clone(), args.edits.clone()) {
        (Some(old_string), Some(new_string), None) => {
            vec![Edit { old_string, new_string, replace_all: args.replace_all.unwrap_or(false) }]
        }
        (None, None, Some(edits)) if args.replace_all.is_none() && !edits.is_empty() => edits,
        _ => return Err(EditError::Form),
    };
    if edits.len() > MAX_EDITS {
        return Err(EditError::TooMany { count: edits.len() });
    }
    for (index, edit) in edits.iter().enumerate() {
        let which = Which { number: index + 1, of: edits.len() };
        if edit.old_string.is_empty() {
            return Err(EditError::Empty { which });
        }
        if edit.old_string == edit.new_string {
            return Err(EditError::Same { which });
        }
    }
    Ok(edits)
}

/// What edits came to.
struct Done {
    times: usize,
    converted: bool,
    shown: String,
}

fn apply(edits: &[Edit], document: &mut Document, path: &str) -> Result<Done, EditError> {
    let mut replacement = Replacement::new(document);
    for (index, edit) in edits.iter().enumerate() {
        let which = Which { number: index + 1, of: edits.len() };
        replacement.apply(edit).map_err(|mismatch| match mismatch {
            Mismatch::NotFound => {
                let hint = nearest::hint(replacement.text(), &edit.old_string);
                EditError::NotFound { which, path: path.to_owned(), hint }
            }
            Mismatch::Several { count, lines } => {
                EditError::NotUnique { which, path: path.to_owned(), count, lines }
            }
        })?;
    }
    let shown = region::show(replacement.text(), replacement.spans());
    Ok(Done { times: replacement.times(), converted: replacement.converted(), shown })
}
