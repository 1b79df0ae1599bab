//! The last commits of a branch.

use super::Branch;
use super::names::readable;
use super::refs::RefError;
use super::repository::{Place, Repository};
use super::run::Call;

/// A commit, as a list of them shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Its name.
    pub hash: String,
    /// The first line of its message.
    pub message: String,
    /// When it was made, in seconds since 1970.
    pub at: u64,
    /// Who made it.
    pub author: String,
}

/// The last commits of a branch, newest first; none for a branch that is not there.
///
/// # Errors
///
/// When git fails.
pub async fn history(repository: &Repository, branch: &Branch, most: usize) -> Result<Vec<Logged>, RefError> {
    repository.import_branch(branch).await?;
    let Some(head) = repository.branch(branch).await? else { return Ok(Vec::new()) };
    let format = "--format=%H%x1f%s%x1f%ct%x1f%an";
    let call = Call::new(["log", "-z", "--no-show-signature", "--no-color", format, "-n", &most.to_string()]);
    let answer = repository.ask(Place::Store, call.args([head.as_str(), "--"])).await?;
    let mut found = Vec::new();
    for line in answer.parts() {
        let mut fields = line.split(|byte| *byte == 0x1f);
        let (Some(hash), Some(message), Some(at), Some(author), None) =
            (fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(answer.odd().into());
        };
        let at = std::str::from_utf8(at).ok().and_then(|at| at.parse().ok()).unwrap_or(0);
        found.push(Logged { hash: readable(hash), message: readable(message), at, author: readable(author) });
    }
    Ok(found)
}
