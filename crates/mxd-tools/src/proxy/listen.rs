//! Where a proxy is found: a socket file of its user, or a port of this machine.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream as Probe;
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use super::error::ProxyError;
use crate::sandbox::Level;

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// At a socket file. It is private to its user, and so must its folder be, which is made when it is missing.
    Unix {
        /// The file.
        socket: PathBuf,
        /// The port at which processes in the sandbox find the forwarder.
        port: u16,
    },
    /// At a free port of this machine. Other users can connect to it, so clients have to show a token.
    Loopback,
}

/// The port at which processes find the proxy in a network of their own.
const PORT_INSIDE: u16 = 3128;

impl Listen {
    /// What fits a level: where a sandbox has a network of its own, this socket file, else a port.
    pub fn for_level(level: Level, socket: PathBuf) -> Self {
        match level {
            Level::Full => Self::Unix { socket, port: PORT_INSIDE },
            Level::Landlock | Level::Off => Self::Loopback,
        }
    }
}

/// Where a proxy listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// At this socket file.
    Unix(PathBuf),
    /// At this address.
    Loopback(SocketAddr),
}

/// An open listener.
#[derive(Debug)]
pub(super) enum Listener {
    Unix(UnixListener),
    Loopback(TcpListener),
}

/// A client's connection.
pub(super) enum Accepted {
    Unix(UnixStream),
    Loopback(TcpStream),
}

impl Listener {
    pub(super) fn unix(socket: &Path) -> Result<Self, ProxyError> {
        make_private_folder(socket)?;
        clear_forgotten(socket)?;
        let failed = |source| ProxyError::Listen { address: socket.display().to_string(), source };
        let listener = UnixListener::bind(socket).map_err(failed)?;
        // Until here its folder has kept others out.
        fs::set_permissions(socket, Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(Self::Unix(listener))
    }

    pub(super) async fn loopback() -> Result<(Self, SocketAddr), ProxyError> {
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let failed = |source| ProxyError::Listen { address: wanted.to_string(), source };
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok((Self::Loopback(listener), address))
    }

    pub(super) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Unix(listener) => listener.accept().await.map(|(stream, _)| Accepted::Unix(stream)),
            Self::Loopback(listener) => listener.accept().await.map(|(stream, _)| Accepted::Loopback(stream)),
        }
    }
}

fn make_private_folder(socket: &Path) -> Result<(), ProxyError> {
    let folder = socket.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.ok_or_else(|| ProxyError::NoFolder { socket: socket.to_owned() })?;
    let failed = |source| ProxyError::Folder { folder: folder.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let mode = fs::metadata(folder).map_err(failed)?.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(ProxyError::FolderOpen { folder: folder.to_owned(), mode }) }
}

/// Removes the socket of a proxy that was killed. One that answers, or a file of another kind, is left alone.
fn clear_forgotten(socket: &Path) -> Result<(), ProxyError> {
    let kind = match fs::symlink_metadata(socket) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map(|found| found.file_type()),
    };
    let forgotten = kind.is_ok_and(|kind| kind.is_socket())
        && Probe::connect(socket).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if forgotten && fs::remove_file(socket).is_ok() {
        return Ok(());
    }
    Err(ProxyError::InUse { socket: socket.to_owned() })
}
