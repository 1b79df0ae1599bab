//! `mxd watch`: a project live in the terminal. Read, type, stop; also over ssh.

mod call;
mod draw;
mod foot;
mod keys;
mod model;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::IsTerminal as _;
use std::time::Duration;

use clap::Args;
use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event as Input, EventStream, KeyEventKind,
};
use crossterm::execute;
use futures_util::StreamExt as _;
use ratatui::DefaultTerminal;
use serde_json::Value;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;

use self::keys::{Action, Ask};
use self::model::{Model, Typing};
use crate::client::view::{Event, Events, Project};
use crate::client::{Daemon, Failure, Stream};
use crate::command::log::Logs;
use crate::command::scope::In;
use crate::say;

/// Lines of a task that are read when it is looked at.
const HISTORY: usize = 300;
/// How long to wait before the daemon is looked for again, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long somebody who leaves waits for the answer to what was asked last.
const LAST_WAIT: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
#[command(after_help = "\
Keys: ↑ ↓ choose a task · Enter write to it · s stop · i interrupt · c collapse · PgUp PgDn scroll ·
      g back to the newest line · a allow or answer what waits · d deny (y says yes to the call that is shown) ·
      q quit (agents go on)

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
        let mut screen = Screen::open().map_err(of_terminal)?;
        let mut ends = Ends::listen().map_err(of_terminal)?;
        let mut view = View::new(project, stream);
        let watched = view.live(&mut screen.terminal, &mut ends).await;
        drop(screen);
        watched?;
        view.finish().await
    }
}

fn of_terminal(error: std::io::Error) -> Failure {
    Failure::new(format!("the terminal: {error}"))
}

/// The terminal while it is ours. It is given back however this ends.
struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    fn open() -> std::io::Result<Self> {
        let screen = Self { terminal: ratatui::try_init()? };
        // Without this a text from the clipboard cannot be told from keys.
        execute!(std::io::stdout(), EnableBracketedPaste)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone cannot be given back.
        let _gone = execute!(std::io::stdout(), DisableBracketedPaste);
        let _gone = ratatui::try_restore();
    }
}

/// Those who end us from outside.
struct Ends {
    terminate: Signal,
    hang_up: Signal,
}

impl Ends {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, hang_up: signal(SignalKind::hangup())? })
    }

    async fn heard(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

/// What is on the screen, and where it comes from.
struct View {
    model: Model,
    project: Project,
    keys: EventStream,
    stream: Option<Stream>,
    /// How long to wait before the daemon is looked for again.
    wait: Duration,
    /// What is wanted of the daemon: one after the other, as it was typed.
    asks: VecDeque<Ask>,
    is_asking: bool,
    /// What the daemon was asked. Nobody at the keys waits for it.
    asked: JoinSet<Told>,
}

/// What the daemon says to what it was asked.
enum Told {
    Answer { words: Option<Typing>, answer: Result<(), Failure> },
    History { task: String, era: u64, events: Vec<Event> },
    Found(Option<Stream>),
}

impl View {
    fn new(project: Project, stream: Stream) -> Self {
        Self {
            model: Model::new(&project),
            project,
            keys: EventStream::new(),
            stream: Some(stream),
            wait: FIRST_WAIT,
            asks: VecDeque::new(),
            is_asking: false,
            asked: JoinSet::new(),
        }
    }

    async fn live(&mut self, terminal: &mut DefaultTerminal, ends: &mut Ends) -> Result<(), Failure> {
        loop {
            self.load();
            self.model.on_the_way = self.asks.len() + usize::from(self.is_asking);
            terminal.draw(|frame| draw::draw(frame, &mut self.model)).map_err(of_terminal)?;
            tokio::select! {
                happening = next(self.stream.as_mut()) => match happening {
                    Some(happening) => {
                        self.model.hear(&happening);
                        self.wait = FIRST_WAIT;
                    }
                    None => {
                        self.stream = None;
                        self.model.notice("the daemon does not answer; looking for it");
                        self.look();
                    }
                },
                Some(told) = self.asked.join_next() => match told {
                    Ok(told) => self.take(told),
                    Err(error) => return Err(Failure::new(format!("asking the daemon: {error}"))),
                },
                input = self.keys.next() => match input {
                    Some(Ok(Input::Key(key))) if key.kind != KeyEventKind::Release => {
                        match self.model.press(key) {
                            Action::Quit => return Ok(()),
                            Action::Nothing => {}
                            Action::Ask(ask) => {
                                self.asks.push_back(*ask);
                                self.ask();
                            }
                        }
                    }
                    Some(Ok(Input::Paste(text))) => self.model.paste(&text),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return Ok(()),
                },
                () = ends.heard() => return Ok(()),
            }
        }
    }

    fn take(&mut self, told: Told) {
        match told {
            Told::Answer { words, answer } => {
                self.is_asking = false;
                self.model.answered(words, answer);
                self.ask();
            }
            Told::History { task, era, events } if era == self.model.era => self.model.history(&task, events),
            Told::History { .. } => {}
            Told::Found(Some(stream)) => {
                self.stream = Some(stream);
                self.model.notice("back");
            }
            Told::Found(None) => {
                self.wait = (self.wait * 2).min(LONGEST_WAIT);
                self.look();
            }
        }
    }

    /// Looks for the daemon again; after a start it may be somewhere else.
    fn look(&mut self) {
        let (project, wait) = (self.project.id.clone(), self.wait);
        self.asked.spawn(async move {
            tokio::time::sleep(wait).await;
            Told::Found(match Daemon::find() {
                Ok(daemon) => daemon.listen(&project).await.ok(),
                Err(_) => None,
            })
        });
    }

    /// Reads what the chosen task said before we came.
    fn load(&mut self) {
        let Some(task) = self.model.unread() else { return };
        let path = format!("/projects/{}/tasks/{task}/events?limit={HISTORY}", self.project.id);
        let era = self.model.era;
        self.asked.spawn(async move {
            let read = match Daemon::find() {
                Ok(daemon) => daemon.get::<Events>(&path).await,
                Err(failure) => Err(failure),
            };
            Told::History { task, era, events: read.map(|read| read.events).unwrap_or_default() }
        });
    }

    /// Asks for what is wanted next, unless something is still on its way: what was typed first arrives first.
    fn ask(&mut self) {
        if self.is_asking {
            return;
        }
        let Some(Ask { path, body, words }) = self.asks.pop_front() else { return };
        let path = format!("/projects/{}{path}", self.project.id);
        self.is_asking = true;
        self.asked.spawn(async move {
            let answer = match Daemon::find() {
                Ok(daemon) => daemon.post::<Value>(&path, body).await,
                Err(failure) => Err(failure),
            };
            Told::Answer { words, answer: answer.map(drop) }
        });
    }

    /// Sees to it that what was asked last has arrived. The terminal is the user's again by then.
    async fn finish(mut self) -> Result<(), Failure> {
        if self.is_asking {
            say::note("waiting for the daemon's answer; Ctrl-C does not");
        }
        let last = async {
            while self.is_asking {
                match self.asked.join_next().await {
                    Some(Ok(Told::Answer { answer, .. })) => {
                        self.is_asking = false;
                        answer?;
                        self.ask();
                    }
                    Some(_) => {}
                    None => break,
                }
            }
            Ok(())
        };
        tokio::time::timeout(LAST_WAIT, last).await.unwrap_or_else(|_| {
            Err(Failure::new("the daemon has not answered to what it was asked last")
                .hint("`mxd logs` says whether it has arrived."))
        })
    }
}

/// What the stream tells next; none when it has ended, and never without one.
async fn next(stream: Option<&mut Stream>) -> Option<crate::client::Happening> {
    match stream {
        Some(stream) => stream.next().await.ok().flatten(),
        None => std::future::pending().await,
    }
}
