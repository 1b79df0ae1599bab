//! Starting a command: its number, its place, its file, its sandbox.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::cwd;
use super::end::Ending;
use super::foreground::Foreground;
use super::limit_notes;
use super::live::{CallId, Feed, Watcher};
use super::output::{Sink, Window};
use super::processes::{Processes, Shared};
use super::run::pump;
use super::table::{Ended, Place, Running, file_name, name};
use crate::kept::Kept;
use crate::sandbox::{Cell, Child, Command, LimitHits, Output, SandboxError};
use crate::scope::Scope;

/// Why a command was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There are too many.
    #[error(
        "there are {limit} {what} already, and no more are possible: wait for one to end, or end one with \
         the `background` tool"
    )]
    TooMany {
        /// How many are possible.
        limit: usize,
        /// Of what.
        what: &'static str,
    },
    /// The agent is about to end.
    #[error("the agent is being closed; no command can be started")]
    Closed,
    /// The call was cancelled before the command ran.
    #[error("cancelled before the command was started")]
    Cancelled,
    /// There is no bash.
    #[error("there is no bash on this machine; it is looked for in {}", BASH_FOLDERS.join(", "))]
    NoBash,
    /// Its output has nowhere to go.
    #[error("no file for the output of the command can be made in {folder}: {source}")]
    Output {
        /// Where.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The sandbox said no.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

const BASH_FOLDERS: [&str; 5] =
    ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"];

fn bash() -> Result<&'static str, StartError> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let mut candidates = BASH_FOLDERS.iter().map(|folder| format!("{folder}/bash"));
        candidates.find(|path| Path::new(path).is_file())
    });
    found.as_deref().ok_or(StartError::NoBash)
}

/// What to start.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    pub(crate) call: &'a CallId,
    pub(crate) command: &'a str,
    pub(crate) watcher: &'a Watcher,
    pub(crate) cancel: &'a CancellationToken,
}

/// A command that runs, as its starter knows it.
#[derive(Debug)]
pub(crate) struct Started {
    pub(super) number: u64,
    pub(super) kill: CancellationToken,
    pub(super) moved: CancellationToken,
    pub(super) ended: watch::Receiver<Option<Arc<Ended>>>,
    pub(super) window: Window,
    pub(super) output: PathBuf,
    pub(super) at: cwd::Start,
}

impl Started {
    /// Its name.
    pub(crate) fn id(&self) -> String {
        name(self.number)
    }

    /// Where its output goes.
    pub(crate) fn output(&self) -> &Path {
        &self.output
    }

    /// What the agent has to know about where it started.
    pub(crate) fn note(&self) -> Option<&str> {
        self.at.note.as_deref()
    }
}

impl Processes {
    /// Starts a command that nobody waits for.
    pub(crate) async fn start_background(
        &self,
        scope: &Scope,
        order: Order<'_>,
    ) -> Result<Started, StartError> {
        self.start(scope, order, Place::Background).await
    }

    /// Starts a command to wait for.
    pub(crate) async fn start_foreground<'a>(
        &'a self,
        scope: &'a Scope,
        order: Order<'_>,
    ) -> Result<Foreground<'a>, StartError> {
        let started = self.start(scope, order, Place::Foreground).await?;
        Ok(Foreground::new(&self.shared, scope, started))
    }

    async fn start(&self, scope: &Scope, order: Order<'_>, place: Place) -> Result<Started, StartError> {
        let bash = bash()?;
        let admitted = admit(&self.shared, scope, &order, place)?;
        let command = command(&self.shared, scope, place, &admitted.started);
        let command = Command {
            program: bash.to_owned(),
            args: vec!["-c".to_owned(), order.command.to_owned()],
            ..command
        };
        let hits_before = scope.cell.limit_hits();
        let child = tokio::select! {
            biased;
            () = order.cancel.cancelled() => return Err(StartError::Cancelled),
            () = self.shared.closing.cancelled() => return Err(StartError::Closed),
            () = admitted.started.kill.cancelled() => return Err(StartError::Cancelled),
            spawned = scope.cell.spawn(command.clone()) => spawned?,
        };
        scope.cell.expect_another(&command);
        Ok(admitted.run(child, scope.cell.clone(), hits_before))
    }
}

/// A command with a place in the table that is about to run.
struct Admitted {
    started: Started,
    sink: Sink,
    tell: watch::Sender<Option<Arc<Ended>>>,
    place: Reservation,
}

/// A place in the table, given back when the command does not run.
struct Reservation {
    shared: Arc<Shared>,
    number: u64,
    used: bool,
    /// Closing waits for commands that are being started, too.
    _open: TaskTrackerToken,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.used {
            self.shared.table().withdraw(self.number);
            self.shared.kept.remove(&file_name(self.number));
        }
    }
}

impl Admitted {
    /// Lets the command live in a task of its own.
    fn run(self, child: Child, cell: Cell, hits_before: LimitHits) -> Started {
        let Self { started, mut sink, tell, mut place } = self;
        place.used = true;
        let (shared, number, kill) = (Arc::clone(&place.shared), started.number, started.kill.clone());
        place.shared.tasks.spawn(async move {
            let ending = pump_within_disk_limit(child, &mut sink, &kill, &cell).await;
            let hits = cell.limit_hits().since(hits_before);
            for note in limit_notes::notes(&cell.policy().limits, &ending, hits) {
                sink.push(format!("\n[{note}]\n").as_bytes()).await;
            }
            let output = sink.finish().await;
            shared.end(number, Ended { ending, output }, &tell);
        });
        started
    }
}

/// Pumps, and ends the command when its agent holds more of the disk than it may.
async fn pump_within_disk_limit(
    child: Child,
    sink: &mut Sink,
    kill: &CancellationToken,
    cell: &Cell,
) -> Ending {
    let limit_reached = cell.disk_limit_reached(child.only_removes);
    let ending = {
        let pumping = pump(child, sink, kill);
        tokio::pin!(pumping);
        tokio::select! {
            ending = &mut pumping => ending,
            () = limit_reached => {
                kill.cancel();
                pumping.await
            }
        }
    };
    cell.check_disk_again().await;
    if let Some(problem) = cell.disk_problem() {
        sink.push(format!("\n[{problem}]\n").as_bytes()).await;
    }
    ending
}

/// Gives a command its number, its place in the table and its file.
fn admit(
    shared: &Arc<Shared>,
    scope: &Scope,
    order: &Order<'_>,
    place: Place,
) -> Result<Admitted, StartError> {
    let mut table = shared.table();
    if shared.closing.is_cancelled() {
        return Err(StartError::Closed);
    }
    table.room(place)?;
    table.last += 1;
    let number = table.last;
    let feed = Feed::new(order.call.clone(), order.watcher.clone());
    let sink = sink(&shared.kept, number, scope, feed)?;
    let (tell, ended) = watch::channel(None);
    let started = Started {
        number,
        kill: shared.closing.child_token(),
        moved: CancellationToken::new(),
        ended,
        window: sink.window(),
        output: shared.kept.path().join(file_name(number)),
        at: table.cwd.start(scope),
    };
    table.insert(
        number,
        Running {
            call: order.call.clone(),
            // Notices and lists show it.
            command: scope.secrets.redact(order.command),
            place,
            since: Instant::now(),
            output: started.output.clone(),
            window: started.window.clone(),
            kill: started.kill.clone(),
            moved: started.moved.clone(),
            ended: started.ended.clone(),
        },
    );
    drop(table);
    let place = Reservation { shared: Arc::clone(shared), number, used: false, _open: shared.tasks.token() };
    Ok(Admitted { started, sink, tell, place })
}

fn sink(kept: &Kept, number: u64, scope: &Scope, feed: Feed) -> Result<Sink, StartError> {
    Sink::create(kept, &file_name(number), &scope.secrets, feed)
        .map_err(|source| StartError::Output { folder: kept.path().to_owned(), source })
}

/// Where and with what a command runs. Only one that is waited for says where it ends.
fn command(shared: &Shared, scope: &Scope, place: Place, started: &Started) -> Command {
    let mut env = scope.env.to_vec();
    if place == Place::Foreground {
        env.extend(cwd::environment(&shared.startup, &shared.reports.join(started.id())));
    }
    Command { cwd: started.at.path.clone(), env, stderr: Output::WithStdout, ..Command::default() }
}
