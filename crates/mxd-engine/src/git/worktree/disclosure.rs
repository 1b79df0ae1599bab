//! What an agent should know about the ground it stands on, and what of the user's work is not there.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::super::changes::{Detail, Difference, Names, names};
use super::super::error::GitError;
use super::super::inspect::Files;
use super::super::limits;
use super::super::names::{Branch, ObjectId};
use super::super::record;
use super::super::repository::{Place, Repository};
use super::super::run::Call;
use super::{Included, Worktree};

/// What a worktree was made from and what it lacks. As text, it is a part of the agent's first message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disclosure {
    /// The branch it is on.
    pub branch: Branch,
    /// The branch it started from, unless it was a plain commit.
    pub base_branch: Option<Branch>,
    /// The commit it started from.
    pub base: ObjectId,
    /// Where its branch stands; another commit than the base when it was there before.
    pub head: ObjectId,
    /// Changes in the user's checkout that are not committed.
    pub uncommitted: Names,
    /// Files in the user's checkout that git does not know, without those that were carried over.
    pub untracked: Names,
    /// Files that were carried over.
    pub included: Vec<String>,
    /// Submodules, whose folders are empty.
    pub submodules: Names,
    /// Files that a filter such as LFS would replace; here they are as they are stored.
    pub filtered: Names,
    /// Whether only a part of the files is checked out, as in the user's checkout.
    pub sparse: bool,
    /// Whether history is cut off.
    pub shallow: bool,
}

impl fmt::Display for Disclosure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.base_branch.as_ref().map(|base| format!(" of {base}")).unwrap_or_default();
        writeln!(f, "Your branch is {}. It starts at commit {}{origin}.", self.branch, self.base.short())?;
        if self.head != self.base {
            writeln!(f, "It has commits from before: it stands at {}.", self.head.short())?;
        }
        let lists = [
            ("Not here: changes in the user's checkout that are not committed", &self.uncommitted),
            ("Not here: files in the user's checkout that git does not know", &self.untracked),
            ("Empty here: submodules", &self.submodules),
            ("Here as they are stored, not as their filter (such as LFS) would show them", &self.filtered),
        ];
        for (what, names) in lists.into_iter().filter(|(_, names)| names.count > 0) {
            writeln!(f, "{what} ({}): {names}", names.count)?;
        }
        if !self.included.is_empty() {
            let included = Names::of(self.included.iter().map(Path::new), limits::NAMES_SHOWN);
            writeln!(f, "Copied from the user's checkout ({}): {included}", included.count)?;
        }
        if self.sparse {
            writeln!(f, "Only a part of the files is checked out (sparse checkout).")?;
        }
        if self.shallow {
            writeln!(f, "History is cut off (shallow clone).")?;
        }
        Ok(())
    }
}

/// Looks at the user's checkout and at the worktree.
pub(super) async fn disclose(
    repository: &Repository,
    worktree: &Worktree,
    included: &Included,
) -> Result<Disclosure, GitError> {
    let changes = match repository.checkout() {
        Some(checkout) => repository.changes(Place::Checkout(checkout), Detail::Untracked).await?,
        None => Vec::new(),
    };
    let (untracked, uncommitted): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|change| change.difference == Difference::Untracked);
    let here = |path: &Path| included.copied.iter().any(|copied| Path::new(copied) == path);
    // The folder of the worktrees may lie in the checkout.
    let holds_us = |path: &Path| {
        repository.checkout().is_some_and(|checkout| worktree.folder.starts_with(checkout.folder.join(path)))
    };
    let left = untracked.iter().filter(|change| !here(&change.path) && !holds_us(&change.path));
    let head = repository.read_ref(&worktree.branch.refname()).await.ok().flatten();
    let (submodules, filtered) = special(repository, worktree).await?;
    Ok(Disclosure {
        branch: worktree.branch.clone(),
        base_branch: worktree.base_branch.clone(),
        base: worktree.base.clone(),
        head: head.unwrap_or_else(|| worktree.base.clone()),
        uncommitted: names(uncommitted.iter()),
        untracked: names(left),
        included: included.copied.clone(),
        submodules,
        filtered,
        sparse: repository.setting("core.sparsecheckout").await?.as_deref() == Some("true"),
        shallow: repository.common().join("shallow").exists(),
    })
}

/// Submodules, and files with a filter, among the files of the worktree.
async fn special(repository: &Repository, worktree: &Worktree) -> Result<(Names, Names), GitError> {
    let index = record::index(repository.common(), worktree.task);
    let inspected = repository.inspect(&worktree.folder, &index, Files::Read).await?;
    let place = Place::Files(&inspected);
    let staged = repository.ask(place, Call::new(["ls-files", "-z", "--stage"])).await?;
    let link = |line: &&[u8]| line.starts_with(b"160000 ");
    let path = |line: &'_ [u8]| line.iter().position(|byte| *byte == b'\t').map(|at| at + 1);
    let submodules: Vec<_> = staged
        .parts()
        .filter(link)
        .filter_map(|line| Some(Path::new(OsStr::from_bytes(line.get(path(line)?..)?))))
        .collect();
    let drivers = repository.filter_names().await?;
    let specs = drivers.iter().map(|driver| format!(":(top,attr:filter={driver})"));
    let answer = repository.ask(place, Call::new(["ls-files", "-z", "--"]).args(specs)).await?;
    let filtered: Vec<_> = answer.parts().map(|name| Path::new(OsStr::from_bytes(name))).collect();
    let shown = limits::NAMES_SHOWN;
    Ok((Names::of(submodules.into_iter(), shown), Names::of(filtered.into_iter(), shown)))
}
