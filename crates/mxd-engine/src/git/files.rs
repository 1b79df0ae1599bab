//! Files, touched without being led astray: nothing is followed out of the folder that was meant.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

/// Runs something that may block where that hurts nobody.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| io::Error::other(error.to_string()))
}

/// Puts a file in place as a whole and durably: after a crash there is the old one or the new one.
pub(super) fn publish(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let nameless = || io::Error::new(io::ErrorKind::InvalidInput, "it has no folder");
    let folder = path.parent().ok_or_else(nameless)?;
    fs::create_dir_all(folder)?;
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let mut file = File::create(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    File::open(folder)?.sync_all()
}

/// A folder below which files are opened by names that lead nowhere else.
#[derive(Debug)]
pub(super) struct Beneath {
    root: OwnedFd,
}

impl Beneath {
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(Self { root: rustix::fs::openat(CWD, root, flags, Mode::empty())? })
    }

    /// Opens an ordinary file for reading, through no link.
    pub(super) fn read(&self, path: &Path) -> io::Result<File> {
        let file = File::from(self.open(path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file"));
        }
        Ok(file)
    }

    /// Makes a new file, and the folders to it; what is there already stays.
    pub(super) fn create(&self, path: &Path, mode: u32) -> io::Result<File> {
        let name = self.make_way(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&name.0, name.1, flags, Mode::from_raw_mode(mode))?;
        Ok(File::from(file))
    }

    /// Makes a new link, and the folders to it.
    pub(super) fn create_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        let name = self.make_way(path)?;
        Ok(rustix::fs::symlinkat(target, &name.0, name.1)?)
    }

    /// The folder of a path, made if needed, and the last name of the path.
    fn make_way<'a>(&self, path: &'a Path) -> io::Result<(OwnedFd, &'a std::ffi::OsStr)> {
        let bad = || io::Error::new(io::ErrorKind::InvalidInput, "it leads out of its folder");
        let name = path.file_name().ok_or_else(bad)?;
        let mut folder = self.root.try_clone()?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            let std::path::Component::Normal(part) = part else { return Err(bad()) };
            match rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
                Err(error) if error != rustix::io::Errno::EXIST => return Err(error.into()),
                _ => {}
            }
            folder = open_in(&folder, Path::new(part), OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?;
        }
        Ok((folder, name))
    }

    fn open(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        open_in(&self.root, path, flags, mode)
    }
}

fn open_in(folder: impl AsFd, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(folder, path, flags | OFlags::CLOEXEC, mode, resolve)?)
}

/// Removes a folder with everything in it, also where folders were made unwritable. Links are removed, not followed.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path)?;
            fs::remove_dir_all(path)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        ended => ended,
    }
}

/// Gives ourselves back the right to remove what is in a folder.
fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

/// Whether nothing is there, or an empty folder.
pub(super) fn is_vacant(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut listed) => Ok(listed.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(error),
    }
}
