//! What stays while an agent works: the namespaces its commands live in, what starts them there, and the way to the
//! proxy.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

use super::policy::Network;
use super::wire::{self, NOT_STARTED_BY_US, Order, Report};
use super::{doors, groups, guests, namespaces, view};
use crate::proxy::forward;

/// Its argument.
pub(super) const STAGE: &str = "anchor";

/// Runs until the daemon closes the socket and the last command has ended.
pub(super) fn run() -> ExitCode {
    let Ok(control) = wire::control() else { return ExitCode::from(NOT_STARTED_BY_US) };
    let (order, _tether): (Order, _) = match wire::receive(&control) {
        Ok(Some(received)) => received,
        Ok(None) | Err(_) => return ExitCode::from(NOT_STARTED_BY_US),
    };
    match settle(&order) {
        Ok(()) => {
            wire::report(&control, &Report::Started { missing: Vec::new() });
            guests::host(&control);
        }
        Err(what) => wire::report(&control, &Report::SetUpFailed { what }),
    }
    ExitCode::SUCCESS
}

fn settle(order: &Order) -> Result<(), String> {
    groups::join(&order.groups)?;
    namespaces::found()?;
    raise_loopback()?;
    let door = match &order.policy.network {
        Network::Proxy { socket: Some(socket), port } => Some(Door::open(socket, *port)?),
        Network::Proxy { socket: None, .. } => {
            return Err("the proxy has no socket to be reached at".to_owned());
        }
        Network::None | Network::Open => None,
    };
    view::build(&order.policy)?;
    if let Some(door) = door {
        thread::spawn(move || doors::give_up_own_privileges().map(|()| door.serve()));
    }
    Ok(())
}

/// The way to the proxy: a port that the commands see, and the folder of a socket that they do not.
struct Door {
    port: TcpListener,
    folder: OwnedFd,
    name: OsString,
}

impl Door {
    fn open(socket: &Path, port: u16) -> Result<Self, String> {
        let failed = |error: io::Error| format!("the way to the proxy {}: {error}", socket.display());
        let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        };
        let folder =
            rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
                .map_err(|error| failed(error.into()))?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        Ok(Self { port, folder, name: name.to_owned() })
    }

    /// Passes every connection on. The folder is not in the view, but is still open.
    fn serve(self) {
        let folder = Path::new("/proc/self/fd").join(self.folder.as_raw_fd().to_string());
        let _ended = forward(self.port, folder.join(self.name));
    }
}

/// A new network has a loopback device, but it is down.
fn raise_loopback() -> Result<(), String> {
    let failed = |error: rustix::io::Errno| format!("raising the loopback device: {error}");
    let socket =
        socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None).map_err(failed)?;
    send(&socket, &loopback_up(), SendFlags::empty()).map_err(failed)?;
    let mut answer = [0; 256];
    let (length, _) = recv(&socket, &mut answer, RecvFlags::empty()).map_err(failed)?;
    // The error of an acknowledgement stands behind the header; none is zero.
    match answer.get(16..20).filter(|_| length >= 20) {
        Some([0, 0, 0, 0]) => Ok(()),
        _ => Err("raising the loopback device: the kernel refused".to_owned()),
    }
}

/// A request of the route protocol: device 1, the flag "up".
fn loopback_up() -> Vec<u8> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 5;
    const UP: u32 = 1;
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(1_i32.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message
}
