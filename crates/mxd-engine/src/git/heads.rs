//! The commits of a task: branches, what its worktree stood on, and what it left behind, held by its grave.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use mxd_core::id::TaskId;

use super::admin::{self, Standing};
use super::error::GitError;
use super::files::Beneath;
use super::grave;
use super::limits;
use super::names::{NAMESPACE, ObjectId};
use super::record::Record;
use super::refs::{RefError, Swap};
use super::repository::{Place, Repository};
use super::run::Call;
use super::snapshot::Snapshot;

/// Who makes the commits that nobody else makes.
pub(super) const NOBODY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "mxd"),
    ("GIT_AUTHOR_EMAIL", "mxd@localhost"),
    ("GIT_COMMITTER_NAME", "mxd"),
    ("GIT_COMMITTER_EMAIL", "mxd@localhost"),
];

/// What a task would leave without a name.
#[derive(Debug)]
pub(super) struct Heads {
    /// What the worktree stood on.
    pub(super) head: ObjectId,
    /// Everything else.
    others: Vec<ObjectId>,
    /// What was staged, as trees: by the agent, and by whoever used the user's git in its worktree.
    staged: Vec<ObjectId>,
}

/// What an agent's own repository held, taken over.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// What the agent had checked out, when that was not its branch.
    pub(super) stood: Option<ObjectId>,
    /// Every commit that a branch or the history of one had.
    pub(super) commits: Vec<ObjectId>,
    /// What was staged, as a tree.
    pub(super) staged: Option<ObjectId>,
}

impl Heads {
    pub(super) async fn find(
        repository: &Repository,
        record: &Record,
        (own, left): (Option<&Path>, Left),
    ) -> Result<Self, RefError> {
        let mut others = left.commits;
        let mut on_branch = None;
        for head in repository.refs_below(&format!("refs/heads/{NAMESPACE}/{}", record.task)).await? {
            if head.name == record.branch.refname() {
                on_branch = Some(head.commit.clone());
            }
            others.push(head.commit);
        }
        let stood = match own.map(admin::standing) {
            Some(Ok(Standing::At(commit))) => Some(commit),
            Some(Ok(Standing::On(branch))) if branch.is_of_agents() => repository.branch(&branch).await?,
            _ => None,
        };
        others.extend(left_behind(repository.common(), record.task, own));
        let mut others = existing(repository, others).await?;
        let stood = left.stood.or(stood);
        let stood = existing(repository, stood.into_iter().collect()).await?.pop();
        let head = stood.or(on_branch.clone()).unwrap_or_else(|| record.base.clone());
        others.extend(on_branch);
        let outside = match own {
            Some(own) => staged(repository, own).await?,
            None => None,
        };
        let staged = left.staged.into_iter().chain(outside).collect();
        Ok(Self { head, others, staged })
    }

    /// Makes the grave, unless everything is elsewhere.
    pub(super) async fn bury(
        &self,
        repository: &Repository,
        record: &Record,
        snapshot: Option<&Snapshot>,
    ) -> Result<Option<ObjectId>, RefError> {
        let committed = repository.tree(&self.head).await?;
        let tree = snapshot.map_or(&committed, |snapshot| &snapshot.tree);
        let mut staged: Vec<&ObjectId> =
            self.staged.iter().filter(|staged| **staged != committed && *staged != tree).collect();
        staged.dedup();
        let mut nameless = Vec::new();
        for head in independent(repository, &self.others).await? {
            if head != self.head && !is_elsewhere(repository, &head, record.task).await? {
                nameless.push(head);
            }
        }
        let is_clean = *tree == committed && staged.is_empty() && nameless.is_empty();
        if is_clean && is_elsewhere(repository, &self.head, record.task).await? {
            return Ok(None);
        }
        for staged in staged {
            let call = Call::new([
                "commit-tree",
                staged.as_str(),
                "-p",
                self.head.as_str(),
                "-m",
                "What was staged",
            ]);
            nameless.push(commit(repository, call).await?);
        }
        let name = grave::refname(record.task);
        let before = repository.read_ref(&name).await?;
        let mut call = Call::new(["commit-tree", tree.as_str(), "-p", self.head.as_str()]);
        for parent in nameless.iter().chain(&before) {
            call = call.args(["-p", parent.as_str()]);
        }
        let made = commit(repository, call.arg("-m").arg(epitaph(record, &self.head, snapshot))).await?;
        let turn = repository.turn().await;
        let swap = Swap { name: &name, from: before.as_ref(), to: Some(&made), why: "mxd: worktree removed" };
        repository.swap_ref(&turn, swap).await?;
        Ok(Some(made))
    }
}

async fn commit(repository: &Repository, call: Call) -> Result<ObjectId, GitError> {
    let call = NOBODY.iter().fold(call, |call, (name, value)| call.env(name, value));
    let answer = repository.ask(Place::Store, call).await?;
    answer.line().parse().map_err(|_| answer.odd())
}

fn epitaph(record: &Record, head: &ObjectId, snapshot: Option<&Snapshot>) -> String {
    let mut text = format!(
        "What was in the worktree of task {}\n\nBranch: {}\nStarted at: {}\nStood at: {head}\nFolder: {}\n",
        record.task,
        record.branch,
        record.base,
        record.folder.display(),
    );
    if let Some(snapshot) = snapshot {
        text.push_str(&format!("Files that no commit had: {}\n", snapshot.kept));
        if snapshot.left_out.count > 0 {
            text.push_str(&format!("Ignored and not kept: {}\n", snapshot.left_out));
        }
    }
    text
}

/// Whether a commit is in the history of a ref that is not the task's own branch.
pub(super) async fn is_elsewhere(
    repository: &Repository,
    commit: &ObjectId,
    task: TaskId,
) -> Result<bool, GitError> {
    let call = Call::new(["for-each-ref", "--format=%(refname)", "--contains", commit.as_str()]);
    let places = ["refs/heads", "refs/remotes", "refs/tags", "refs/mxd"];
    let answer = repository.ask(Place::Store, call.args(places)).await?;
    let own = format!("refs/heads/{NAMESPACE}/{task}/");
    Ok(answer.text().lines().any(|name| !name.starts_with(&own)))
}

/// Those of some commits that are not in the history of another of them.
async fn independent(repository: &Repository, commits: &[ObjectId]) -> Result<Vec<ObjectId>, GitError> {
    if commits.len() < 2 {
        return Ok(commits.to_vec());
    }
    let call = Call::new(["merge-base", "--independent"]).args(commits.iter().map(ObjectId::as_str));
    let answer = repository.ask(Place::Store, call).await?;
    Ok(answer.text().lines().filter_map(|line| line.parse().ok()).collect())
}

/// Those of some names that are commits of this repository, each once.
async fn existing(repository: &Repository, names: Vec<ObjectId>) -> Result<Vec<ObjectId>, GitError> {
    let names: BTreeSet<_> = names.into_iter().collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let list: String = names.iter().map(|name| format!("{name}\n")).collect();
    let call = Call::new(["cat-file", "--batch-check=%(objecttype) %(objectname)"]).input(list);
    let answer = repository.ask(Place::Store, call).await?;
    let commits = |line: &str| line.strip_prefix("commit ")?.parse().ok();
    Ok(answer.text().lines().filter_map(commits).collect())
}

/// Commits that only the histories of the task's refs remember: amended, rebased or reset away.
fn left_behind(common: &Path, task: TaskId, own: Option<&Path>) -> Vec<ObjectId> {
    let mut found = Vec::new();
    if let Some(own) = own {
        read_history(&own.join("logs"), Path::new("HEAD"), &mut found);
    }
    let folder = common.join(format!("logs/refs/heads/{NAMESPACE}/{task}"));
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        read_history(&folder, Path::new(&entry.file_name()), &mut found);
    }
    let excess = found.len().saturating_sub(limits::GRAVE_HEADS);
    found.drain(..excess);
    found
}

/// The new value of each line of a ref's history.
fn read_history(folder: &Path, name: &Path, found: &mut Vec<ObjectId>) {
    let open = Beneath::new(folder).and_then(|files| files.read(name));
    let Ok(file) = open else { return };
    let mut text = Vec::new();
    if io::Read::read_to_end(&mut io::Read::take(file, limits::OUTPUT as u64), &mut text).is_ok() {
        let text = String::from_utf8_lossy(&text);
        found.extend(text.lines().filter_map(|line| line.split(' ').nth(1)?.parse().ok()));
    }
}

/// What the agent had staged, if its index can be read.
async fn staged(repository: &Repository, own: &Path) -> Result<Option<ObjectId>, GitError> {
    let Ok(mut theirs) = Beneath::new(own).and_then(|files| files.read(Path::new("index"))) else {
        return Ok(None);
    };
    let copy = staged_copy(repository, own)?;
    let copied = fs::File::create(&copy).and_then(|mut file| io::copy(&mut theirs, &mut file));
    copied.map_err(GitError::file("copy to", &copy))?;
    let written = repository.ask(Place::Index(&copy), Call::new(["write-tree"]).accepts(&[128])).await;
    fs::remove_file(&copy).map_err(GitError::file("remove", &copy))?;
    Ok(written?.line().parse().ok())
}

fn staged_copy(repository: &Repository, own: &Path) -> Result<std::path::PathBuf, GitError> {
    let folder = repository.common().join("mxd/worktrees");
    fs::create_dir_all(&folder).map_err(GitError::file("make", &folder))?;
    let mut name = own.file_name().unwrap_or_default().to_owned();
    name.push(".staged");
    Ok(folder.join(name))
}

/// Removes links, pipes and symbolic refs from among the task's own branches. They hold nothing, and git would follow
/// them or wait for them.
pub(super) fn clear_traps(common: &Path, task: TaskId) -> Result<(), GitError> {
    for top in ["refs/heads", "logs/refs/heads"] {
        let folder = common.join(top).join(NAMESPACE);
        clear_below(&folder.join(task.to_string()), limits::DEPTH)
            .map_err(GitError::file("clear", &folder))?;
    }
    Ok(())
}

fn clear_below(path: &Path, depth: usize) -> io::Result<()> {
    let about = match fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if about.is_dir() {
        let deeper = depth.checked_sub(1).ok_or_else(|| io::Error::other("folders are too deep"))?;
        for entry in fs::read_dir(path)? {
            clear_below(&entry?.path(), deeper)?;
        }
        return Ok(());
    }
    let leads_elsewhere = || admin::read_small(path).is_ok_and(|text| text.trim_start().starts_with("ref:"));
    if !about.is_file() || leads_elsewhere() { fs::remove_file(path) } else { Ok(()) }
}

/// Removes the empty folders of a task's branches, with the mark that kept git from removing them. What else is there
/// stays.
pub(super) fn remove_folders(common: &Path, task: TaskId) {
    for top in ["refs/heads", "logs/refs/heads"] {
        let folder = common.join(top).join(NAMESPACE).join(task.to_string());
        let _ = fs::remove_file(folder.join(".keep"));
        let _ = fs::remove_dir(folder);
    }
}
