//! Reading and replacing one file through the descriptor of its folder.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, mkdirat, openat, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;

use super::error::ConfineError;
use super::ground::{FOLDER, Id};
use super::memory::{Key, Stamp};
use super::resolve::{Place, What};

/// The largest file that a tool takes into memory, in bytes.
pub const MAX_READ_WHOLE: u64 = 16 << 20;

/// How files are opened: never through a link, and never waiting for somebody at the other end.
pub(super) const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// The part of a mode that a replaced file keeps. Set-user-id is not among it: the content is new.
const KEPT_MODE: u32 = 0o777;

/// How many names for a temporary file are tried.
const ATTEMPTS: u32 = 64;

/// An ordinary file, open for reading.
#[derive(Debug)]
pub struct Opened {
    /// Its content.
    pub file: File,
    /// Its size in bytes when it was opened.
    pub size: u64,
    pub(super) key: Key,
    pub(super) stamp: Stamp,
}

impl Opened {
    /// The whole content.
    ///
    /// # Errors
    ///
    /// When it is too large or cannot be read.
    pub fn read_whole(&mut self, asked: &str) -> Result<Vec<u8>, ConfineError> {
        let limit = MAX_READ_WHOLE;
        let too_large = |bytes| ConfineError::TooLarge { path: asked.to_owned(), bytes, limit };
        if self.size > limit {
            return Err(too_large(self.size));
        }
        let mut content = Vec::with_capacity(usize::try_from(self.size).unwrap_or(0));
        // It may have grown since it was measured.
        let read = (&mut self.file).take(limit + 1).read_to_end(&mut content);
        let read = read.map_err(|source| ConfineError::io("reading", asked, source))? as u64;
        if read > limit { Err(too_large(read)) } else { Ok(content) }
    }
}

impl Place {
    /// Opens the ordinary file that is here.
    ///
    /// # Errors
    ///
    /// When there is none, or it cannot be read.
    pub fn open(&self) -> Result<Opened, ConfineError> {
        let name = match self.what() {
            What::Entry(name) => name,
            What::Folder => return Err(ConfineError::IsFolder { path: self.asked().to_owned() }),
            What::Missing(_) => return Err(self.missing()),
        };
        let failed = |errno| ConfineError::io("opening", self.asked(), errno);
        // Opening alone can have effects on a device.
        let stat = statat(self.folder(), name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        check_regular(&stat, self.asked())?;
        let fd = openat(self.folder(), name, FILE, Mode::empty()).map_err(failed)?;
        let stat = fstat(&fd).map_err(failed)?;
        check_regular(&stat, self.asked())?;
        let key = Key { folder: Id::of(&fstat(self.folder()).map_err(failed)?), name: name.clone() };
        let stamp = Stamp::of(&stat);
        Ok(Opened { file: File::from(fd), size: stamp.size(), key, stamp })
    }

    /// Makes ready to write the file that is or will be here, with the folders it needs.
    ///
    /// # Errors
    ///
    /// When it may not be written, or its folders cannot be made.
    pub fn target(self) -> Result<Target, ConfineError> {
        self.check_writable()?;
        let mut place = self;
        loop {
            let name = match place.what() {
                What::Folder => return Err(ConfineError::IsFolder { path: place.asked().to_owned() }),
                What::Entry(name) => name.clone(),
                What::Missing(names) if names.len() == 1 => names[0].clone(),
                What::Missing(names) => {
                    let made = place.make_folder(&names[0])?;
                    place = place.into_made(made);
                    continue;
                }
            };
            let failed = |errno| ConfineError::io("opening", place.asked(), errno);
            let folder = Id::of(&fstat(place.folder()).map_err(failed)?);
            return Ok(Target { key: Key { folder, name: name.clone() }, name, place });
        }
    }

    fn make_folder(&self, name: &OsStr) -> Result<OwnedFd, ConfineError> {
        let failed = |errno| ConfineError::io("making the folder of", self.asked(), errno);
        match mkdirat(self.folder(), name, Mode::from_raw_mode(0o777)) {
            // Somebody else may have made it in between; if it is not a folder, opening says so.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed(errno)),
        }
        openat(self.folder(), name, FOLDER, Mode::empty()).map_err(failed)
    }
}

/// A file that may be written: a name in a folder that is held open.
#[derive(Debug)]
pub struct Target {
    place: Place,
    name: OsString,
    pub(super) key: Key,
}

/// What stands at a target.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    pub(super) stamp: Stamp,
    mode: u32,
    owner: (u32, u32),
}

impl Target {
    /// The path as the agent wrote it.
    pub fn asked(&self) -> &str {
        self.place.asked()
    }

    /// The path without links.
    pub fn shown(&self) -> String {
        self.place.shown().display().to_string()
    }

    /// The ordinary file that stands here, if any.
    ///
    /// # Errors
    ///
    /// When something else stands here, or its owner protected it.
    pub fn standing(&self) -> Result<Option<Standing>, ConfineError> {
        let stat = match statat(self.place.folder(), &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(ConfineError::io("looking at", self.asked(), errno)),
        };
        check_regular(&stat, self.asked())?;
        let mode = stat.st_mode & KEPT_MODE;
        if mode & 0o222 == 0 {
            return Err(ConfineError::ReadOnlyFile { path: self.asked().to_owned(), mode });
        }
        Ok(Some(Standing { stamp: Stamp::of(&stat), mode, owner: (stat.st_uid, stat.st_gid) }))
    }

    /// Opens what stands here.
    ///
    /// # Errors
    ///
    /// When there is no ordinary file, or it cannot be read.
    pub fn open(&self) -> Result<Opened, ConfineError> {
        let failed = |errno| ConfineError::io("opening", self.asked(), errno);
        let fd = openat(self.place.folder(), &self.name, FILE, Mode::empty()).map_err(failed)?;
        let stat = fstat(&fd).map_err(failed)?;
        check_regular(&stat, self.asked())?;
        let stamp = Stamp::of(&stat);
        Ok(Opened { file: File::from(fd), size: stamp.size(), key: self.key.clone(), stamp })
    }

    /// Puts new content in the place of what stands here, all at once.
    ///
    /// The file under this name is a new one, so another name of the old one keeps the old content. The content
    /// is on disk before the name shows it. Mode and, where the system allows it, owner stay.
    ///
    /// # Errors
    ///
    /// When it cannot be written, or something else than `was` stands here by now. Nothing is changed then.
    pub fn replace(&self, content: &[u8], was: Option<&Standing>) -> Result<Replaced, ConfineError> {
        let (temporary, file) = self.make_temporary()?;
        let done = self.fill(file, content, was).and_then(|stamp| {
            self.check_unchanged(was)?;
            let renamed = renameat(self.place.folder(), &temporary, self.place.folder(), &self.name);
            renamed.map_err(|errno| ConfineError::io("replacing", self.asked(), errno))?;
            Ok(Replaced { stamp })
        });
        if done.is_err() {
            let _gone_already = unlinkat(self.place.folder(), &temporary, AtFlags::empty());
        }
        done
    }

    fn make_temporary(&self) -> Result<(String, File), ConfineError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut refused = Errno::EXIST;
        for _attempt in 0..ATTEMPTS {
            // As in `UNFINISHED`.
            let name = format!(".mxd-{}-{}.tmp", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            match openat(self.place.folder(), &name, flags, Mode::from_raw_mode(0o666)) {
                Ok(fd) => return Ok((name, File::from(fd))),
                Err(Errno::EXIST) => {}
                Err(errno) => {
                    refused = errno;
                    break;
                }
            }
        }
        Err(ConfineError::io("writing", self.asked(), refused))
    }

    fn fill(&self, file: File, content: &[u8], was: Option<&Standing>) -> Result<Stamp, ConfineError> {
        let failed = |source: io::Error| ConfineError::io("writing", self.asked(), source);
        let mut file = file;
        file.write_all(content).map_err(failed)?;
        if let Some(was) = was {
            let (user, group) = was.owner;
            // Only root can give files away; everybody else owns what they wrote.
            let _not_allowed = fchown(&file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
            fchmod(&file, Mode::from_raw_mode(was.mode)).map_err(|errno| failed(errno.into()))?;
        }
        file.sync_all().map_err(failed)?;
        Ok(Stamp::of(&fstat(&file).map_err(|errno| failed(errno.into()))?))
    }

    fn check_unchanged(&self, was: Option<&Standing>) -> Result<(), ConfineError> {
        let now = self.standing()?;
        if now.map(|now| now.stamp) == was.map(|was| was.stamp) {
            return Ok(());
        }
        Err(ConfineError::ChangedMeanwhile { path: self.asked().to_owned() })
    }
}

/// A file that was written.
#[derive(Debug)]
pub struct Replaced {
    pub(super) stamp: Stamp,
}

/// That this is an ordinary file.
fn check_regular(stat: &Stat, asked: &str) -> Result<(), ConfineError> {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => return Err(ConfineError::IsFolder { path: asked.to_owned() }),
        FileType::Fifo => "named pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        FileType::Symlink => "link",
        FileType::Unknown => "file of an unknown kind",
    };
    Err(ConfineError::NotRegular { path: asked.to_owned(), kind })
}
