//! `mxd demo`: seven agents make a small program better, without an account, a key or a network.

mod ending;
mod narrate;
mod repository;
mod stage;
mod story;

use std::collections::VecDeque;
use std::io::{ErrorKind, IsTerminal as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use self::ending::Promises;
use self::narrate::{Heard, Narrator};
use self::stage::Stage;
use crate::client::view::{Clarification, Project};
use crate::client::{Failure, Happening, Stream};
use crate::say::{self, DIM, GOOD};

/// How long the whole story may take.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd demo             shows it in the terminal and in the browser
  mxd demo --no-open   only in the terminal
  mxd demo --kill      kills the daemon three times on the way; nothing is lost

Everything happens in one new folder, which stays to be looked at. Nothing but this machine is contacted.

Exit codes: 0 every step of the story happened, 1 one did not.")]
pub(crate) struct Demo {
    /// Kills the daemon with SIGKILL three times on the way.
    #[arg(long)]
    kill: bool,
    /// Does not open the page.
    #[arg(long)]
    no_open: bool,
    /// How fast the model speaks.
    #[arg(long, value_enum, default_value_t = Pace::Calm)]
    pace: Pace,
    /// A new folder to play in; without it one among the temporary files.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Keeps the daemon and the page after the end, until Ctrl-C, also where no browser was opened.
    #[arg(long)]
    stay: bool,
}

/// How fast the model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pace {
    /// So that one can follow.
    Calm,
    /// As fast as it goes.
    Quick,
}

impl Demo {
    pub(crate) async fn run(self, as_json: bool) -> ExitCode {
        match self.play(as_json).await {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::from(1),
            Err(failure) => failure.tell(as_json),
        }
    }

    async fn play(self, as_json: bool) -> Result<bool, Failure> {
        let voice = Voice { silent: as_json };
        let folder = self.new_folder()?;
        voice.tell(format!("{GOOD}mxd demo{GOOD:#}  {DIM}in {}{DIM:#}", folder.display()));
        let mut stage = Stage::set(folder, self.pace).await?;
        let project: Project = {
            let path = json!({ "path": stage.repository() });
            stage.daemon.post("/projects", path).await?
        };
        let is_seen = self.open_page(&stage, &project, voice).await;
        let begun = now();
        let mut narrator = Narrator::new(begun, as_json);
        self.tell_story(&mut stage, &project, &mut narrator, voice).await?;
        let promises = Promises { kills: if self.kill { 3 } else { 0 } };
        let sound = ending::tell(&stage, &project, &narrator, promises, (begun.elapsed(), as_json)).await?;
        if self.stay || is_seen {
            say::note(format!("The page stays at {} until Ctrl-C.", stage.daemon.base()));
            let _asked = tokio::signal::ctrl_c().await;
        } else {
            let program = std::env::args().next().unwrap_or_default();
            let again = format!("MXD_DATA_DIR={} {program} up", stage.data().display());
            voice.tell(format!("{DIM}The page again: {again}{DIM:#}"));
        }
        stage.end().await;
        Ok(sound)
    }

    /// Says what the user wants, and listens until it is done.
    async fn tell_story(
        &self,
        stage: &mut Stage,
        project: &Project,
        narrator: &mut Narrator,
        voice: Voice,
    ) -> Result<(), Failure> {
        let begun = now();
        let root = project.root_id.clone().ok_or_else(|| Failure::new("the project has no root task"))?;
        let mut stream = stage.daemon.listen(&project.id).await?;
        let path = format!("/projects/{}/tasks/{root}/message", project.id);
        let _sent: Value = stage.daemon.post(&path, json!({ "content": story::GOAL })).await?;
        let mut open = Questions { thought: self.pace.thought(), waiting: VecDeque::new() };
        let mut stopped = false;
        while !narrator.is_over() && stage.model.report().violations.is_empty() {
            if begun.elapsed() > PATIENCE {
                voice.tell("The story did not come to its end in time.");
                break;
            }
            tokio::select! {
                happening = next(&mut stream) => match happening {
                    Some(happening) => {
                        let heard = narrator.hear(&happening);
                        self.react(heard, narrator, stage, (&mut open, voice)).await?;
                    }
                    None => stream = stage.daemon.listen_on(&project.id, &stream).await?,
                },
                question = open.next() => answer(&question, project, stage).await,
            }
            if narrator.is_stopped() && !stopped {
                voice.tell("It was stopped: a message to the root lets it go on, Ctrl-C ends it.");
            }
            stopped = narrator.is_stopped();
        }
        Ok(())
    }

    /// Does what the story wants of the user, and of the hand that kills.
    async fn react(
        &self,
        heard: Vec<Heard>,
        narrator: &mut Narrator,
        stage: &mut Stage,
        (open, voice): (&mut Questions, Voice),
    ) -> Result<(), Failure> {
        for heard in heard {
            match heard {
                Heard::Question(question) => {
                    if self.pace == Pace::Calm {
                        voice.tell(format!(
                            "{DIM}         Answer on the page, or the demo does so soon.{DIM:#}"
                        ));
                    }
                    open.add(question);
                }
                Heard::Moment(what) if self.kill => {
                    voice.tell(format!("{}kill -9{:#}  the daemon, {what}", say::BAD, say::BAD));
                    stage.kill().await?;
                    narrator.killed();
                    voice.tell(format!("{GOOD}back{GOOD:#}  every agent goes on where it was"));
                }
                Heard::Moment(_) => {}
            }
        }
        Ok(())
    }

    fn new_folder(&self) -> Result<PathBuf, Failure> {
        let Some(folder) = &self.folder else {
            let made = tempfile::Builder::new().prefix("mxd-demo-").tempdir();
            return Ok(made.map_err(|error| Failure::new(format!("a folder: {error}")))?.keep());
        };
        let folder = std::path::absolute(folder).map_err(|error| Failure::new(error.to_string()))?;
        std::fs::create_dir(&folder).map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::NotFound => "Make the folder around it first.",
                _ => "--folder names a folder that is not there yet.",
            };
            Failure::new(format!("{}: {error}", folder.display())).hint(hint)
        })?;
        Ok(folder)
    }

    /// Opens the page in a browser, or says where it is; whether somebody looks at it.
    async fn open_page(&self, stage: &Stage, project: &Project, voice: Voice) -> bool {
        let page = crate::page::Page { daemon: &stage.daemon, place: format!("/ui/p/{}", project.id) };
        let at_terminal = stdout().is_terminal();
        match page.address().await {
            // What logs in is for eyes, and not for files that output is kept in.
            Ok(address) if self.no_open && at_terminal => {
                voice.tell(format!("{DIM}page, within a minute and once: {address}{DIM:#}"));
            }
            _ => voice.tell(format!("{DIM}page: {}{DIM:#}", stage.daemon.base())),
        }
        !self.no_open && !voice.silent && page.open().await && at_terminal
    }
}

impl Pace {
    /// How long the user thinks about a question, so that somebody at the page can answer it.
    fn thought(self) -> Duration {
        match self {
            Self::Calm => Duration::from_secs(6),
            Self::Quick => Duration::ZERO,
        }
    }
}

/// Questions that the user still thinks about.
struct Questions {
    thought: Duration,
    waiting: VecDeque<(tokio::time::Instant, Clarification)>,
}

impl Questions {
    fn add(&mut self, question: Clarification) {
        self.waiting.push_back((tokio::time::Instant::now() + self.thought, question));
    }

    /// The next one that was thought about for long enough.
    async fn next(&mut self) -> Clarification {
        let Some((due, _)) = self.waiting.front() else { return std::future::pending().await };
        tokio::time::sleep_until(*due).await;
        match self.waiting.pop_front() {
            Some((_, question)) => question,
            None => std::future::pending().await,
        }
    }
}

/// Answers a question. One that somebody answered before is answered.
async fn answer(question: &Clarification, project: &Project, stage: &Stage) {
    let body = json!({
        "taskId": question.task_id,
        "clarificationId": question.clarification_id,
        "answer": story::ANSWER,
    });
    let path = format!("/projects/{}/clarify", project.id);
    let _late: Result<Value, Failure> = stage.daemon.post(&path, body).await;
}

/// Speaks, unless a program listens.
#[derive(Debug, Clone, Copy)]
struct Voice {
    silent: bool,
}

impl Voice {
    fn tell(self, text: impl AsRef<str>) {
        if !self.silent {
            say::line(text);
        }
    }
}

/// What the daemon tells next; none when it has ended in whatever way.
async fn next(stream: &mut Stream) -> Option<Happening> {
    stream.next().await.ok().flatten()
}

#[expect(clippy::disallowed_methods, reason = "how long the story takes is for people to read")]
fn now() -> Instant {
    Instant::now()
}
