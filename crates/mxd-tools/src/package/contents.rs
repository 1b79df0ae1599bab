//! The contents of a package in one form, whatever kind it is, and their digest.
//!
//! Contents are paths and what is there: a file, a file that can be executed, or a link. What is not part of
//! them (owners, times, other bits of the mode, empty folders) is not part of the copy that runs, either. The
//! digest is the SHA-256 of a text of one line per path, so that anybody can compute it with ordinary tools:
//!
//! ```text
//! mxd package 1 npm
//! file 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 path/of/a/file
//! exec 88d4266fd4e6338d13b845fcf289579d209c897823b9217da3e161936f031589 path/of/a/program
//! link 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae path/of/a/link
//! ```
//!
//! Lines are sorted by the bytes of their paths. The number of a line is the SHA-256 of the file's bytes, or of
//! the text of the link. The first line names the version of this algorithm and the kind of the package.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use mxd_core::tool::Digest;
use sha2::{Digest as _, Sha256};

use super::error::PackageError;
use super::limits;

/// What kind of package it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A package of npm, and the packages it depends on.
    Npm,
    /// A distribution of PyPI, and the distributions it depends on.
    PyPi,
    /// One file.
    Program,
    /// A folder with a script and what is beside it.
    Tree,
}

impl Kind {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::PyPi => "pypi",
            Self::Program => "program",
            Self::Tree => "tree",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The contents of a package.
#[derive(Debug, Clone)]
pub struct Contents {
    kind: Kind,
    pieces: BTreeMap<String, Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// A file, and where its bytes are.
    File(PathBuf),
    /// A link, and its text.
    Link(String),
}

/// Where bytes go while they are hashed.
enum Sink<'a> {
    Nowhere,
    Folder(&'a Path),
}

impl Contents {
    /// No contents yet.
    pub(super) fn of_kind(kind: Kind) -> Self {
        Self { kind, pieces: BTreeMap::new() }
    }

    /// What kind of package it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How many files and links there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Adds a file.
    pub(super) fn file(&mut self, at: &str, from: PathBuf) -> Result<(), PackageError> {
        self.piece(at, Piece::File(from))
    }

    /// Adds a link.
    pub(super) fn link(&mut self, at: &str, target: &str) -> Result<(), PackageError> {
        self.piece(at, Piece::Link(target.to_owned()))
    }

    fn piece(&mut self, at: &str, piece: Piece) -> Result<(), PackageError> {
        let spelt_out = |part: &str| !part.is_empty() && part != "." && part != "..";
        if at.chars().any(char::is_control) || !at.split('/').all(spelt_out) {
            return Err(PackageError::Name { path: at.into() });
        }
        match self.pieces.insert(at.to_owned(), piece.clone()) {
            Some(other) if other != piece => return Err(PackageError::Twice { path: at.to_owned() }),
            Some(_) | None => {}
        }
        if self.pieces.len() > limits::FILES {
            return Err(PackageError::TooMany { what: "files", limit: limits::FILES as u64 });
        }
        Ok(())
    }

    /// Adds other contents. What both have must be alike.
    pub(super) fn merge(&mut self, other: Self) -> Result<(), PackageError> {
        for (at, piece) in other.pieces {
            match (self.pieces.get(&at), &piece) {
                (Some(Piece::File(one)), Piece::File(two)) if one != two => {
                    let mut left = limits::BYTES;
                    let nowhere = (&Sink::Nowhere, at.as_str());
                    if pour_file(one, nowhere, &mut left)? != pour_file(two, nowhere, &mut left)? {
                        return Err(PackageError::Twice { path: at });
                    }
                }
                _ => self.piece(&at, piece)?,
            }
        }
        Ok(())
    }

    /// Adds a folder with everything in it, except what is skipped. Links must stay inside of it.
    pub(super) fn folder(
        &mut self,
        at: &str,
        from: &Path,
        skips: &dyn Fn(&Path) -> bool,
    ) -> Result<(), PackageError> {
        let mut folders = vec![PathBuf::new()];
        while let Some(below) = folders.pop() {
            if below.components().count() > limits::DEPTH {
                return Err(PackageError::TooMany {
                    what: "folders inside of folders",
                    limit: limits::DEPTH as u64,
                });
            }
            let folder = from.join(&below);
            let failed = |source| PackageError::Io { path: folder.clone(), source };
            for entry in fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let path = below.join(entry.file_name());
                if skips(&path) {
                    continue;
                }
                let name = path.to_str().ok_or_else(|| PackageError::Name { path: path.clone() })?;
                let here = if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") };
                let kind = entry.file_type().map_err(failed)?;
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_symlink() {
                    self.link(&here, &inner_target(&entry.path(), &below)?)?;
                } else {
                    self.file(&here, entry.path())?;
                }
            }
        }
        Ok(())
    }

    /// The digest of what is there now.
    ///
    /// # Errors
    ///
    /// When something cannot be read, is no file, or is too much.
    pub fn digest(&self) -> Result<Digest, PackageError> {
        self.pour(&Sink::Nowhere)
    }

    /// Copies everything into a new folder and says the digest of what was copied: every byte is hashed on its way.
    pub(super) fn copy(&self, folder: &Path) -> Result<Digest, PackageError> {
        make_folder(folder)?;
        self.pour(&Sink::Folder(folder))
    }

    fn pour(&self, sink: &Sink<'_>) -> Result<Digest, PackageError> {
        let mut list = Sha256::new();
        list.update(format!("mxd package 1 {}\n", self.kind));
        let mut left = limits::BYTES;
        for (at, piece) in &self.pieces {
            let (word, digest) = match piece {
                Piece::Link(target) => {
                    if let Sink::Folder(folder) = sink {
                        let to = parent_made(folder, at)?;
                        symlink(target, &to).map_err(|source| PackageError::Io { path: to, source })?;
                    }
                    ("link", hex::encode(Sha256::digest(target)))
                }
                Piece::File(from) => pour_file(from, (sink, at), &mut left)?,
            };
            list.update(format!("{word} {digest} {at}\n"));
        }
        let digest = hex::encode(list.finalize());
        digest.parse().map_err(|_| PackageError::Name { path: digest.into() })
    }
}

/// One file, which must be one and stay the one that was opened.
fn pour_file(
    from: &Path,
    (sink, at): (&Sink<'_>, &str),
    left: &mut u64,
) -> Result<(&'static str, String), PackageError> {
    let failed = |source| PackageError::Io { path: from.to_owned(), source };
    // A pipe in the place of a file must not make anybody wait for its other end.
    let flags = i32::try_from((rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits());
    let flags = flags.map_err(|_| failed(io::ErrorKind::Unsupported.into()))?;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(from).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    if !about.is_file() {
        return Err(PackageError::NoFile { path: from.to_owned() });
    }
    let (word, mode) =
        if about.permissions().mode() & 0o100 == 0 { ("file", 0o444) } else { ("exec", 0o555) };
    let mut copy = match sink {
        Sink::Nowhere => None,
        Sink::Folder(folder) => {
            let to = parent_made(folder, at)?;
            let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&to);
            Some((made.map_err(|source| PackageError::Io { path: to.clone(), source })?, to))
        }
    };
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 128 * 1024];
    loop {
        let length = file.read(&mut buffer).map_err(failed)?;
        let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
        *left = left
            .checked_sub(length as u64)
            .ok_or(PackageError::TooMany { what: "bytes", limit: limits::BYTES })?;
        hash.update(bytes);
        if let Some((copy, to)) = &mut copy {
            copy.write_all(bytes).map_err(|source| PackageError::Io { path: to.clone(), source })?;
        }
    }
    if let Some((copy, to)) = copy {
        set_mode(&copy, mode).map_err(|source| PackageError::Io { path: to, source })?;
    }
    Ok((word, hex::encode(hash.finalize())))
}

fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(fs::Permissions::from_mode(mode))
}

fn make_folder(folder: &Path) -> Result<(), PackageError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| PackageError::Io { path: folder.to_owned(), source })
}

fn parent_made(folder: &Path, at: &str) -> Result<PathBuf, PackageError> {
    let to = folder.join(at);
    if let Some(parent) = to.parent() {
        make_folder(parent)?;
    }
    Ok(to)
}

/// Makes folders such that nothing can be added to them.
pub(super) fn seal(folder: &Path) -> Result<(), PackageError> {
    each_folder(folder, &|folder| fs::set_permissions(folder, fs::Permissions::from_mode(0o555)))
}

/// Makes folders such that they can be changed.
fn unseal(folder: &Path) -> Result<(), PackageError> {
    each_folder(folder, &|folder| fs::set_permissions(folder, fs::Permissions::from_mode(0o700)))
}

/// Removes a sealed copy.
pub(super) fn remove(folder: &Path) -> Result<(), PackageError> {
    unseal(folder)?;
    fs::remove_dir_all(folder).map_err(|source| PackageError::Io { path: folder.to_owned(), source })
}

/// The bytes of all files of a copy.
pub(super) fn bytes(folder: &Path) -> Result<u64, PackageError> {
    let sum = Cell::new(0_u64);
    each_folder(folder, &|folder| {
        for entry in fs::read_dir(folder)? {
            let about = entry?.metadata()?;
            if about.is_file() {
                sum.set(sum.get().saturating_add(about.len()));
            }
        }
        Ok(())
    })?;
    Ok(sum.get())
}

fn each_folder(root: &Path, work: &dyn Fn(&Path) -> io::Result<()>) -> Result<(), PackageError> {
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let below = || -> io::Result<Vec<PathBuf>> {
            work(&folder)?;
            let entries = fs::read_dir(&folder)?.collect::<io::Result<Vec<_>>>()?;
            let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
            Ok(entries.into_iter().filter(is_folder).map(|entry| entry.path()).collect())
        };
        folders.extend(below().map_err(|source| PackageError::Io { path: folder.clone(), source })?);
    }
    Ok(())
}

/// The text of a link that stays inside: relative, and never further up than the folder it is in lies deep.
fn inner_target(link: &Path, below: &Path) -> Result<String, PackageError> {
    let target = fs::read_link(link).map_err(|source| PackageError::Io { path: link.to_owned(), source })?;
    let leaves = || PackageError::LinkLeaves { path: link.to_owned(), target: target.clone() };
    let mut depth = below.components().count();
    for part in target.components() {
        match part {
            std::path::Component::Normal(_) => depth += 1,
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => depth = depth.checked_sub(1).ok_or_else(leaves)?,
            std::path::Component::RootDir | std::path::Component::Prefix(_) => return Err(leaves()),
        }
    }
    let text = target.to_str().filter(|text| !text.chars().any(char::is_control));
    text.map(str::to_owned).ok_or_else(|| PackageError::Name { path: target.clone() })
}
