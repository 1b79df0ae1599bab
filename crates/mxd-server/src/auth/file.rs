//! Files that are this user's alone: how programs on this machine find the daemon, and the token they show.

use std::fs::{File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Bytes of such a file.
const MOST_BYTES: u64 = 1 << 20;

/// How to talk to the daemon of a data folder: what `daemon.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contact {
    /// Where it listens.
    pub address: SocketAddr,
    /// What a program has to show, as `Authorization: Bearer …`. New with every start.
    pub token: String,
    /// Its process.
    pub pid: u32,
    /// Which start of it.
    pub epoch: String,
}

/// Why there is no contact.
#[derive(Debug, thiserror::Error)]
pub enum ContactError {
    /// No daemon has said where it is.
    #[error("no daemon runs for {data}", data = data.display())]
    None {
        /// The data folder.
        data: PathBuf,
    },
    /// The file is not to be trusted, or not to be read.
    #[error("{path} cannot be used: {source}", path = path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl ContactError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::None { .. } => "Start one with `mxd up`.",
            Self::File { .. } => "`mxd daemon restart` writes it anew.",
        }
    }
}

impl Contact {
    fn path(data: &Path) -> PathBuf {
        data.join("daemon.json")
    }

    /// What the daemon of this data folder wrote about itself. It may have ended since.
    ///
    /// # Errors
    ///
    /// When there is nothing, or it belongs to another user, or others can read it.
    pub fn read(data: &Path) -> Result<Self, ContactError> {
        let path = Self::path(data);
        let failed = |source| ContactError::File { path: path.clone(), source };
        let text = read_private(&path).map_err(failed)?;
        let text = text.ok_or_else(|| ContactError::None { data: data.to_owned() })?;
        serde_json::from_str(&text).map_err(|error| failed(io::Error::other(error)))
    }

    pub(crate) fn write(&self, data: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        publish(&Self::path(data), &text)
    }

    /// Takes it back, unless another daemon has written its own since.
    pub(crate) fn remove(&self, data: &Path) {
        if Self::read(data).is_ok_and(|there| there == *self) {
            let _gone = std::fs::remove_file(Self::path(data));
        }
    }
}

/// The text of a file that belongs to this user and that nobody else can read; none when there is no such file.
pub(super) fn read_private(path: &Path) -> io::Result<Option<String>> {
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits();
    let opened = File::options().read(true).custom_flags(i32::try_from(no_link).unwrap_or(0)).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let there = file.metadata()?;
    let refused = |why: &str| io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned());
    if there.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused("it belongs to another user"));
    }
    if there.mode() & 0o077 != 0 {
        return Err(refused("others can read it"));
    }
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Puts a file in place as a whole and durably, for its owner alone.
pub(super) fn publish(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut draft = tempfile::Builder::new().prefix(".draft-").tempfile_in(folder)?;
    draft.write_all(text.as_bytes())?;
    draft.as_file().set_permissions(Permissions::from_mode(0o600))?;
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}
