//! The parts of the demo: a folder, a repository, a scripted model, and a daemon that can be killed.

use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mxd_engine::home::make_private_folder;
use mxd_server::Contact;
use rehearse::{Rehearsal, Script, Wire};
use serde_json::json;
use tokio::process::{Child, Command};

use super::{Pace, repository, story};
use crate::client::{Daemon, Failure};

/// How long the daemon may take to be there.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the daemon is looked for meanwhile.
const LOOK: Duration = Duration::from_millis(25);

/// Everything that the demo plays with.
pub(super) struct Stage {
    pub(super) folder: PathBuf,
    pub(super) model: Rehearsal,
    process: Child,
    pub(super) daemon: Daemon,
}

impl Stage {
    /// Builds it all up.
    pub(super) async fn set(folder: PathBuf, pace: Pace) -> Result<Self, Failure> {
        repository::make(&folder.join("tally"))?;
        let script = Script::parse("demo", &story::script(pace).to_string())
            .map_err(|error| Failure::new(format!("the story cannot be told: {error}")))?;
        let model = Rehearsal::start(script).map_err(|error| Failure::new(format!("the model: {error}")))?;
        let data = folder.join("data");
        settings(&data, &model.base_url(Wire::Anthropic))?;
        let (process, daemon) = start(&data, 0).await?;
        Ok(Self { folder, model, process, daemon })
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.folder.join("tally")
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Kills the daemon without a warning and starts another one at the same address.
    pub(super) async fn kill(&mut self) -> Result<(), Failure> {
        self.end().await;
        let port = self.daemon.base().rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0);
        (self.process, self.daemon) = start(&self.data(), port).await?;
        Ok(())
    }

    /// Kills the daemon and waits for its end.
    pub(super) async fn end(&mut self) {
        // Whoever is dead already need not be killed.
        let _killed = self.process.kill().await;
    }
}

/// The settings of a user who has nothing but the scripted model.
fn settings(data: &Path, model: &str) -> Result<(), Failure> {
    let group =
        json!({ "provider": "anthropic", "anthropicBaseUrl": model, "anthropicApiKey": "$env:MXD_DEMO_KEY" });
    let settings = json!({ "authGroups": { "demo": group }, "defaultAuth": "demo", "budgetUsd": 5 });
    let wrong = |error: std::io::Error| Failure::new(format!("{}: {error}", data.display()));
    make_private_folder(data).map_err(wrong)?;
    let mut options = fs::OpenOptions::new();
    let mut file =
        options.write(true).create_new(true).mode(0o600).open(data.join("config.json")).map_err(wrong)?;
    std::io::Write::write_all(&mut file, settings.to_string().as_bytes()).map_err(wrong)
}

/// Starts a daemon and waits until it answers.
async fn start(data: &Path, port: u16) -> Result<(Child, Daemon), Failure> {
    let wrong = |error: std::io::Error| Failure::new(format!("the daemon cannot be started: {error}"));
    let mut options = fs::OpenOptions::new();
    let log = options.create(true).append(true).mode(0o600).open(data.join("daemon.log")).map_err(wrong)?;
    let mut process = Command::new(std::env::current_exe().map_err(wrong)?)
        .args(["serve", "--port", &port.to_string()])
        .env("MXD_DATA_DIR", data)
        .env("MXD_DEMO_KEY", "the scripted model takes any key")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .map_err(wrong)?;
    let found = tokio::time::timeout(PATIENCE, find(&mut process, data)).await;
    let daemon = found.map_err(|_| ended(data, "is not ready in time"))??;
    Ok((process, daemon))
}

async fn find(process: &mut Child, data: &Path) -> Result<Daemon, Failure> {
    loop {
        if let Ok(Some(_)) = process.try_wait() {
            return Err(ended(data, "has ended"));
        }
        // What a daemon wrote that was killed since is not the address of the new one.
        let contact = Contact::read(data).ok().filter(|contact| Some(contact.pid) == process.id());
        if let Some(contact) = contact {
            let daemon = Daemon::at(format!("http://{}", contact.address), Some(contact.token))?;
            let health: Result<serde_json::Value, Failure> = daemon.get("/health").await;
            if health.is_ok_and(|health| health["status"] == "ok") {
                return Ok(daemon);
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn ended(data: &Path, how: &str) -> Failure {
    let log = data.join("daemon.log");
    let said = fs::read_to_string(&log).unwrap_or_default();
    let last = said.lines().last().unwrap_or_default();
    Failure::new(format!("the daemon {how}: {last}")).hint(format!("All it said is in {}.", log.display()))
}
