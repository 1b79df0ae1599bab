//! The daemon gone at every step: what it left is made good by asking again, and nothing is lost.
//!
//! A git program that stops at its n-th call and says so stands for the crash; the daemon's future is dropped there,
//! with no chance to clean up.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use mxd_engine::git::merge::{self, Outcome};
use mxd_engine::git::worktree::{self, FailedSetup, How, Setup};
use mxd_engine::git::{Git, Repository};

use super::merging::assert_nothing_left;
use super::remove::{assert_gone, removal};
use super::yard::{Yard, nobody, plainly, write};
use crate::rounds::size;

const PROGRAM: &str = "#!/bin/sh
folder='FOLDER'
read n < \"$folder/count\"
n=$((n + 1))
echo $n > \"$folder/count\"
read stop when < \"$folder/stop\"
if [ $n = $stop ]; then
    if [ $when = after ]; then git \"$@\" > /dev/null; fi
    exec 9> \"$folder/tell\"
    echo stopped >&9
    read never < \"$folder/hold\"
fi
exec git \"$@\"
";

/// A git that stops.
pub(crate) struct Brittle {
    folder: PathBuf,
}

/// Around which call it stops.
#[derive(Debug, Clone, Copy)]
pub(crate) enum When {
    Before,
    After,
}

/// Where to stop, and the repository whose git does.
struct Stop {
    at: usize,
    when: When,
    task: u128,
    repository: Repository,
    /// The same with a git that does not stop.
    plain: Repository,
}

impl Brittle {
    /// Its program is put into this folder.
    pub(crate) fn new(folder: PathBuf) -> Self {
        let brittle = Self { folder };
        write(&brittle.folder.join("git"), &PROGRAM.replace("FOLDER", &brittle.folder.display().to_string()));
        fs::set_permissions(brittle.folder.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        for pipe in ["tell", "hold"] {
            let made = std::process::Command::new("mkfifo").arg(brittle.folder.join(pipe)).status().unwrap();
            assert!(made.success());
        }
        brittle.set(0, When::Before);
        brittle
    }

    pub(crate) fn git(&self, git: Git) -> Git {
        git.program(self.folder.join("git"))
    }

    /// Has it stop at this call from now on; at none with 0.
    pub(crate) fn set(&self, stop: usize, when: When) {
        write(&self.folder.join("count"), "0\n");
        let when = if matches!(when, When::After) { "after" } else { "before" };
        write(&self.folder.join("stop"), &format!("{stop} {when}\n"));
    }

    /// Runs something until it ends or stops; whether it ended. A program that stopped is gone afterwards: it holds the
    /// pipe until its end, as all programs of a daemon hold a lock for which the next one waits.
    async fn until_stop<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let Watch { stopped, gone } = self.watch();
        let ended = tokio::select! {
            _ = stopped => None,
            ended = work => {
                self.end_watch();
                Some(ended)
            }
        };
        gone.await.unwrap();
        ended
    }

    /// Looks out for the stop, until there is one or [`Self::end_watch`] is called.
    pub(crate) fn watch(&self) -> Watch {
        let (first, stopped) = tokio::sync::oneshot::channel();
        let pipe = self.folder.join("tell");
        let gone = tokio::task::spawn_blocking(move || {
            let mut pipe = BufReader::new(fs::File::open(pipe).unwrap());
            pipe.read_line(&mut String::new()).unwrap();
            let _ = first.send(());
            pipe.read_to_end(&mut Vec::new()).unwrap();
        });
        Watch { stopped, gone }
    }

    pub(crate) fn end_watch(&self) {
        write_to_pipe(&self.folder.join("tell"));
    }
}

/// A look-out for the stop.
pub(crate) struct Watch {
    /// Told when the program has stopped.
    pub(crate) stopped: tokio::sync::oneshot::Receiver<()>,
    /// Ends when the program that stopped has ended.
    pub(crate) gone: tokio::task::JoinHandle<()>,
}

fn write_to_pipe(path: &std::path::Path) {
    let mut pipe = fs::File::options().write(true).open(path).unwrap();
    pipe.write_all(b"ended\n").unwrap();
}

/// Every place at which an operation can stop, until it does not stop any more; in the suite, every third one. Each is
/// tried with a task of its own.
async fn everywhere<W: AsyncFn(&Yard, &Brittle, Stop) -> bool>(work: W) -> usize {
    let yard = Yard::new();
    let brittle = Brittle::new(yard.at("brittle"));
    let repository = yard.repository_with(brittle.git(yard.git())).await;
    let plain = yard.repository().await;
    // After one call is nearly before the next; the suite leaves the difference to chaos.
    let whens = &[When::Before, When::After][..size(1, 2)];
    let mut task = 0;
    for at in (1..200).step_by(size(3, 1)) {
        for when in whens {
            task += 1;
            brittle.set(0, When::Before);
            let (repository, plain) = (repository.clone(), plain.clone());
            if work(&yard, &brittle, Stop { at, when: *when, task, repository, plain }).await {
                yard.user("fsck --strict");
                return at - 1;
            }
        }
    }
    panic!("it never ends");
}

#[tokio::test]
async fn a_worktree_that_was_being_made_is_made_when_asked_again() {
    let stops = everywhere(async |yard, brittle, stop| {
        brittle.set(stop.at, stop.when);
        let ended =
            brittle.until_stop(worktree::create(&stop.repository, &yard.request(stop.task), nobody)).await;
        let again = worktree::create(&stop.plain, &yard.request(stop.task), nobody).await.unwrap();
        assert!(ended.is_some() || again.how == How::Made || again.how == How::Reused);
        assert_eq!(again.worktree.base.as_str(), yard.user("rev-parse main"));
        assert_eq!(yard.git_in(&again.worktree.folder, "status --porcelain"), "");
        let count = usize::try_from(stop.task).unwrap();
        assert_eq!(yard.user("worktree list").lines().count(), count + 1);
        assert_eq!(yard.user("for-each-ref refs/heads/mxd").lines().count(), count);
        ended.is_some()
    })
    .await;
    assert!(stops >= 6, "{stops}");
}

/// A program that dies while it removes what another one had half made leaves a part of it, which nothing says is ours.
#[tokio::test]
async fn a_half_made_worktree_whose_removal_was_cut_off_is_in_nobodys_way() {
    let yard = Yard::new();
    let repository = yard.repository().await;
    let mut request = yard.request(1);
    (request.setup, request.failed_setup) = (Setup::Required, FailedSetup::Keep);
    let fails = |_| std::future::ready(Err(std::io::Error::other("the program died")));
    yard.write("repo/.mxd/hooks/setup_worktree.sh", "true\n");
    yard.user("add -A");
    yard.user("commit -q -m set-up");
    worktree::create(&repository, &request, fails).await.unwrap_err();
    let aside = PathBuf::from(format!("{}.unmade", request.folder.display()));
    fs::rename(&request.folder, &aside).unwrap();
    fs::remove_file(aside.join(".git")).unwrap();
    let made = worktree::create(&repository, &request, plainly).await.unwrap();
    assert_eq!(made.how, How::Made);
    assert_eq!(yard.git_in(&made.worktree.folder, "status --porcelain"), "");
    assert!(!aside.exists());
    assert_eq!(yard.user("worktree list").lines().count(), 2);
}

#[tokio::test]
async fn a_worktree_that_was_being_removed_is_removed_when_asked_again_and_kept() {
    let stops = everywhere(async |yard, brittle, stop| {
        let worktree =
            worktree::create(&stop.plain, &yard.request(stop.task), nobody).await.unwrap().worktree;
        let head = yard.commit(&worktree, "committed.txt", &format!("committed {}\n", stop.task));
        write(&worktree.folder.join("untracked"), "untracked\n");
        brittle.set(stop.at, stop.when);
        let ended = brittle.until_stop(worktree::remove(&stop.repository, &removal(&worktree))).await;
        worktree::remove(&stop.plain, &removal(&worktree)).await.unwrap();
        assert_gone(yard, &worktree);
        let grave = format!("refs/mxd/grave/{}", worktree.task);
        assert_eq!(yard.user(&format!("rev-parse {grave}^1")), head);
        assert_eq!(yard.user(&format!("show {grave}:untracked")), "untracked");
        ended.is_some()
    })
    .await;
    assert!(stops >= 10, "{stops}");
}

#[tokio::test]
async fn a_merge_that_stopped_is_made_once_when_asked_again() {
    let stops = everywhere(async |yard, brittle, stop| {
        let worktree =
            worktree::create(&stop.plain, &yard.request(stop.task), nobody).await.unwrap().worktree;
        let file = format!("{}.txt", stop.task);
        yard.commit(&worktree, &file, "new\n");
        let mut request = yard.merge(&worktree);
        request.check = Some(vec!["true".into()]);
        brittle.set(stop.at, stop.when);
        let ended = brittle.until_stop(merge::merge(&stop.repository, &request, plainly)).await;
        let again = merge::merge(&stop.plain, &request, plainly).await.unwrap();
        let fine = matches!(again, Outcome::Merged(_) | Outcome::AlreadyMerged { .. });
        assert!(fine, "stopped {:?} {}: {again:?}", stop.when, stop.at);
        assert_eq!(yard.user("rev-list --count --first-parent --merges main"), stop.task.to_string());
        assert_eq!(yard.user("status --porcelain"), "");
        assert_eq!(yard.read(&format!("repo/{file}")), "new\n");
        assert_nothing_left(yard);
        ended.is_some()
    })
    .await;
    assert!(stops >= 15, "{stops}");
}
