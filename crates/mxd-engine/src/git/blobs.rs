//! Bytes of files into the repository and out of it, exactly as they are.
//!
//! Outside of a sandbox git is never given a path of an agent's folder: it would follow links, and change the bytes by rules
//! that a file in that folder sets. Inside of one it hashes the bytes as they are.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::files::Beneath;
use super::inspect::Inspected;
use super::names::ObjectId;
use super::refs::RefError;
use super::repository::{Place, Repository};
use super::run::Call;
use super::sweep::{Kind, Seen};

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

/// Puts files of a folder into the repository, where git sees that folder in a sandbox: it hashes them there, and what it made
/// comes by the same door as the commits of agents.
pub(super) async fn store(
    repository: &Repository,
    inspected: &Inspected,
    (folder, files): (&Path, Vec<Seen>),
    head: &ObjectId,
) -> Result<Vec<Stored>, RefError> {
    let (mut links, mut plain) = (Vec::new(), Vec::new());
    for Seen { path, kind, size } in files {
        match kind {
            Kind::Link(target) => links.push((path, target)),
            Kind::Program => plain.push((path, PROGRAM, size)),
            Kind::Plain => plain.push((path, PLAIN, size)),
        }
    }
    let mut stored = store_links(repository, links).await?;
    if plain.is_empty() {
        return Ok(stored);
    }
    let mut list = Vec::new();
    for (path, ..) in &plain {
        quote(folder.join(path).as_os_str().as_bytes(), &mut list);
    }
    let call = Call::new(["hash-object", "-w", "--no-filters", "--stdin-paths"]).input(list);
    let answer = repository.ask(Place::Files(inspected), call).await?;
    let ids: Vec<ObjectId> = answer.text().lines().filter_map(|line| line.parse().ok()).collect();
    if ids.len() != plain.len() {
        return Err(answer.odd().into());
    }
    repository.transfer(inspected, &ids, &[Some(head)]).await?;
    let join = |((path, mode, size), id): ((PathBuf, &str, u64), ObjectId)| Stored {
        path,
        mode: mode.to_owned(),
        id,
        size,
    };
    stored.extend(plain.into_iter().zip(ids).map(join));
    Ok(stored)
}

/// Puts what links say into the repository.
async fn store_links(
    repository: &Repository,
    links: Vec<(PathBuf, Vec<u8>)>,
) -> Result<Vec<Stored>, GitError> {
    if links.is_empty() {
        return Ok(Vec::new());
    }
    // Each is followed by the question what it is called now.
    let mut script = Vec::new();
    for (index, (_, target)) in links.iter().enumerate() {
        let mark = index + 1;
        script.extend_from_slice(format!("blob\nmark :{mark}\ndata {}\n", target.len()).as_bytes());
        script.extend_from_slice(target);
        script.extend_from_slice(format!("\nget-mark :{mark}\n").as_bytes());
    }
    script.extend_from_slice(b"done\n");
    let call = Call::new(["fast-import", "--quiet", "--done"]).input(script);
    let answer = repository.ask(Place::Store, call).await?;
    let ids: Vec<ObjectId> = answer.text().lines().filter_map(|line| line.parse().ok()).collect();
    if ids.len() != links.len() {
        return Err(answer.odd());
    }
    let join = |((path, target), id): ((PathBuf, Vec<u8>), ObjectId)| Stored {
        path,
        mode: LINK.to_owned(),
        id,
        size: target.len() as u64,
    };
    Ok(links.into_iter().zip(ids).map(join).collect())
}

/// A path in the spelling in which git reads any name, and the end of its line.
fn quote(path: &[u8], list: &mut Vec<u8>) {
    list.push(b'"');
    for byte in path {
        list.extend_from_slice(format!("\\{byte:03o}").as_bytes());
    }
    list.extend_from_slice(b"\"\n");
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
