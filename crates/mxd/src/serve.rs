//! `mxd serve`: the daemon, in this terminal or under a supervisor.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Args;
use mxd_engine::git::Git;
use mxd_engine::home::Setup;
use mxd_server::{Build, Options, Policy};
use mxd_tools::sandbox::User;
use secrecy::SecretString;
use tracing_subscriber::EnvFilter;

use crate::client::{Failure, data_folder};
use crate::doctor::launcher;
use crate::mcp::told_to_end;
use crate::say;

/// Days after which a browser has to log in again.
const SESSION_DAYS: u16 = 30;

/// The port of the daemon, unless another is named.
pub(crate) const PORT: u16 = 7433;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd serve                  on this machine, at port 7433, until Ctrl-C
  mxd serve --port 0         at any free port; `mxd health` says which

MXD_LOG=debug says more. Data is kept in MXD_DATA_DIR, or in ~/.mxd. It ends on SIGTERM and SIGINT, and loses nothing on SIGKILL.")]
pub(crate) struct Serve {
    /// The port; 0 takes a free one.
    #[arg(long, env = "MXD_PORT", default_value_t = PORT)]
    port: u16,
    /// The address to listen at. Anything but a loopback address can be reached by others, who need a login.
    #[arg(long, env = "MXD_BIND_HOST", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// A further name by which browsers may call it, such as `workstation:7433`. Can be given more than once.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
}

impl Serve {
    pub(crate) fn run(self, as_json: bool) -> ExitCode {
        logging(as_json);
        let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return say::failure(error.to_string()),
        };
        match runtime.block_on(self.serve()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.tell(as_json),
        }
    }

    async fn serve(self) -> Result<(), Failure> {
        let options = Options {
            home: Setup {
                data: data_folder()?,
                launcher: launcher(),
                user: User::of_environment(),
                lookup,
                git: Git::from_environment(),
            },
            bind: SocketAddr::new(self.host, self.port),
            names: self.name,
            policy: Policy::Enforced,
            session_days: SESSION_DAYS,
            build: Build::default(),
        };
        let told = |error: mxd_server::StartError| Failure::new(error.to_string()).hint(error.hint());
        let running = mxd_server::serve(options).await.map_err(told)?;
        if !running.address().ip().is_loopback() {
            say::note(
                "Others can reach this address; they need a login. HTTP is not encrypted: put TLS in front.",
            );
        }
        say::note(format!("http://{}", running.address()));
        tokio::select! {
            asked = told_to_end() => asked?,
            () = running.asked_to_end() => {}
        }
        running.shutdown().await;
        Ok(())
    }
}

/// A variable that the settings name.
fn lookup(name: &str) -> Option<SecretString> {
    std::env::var(name).ok().map(SecretString::from)
}

/// What the daemon says about itself, on standard error: for people, or for programs.
fn logging(as_json: bool) {
    let filter = EnvFilter::try_from_env("MXD_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    // A second subscriber cannot be set, and there is none before.
    let _set = if as_json { builder.json().try_init() } else { builder.with_ansi(false).try_init() };
}
