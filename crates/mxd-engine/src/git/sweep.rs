//! Folders that agents could have written to, looked through and removed from inside of a sandbox.
//!
//! The daemon itself opens nothing in them: `find` runs where it sees that folder and nothing else, and what it prints is data.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::inspect::{Inspected, Wish};
use super::limits;
use super::repository::{Place, Repository};
use super::run::Call;

/// Prints what is at the paths that it is given, each in three fields: kind, permissions, size and depth; the path; where it
/// leads, if it is a link. A field `=` stands before each of the paths, a field `!` where something could not be looked at.
/// `$0` is the number of fields after which it stops with one path, `$1` the greatest depth.
const WALK: &str = "limit=$0 depth=$1; shift; for path; do printf '=\\0\\0\\0'; \
    if [ -e \"$path\" ] || [ -L \"$path\" ]; then \
    { find \"$path\" -maxdepth \"$depth\" -printf '%y %m %s %d\\0%p\\0%l\\0' || printf '!\\0\\0\\0'; } \
    | head -z -n \"$limit\"; fi; done";

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// Where, in the folder.
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) size: u64,
}

/// What it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Program,
    /// A link, with what it says.
    Link(Vec<u8>),
}

/// What is at one path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Walked {
    /// The files.
    pub(super) files: Vec<Seen>,
    /// Files, folders and everything else that was found.
    pub(super) entries: usize,
    /// Whether there is more than was looked at.
    pub(super) is_cut: bool,
}

/// Looks through paths of a folder, without following anything. Of each path at most so many files are looked at, and as many
/// folders. Pipes, sockets and devices hold nothing.
pub(super) async fn walk(
    repository: &Repository,
    inspected: &Inspected,
    (folder, paths): (&Path, &[&Path]),
    most: usize,
) -> Result<Vec<Walked>, GitError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let (entries, depth) = ((most + 1) * 2, limits::DEPTH + 1);
    let call = Call::new(["-0", "-r", "sh", "-c", WALK, &(entries * 3).to_string(), &depth.to_string()]);
    let mut list = Vec::new();
    for path in paths {
        list.extend_from_slice(folder.join(path).as_os_str().as_bytes());
        list.push(0);
    }
    let answer = repository.ask(Place::Files(inspected), call.program("xargs").input(list)).await?;
    let mut fields = answer.stdout.split(|byte| *byte == 0);
    let mut found: Vec<Walked> = Vec::new();
    while let (Some(about), Some(path), Some(link)) = (fields.next(), fields.next(), fields.next()) {
        let path = Path::new(OsStr::from_bytes(path));
        match (about, found.last_mut()) {
            (b"=", _) => found.push(Walked::default()),
            (b"!", _) => return Err(cannot("not everything can be looked at", folder)),
            (about, Some(walked)) => {
                let about = String::from_utf8_lossy(about).into_owned();
                walked.files.extend(seen(&about, path.strip_prefix(folder).unwrap_or(path), link, folder)?);
                walked.entries += 1;
                walked.is_cut = walked.entries >= entries;
            }
            (_, None) => return Err(answer.odd()),
        }
    }
    if found.len() == paths.len() { Ok(found) } else { Err(answer.odd()) }
}

fn seen(about: &str, path: &Path, link: &[u8], folder: &Path) -> Result<Option<Seen>, GitError> {
    let words: Vec<&str> = about.split(' ').collect();
    let &[kind, mode, size, depth] = words.as_slice() else {
        return Err(cannot("what is found has no kind", folder));
    };
    if depth.parse::<usize>().is_ok_and(|depth| depth > limits::DEPTH) {
        return Err(cannot("folders are too deep", folder));
    }
    let is_program = u32::from_str_radix(mode, 8).is_ok_and(|mode| mode & 0o100 != 0);
    let kind = match kind {
        "f" if is_program => Kind::Program,
        "f" => Kind::Plain,
        "l" => Kind::Link(link.to_vec()),
        _ => return Ok(None),
    };
    Ok(Some(Seen { path: path.to_owned(), kind, size: size.parse().unwrap_or(u64::MAX) }))
}

fn cannot(why: &str, folder: &Path) -> GitError {
    GitError::File {
        action: "look through",
        path: folder.to_owned(),
        source: io::Error::other(why.to_owned()),
    }
}

impl Repository {
    /// Removes a folder with everything in it, also where folders were made unwritable. Links are removed, not followed.
    pub(super) async fn remove_agents_folder(&self, folder: &Path) -> Result<(), GitError> {
        match fs::symlink_metadata(folder) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return fs::remove_file(folder).map_err(GitError::file("remove", folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(GitError::file("look at", folder)(error)),
        }
        let inspected =
            self.git_in_sandbox(Wish { write: vec![folder.to_owned()], ..Wish::default() }).await?;
        let place = Place::Files(&inspected);
        let remove = || Call::new([folder]).program("find").args(["-xdev", "-mindepth", "1", "-delete"]);
        if self.ask(place, remove()).await.is_err() {
            let open =
                Call::new([folder]).program("find").args(["-xdev", "-type", "d", "-not", "-perm", "-u=rwx"]);
            let open = open.args(["-exec", "chmod", "u+rwx", "{}", ";"]).accepts(&[1]);
            self.ask(place, open).await?;
            self.ask(place, remove()).await?;
        }
        fs::remove_dir(folder).map_err(GitError::file("remove", folder))
    }
}
