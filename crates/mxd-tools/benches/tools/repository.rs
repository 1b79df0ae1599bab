//! A repository such as people have, made up.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mxd_tools::confine::Files;
use mxd_tools::kept::Kept;
use mxd_tools::sandbox::{Launcher, Mode, Policy, Sandbox};
use mxd_tools::scope::{Access, Scope};
use mxd_tools::secrets::Secrets;
use mxd_tools::shell::Processes;
use tempfile::TempDir;

/// How many files a folder has.
const PER_FOLDER: usize = 40;

/// What one file in a hundred contains.
pub(crate) const NEEDLE: &str = "needle_in_the_haystack";

/// A folder full of sources, and the agent that works there.
pub(crate) struct Repository {
    pub(crate) scope: Scope,
    pub(crate) files: usize,
    dir: TempDir,
}

impl Repository {
    pub(crate) fn make(files: usize) -> Self {
        // Below the build folder, which is on a real disk where the folder for temporary files may not be.
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for index in 0..files {
            put(&dir.path().join(path_of(index)), &source(index));
        }
        put(&dir.path().join(".gitignore"), "target/\n*.o\nnode_modules/\n/dist\n");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let program = PathBuf::from(env!("CARGO_BIN_EXE_mxd-sandbox"));
        let launcher = Launcher { program, args: Vec::new() };
        let scratch = dir.path().join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        let kept = Kept::open(&scratch).unwrap();
        let scope = Scope {
            worktree: dir.path().to_owned(),
            access: Access::Write,
            roots: Arc::new([]),
            processes: Processes::open(&scratch, kept.clone()).unwrap(),
            scratch,
            cell: runtime.block_on(Sandbox::probe(launcher, Mode::Off)).unwrap().cell(Policy::default()),
            env: Arc::new([]),
            files: Files::default(),
            kept,
            secrets: Secrets::new([""; 0]).unwrap(),
        };
        Self { scope, files, dir }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// The path of a file, four folders deep.
pub(crate) fn path_of(index: usize) -> String {
    let folder = index / PER_FOLDER;
    format!("src/area{}/part{}/unit{folder}/file{index}.rs", folder % 5, folder % 25)
}

/// Some hundred lines that look like a program.
fn source(index: usize) -> String {
    let mut text = String::new();
    for line in 0..60 + index % 120 {
        let _never_fails = match line {
            30 if index.is_multiple_of(100) => writeln!(text, "    let {NEEDLE} = compute({index});"),
            _ => writeln!(text, "    let value_{line} = transform(input_{}, {index}) + {line};", line / 3),
        };
    }
    text
}

fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(content.as_bytes()).unwrap();
}
