//! Bytes of files into the repository and out of it, exactly as they are.
//!
//! Git is never given a path of an agent's folder: it would follow links, and change the bytes by rules that a file in
//! that folder sets. Files are opened here, and git gets what is in them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::files::{Beneath, blocking};
use super::names::ObjectId;
use super::repository::{Place, Repository};
use super::run::Call;

/// Bytes of files that are held in memory at once; larger ones are handed over as open files.
const BATCH: u64 = 16 << 20;
const LARGE: u64 = 4 << 20;

/// How git marks what a file is.
pub(super) const LINK: &str = "120000";
pub(super) const PROGRAM: &str = "100755";
pub(super) const PLAIN: &str = "100644";

/// A file as git keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) path: PathBuf,
    pub(super) mode: String,
    pub(super) id: ObjectId,
    pub(super) size: u64,
}

/// A file that is to be kept.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) mode: &'static str,
    pub(super) size: u64,
}

/// Puts files of a folder into the repository.
pub(super) async fn store(
    repository: &Repository,
    folder: &Path,
    files: Vec<Found>,
) -> Result<Vec<Stored>, GitError> {
    let (large, small): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.size > LARGE && file.mode != LINK);
    let mut stored = Vec::new();
    let mut batch = Vec::new();
    let mut size = 0;
    for file in small {
        size += file.size;
        batch.push(file);
        if size > BATCH {
            stored.extend(store_batch(repository, folder, std::mem::take(&mut batch)).await?);
            size = 0;
        }
    }
    stored.extend(store_batch(repository, folder, batch).await?);
    for file in large {
        let path = folder.join(&file.path);
        let open = Beneath::new(folder)
            .and_then(|files| files.read(&file.path))
            .map_err(GitError::file("read", &path))?;
        let call = Call::new(["hash-object", "-w", "--no-filters", "--stdin"]).from(open);
        let answer = repository.ask(Place::Store, call).await?;
        let id = answer.line().parse().map_err(|_| answer.odd())?;
        stored.push(Stored { path: file.path, mode: file.mode.to_owned(), id, size: file.size });
    }
    Ok(stored)
}

async fn store_batch(
    repository: &Repository,
    folder: &Path,
    batch: Vec<Found>,
) -> Result<Vec<Stored>, GitError> {
    if batch.is_empty() {
        return Ok(Vec::new());
    }
    let root = folder.to_owned();
    let read = blocking(move || stream(&root, batch)).await.and_then(|ended| ended);
    let (script, batch) = read.map_err(GitError::file("read files of", folder))?;
    let call = Call::new(["fast-import", "--quiet", "--done"]).input(script);
    let answer = repository.ask(Place::Store, call).await?;
    let ids: Vec<ObjectId> = answer.text().lines().filter_map(|line| line.parse().ok()).collect();
    if ids.len() != batch.len() {
        return Err(answer.odd());
    }
    let join = |(file, id): (Found, ObjectId)| Stored {
        path: file.path,
        mode: file.mode.to_owned(),
        id,
        size: file.size,
    };
    Ok(batch.into_iter().zip(ids).map(join).collect())
}

/// The files as `git fast-import` takes them, each followed by the question what it is called now.
fn stream(folder: &Path, batch: Vec<Found>) -> io::Result<(Vec<u8>, Vec<Found>)> {
    let files = Beneath::new(folder)?;
    let mut script = Vec::new();
    for (index, file) in batch.iter().enumerate() {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.path.display()));
        let bytes = if file.mode == LINK {
            files.read_link(&file.path).map_err(named)?
        } else {
            let mut bytes = Vec::new();
            files
                .read(&file.path)
                .and_then(|open| open.take(LARGE + 1).read_to_end(&mut bytes))
                .map_err(named)?;
            if bytes.len() as u64 > LARGE {
                return Err(named(io::Error::other("it grows while it is read")));
            }
            bytes
        };
        let mark = index + 1;
        script.extend_from_slice(format!("blob\nmark :{mark}\ndata {}\n", bytes.len()).as_bytes());
        script.extend_from_slice(&bytes);
        script.extend_from_slice(format!("\nget-mark :{mark}\n").as_bytes());
    }
    script.extend_from_slice(b"done\n");
    Ok((script, batch))
}

/// Writes stored files into a folder, as they were.
pub(super) async fn write(repository: &Repository, folder: &Path, files: &[Stored]) -> Result<(), GitError> {
    let mut batch = Vec::new();
    let mut size = 0;
    for file in files {
        if file.size > LARGE && file.mode != LINK {
            let open = create(folder, file)?;
            let call = Call::new(["cat-file", "blob", file.id.as_str()]).to(open);
            repository.ask(Place::Store, call).await?;
            continue;
        }
        size += file.size;
        batch.push(file);
        if size > BATCH {
            write_batch(repository, folder, &std::mem::take(&mut batch)).await?;
            size = 0;
        }
    }
    write_batch(repository, folder, &batch).await
}

async fn write_batch(repository: &Repository, folder: &Path, batch: &[&Stored]) -> Result<(), GitError> {
    if batch.is_empty() {
        return Ok(());
    }
    let names: String = batch.iter().map(|file| format!("{}\n", file.id)).collect();
    let answer = repository.ask(Place::Store, Call::new(["cat-file", "--batch"]).input(names)).await?;
    let mut rest = answer.stdout.as_slice();
    for file in batch {
        let (bytes, after) = next_blob(rest).ok_or_else(|| answer.odd())?;
        rest = after;
        let path = folder.join(&file.path);
        let written = if file.mode == LINK {
            Beneath::new(folder)
                .and_then(|into| into.create_link(&file.path, Path::new(OsStr::from_bytes(bytes))))
        } else {
            create(folder, file)?.write_all(bytes)
        };
        written.map_err(GitError::file("write", &path))?;
    }
    Ok(())
}

/// One answer of `git cat-file --batch`: a line with the size at its end, so many bytes, and a line end.
pub(super) fn next_blob(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = answer.iter().position(|byte| *byte == b'\n')?;
    let size: usize = std::str::from_utf8(&answer[..line]).ok()?.rsplit_once(' ')?.1.parse().ok()?;
    let start = line + 1;
    Some((answer.get(start..start + size)?, answer.get(start + size + 1..)?))
}

fn create(folder: &Path, file: &Stored) -> Result<File, GitError> {
    let mode = if file.mode == PROGRAM { 0o777 } else { 0o666 };
    let made = Beneath::new(folder).and_then(|into| into.create(&file.path, mode));
    made.map_err(GitError::file("make", &folder.join(&file.path)))
}
