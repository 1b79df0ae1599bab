//! How much of the disk the folders of an agent hold.
//!
//! Without privileges no quota can be set, so the folders are measured while commands run. Above a limit the commands are
//! ended, and further ones may remove files but neither make nor write any, until the folders hold less.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, StatxFlags, openat, statvfs, statx};
use tokio::time::Instant;

use super::policy::{Limits, Policy};

/// The shortest pause between two measurements.
const PAUSE: Duration = Duration::from_secs(1);

/// So many times as long as a measurement took is the pause after it.
const PAUSE_FACTOR: u32 = 20;

/// Folders inside of folders that are measured. No project has so many; deeper ones count as closed.
const MAX_DEPTH: usize = 128;

/// Bytes of one block, as the kernel counts them.
const BLOCK_BYTES: u64 = 512;

/// What the folders of one agent hold, shared by its commands.
#[derive(Debug, Default)]
pub(super) struct Disk {
    measured: tokio::sync::Mutex<Option<Measured>>,
    /// Why nothing more may be written, as last measured. A lock of a few lines, never held while waiting.
    problem: Mutex<Option<Arc<str>>>,
}

/// The last measurement.
#[derive(Debug, Clone)]
struct Measured {
    at: Instant,
    took: Duration,
    /// The most that may be held, decided by the first measurement.
    allowed: Usage,
    /// A folder that could not be looked into.
    closed: Option<PathBuf>,
}

/// Bytes and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Usage {
    bytes: u64,
    files: u64,
}

/// What was counted.
#[derive(Debug, PartialEq, Eq)]
struct Count {
    usage: Usage,
    closed: Option<PathBuf>,
}

impl Disk {
    /// Why nothing more may be written, as last measured.
    pub(super) fn problem(&self) -> Option<Arc<str>> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Measures, and says why nothing more may be written.
    pub(super) async fn check(&self, policy: &Policy) -> Option<Arc<str>> {
        self.check_unless_newer(policy, Duration::ZERO).await
    }

    /// Returns as soon as too much is held; never, when nothing is to be measured.
    pub(super) async fn limit_reached(&self, policy: &Policy) {
        if policy.measured.is_empty() {
            return std::future::pending().await;
        }
        let mut pause = PAUSE;
        loop {
            tokio::time::sleep(pause).await;
            if self.check_unless_newer(policy, pause / 2).await.is_some() {
                return;
            }
            let took = self.measured.lock().await.as_ref().map(|measured| measured.took);
            pause = took.map_or(PAUSE, |took| (took * PAUSE_FACTOR).max(PAUSE));
        }
    }

    /// Several commands wait for the same measurement; one that is newer than this is not repeated.
    async fn check_unless_newer(&self, policy: &Policy, age: Duration) -> Option<Arc<str>> {
        if policy.measured.is_empty() {
            return None;
        }
        let mut measured = self.measured.lock().await;
        if measured.as_ref().is_some_and(|measured| measured.at.elapsed() < age) {
            return self.problem();
        }
        let (folders, before) = (policy.measured.clone(), measured.take());
        let limits = policy.limits.clone();
        let work = move || measure(&folders, &limits, before.as_ref());
        let (now, problem) = tokio::task::spawn_blocking(work).await.ok()?;
        *measured = Some(now);
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&problem);
        problem
    }
}

fn measure(folders: &[PathBuf], limits: &Limits, before: Option<&Measured>) -> (Measured, Option<Arc<str>>) {
    let started = Instant::now();
    let allowed = before.map_or_else(|| allowed(folders, limits), |before| before.allowed);
    let Count { usage, closed } = count(folders, allowed);
    let measured = Measured { at: Instant::now(), took: started.elapsed(), allowed, closed: closed.clone() };
    // A test of somebody's program may close a folder for a moment.
    let still_closed =
        closed.filter(|closed| before.is_some_and(|before| before.closed.as_ref() == Some(closed)));
    let problem = too_much(usage, allowed).or_else(|| still_closed.map(|folder| cannot_look(&folder)));
    (measured, problem.map(Arc::from))
}

fn too_much(usage: Usage, allowed: Usage) -> Option<String> {
    let what = if usage.bytes > allowed.bytes {
        format!("more than {} MiB", allowed.bytes >> 20)
    } else if usage.files > allowed.files {
        format!("more than {} files", allowed.files)
    } else {
        return None;
    };
    Some(format!(
        "the worktree and the temporary files of this agent hold {what}, which is its limit. Until there is less, commands can \
         remove files but not write any: remove what is not needed, such as the output of builds"
    ))
}

fn cannot_look(folder: &Path) -> String {
    format!(
        "a folder in {} cannot be looked into or is too deep, so that nobody knows how much of the disk it holds. Until it is removed, \
         commands can remove files but not write any",
        folder.display()
    )
}

/// The limits, or less: half of what is free when the agent starts is left to everybody else.
fn allowed(folders: &[PathBuf], limits: &Limits) -> Usage {
    let unlimited = Usage { bytes: u64::MAX, files: u64::MAX };
    let held = count(folders, unlimited).usage;
    let free = folders.first().and_then(|folder| statvfs(folder).ok());
    let free_bytes = free.as_ref().map_or(u64::MAX, |free| free.f_bavail.saturating_mul(free.f_frsize));
    // Some file systems have no fixed number of files and say zero.
    let free_files = free.filter(|free| free.f_files > 0).map_or(u64::MAX, |free| free.f_favail);
    Usage {
        bytes: limits.disk_bytes.min(held.bytes.saturating_add(free_bytes / 2)),
        files: limits.disk_files.min(held.files.saturating_add(free_files / 2)),
    }
}

/// Counts what lies in folders, until it is more than allowed. The agent may change everything meanwhile, so nothing but
/// folders is opened, and no link is followed.
fn count(folders: &[PathBuf], allowed: Usage) -> Count {
    let mut count = Count { usage: Usage { bytes: 0, files: 0 }, closed: None };
    for folder in folders {
        let Ok(top) = openat(CWD, folder, FOLDER, Mode::empty()).and_then(Dir::new) else { continue };
        let mut open = vec![top];
        while let Some(dir) = open.last_mut() {
            let Some(Ok(entry)) = dir.read() else {
                open.pop();
                continue;
            };
            let inner = dir.fd().ok().and_then(|fd| count.add(fd, entry.file_name()));
            match inner {
                Some(Ok(inner)) if open.len() < MAX_DEPTH => open.push(inner),
                Some(_closed) => count.closed = Some(folder.clone()),
                None => {}
            }
            if count.usage.bytes > allowed.bytes || count.usage.files > allowed.files {
                return count;
            }
        }
    }
    count
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Count {
    /// Adds one entry. Returns what it holds, when it is a folder.
    fn add(
        &mut self,
        parent: std::os::fd::BorrowedFd<'_>,
        name: &CStr,
    ) -> Option<Result<Dir, rustix::io::Errno>> {
        if name == c"." || name == c".." {
            return None;
        }
        let about = statx(parent, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS).ok()?;
        let is_folder = FileType::from_raw_mode(about.stx_mode.into()) == FileType::Directory;
        // A file with several names is counted in parts, so that all of them together count once.
        let names = if is_folder { 1 } else { about.stx_nlink.max(1) };
        self.usage.bytes += about.stx_blocks * BLOCK_BYTES / u64::from(names);
        self.usage.files += 1;
        let opened = is_folder.then(|| openat(parent, name, FOLDER, Mode::empty()).and_then(Dir::new))?;
        match opened {
            // Removed, or put in place of something else, since we looked.
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP) => None,
            opened => Some(opened),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const UNLIMITED: Usage = Usage { bytes: u64::MAX, files: u64::MAX };

    #[test]
    fn links_are_not_followed_and_hard_links_count_once() {
        let ground = tempfile::tempdir().unwrap();
        let (inside, outside) = (ground.path().join("inside"), ground.path().join("outside"));
        fs::create_dir_all(inside.join("folder")).unwrap();
        fs::create_dir(&outside).unwrap();
        for path in [inside.join("folder/a"), outside.join("b")] {
            std::io::Write::write_all(&mut fs::File::create(path).unwrap(), &vec![1; 1 << 20]).unwrap();
        }
        let folders = [inside.clone()];
        let before = count(&folders, UNLIMITED);
        fs::hard_link(inside.join("folder/a"), inside.join("again")).unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        let after = count(&folders, UNLIMITED);
        assert!((1 << 20..2 << 20).contains(&before.usage.bytes), "{before:?}");
        assert!(after.usage.bytes < before.usage.bytes + (64 << 10), "{before:?} {after:?}");
        assert_eq!((before.usage.files, after.usage.files), (2, 4));
        assert_eq!(after.closed, None);
    }

    #[test]
    fn what_is_too_deep_counts_as_closed() {
        let ground = tempfile::tempdir().unwrap();
        let deep: PathBuf = std::iter::repeat_n("d", MAX_DEPTH + 1).collect();
        fs::create_dir_all(ground.path().join(deep)).unwrap();
        let folders = [ground.path().to_owned()];
        assert_eq!(count(&folders, UNLIMITED).closed, Some(folders[0].clone()));
    }
}
