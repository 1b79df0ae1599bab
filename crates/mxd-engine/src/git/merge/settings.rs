//! What a merge changes of the settings and hooks that later tasks work under.
//!
//! They say what is checked and what runs in new worktrees, so a change of them is the user's to accept, and not only one
//! of many changed files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use mxd_core::tool::Digest;

use super::super::changes::Names;
use super::super::error::GitError;
use super::super::names::ObjectId;
use super::super::repository::{Place, Repository};
use super::super::run::Call;

/// Files that are named.
const SHOWN: usize = 20;
/// Hexadecimal digits of a fingerprint: few enough to be typed, too many to be hit by trying.
const FINGERPRINT_DIGITS: usize = 24;

/// Whether a merge may change settings and hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsRule {
    /// It may: nobody works under them in the target.
    Free,
    /// Only as the user accepted it, if at all: the fingerprint of what was looked at.
    Accepted(Option<String>),
}

/// What a merge would change of settings and hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsChange {
    /// Which files.
    pub files: Names,
    /// Names exactly this change of them.
    pub fingerprint: String,
}

/// The change that a merge makes and that is not accepted; nothing when there is none.
pub(super) async fn unaccepted(
    repository: &Repository,
    rule: &SettingsRule,
    (into, tree): (&ObjectId, &ObjectId),
) -> Result<Option<SettingsChange>, GitError> {
    let SettingsRule::Accepted(accepted) = rule else { return Ok(None) };
    let change = change(repository, (into, tree)).await?;
    Ok(change.filter(|change| accepted.as_ref() != Some(&change.fingerprint)))
}

async fn change(
    repository: &Repository,
    (into, tree): (&ObjectId, &ObjectId),
) -> Result<Option<SettingsChange>, GitError> {
    let call = Call::new(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none"]);
    // Some file systems do not tell `.MXD` from `.mxd`.
    let call = call.args([into.as_str(), tree.as_str(), "--", ":(icase).mxd"]);
    let answer = repository.ask(Place::Store, call).await?;
    let fields: Vec<&[u8]> = answer.parts().collect();
    let (mut paths, mut told) = (Vec::new(), Vec::new());
    // Each file is two fields: its modes and objects before and after, and its path.
    for pair in fields.chunks_exact(2) {
        let [about, path] = pair else { continue };
        if is_setting(path) {
            paths.push(Path::new(OsStr::from_bytes(path)));
            told.extend_from_slice(about);
            told.push(0);
            told.extend_from_slice(path);
            told.push(0);
        }
    }
    if paths.is_empty() {
        return Ok(None);
    }
    let fingerprint = Digest::of(&told).to_string().chars().take(FINGERPRINT_DIGITS).collect();
    Ok(Some(SettingsChange { files: Names::of(paths.into_iter(), SHOWN), fingerprint }))
}

/// Notes of agents and tasks in `.mxd` are work like any other; these are not.
fn is_setting(path: &[u8]) -> bool {
    let path = path.to_ascii_lowercase();
    matches!(path.as_slice(), b".mxd" | b".mxd/config.json" | b".mxd/hooks")
        || path.starts_with(b".mxd/hooks/")
}
