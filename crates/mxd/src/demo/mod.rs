//! `mxd demo`: seven agents make a small program better, without an account, a key or a network.

mod ending;
mod narrate;
mod repository;
mod stage;
mod story;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use self::narrate::{Heard, Narrator};
use self::stage::Stage;
use crate::client::view::Project;
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
    /// Keeps the daemon and the page after the end, until Ctrl-C.
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
        self.open_page(&stage, &project, voice).await;
        let root = project.root_id.clone().ok_or_else(|| Failure::new("the project has no root task"))?;
        let begun = now();
        let mut narrator = Narrator::new(&project, begun, as_json);
        let mut stream = stage.daemon.listen(&project.id).await?;
        let path = format!("/projects/{}/tasks/{root}/message", project.id);
        let _sent: Value = stage.daemon.post(&path, json!({ "content": story::GOAL })).await?;
        while !narrator.is_over() {
            if begun.elapsed() > PATIENCE {
                voice.tell("The story did not come to its end in time.");
                break;
            }
            if !stage.model.report().violations.is_empty() {
                break;
            }
            match next(&mut stream).await {
                Some(happening) => {
                    let heard = narrator.hear(&happening);
                    self.react(&heard, &mut narrator, &mut stage, voice).await?;
                }
                None => stream = stage.daemon.listen_on(&project.id, &stream).await?,
            }
        }
        let sound = ending::tell(&stage, &project, &narrator, begun.elapsed(), as_json).await?;
        if self.stay {
            say::note(format!("The page is at {} until Ctrl-C.", stage.daemon.base()));
            let _asked = tokio::signal::ctrl_c().await;
        }
        stage.end().await;
        Ok(sound)
    }

    /// Does what the story wants of the user, and of the hand that kills.
    async fn react(
        &self,
        heard: &[Heard],
        narrator: &mut Narrator,
        stage: &mut Stage,
        voice: Voice,
    ) -> Result<(), Failure> {
        for heard in heard {
            match heard {
                Heard::Question(question) => {
                    let body = json!({
                        "taskId": question.task_id,
                        "clarificationId": question.clarification_id,
                        "answer": story::ANSWER,
                    });
                    let path = format!("/projects/{}/clarify", narrator.project());
                    // One that was answered before the daemon died is answered.
                    let _answered: Result<Value, Failure> = stage.daemon.post(&path, body).await;
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
            Failure::new(format!("{}: {error}", folder.display()))
                .hint("--folder names a folder that is not there yet.")
        })?;
        Ok(folder)
    }

    /// Opens the page in a browser, if there is one.
    async fn open_page(&self, stage: &Stage, project: &Project, voice: Voice) {
        let page = crate::page::Page { daemon: &stage.daemon, place: format!("/ui/p/{}", project.id) };
        voice.tell(format!("{DIM}page: {}{DIM:#}", stage.daemon.base()));
        if !self.no_open && !voice.silent {
            page.open().await;
        }
    }
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
