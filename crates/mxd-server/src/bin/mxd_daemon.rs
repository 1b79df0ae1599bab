//! The daemon as a program of its own, for tests and benchmarks of this crate. `mxd` carries the same code.
//!
//! `mxd-daemon serve DATA` serves until it is killed; anything else makes it the supervisor of a sandboxed process.

use std::path::PathBuf;
use std::process::ExitCode;

use mxd_engine::Keyring;
use mxd_engine::config::{Config, Places};
use mxd_engine::git::Git;
use mxd_engine::home::Setup;
use mxd_server::{Build, Collector, Journal, Options, Policy, serve};
use mxd_tools::sandbox::{Launcher, User};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() != Some("serve") {
        return mxd_tools::sandbox::enter(first.as_deref());
    }
    let Some(data) = arguments.next() else { return ExitCode::from(2) };
    match run(data.into()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever starts it reads why; there is no other way to be told.
            let _unread = std::io::Write::write_all(&mut std::io::stderr(), error.as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn run(data: PathBuf) -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let keyring = Keyring::of_environment();
    let places = Places::user_only(&data);
    let settings = Config::load(&places).map_err(|problems| problems.to_string())?;
    Journal { settings: settings.log, vault: keyring.vault().clone() }.begin();
    let set = |name: &str| std::env::var(name).ok();
    let collector = Collector::find(&settings.telemetry, set, keyring.vault());
    let collector = collector.map_err(|error| error.to_string())?;
    let home = Setup {
        data,
        launcher: Launcher::this_program(Vec::new()),
        user: User {
            name: variable("USER"),
            home: variable("HOME").into(),
            path: variable("PATH"),
            variables: std::env::vars().collect(),
        },
        keyring,
        git: Git::from_environment(),
    };
    let options = Options {
        home,
        bind: ([127, 0, 0, 1], 0).into(),
        names: Vec::new(),
        policy: Policy::Enforced,
        session_days: 30,
        collector,
        build: Build::default(),
    };
    mxd_server::raise_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        let running = serve(options).await.map_err(|error| error.to_string())?;
        running.ready().await;
        // Whoever started it waits for this word.
        let _unread = std::io::Write::write_all(&mut std::io::stdout(), b"ready\n");
        running.asked_to_end().await;
        running.shutdown().await;
        Ok(())
    })
}
