//! An append-only file of records that several processes may share.
//!
//! A record is one line: `{"crc":"…","record":{…}}`. Whoever appends holds the file's lock, has read every line before its own
//! and has synced its line before it says so. A line that a crash cut short is removed by the next one who appends; a damaged
//! line anywhere else stops everything, because a forgotten reservation would be money spent twice.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::fault::Fault;

/// State that is the fold of records.
pub(crate) trait Fold: Default {
    type Record: Serialize + DeserializeOwned;
    fn apply(&mut self, record: Self::Record);
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalError {
    #[error("{path}: {error}; check the permissions and the space of the data directory")]
    Io { path: PathBuf, error: std::io::Error },
    #[error(
        "{path} is damaged in line {line} ({what}); restore it from a backup, nothing is sent while it is unreadable"
    )]
    Damaged { path: PathBuf, line: usize, what: String },
}

impl From<JournalError> for Fault {
    fn from(error: JournalError) -> Self {
        Self::internal(error.to_string())
    }
}

pub(crate) struct Journal<S: Fold> {
    path: PathBuf,
    seen: Mutex<Seen<S>>,
}

struct Seen<S> {
    state: S,
    /// Everything before this byte is in the state.
    bytes: u64,
    lines: usize,
}

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    crc: String,
    #[serde(borrow)]
    record: &'a RawValue,
}

/// What reading to the end of the file found there.
enum End {
    Whole,
    /// The last line has no newline or no fitting checksum: its writer died, or is still writing.
    Torn,
}

impl<S: Fold> Journal<S> {
    /// Opens or makes the file, private to its owner, with its folder.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let journal = Self {
            path: path.to_owned(),
            seen: Mutex::new(Seen { state: S::default(), bytes: 0, lines: 0 }),
        };
        if let Some(folder) = path.parent() {
            private_folder(folder).map_err(|error| journal.io(error))?;
        }
        let mut file = journal.file()?;
        file.lock_shared().map_err(|error| journal.io(error))?;
        journal.catch_up(&mut file, &mut journal.seen())?;
        Ok(journal)
    }

    /// Looks at the newest state.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&S) -> T) -> Result<T, JournalError> {
        let mut seen = self.seen();
        let mut file = self.file()?;
        self.catch_up(&mut file, &mut seen)?;
        Ok(look(&seen.state))
    }

    /// Decides on the newest state, alone among all processes; what it decides is durable when this returns.
    pub(crate) fn write<T, E: From<JournalError>>(
        &self,
        decide: impl FnOnce(&S) -> Result<(Vec<S::Record>, T), E>,
    ) -> Result<T, E> {
        let mut seen = self.seen();
        let mut file = self.file()?;
        // Released when the file is closed, also by a process that dies.
        file.lock().map_err(|error| self.io(error))?;
        if let End::Torn = self.catch_up(&mut file, &mut seen)? {
            let cut = file.set_len(seen.bytes).and_then(|()| file.sync_data());
            cut.map_err(|error| self.io(error))?;
        }
        let (records, told) = decide(&seen.state)?;
        if records.is_empty() {
            return Ok(told);
        }
        let mut text = Vec::new();
        for record in &records {
            let record = serde_json::value::to_raw_value(record).map_err(|error| self.io(error.into()))?;
            let crc = format!("{:08x}", crc32fast::hash(record.get().as_bytes()));
            let line = Line { crc, record: &record };
            serde_json::to_writer(&mut text, &line).map_err(|error| self.io(error.into()))?;
            text.push(b'\n');
        }
        let appended = file.seek(SeekFrom::Start(seen.bytes)).and_then(|_| file.write_all(&text));
        if let Err(error) = appended.and_then(|()| file.sync_data()) {
            // Half a line would be cut off by the next writer anyway; cutting it now keeps readers from looking at it.
            let _ = file.set_len(seen.bytes);
            return Err(self.io(error).into());
        }
        seen.bytes += text.len() as u64;
        seen.lines += records.len();
        for record in records {
            seen.state.apply(record);
        }
        Ok(told)
    }

    /// Reads whole lines that others appended.
    fn catch_up(&self, file: &mut File, seen: &mut Seen<S>) -> Result<End, JournalError> {
        let length = file.metadata().map_err(|error| self.io(error))?.len();
        if length == seen.bytes {
            return Ok(End::Whole);
        }
        if length < seen.bytes {
            let what = "it is shorter than before".into();
            return Err(JournalError::Damaged { path: self.path.clone(), line: seen.lines, what });
        }
        file.seek(SeekFrom::Start(seen.bytes)).map_err(|error| self.io(error))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(|error| self.io(error))?;
        let mut rest = text.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            match parse::<S::Record>(&rest[..end]) {
                Ok(record) => seen.state.apply(record),
                Err(Unreadable::Broken(_)) if end + 1 == rest.len() => return Ok(End::Torn),
                Err(Unreadable::Broken(what) | Unreadable::Foreign(what)) => {
                    let line = seen.lines + 1;
                    return Err(JournalError::Damaged { path: self.path.clone(), line, what });
                }
            }
            seen.bytes += end as u64 + 1;
            seen.lines += 1;
            rest = &rest[end + 1..];
        }
        Ok(if rest.is_empty() { End::Whole } else { End::Torn })
    }

    fn file(&self) -> Result<File, JournalError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        options.open(&self.path).map_err(|error| self.io(error))
    }

    fn seen(&self) -> MutexGuard<'_, Seen<S>> {
        // A panic while deciding changes nothing: the state moves only after the line is durable.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn io(&self, error: std::io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), error }
    }
}

/// Why a line is no record.
enum Unreadable {
    /// It is not as it was written.
    Broken(String),
    /// It is as it was written, by a version that knows more. Cutting it off would lose what somebody was told.
    Foreign(String),
}

fn parse<R: DeserializeOwned>(line: &[u8]) -> Result<R, Unreadable> {
    let line: Line<'_> =
        serde_json::from_slice(line).map_err(|error| Unreadable::Broken(error.to_string()))?;
    let crc = format!("{:08x}", crc32fast::hash(line.record.get().as_bytes()));
    if crc != line.crc {
        return Err(Unreadable::Broken(format!("the checksum is {crc}, the line says {}", line.crc)));
    }
    serde_json::from_str(line.record.get()).map_err(|error| Unreadable::Foreign(error.to_string()))
}

/// A folder nobody else may look into, with its parents.
pub(crate) fn private_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Puts a whole file in place: after a crash it is there as written, or as it was.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    private_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}
