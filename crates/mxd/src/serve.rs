//! `mxd serve`: the daemon, in this terminal or under a supervisor.

use std::io::IsTerminal as _;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use mxd_engine::Keyring;
use mxd_engine::config::{Config, LogFormat, LogSettings, Places};
use mxd_engine::git::Git;
use mxd_engine::home::Setup;
use mxd_server::{Build, Collector, Journal, Options, Policy};
use mxd_tools::sandbox::User;
use mxd_tools::secrets::Vault;

use crate::client::{Failure, data_folder};
use crate::doctor::launcher;
use crate::mcp::told_to_end;
use crate::say;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd serve                  on this machine, at port 7433, until Ctrl-C
  mxd serve --port 0         at any free port; `mxd health` says which

What is not said here is taken from the settings: host, port, auth, log, telemetry. MXD_LOG=debug says more. Data is kept in
MXD_DATA_DIR, or in ~/.mxd. It ends on SIGTERM and SIGINT, and loses nothing on SIGKILL.")]
pub(crate) struct Serve {
    /// The port; 0 takes a free one. Otherwise that of the settings, which is 7433 unless they say another.
    #[arg(long, env = "MXD_PORT")]
    port: Option<u16>,
    /// The address to listen at. Anything but a loopback address can be reached by others, who need a login. Without
    /// it that of the settings, which is this machine alone unless they say otherwise.
    #[arg(long, env = "MXD_BIND_HOST")]
    host: Option<IpAddr>,
    /// A further name by which browsers may call it, such as `workstation:7433`. Can be given more than once.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// How it writes about itself: text for people, JSON for programs. Otherwise as the settings say: text on a terminal,
    /// JSON elsewhere.
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<Format>,
}

/// How the daemon writes about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl Serve {
    pub(crate) fn run(self, as_json: bool) -> ExitCode {
        let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return Failure::new(error.to_string()).tell(as_json),
        };
        match runtime.block_on(self.serve(as_json)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.tell(as_json),
        }
    }

    async fn serve(self, as_json: bool) -> Result<(), Failure> {
        let data = data_folder()?;
        let keyring = Keyring::of_environment();
        let settings = settings(&data)?;
        let format = match self.log_format {
            Some(Format::Text) => LogFormat::Text,
            Some(Format::Json) => LogFormat::Json,
            None if as_json => LogFormat::Json,
            None => settings.log.format,
        };
        let log = LogSettings { format, ..settings.log };
        Journal { settings: log, vault: keyring.vault().clone() }.begin();
        let collector = collector(&settings, keyring.vault());
        let home = Setup {
            data,
            launcher: launcher(),
            user: User::of_environment(),
            keyring,
            git: Git::from_environment(),
        };
        let options = Options {
            home,
            bind: SocketAddr::new(self.host.unwrap_or(settings.host), self.port.unwrap_or(settings.port)),
            names: self.name,
            policy: if settings.auth.enforced { Policy::Enforced } else { Policy::Open },
            session_days: settings.auth.session_days,
            collector,
            build: Build::default(),
        };
        let told = |error: mxd_server::StartError| Failure::new(error.to_string()).hint(error.hint());
        let running = mxd_server::serve(options).await.map_err(told)?;
        if std::io::stderr().is_terminal() {
            say::note(format!("http://{}", running.address()));
        }
        tokio::select! {
            asked = told_to_end() => asked?,
            () = running.asked_to_end() => {}
        }
        running.shutdown().await;
        Ok(())
    }
}

/// Who is told what agents do. One that cannot be told anything keeps nobody from working.
fn collector(settings: &Config, vault: &Vault) -> Option<Collector> {
    let variable = |name: &str| std::env::var(name).ok();
    Collector::find(&settings.telemetry, variable, vault).unwrap_or_else(|error| {
        tracing::warn!(%error, hint = error.hint(), "no collector is told anything");
        None
    })
}

/// What the user settled about the daemon. With settings that cannot be read there is none: what it would listen at, and
/// who would be let in, would be a guess.
fn settings(data: &Path) -> Result<Config, Failure> {
    Config::load(&Places::user_only(data)).map_err(|problems| {
        Failure::new(problems.to_string())
            .hint("Each problem says what to do; `mxd doctor` lists them again.")
    })
}
