//! `mxd up` and `mxd daemon`: the daemon in the background, as a service or without one.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::{Args, Subcommand};
use mxd_core::show::one_line;
use mxd_engine::home::make_private_folder;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::client::{Daemon, Failure, data_folder};
use crate::page::Page;
use crate::say::{self, GOOD};
use crate::service::{Supervisor, Wish};

/// How long a daemon may take to be there, or to be gone.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(50);
/// The end of a log that is read.
const TAIL: usize = 200;
/// Characters of a line of it.
const LINE_CHARS: usize = 2_000;
/// Bytes of a log after which the next daemon begins another one; one older one is kept.
const LOG_BYTES: u64 = 16 << 20;

#[derive(Debug, Args)]
pub(crate) struct Up {
    /// Does not open the page.
    #[arg(long)]
    no_open: bool,
    /// The port, when the daemon has to be started.
    #[arg(long)]
    port: Option<u16>,
}

impl Up {
    pub(crate) async fn run(self, as_json: bool) -> Result<(), Failure> {
        let daemon = match alive().await {
            Some(daemon) => daemon,
            None => begin(self.port).await?.0,
        };
        say::answer(as_json, &json!({ "url": daemon.base() }), || {
            format!("{GOOD}up{GOOD:#}  {}", daemon.base())
        });
        if !as_json {
            super::command::readiness::note_missing_model();
        }
        if !self.no_open && !as_json {
            Page { daemon: &daemon, place: "/ui".to_owned() }.open().await;
        }
        Ok(())
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Installs the daemon as a service of this user: it starts at login and comes back when it ends.
    Install {
        /// Prints the description of the service, and installs nothing.
        #[arg(long)]
        print: bool,
    },
    /// Removes the service.
    Uninstall,
    /// Starts the daemon in the background.
    Start,
    /// Ends the daemon; agents go on with the next start.
    Stop,
    /// Ends it and starts it again.
    Restart,
    /// Says whether it runs.
    Status,
    /// Shows what it said.
    Logs {
        /// Goes on until Ctrl-C.
        #[arg(short, long)]
        follow: bool,
    },
}

impl DaemonCommand {
    pub(crate) async fn run(self, as_json: bool) -> Result<(), Failure> {
        let supervisor = Supervisor::here();
        let said = match self {
            Self::Install { print: true } => {
                let program = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
                say::line(supervisor.description(&program, &data_folder()?).trim_end());
                return Ok(());
            }
            Self::Install { print: false } => {
                // One that runs without the service would keep the data folder from it.
                end_process().await?;
                let file = supervisor.install(&home()?, &data_folder()?)?;
                let daemon = answering(supervisor).await?;
                let (file, keys) = (file.display(), supervisor.about_keys(&data_folder()?));
                format!("installed: {file}\nit runs, at {}\n{keys}", daemon.base())
            }
            Self::Uninstall => format!("removed: {}", supervisor.uninstall(&home()?)?.display()),
            Self::Start => match alive().await {
                Some(daemon) => format!("it runs already, at {}", daemon.base()),
                None => {
                    let (daemon, how) = begin(None).await?;
                    format!("started{how}, at {}", daemon.base())
                }
            },
            Self::Stop => match end(supervisor).await? {
                true => "stopped".to_owned(),
                false => return Err(Failure::no_daemon()),
            },
            Self::Restart => {
                end(supervisor).await?;
                let (daemon, how) = begin(None).await?;
                format!("restarted{how}, at {}", daemon.base())
            }
            Self::Status => return status(as_json).await,
            Self::Logs { follow } => return logs(tail(follow)?, as_json),
        };
        say::answer(as_json, &json!({ "ok": true, "message": said }), || said.clone());
        Ok(())
    }
}

/// The daemon, if one answers.
async fn alive() -> Option<Daemon> {
    let daemon = Daemon::find().ok()?;
    let health: Value = daemon.get("/health").await.ok()?;
    (health["status"] == "ok").then_some(daemon)
}

/// Starts the daemon, as a service where that is installed and no port is wanted, and waits until it answers; and how.
async fn begin(port: Option<u16>) -> Result<(Daemon, &'static str), Failure> {
    let (supervisor, home) = (Supervisor::here(), home()?);
    if port.is_some() || !supervisor.serves(&home, &data_folder()?) {
        return Ok((start(port).await?, ""));
    }
    supervisor.ask(Wish::Start, &home)?;
    Ok((answering(supervisor).await?, " as a service"))
}

/// The daemon that a supervisor has started, as soon as it answers.
async fn answering(supervisor: Supervisor) -> Result<Daemon, Failure> {
    let answering = async {
        loop {
            match alive().await {
                Some(daemon) => return daemon,
                None => tokio::time::sleep(LOOK).await,
            }
        }
    };
    tokio::time::timeout(PATIENCE, answering)
        .await
        .map_err(|_| Failure::new("the service was started and does not answer").hint(supervisor.journal()))
}

/// Starts a daemon that outlives this program, and waits until it answers.
async fn start(port: Option<u16>) -> Result<Daemon, Failure> {
    let data = data_folder()?;
    let wrong = |error: std::io::Error| Failure::new(format!("the daemon cannot be started: {error}"));
    make_private_folder(&data).map_err(wrong)?;
    let log = open_log(&log_file(&data)).map_err(wrong)?;
    let mut command = Command::new(std::env::current_exe().map_err(wrong)?);
    command.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).process_group(0);
    if let Some(port) = port {
        command.args(["--port", &port.to_string()]);
    }
    let mut process = command.spawn().map_err(wrong)?;
    let waiting = async {
        loop {
            if let Some(daemon) = alive().await {
                return Ok(daemon);
            }
            if let Ok(Some(_)) = process.try_wait() {
                return Err(ended(&data));
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| Err(ended(&data)))
}

/// The log of a daemon in the background, for its user alone.
fn open_log(path: &Path) -> std::io::Result<fs::File> {
    if fs::metadata(path).is_ok_and(|there| there.len() > LOG_BYTES) {
        fs::rename(path, path.with_extension("log.old"))?;
    }
    fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

fn ended(data: &Path) -> Failure {
    let said = fs::read_to_string(log_file(data)).unwrap_or_default();
    let said: Vec<&str> = said.lines().collect();
    // A hint stands below what it is about.
    let told = said.iter().rfind(|line| line.starts_with("error: ")).or(said.last());
    let last = told.map_or("it said nothing", |line| line.trim_start_matches("error: "));
    Failure::new(format!("the daemon did not start: {last}")).hint("`mxd daemon logs` shows all it said.")
}

/// Ends the daemon, however it was started; whether there was one.
async fn end(supervisor: Supervisor) -> Result<bool, Failure> {
    let home = home()?;
    let is_service = supervisor.serves(&home, &data_folder()?);
    if is_service {
        supervisor.ask(Wish::Stop, &home)?;
    }
    let ended = end_process().await? || is_service;
    match alive().await {
        None => Ok(ended),
        Some(daemon) => Err(Failure::new(format!("a daemon still answers, at {}", daemon.base()))
            .hint("It is none of this data folder: end it where it was started.")),
    }
}

/// Ends the daemon that is there, if one is, and waits until it is gone.
async fn end_process() -> Result<bool, Failure> {
    let Some(pid) = pid(&data_folder()?) else { return Ok(false) };
    rustix::process::kill_process(pid, Signal::TERM).map_err(|error| {
        Failure::new(format!("the daemon with process number {} : {error}", pid.as_raw_nonzero()))
    })?;
    let gone = async {
        while rustix::process::test_kill_process(pid).is_ok() {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone)
        .await
        .map_err(|_| Failure::new("the daemon does not end").hint("`mxd daemon logs` may say why."))?;
    Ok(true)
}

/// The process of the daemon that is there. What one that was killed has left may name another process by now, so the
/// data folder has to be held as well.
fn pid(data: &Path) -> Option<Pid> {
    let mut lock = fs::File::open(data.join("daemon.lock")).ok()?;
    let held = matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock));
    let mut owner = String::new();
    lock.read_to_string(&mut owner).ok()?;
    // The file that says how to reach it may be gone, or not there yet.
    let pid = Pid::from_raw(owner.strip_prefix("pid ")?.parse().ok()?)?;
    held.then_some(pid)
}

async fn status(as_json: bool) -> Result<(), Failure> {
    let daemon = alive().await.ok_or_else(Failure::no_daemon)?;
    let health: Value = daemon.get("/health").await?;
    say::answer(as_json, &health, || {
        let seconds = health["uptimeMs"].as_u64().unwrap_or(0) / 1000;
        format!(
            "{GOOD}runs{GOOD:#}  {}  version {}, up {seconds} s",
            daemon.base(),
            health["version"].as_str().unwrap_or("?")
        )
    });
    Ok(())
}

/// What reads the end of what the daemon wrote.
fn tail(follow: bool) -> Result<Command, Failure> {
    let file = log_file(&data_folder()?);
    if !file.exists() {
        return Err(Failure::not_found(format!("{} is not there", file.display())).hint(
            "A service writes to its supervisor (`journalctl --user -u mxd`), `mxd serve` to its terminal.",
        ));
    }
    let mut tail = Command::new("tail");
    tail.args(["-n", &TAIL.to_string()]);
    if follow {
        tail.arg("-F");
    }
    tail.arg(&file);
    Ok(tail)
}

/// Shows what is read: as it is for programs, as text for people.
fn logs(mut tail: Command, as_json: bool) -> Result<(), Failure> {
    let wrong = |error: std::io::Error| Failure::new(format!("tail: {error}"));
    if as_json {
        // From here on this process is `tail`.
        return Err(wrong(tail.exec()));
    }
    let mut tail = tail.stdout(Stdio::piped()).spawn().map_err(wrong)?;
    let written = tail.stdout.take().map(BufReader::new);
    for line in written.into_iter().flat_map(BufReader::lines).map_while(Result::ok) {
        say::line(in_words(&line));
    }
    tail.wait().map_err(wrong)?;
    Ok(())
}

/// A line of the log for people. What is no JSON was written before there was a log, and stays as it is.
fn in_words(line: &str) -> String {
    let Ok(written) = serde_json::from_str::<Value>(line) else { return one_line(line, LINE_CHARS) };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut words = format!("{} {:5} ", text(&written["timestamp"]), text(&written["level"]));
    words.push_str(&text(&written["fields"]["message"]));
    for (name, value) in written["fields"].as_object().into_iter().flatten() {
        if name != "message" {
            let _infallible = write!(words, "  {name}={}", text(value));
        }
    }
    one_line(&words, LINE_CHARS)
}

fn log_file(data: &Path) -> PathBuf {
    data.join("daemon.log")
}

fn home() -> Result<PathBuf, Failure> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    home.map(PathBuf::from).ok_or_else(|| Failure::new("HOME is not set"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_one_line_of_words() {
        let written = r#"{"timestamp":"T","level":"WARN","fields":{"message":"a \u001b[31mred\nthing","code":"x","ms":3}}"#;
        assert_eq!(in_words(written), "T WARN a [31mred thing code=x ms=3");
        assert_eq!(in_words("error: it is taken"), "error: it is taken");
    }
}
