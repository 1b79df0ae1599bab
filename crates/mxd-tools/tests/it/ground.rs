//! A worktree with something around it that nobody may touch.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mxd_tools::confine::Files;
use mxd_tools::kept::Kept;
use mxd_tools::outcome::{Outcome, Part};
use mxd_tools::sandbox::{Mode, Policy, Sandbox};
use mxd_tools::scope::{Access, Root, Scope};
use mxd_tools::secrets::Secrets;
use mxd_tools::shell::Processes;
use tempfile::TempDir;

/// `work` is the worktree, `extra` may be read, `shared` may be written, and `out` is somebody else's.
pub(crate) struct Ground {
    pub(crate) scope: Scope,
    dir: TempDir,
}

impl Ground {
    pub(crate) fn new() -> Self {
        // In memory where there is such a place: these tests are about names, not about disks.
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self::below(dir.unwrap())
    }

    pub(crate) fn below(dir: TempDir) -> Self {
        for name in ["work", "extra", "shared", "out"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let scope = scope(dir.path());
        Self { scope, dir }
    }

    pub(crate) fn top(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn work(&self, path: &str) -> PathBuf {
        self.scope.worktree.join(path)
    }

    pub(crate) fn out(&self, path: &str) -> PathBuf {
        self.top().join("out").join(path)
    }

    /// Puts a file into the worktree.
    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        put(&self.work(path), content)
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        symlink(target, self.work(path)).unwrap();
    }

    pub(crate) fn content(&self, path: &str) -> Vec<u8> {
        fs::read(self.work(path)).unwrap()
    }

    /// Everything in a folder of the worktree.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.work(path)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// The scope of an agent whose worktree is `top/work`.
pub(crate) fn scope(top: &Path) -> Scope {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let sandbox = runtime.block_on(Sandbox::probe(crate::farm::launcher(), Mode::Off)).unwrap();
    // A test that becomes another user needs one of its own.
    let scratches = top.join("scratch");
    if fs::create_dir(&scratches).is_ok() {
        fs::set_permissions(&scratches, Permissions::from_mode(0o777)).unwrap();
    }
    let scratch = scratches.join(std::process::id().to_string());
    fs::create_dir_all(&scratch).unwrap();
    let kept = Kept::open(&scratch).unwrap();
    let root = |name: &str, access| Root { path: top.join(name), access };
    Scope {
        worktree: top.join("work"),
        access: Access::Write,
        roots: Arc::new([root("extra", Access::Read), root("shared", Access::Write)]),
        processes: Processes::open(&scratch, kept.clone()).unwrap(),
        scratch,
        cell: sandbox.cell(Policy::default()),
        env: Arc::new([]),
        files: Files::default(),
        kept,
        secrets: Secrets::new([""; 0]).unwrap(),
    }
}

/// Puts a file anywhere, with its folders.
pub(crate) fn put(path: &Path, content: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(content.as_ref()).unwrap();
    path.to_owned()
}

/// The words of an answer that must be good.
#[track_caller]
pub(crate) fn good(outcome: &Outcome) -> String {
    let text = words(outcome);
    assert!(!outcome.is_error, "failed: {text}");
    text
}

/// The words of an answer that must be a failure.
#[track_caller]
pub(crate) fn bad(outcome: &Outcome) -> String {
    let text = words(outcome);
    assert!(outcome.is_error, "did not fail: {text}");
    text
}

fn words(outcome: &Outcome) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Image { media_type, .. } => format!("({media_type})"),
    };
    outcome.parts.iter().map(text).collect()
}
