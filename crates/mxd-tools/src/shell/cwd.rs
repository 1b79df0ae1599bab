//! The working directory that persists from one command to the next.
//!
//! A command says where it ended by writing `pwd -P` into a file of its own when the shell exits. What it
//! says is believed only if it is a folder inside of the worktree or another root of the agent; otherwise the
//! next command starts at the worktree's root, and the agent is told. Of several commands that run at once
//! each starts where the agent was when it started, and of those that went elsewhere the one that was called
//! last decides, whichever ends last.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::sandbox::Level;
use crate::scope::Scope;

/// Bytes of a path that is believed.
const MAX_PATH_BYTES: u64 = 4_096;

/// What bash runs before the command: it notes where the file is, and leaves no trace in the environment.
pub(super) const STARTUP: &str = "\
__mxd_cwd=$MXD_CWD_FILE
unset BASH_ENV MXD_CWD_FILE
trap '{ builtin pwd -P >|\"$__mxd_cwd\" || :; } 2>/dev/null' EXIT
";

/// The name of the file with it.
pub(super) const STARTUP_FILE: &str = "startup";

/// What makes bash run it first and say where it ended.
pub(super) fn environment(startup: &Path, report: &Path) -> [(String, String); 2] {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    [("BASH_ENV".to_owned(), text(&startup.join(STARTUP_FILE))), ("MXD_CWD_FILE".to_owned(), text(report))]
}

/// Where the next command starts.
#[derive(Debug, Default)]
pub(super) struct Cwd {
    /// `None` is the root of the worktree.
    at: Option<PathBuf>,
    /// The number of the command that went there.
    by: u64,
}

/// Where a command starts, and what the agent has to know about it.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) path: PathBuf,
    pub(super) note: Option<String>,
}

impl Cwd {
    /// Where a command starts now.
    pub(super) fn start(&mut self, scope: &Scope) -> Start {
        let gone = self.at.as_ref().and_then(|at| refusal(at, scope).map(|why| (at.clone(), why)));
        let note = gone.map(|(at, why)| {
            self.at = None;
            format!(
                "the working directory {} {why}; this command started in the worktree's root",
                at.display()
            )
        });
        Start { path: self.at.clone().unwrap_or_else(|| scope.worktree.clone()), note }
    }

    /// Where the agent is, unless it is at the root of the worktree.
    pub(super) fn away(&self) -> Option<PathBuf> {
        self.at.clone()
    }

    /// Takes in where a command ended, and says what the agent has to know about it.
    pub(super) fn end(&mut self, scope: &Scope, number: u64, ended: Ended<'_>) -> Option<String> {
        let root = fs::canonicalize(&scope.worktree).unwrap_or_else(|_| scope.worktree.clone());
        let started = fs::canonicalize(ended.started).unwrap_or_else(|_| ended.started.to_owned());
        match ended.said {
            Said::At(said) if said != started && number >= self.by => {
                self.by = number;
                let why = refusal(&said, scope);
                self.at = (why.is_none() && said != root).then(|| said.clone());
                why.map(|why| {
                    let said = said.display();
                    format!(
                        "the command ended in {said}, which {why}; the next starts in the worktree's root"
                    )
                })
            }
            Said::Unreadable => {
                Some("where the command ended is no path; the next starts where it did".to_owned())
            }
            Said::At(_) | Said::Nothing => None,
        }
    }
}

/// How a command ended, as far as folders go.
#[derive(Debug)]
pub(super) struct Ended<'a> {
    pub(super) started: &'a Path,
    pub(super) said: Said,
}

/// What a command said about where it ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing: it replaced the shell, or was killed.
    Nothing,
    /// Something that is no path.
    Unreadable,
    /// This.
    At(PathBuf),
}

/// Reads and removes what a command said. It may have put anything there, so nothing is followed or waited for.
pub(super) fn said(folder: &OwnedFd, name: &str) -> Said {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(folder, name, flags, Mode::empty());
    let _not_there = rustix::fs::unlinkat(folder, name, AtFlags::empty());
    let file = match opened {
        Ok(descriptor) => File::from(descriptor),
        Err(rustix::io::Errno::NOENT) => return Said::Nothing,
        Err(_) => return Said::Unreadable,
    };
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return Said::Unreadable;
    }
    let mut text = String::new();
    match file.take(MAX_PATH_BYTES + 1).read_to_string(&mut text) {
        Ok(0) => Said::Nothing,
        Ok(bytes) if bytes as u64 <= MAX_PATH_BYTES => {
            let path = PathBuf::from(text.strip_suffix('\n').unwrap_or(&text));
            if path.is_absolute() { Said::At(path) } else { Said::Unreadable }
        }
        Ok(_) | Err(_) => Said::Unreadable,
    }
}

/// Why an agent cannot be there; `None` when it can.
fn refusal(path: &Path, scope: &Scope) -> Option<&'static str> {
    let Some(seen) = from_outside(path, scope) else { return Some("is outside of the worktree") };
    let Ok(real) = fs::canonicalize(&seen) else { return Some("does not exist any more") };
    // The shell says where it is without links; another answer is made up, or something was moved meanwhile.
    (real != seen || !real.is_dir()).then_some("is not the folder it was")
}

/// Where a path in one of the agent's folders is for us: at the top level some of them stand in for others.
fn from_outside(path: &Path, scope: &Scope) -> Option<PathBuf> {
    let roots = std::iter::once(&scope.worktree).chain(scope.roots.iter().map(|root| &root.path));
    if roots.filter_map(|root| fs::canonicalize(root).ok()).any(|root| path.starts_with(root)) {
        return Some(path.to_owned());
    }
    let mut stand_ins = scope.cell.policy().stand_ins.iter();
    stand_ins.find_map(|stand_in| {
        let folder = fs::canonicalize(&stand_in.folder).ok()?;
        let at = if scope.cell.level() == Level::Full { &stand_in.at } else { &folder };
        let below = path.strip_prefix(at).ok()?.components();
        Some(folder.components().chain(below).collect())
    })
}
