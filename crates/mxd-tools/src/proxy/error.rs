//! Why a proxy does not start.

use std::io;
use std::path::PathBuf;

/// Why a proxy does not start.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The folder of the socket cannot be made or looked at.
    #[error("cannot use the folder {folder} for the proxy's socket: {source}")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Other users may enter the folder of the socket.
    #[error(
        "other users may enter {folder} (mode {mode:o}), where the proxy's socket would be; take their rights \
         away (chmod 700) or name another folder"
    )]
    FolderOpen {
        /// The folder.
        folder: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// There is no folder to put the socket in.
    #[error("{socket} names no file in a folder; give the proxy's socket a full path")]
    NoFolder {
        /// The path that was given.
        socket: PathBuf,
    },
    /// Something is there already.
    #[error(
        "{socket} exists and is not a forgotten socket; stop the proxy that uses it or name another path"
    )]
    InUse {
        /// The path that was given.
        socket: PathBuf,
    },
    /// The socket cannot be made.
    #[error(
        "cannot listen at {address}: {source}; a socket's path must be shorter than about 100 characters"
    )]
    Listen {
        /// The path or address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no randomness for a token.
    #[error("the system gave no random bytes for the proxy's token: {0}")]
    Random(String),
}
