//! From a path to descriptors, one component at a time.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, fstat, openat, readlinkat};
use rustix::io::Errno;

use super::error::ConfineError;
use super::ground::{FOLDER, Ground, Id};
use super::{MAX_DEPTH, MAX_LINKS, MAX_PATH};
use crate::scope::Access;

/// Where a path leads: folders that are held open, and what is there.
#[derive(Debug, Clone)]
pub struct Place {
    grounds: Arc<[Ground]>,
    ground: usize,
    steps: Vec<Step>,
    what: What,
    asked: String,
}

/// What is at the end of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A folder, which is the last one walked.
    Folder,
    /// Something else with this name in the last folder walked.
    Entry(OsString),
    /// Nothing: the names that are missing in the last folder walked, at least one.
    Missing(Vec<OsString>),
}

/// A folder below a ground, by its real name.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) name: OsString,
    pub(super) fd: Arc<OwnedFd>,
}

impl Place {
    /// The path as the agent wrote it.
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// What is there.
    pub fn what(&self) -> &What {
        &self.what
    }

    /// The path without links: relative to the worktree, or absolute in a declared folder.
    pub fn shown(&self) -> PathBuf {
        let mut path = self.below();
        match &self.what {
            What::Folder => {}
            What::Entry(name) => path.push(name),
            What::Missing(names) => path.extend(names),
        }
        self.prefix().join(path)
    }

    /// What stands before paths below the ground: nothing for the worktree.
    pub(super) fn prefix(&self) -> PathBuf {
        if self.ground == 0 { PathBuf::new() } else { self.ground().given.clone() }
    }

    /// The folders walked, from the ground on.
    pub(super) fn below(&self) -> PathBuf {
        self.steps.iter().map(|step| &step.name).collect()
    }

    pub(super) fn ground(&self) -> &Ground {
        &self.grounds[self.ground]
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The last folder walked.
    pub(super) fn folder(&self) -> BorrowedFd<'_> {
        self.steps.last().map_or(&self.ground().fd, |step| &step.fd).as_fd()
    }

    /// The same place after a folder was made or found at the first missing name.
    pub(super) fn into_made(mut self, fd: OwnedFd) -> Self {
        if let What::Missing(names) = &mut self.what {
            let name = names.remove(0);
            self.steps.push(Step { name, fd: Arc::new(fd) });
        }
        self
    }

    /// Whether file tools may change what is here.
    pub(super) fn check_writable(&self) -> Result<(), ConfineError> {
        if self.ground().access == Access::Read {
            let (path, root) = (self.asked.clone(), self.ground().given.display().to_string());
            return Err(match self.ground == 0 {
                true => ConfineError::ReadOnlyWorktree { path, worktree: root },
                false => ConfineError::ReadOnlyRoot { path, root },
            });
        }
        let ends = match &self.what {
            What::Folder => &[],
            What::Entry(name) => std::slice::from_ref(name),
            What::Missing(names) => names.as_slice(),
        };
        let mut names = self.steps.iter().map(|step| &step.name).chain(ends);
        // Some file systems do not distinguish cases.
        if names.any(|name| name.eq_ignore_ascii_case(".git")) {
            return Err(ConfineError::Git { path: self.asked.clone() });
        }
        Ok(())
    }
}

/// Finds what a path means.
pub(super) fn resolve(grounds: &Arc<[Ground]>, asked: &str) -> Result<Place, ConfineError> {
    let why = match asked {
        "" => Some("it is empty"),
        long if long.len() > MAX_PATH => Some("it is too long"),
        zero if zero.contains('\0') => Some("it contains a zero byte"),
        _ => None,
    };
    if let Some(why) = why {
        return Err(ConfineError::BadPath { path: asked.chars().take(80).collect(), why });
    }
    let mut walk = Walk {
        grounds,
        asked,
        stand: Stand::Inside { ground: 0, steps: Vec::new() },
        pending: VecDeque::new(),
        links: 0,
        last_link: None,
    };
    walk.set_out(Path::new(asked));
    let what = walk.run()?;
    match walk.stand {
        Stand::Inside { ground, steps } => {
            Ok(Place { grounds: Arc::clone(grounds), ground, steps, what, asked: asked.to_owned() })
        }
        Stand::Outside(_) => Err(walk.outside()),
    }
}

/// A walk along a path.
struct Walk<'a> {
    grounds: &'a [Ground],
    asked: &'a str,
    stand: Stand,
    pending: VecDeque<Move>,
    links: usize,
    /// The last link that was followed and what it says.
    last_link: Option<(PathBuf, PathBuf)>,
}

/// Where a walk is.
enum Stand {
    Inside {
        ground: usize,
        steps: Vec<Step>,
    },
    /// On the way from the top of the system to a ground. Nothing is looked at there.
    Outside(PathBuf),
}

/// One component.
enum Move {
    Up,
    Into(OsString),
}

impl Walk<'_> {
    /// Puts a path before what is still to be walked.
    fn set_out(&mut self, path: &Path) {
        if path.is_absolute() {
            self.stand = Stand::Outside(PathBuf::from("/"));
            self.enter();
        }
        for component in path.components().rev() {
            match component {
                Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
                Component::ParentDir => self.pending.push_front(Move::Up),
                Component::Normal(name) => self.pending.push_front(Move::Into(name.to_owned())),
            }
        }
    }

    fn run(&mut self) -> Result<What, ConfineError> {
        while let Some(next) = self.pending.pop_front() {
            let end = match next {
                Move::Up => {
                    self.up();
                    None
                }
                Move::Into(name) => self.into(name)?,
            };
            if let Some(end) = end {
                return Ok(end);
            }
        }
        Ok(What::Folder)
    }

    fn up(&mut self) {
        match &mut self.stand {
            Stand::Inside { ground, steps } => {
                if steps.pop().is_none() {
                    let real = &self.grounds[*ground].real;
                    self.stand = Stand::Outside(real.parent().unwrap_or(real).to_owned());
                }
            }
            Stand::Outside(path) => {
                path.pop();
            }
        }
        self.enter();
    }

    /// Steps onto a ground when its path is reached.
    fn enter(&mut self) {
        let Stand::Outside(path) = &self.stand else { return };
        let reached = self.grounds.iter().position(|ground| ground.real == *path || ground.given == *path);
        if let Some(ground) = reached {
            self.stand = Stand::Inside { ground, steps: Vec::new() };
        }
    }

    /// Goes on by one name. What it returns is the end of the walk.
    fn into(&mut self, name: OsString) -> Result<Option<What>, ConfineError> {
        let (ground, steps) = match &mut self.stand {
            Stand::Outside(path) => {
                path.push(name);
                self.enter();
                return Ok(None);
            }
            Stand::Inside { ground, steps } => (ground, steps),
        };
        if steps.len() >= MAX_DEPTH {
            return Err(ConfineError::TooDeep { path: self.asked.to_owned() });
        }
        let here = Arc::clone(steps.last().map_or(&self.grounds[*ground].fd, |step| &step.fd));
        match openat(&here, &name, FOLDER, Mode::empty()) {
            Ok(fd) => {
                let asked = self.asked;
                let id = Id::of(&fstat(&fd).map_err(|errno| ConfineError::io("opening", asked, errno))?);
                // A declared folder below another one has its own rules, however it was reached.
                match self.grounds.iter().position(|ground| ground.id == id) {
                    Some(other) => self.stand = Stand::Inside { ground: other, steps: Vec::new() },
                    None => steps.push(Step { name, fd: Arc::new(fd) }),
                }
                Ok(None)
            }
            Err(Errno::NOENT) => self.missing(name).map(Some),
            // A link, or a file; which of the two is what reading it as a link says.
            Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => self.link_or_file(&here, name),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    fn link_or_file(&mut self, here: &OwnedFd, name: OsString) -> Result<Option<What>, ConfineError> {
        match readlinkat(here, &name, Vec::new()) {
            Ok(target) => {
                self.links += 1;
                if self.links > MAX_LINKS {
                    return Err(ConfineError::TooManyLinks { path: self.asked.to_owned() });
                }
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                self.last_link = Some((self.here().join(&name), target.clone()));
                self.set_out(&target);
                Ok(None)
            }
            Err(Errno::INVAL) if self.pending.is_empty() => Ok(Some(What::Entry(name))),
            Err(Errno::INVAL) => {
                let part = self.here().join(name).display().to_string();
                Err(ConfineError::NotAFolder { path: self.asked.to_owned(), part })
            }
            Err(Errno::NOENT) => self.missing(name).map(Some),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    fn missing(&mut self, name: OsString) -> Result<What, ConfineError> {
        let mut names = vec![name];
        for next in self.pending.drain(..) {
            match next {
                Move::Into(name) => names.push(name),
                // What is not there has no parent either.
                Move::Up => {
                    return Err(ConfineError::Missing { path: self.asked.to_owned(), near: String::new() });
                }
            }
        }
        Ok(What::Missing(names))
    }

    /// The folder the walk stands in, as it is shown.
    fn here(&self) -> PathBuf {
        match &self.stand {
            Stand::Outside(path) => path.clone(),
            Stand::Inside { ground, steps } => {
                let below: PathBuf = steps.iter().map(|step| &step.name).collect();
                if *ground == 0 { below } else { self.grounds[*ground].given.join(below) }
            }
        }
    }

    fn failed(&self, errno: Errno) -> ConfineError {
        ConfineError::io("opening", self.asked, errno)
    }

    fn outside(&self) -> ConfineError {
        let path = self.asked.to_owned();
        match &self.last_link {
            Some((link, target)) => ConfineError::LeadsOutside {
                path,
                link: link.display().to_string(),
                target: target.display().to_string(),
            },
            None => ConfineError::Outside { path, worktree: self.grounds[0].given.display().to_string() },
        }
    }
}
