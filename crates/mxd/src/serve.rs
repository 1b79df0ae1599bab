//! `mxd serve`: the daemon, in this terminal or under a supervisor.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use mxd_engine::config::{Config, Places};
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

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd serve                  on this machine, at port 7433, until Ctrl-C
  mxd serve --port 0         at any free port; `mxd health` says which

MXD_LOG=debug says more. Data is kept in MXD_DATA_DIR, or in ~/.mxd. It ends on SIGTERM and SIGINT, and loses nothing on SIGKILL.")]
pub(crate) struct Serve {
    /// The port; 0 takes a free one. Without it that of the settings, which is 7433 unless they say otherwise.
    #[arg(long, env = "MXD_PORT")]
    port: Option<u16>,
    /// The address to listen at. Anything but a loopback address can be reached by others, who need a login. Without
    /// it that of the settings, which is this machine alone unless they say otherwise.
    #[arg(long, env = "MXD_BIND_HOST")]
    host: Option<IpAddr>,
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
        let data = data_folder()?;
        let door = Door::of(&data)?;
        let bind = SocketAddr::new(self.host.unwrap_or(door.host), self.port.unwrap_or(door.port));
        let options = Options {
            home: Setup {
                data,
                launcher: launcher(),
                user: User::of_environment(),
                lookup,
                git: Git::from_environment(),
            },
            bind,
            names: self.name,
            policy: door.policy,
            session_days: door.session_days,
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

/// Where the daemon is reached and by whom, as the user's settings have it.
struct Door {
    host: IpAddr,
    port: u16,
    policy: Policy,
    session_days: u16,
}

impl Door {
    /// What the settings say. Those that cannot be read are not guessed at: they may close what a default leaves open.
    fn of(data: &Path) -> Result<Self, Failure> {
        let config = Config::load(&Places::user_only(data)).map_err(|problems| {
            Failure::new(problems.to_string())
                .hint("Each problem says what to do; `mxd doctor` lists them again.")
        })?;
        let policy = if config.auth.enforced { Policy::Enforced } else { Policy::Open };
        Ok(Self { host: config.host, port: config.port, policy, session_days: config.auth.session_days })
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
