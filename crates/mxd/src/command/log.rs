//! `mxd logs`: what happened, and whether the log is whole.

use std::io::ErrorKind;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use mxd_core::event::EventKind;
use mxd_store::disk::OsDisk;

use super::scope::{In, Of, Tree, registered};
use crate::client::view::{Event, Events};
use crate::client::{Daemon, Failure, Happening, data_folder};
use crate::say::{self, DIM, GOOD};
use crate::tree_text::readable;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd logs -n 50                    the last fifty lines of the project
  mxd logs -t parser --type error   errors of one task
  mxd logs -f                       goes on until Ctrl-C
  mxd logs verify                   every byte of the log against its checksums, also without a daemon
  mxd logs export > project.jsonl   every commit, also without a daemon")]
pub(crate) struct Logs {
    #[command(subcommand)]
    command: Option<Whole>,
    #[command(flatten)]
    of: Of,
    /// How many events.
    #[arg(short = 'n', long = "tail", value_name = "NUMBER", default_value_t = 30)]
    tail: usize,
    /// Only those of this task.
    #[arg(short, long, value_name = "TASK")]
    task: Option<String>,
    /// Only those of this type, such as `tool_call` or `error`. Can be given more than once.
    #[arg(long = "type", value_name = "TYPE", value_parser = kind)]
    kind: Vec<String>,
    /// Goes on with what happens from now on.
    #[arg(short, long)]
    follow: bool,
}

/// A type of events, as it is typed.
fn kind(text: &str) -> Result<String, String> {
    if EventKind::from_name(text).is_some() {
        return Ok(text.to_owned());
    }
    let alike = EventKind::ALL.iter().map(|kind| kind.name()).filter(|name| name.contains(text));
    let alike: Vec<&str> = alike.take(8).collect();
    Err(match alike.as_slice() {
        [] => "no event is of this type; some are message, tool_call, tool_result, error, task_created"
            .to_owned(),
        alike => format!("no event is of this type; there are {}", alike.join(", ")),
    })
}

#[derive(Debug, Subcommand)]
enum Whole {
    /// Proves that nothing in the log was altered or lost.
    Verify,
    /// Prints every commit of the log, oldest first.
    Export,
}

impl Logs {
    /// The newest lines of the project, and what happens from now on.
    pub(crate) fn following() -> Self {
        Self { command: None, of: Of::default(), tail: 10, task: None, kind: Vec::new(), follow: true }
    }

    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        match self.command {
            Some(Whole::Verify) => verify(scope).await,
            Some(Whole::Export) => export(scope).await,
            None => self.read(scope).await,
        }
    }

    async fn read(mut self, scope: &In) -> Result<(), Failure> {
        let scope = &std::mem::take(&mut self.of).within(scope);
        let daemon = Daemon::find()?;
        let project = scope.project(&daemon).await?;
        let mut tree = Tree::read(&daemon, &project).await?;
        let task = self.task.as_deref().map(|task| tree.find(task)).transpose()?.map(|task| task.id.clone());
        // Listening begins before reading, so that nothing falls between the two.
        let mut stream = if self.follow { Some(daemon.listen(&project.id).await?) } else { None };
        let path = match &task {
            Some(task) => format!("/projects/{}/tasks/{task}/events?limit={}", project.id, self.reach()),
            None => format!("/projects/{}/events?limit={}", project.id, self.reach()),
        };
        let Events { events } = daemon.get(&path).await?;
        let wanted = |event: &&Event| {
            let of_task = task.as_ref().is_none_or(|task| *task == event.task);
            let of_kind = if self.kind.is_empty() {
                event.line.is_some() || scope.json
            } else {
                self.kind.contains(&event.kind)
            };
            of_task && of_kind
        };
        let shown: Vec<&Event> = events.iter().filter(wanted).collect();
        if shown.is_empty() && !self.follow && !scope.json {
            say::note("Nothing of it happened, as far back as was looked; `-n` looks further.");
        }
        let mut last = events.last().map_or(0, |event| event.seq);
        shown.iter().skip(shown.len().saturating_sub(self.tail)).for_each(|event| print(scope, &tree, event));
        while let Some(happening) = next(stream.as_mut()).await? {
            // Whoever stops reading has read enough.
            if say::is_unread() {
                break;
            }
            if let Happening::Commit(commit) = happening {
                tree.update(&commit.tasks, &[]);
                let fresh = commit.events.iter().filter(|event| event.seq > last).filter(wanted);
                fresh.for_each(|event| print(scope, &tree, event));
                last = commit.events.last().map_or(last, |event| event.seq.max(last));
            }
        }
        Ok(())
    }

    /// How many events to read, so that enough are left of what is wanted.
    fn reach(&self) -> usize {
        self.tail.saturating_mul(8).clamp(200, 1_000)
    }
}

async fn next(stream: Option<&mut crate::client::Stream>) -> Result<Option<Happening>, Failure> {
    match stream {
        Some(stream) => stream.next().await,
        None => Ok(None),
    }
}

fn print(scope: &In, tree: &Tree, event: &Event) {
    if scope.json {
        say::line(serde_json::to_string(event).unwrap_or_default());
        return;
    }
    let title = tree.get(&event.task).map_or("(gone)", |task| task.title.as_str());
    let title = mxd_core::show::one_line(title, 20);
    let line = readable(tree, event.line.as_deref().unwrap_or(&event.kind));
    say::line(format!("{DIM}{}{DIM:#}  {title:<20}  {line}", clock(event.at)));
}

/// The time of day, in UTC.
fn clock(at: u64) -> String {
    let seconds = at / 1000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// The folder of the log of a project, known to a daemon or named by its id.
async fn folder(scope: &In) -> Result<(String, PathBuf), Failure> {
    let data = data_folder()?;
    let id = match Daemon::find() {
        Ok(daemon) => match scope.project(&daemon).await {
            Ok(project) => project.id,
            Err(failure) if failure.is_unreachable() => registered(scope)?.id,
            Err(failure) => return Err(failure),
        },
        Err(_) => registered(scope)?.id,
    };
    let folder = data.join("projects").join(&id).join("log");
    if !folder.is_dir() {
        return Err(Failure::not_found(format!("there is no log at {}", folder.display())));
    }
    Ok((id, folder))
}

async fn verify(scope: &In) -> Result<(), Failure> {
    let (id, folder) = folder(scope).await?;
    let report = mxd_store::verify(&OsDisk, &folder).map_err(|error| Failure::new(error.to_string()))?;
    let sound = report.problems.is_empty();
    let told =
        serde_json::json!({ "project": id, "commits": report.commits, "problems": report.problems.len() });
    if sound {
        say::answer(scope.json, &told, || {
            format!("{GOOD}whole{GOOD:#}: {} commits, nothing altered, nothing lost", report.commits)
        });
        return Ok(());
    }
    for problem in &report.problems {
        say::note(format!("{} at byte {}: {}", problem.path.display(), problem.offset, problem.what));
    }
    Err(Failure::new(format!("{} places of the log are not as they were written", report.problems.len()))
        .hint("The rest can be read; the places are listed above."))
}

async fn export(scope: &In) -> Result<(), Failure> {
    let (_, folder) = folder(scope).await?;
    // Whoever stops reading has read enough.
    match mxd_store::export(&OsDisk, &folder, &mut std::io::stdout().lock()) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(format!("{} or standard output: {error}", folder.display()))),
    }
}
