//! Files that go through a filter of the user's, such as those of LFS.
//!
//! No filter is run for agents: it is a program of the user's, and it would read what an agent wrote. Agents have such files as
//! git stores them, and work that changes one is refused at its end, where it can still be put right.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::changes::Names;
use super::error::GitError;
use super::limits;
use super::names::ObjectId;
use super::refs::RefError;
use super::repository::{Place, Repository};
use super::run::Call;
use super::worktree::Worktree;

/// Distinguishes the files of questions that are asked at once.
static QUESTIONS: AtomicU64 = AtomicU64::new(0);

impl Repository {
    /// Files that differ between two commits and have a filter that the user's git knows.
    pub(super) async fn filtered_changes(&self, from: &ObjectId, to: &ObjectId) -> Result<Names, GitError> {
        let drivers = self.filter_names().await?;
        if drivers.is_empty() {
            return Ok(Names::default());
        }
        let diff = Call::new(["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=d"]);
        let changed = self.ask(Place::Store, diff.args([from.as_str(), to.as_str()])).await?;
        let question = QUESTIONS.fetch_add(1, Ordering::Relaxed);
        let name = format!("mxd/attributes.{}.{question}.index", std::process::id());
        let index = self.common().join(name);
        std::fs::create_dir_all(self.common().join("mxd")).map_err(GitError::file("make", &index))?;
        let place = Place::Index(&index);
        self.ask(place, Call::new(["read-tree", to.as_str()])).await?;
        let ask = Call::new(["check-attr", "-z", "--cached", "--stdin", "filter"]).input(changed.stdout);
        let answer = self.ask(place, ask).await;
        let _ = std::fs::remove_file(&index);
        let answer = answer?;
        let parts: Vec<&[u8]> = answer.stdout.split(|byte| *byte == 0).collect();
        let known = |value: &[u8]| drivers.iter().any(|driver| driver.as_bytes() == value);
        let paths = parts
            .chunks_exact(3)
            .filter(|triple| known(triple[2]))
            .map(|triple| Path::new(OsStr::from_bytes(triple[0])));
        Ok(Names::of(paths, limits::NAMES_SHOWN))
    }
}

/// Files with a filter that the work in a worktree changed. What came from its base is not its own.
///
/// # Errors
///
/// When git fails.
pub async fn filtered_work(
    repository: &Repository,
    worktree: &Worktree,
    head: &ObjectId,
) -> Result<Names, RefError> {
    let base = match &worktree.base_branch {
        Some(branch) => repository.branch(branch).await?.unwrap_or_else(|| worktree.base.clone()),
        None => worktree.base.clone(),
    };
    let common = Call::new(["merge-base", base.as_str(), head.as_str()]).accepts(&[1]);
    let common = repository.ask(Place::Store, common).await?.line().parse().unwrap_or(base);
    Ok(repository.filtered_changes(&common, head).await?)
}
