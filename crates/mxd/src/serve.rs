//! `mxd serve`: the daemon, in this terminal or under a supervisor.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use mxd_tools::sandbox::User;
use secrecy::SecretString;

use crate::client::{Failure, data_folder};
use crate::doctor::launcher;
use crate::say;

/// The port of the daemon, unless another is named.
pub(crate) const PORT: u16 = 7433;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd serve                  on this machine, at port 7433, until Ctrl-C
  mxd serve --port 0         at any free port; `mxd health` says which

Data is kept in MXD_DATA_DIR, or in ~/.mxd. It ends on SIGTERM and SIGINT, and loses nothing on SIGKILL.")]
pub(crate) struct Serve {
    /// The port; 0 takes a free one.
    #[arg(long, env = "MXD_PORT", default_value_t = PORT)]
    port: u16,
    /// The address to listen at. Anything but a loopback address can be reached by others, who need a login.
    #[arg(long, env = "MXD_BIND_HOST", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
}

impl Serve {
    pub(crate) fn run(self, _as_json: bool) -> std::process::ExitCode {
        say::failure("later")
    }
}
