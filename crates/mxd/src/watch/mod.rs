//! `mxd watch`: a project live in the terminal. Read, type, stop; also over ssh.

mod draw;
mod keys;
mod model;
mod rows;

use std::io::IsTerminal as _;
use std::time::Duration;

use clap::Args;
use crossterm::event::{Event as Input, EventStream, KeyEventKind};
use futures_util::StreamExt as _;
use ratatui::DefaultTerminal;
use serde_json::{Value, json};

use self::keys::Action;
use self::model::Model;
use crate::client::view::{Events, Project};
use crate::client::{Daemon, Failure, Stream};
use crate::command::log::Logs;
use crate::command::scope::In;

/// Lines of a task that are read when it is looked at.
const HISTORY: usize = 300;
/// How long to wait before the daemon is looked for again, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
#[command(after_help = "\
Keys: ↑ ↓ choose a task · Enter write to it · s stop · i interrupt · a allow or answer what waits · d deny ·
      c collapse · g back to the newest line · PgUp PgDn scroll · q quit (agents go on)

Where there is no terminal it prints what happens, line by line.")]
pub(crate) struct Watch {}

impl Watch {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        if !std::io::stdout().is_terminal() || scope.json {
            return Logs::following().run(scope).await;
        }
        let daemon = Daemon::find()?;
        let project = scope.project(&daemon).await?;
        let stream = daemon.listen(&project.id).await?;
        let mut terminal =
            ratatui::try_init().map_err(|error| Failure::new(format!("the terminal: {error}")))?;
        let mut view = View { model: Model::new(&project), project, keys: EventStream::new() };
        let watched = view.live(&mut terminal, stream).await;
        ratatui::restore();
        watched
    }
}

/// What is on the screen, and where it comes from.
struct View {
    model: Model,
    project: Project,
    keys: EventStream,
}

impl View {
    async fn live(&mut self, terminal: &mut DefaultTerminal, stream: Stream) -> Result<(), Failure> {
        let mut stream = Some(stream);
        let mut wait = FIRST_WAIT;
        loop {
            self.load().await;
            let drawn = terminal.draw(|frame| draw::draw(frame, &mut self.model));
            drawn.map_err(|error| Failure::new(format!("the terminal: {error}")))?;
            tokio::select! {
                happening = next(stream.as_mut()) => match happening {
                    Some(happening) => {
                        self.model.hear(&happening);
                        wait = FIRST_WAIT;
                    }
                    None => {
                        stream = None;
                        self.model.notice("the daemon does not answer; looking for it");
                    }
                },
                () = tokio::time::sleep(wait), if stream.is_none() => {
                    wait = (wait * 2).min(LONGEST_WAIT);
                    stream = self.again().await;
                }
                key = self.keys.next() => match key {
                    Some(Ok(Input::Key(key))) if key.kind != KeyEventKind::Release => {
                        match self.model.press(key) {
                            Action::Quit => return Ok(()),
                            Action::Nothing => {}
                            Action::Ask { path, body } => self.ask(&path, body).await,
                        }
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return Ok(()),
                },
            }
        }
    }

    /// Looks for the daemon again; after a start it may be somewhere else.
    async fn again(&mut self) -> Option<Stream> {
        let stream = Daemon::find().ok()?.listen(&self.project.id).await.ok()?;
        self.model.notice("back");
        Some(stream)
    }

    /// Reads what the chosen task said before we came.
    async fn load(&mut self) {
        let Some(task) = self.model.unread() else { return };
        let path = format!("/projects/{}/tasks/{task}/events?limit={HISTORY}", self.project.id);
        let read = match Daemon::find() {
            Ok(daemon) => daemon.get::<Events>(&path).await,
            Err(failure) => Err(failure),
        };
        self.model.history(&task, read.map(|read| read.events).unwrap_or_default());
    }

    async fn ask(&mut self, path: &str, body: Value) {
        let path = format!("/projects/{}{path}", self.project.id);
        let asked: Result<Value, Failure> = match Daemon::find() {
            Ok(daemon) => daemon.post(&path, body).await,
            Err(failure) => Err(failure),
        };
        match asked {
            Ok(_) => self.model.notice("done"),
            Err(failure) => self.model.notice(&failure.to_string()),
        }
    }
}

/// What the stream tells next; none when it has ended, and never without one.
async fn next(stream: Option<&mut Stream>) -> Option<crate::client::Happening> {
    match stream {
        Some(stream) => stream.next().await.ok().flatten(),
        None => std::future::pending().await,
    }
}

/// A message for a task.
fn message(task: &str, content: &str) -> Action {
    Action::Ask { path: format!("/tasks/{task}/message"), body: json!({ "content": content }) }
}
