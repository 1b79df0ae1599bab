//! `write_file`: a whole new content, at once or not at all.

use mxd_core::tool::SideEffect;
use schemars::JsonSchema;
use serde::Deserialize;

use super::content::{count_lines, counted};
use crate::confine::{ConfineError, Confinement, Files, Standing, Target};
use crate::outcome::Outcome;
use crate::scope::Scope;

/// What models call it.
pub const NAME: &str = "write_file";

/// What models are told about it.
pub const DESCRIPTION: &str = "Writes a file: creates it, with the folders it needs, or replaces its whole content. \
    An existing file keeps its permissions. To change a part of a file, use edit_file.";

/// What it does to the world.
pub const EFFECT: SideEffect = SideEffect::Write;

/// The largest content, in bytes.
const MAX_CONTENT: usize = 10 << 20;

/// What to write.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, relative to the worktree.
    pub path: String,
    /// The whole content.
    pub content: String,
}

#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error(transparent)]
    Confine(#[from] ConfineError),
    #[error("{path} ends with a slash; give the name of a file")]
    NamesFolder { path: String },
    #[error(
        "the content has {bytes} bytes; at most {MAX_CONTENT} can be written: write it in parts with bash"
    )]
    TooLarge { bytes: usize },
    #[error(
        "{path} was changed by somebody else since you last read it, and writing would undo that. Nothing was \
         written. Read it again; if you then still want to replace it, write it again"
    )]
    ChangedSinceRead { path: String },
}

/// Writes a file.
pub fn run(args: &Args, scope: &Scope) -> Outcome {
    if let Some(problem) = scope.cell.disk_problem() {
        return Outcome::error(format!("nothing was written: {problem}"));
    }
    match write(args, scope) {
        Ok(words) => Outcome::text(words),
        Err(error) => Outcome::error(error.to_string()),
    }
}

fn write(args: &Args, scope: &Scope) -> Result<String, WriteError> {
    if args.content.len() > MAX_CONTENT {
        return Err(WriteError::TooLarge { bytes: args.content.len() });
    }
    if args.path.ends_with('/') {
        return Err(WriteError::NamesFolder { path: args.path.clone() });
    }
    let target = Confinement::of(scope)?.resolve(&args.path)?.target()?;
    let _turn = scope.files.take_turn(&target);
    let standing = target.standing()?;
    if let Some(standing) = &standing {
        check_seen(&target, standing, &scope.files)?;
    }
    let content = args.content.as_bytes();
    let replaced = target.replace(content, standing.as_ref())?;
    scope.files.have_written(&target, &replaced, content);
    let lines = counted(count_lines(content) as u64, "line");
    let done = if standing.is_some() { "replaced" } else { "created" };
    Ok(format!("{done} {} ({lines}, {} bytes)", target.shown(), content.len()))
}

/// Refuses, once, to write over what the agent has not seen.
fn check_seen(target: &Target, standing: &Standing, files: &Files) -> Result<(), WriteError> {
    // What cannot be read is compared by size and time.
    let content = target.open().and_then(|mut opened| opened.read_whole(target.asked())).ok();
    if !files.changed_since(target, standing, content.as_deref()) {
        return Ok(());
    }
    files.forget(target);
    Err(WriteError::ChangedSinceRead { path: target.asked().to_owned() })
}
