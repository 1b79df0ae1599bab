//! Tasks and folders: making, changing, moving and removing them.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use mxd_core::tree::Status;
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::scope::{In, Tree};
use crate::client::view::{Project, Task};
use crate::client::{Daemon, Failure};
use crate::say;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  mxd task create 'Read the file in one go' -d 'It is read twice.' --check 'cargo test'
  mxd task create 'Ideas' --folder
  mxd task edit 01K9ZQ7M --title 'Read it once' --budget 2.50
  mxd task move 01K9ZQ7M --under parser --at 0
  mxd task delete parser --recursive")]
pub(crate) enum TaskCommand {
    /// Makes a task. It starts with its first message: `mxd send -t TASK …`.
    Create(Create),
    /// Changes the title, the description, the budget or what a task waits for.
    Edit(Edit),
    /// Puts a task with everything below it somewhere else.
    Move(Move),
    /// Removes a task. What its worktree holds is kept in a ref first.
    Delete(Delete),
    /// Puts a task away; its worktree is removed, its branch is kept in a ref.
    Close(One),
    /// Throws the work of a task away and begins again.
    Reset(One),
    /// Says how the files of persistent tasks in `.mxd/tasks` are.
    Files,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    /// The task: its id or the start or end of it, or its title.
    task: String,
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The title.
    title: String,
    /// What is to be done: goal, scope, why, how to see that it is done.
    #[arg(short, long, default_value = "")]
    description: String,
    /// Below which task.
    #[arg(long, value_name = "TASK", default_value = "root")]
    under: String,
    /// Makes a folder, which only groups.
    #[arg(long, conflicts_with_all = ["draft", "budget", "check", "after", "persistent"])]
    folder: bool,
    /// Writes it down without making it ready.
    #[arg(long)]
    draft: bool,
    /// What it may spend, in dollars.
    #[arg(long, value_name = "USD", value_parser = amount, allow_negative_numbers = true)]
    budget: Option<f64>,
    /// A command that has to succeed on its work before it can be passed. Can be given more than once.
    #[arg(long, value_name = "COMMAND")]
    check: Vec<String>,
    /// A task that has to be passed or closed first. Can be given more than once.
    #[arg(long, value_name = "TASK")]
    after: Vec<String>,
    /// A colour: red, blue, green, yellow, purple, orange, gray or #rrggbb.
    #[arg(long)]
    color: Option<String>,
    /// Closing it makes it pending again, with an empty conversation or the old one; it is kept in `.mxd/tasks`.
    #[arg(long, value_parser = ["reset", "continue"])]
    persistent: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Edit {
    /// The task: its id or the start or end of it, or its title.
    task: String,
    /// The new title.
    #[arg(long)]
    title: Option<String>,
    /// The new description.
    #[arg(short, long)]
    description: Option<String>,
    /// What it may spend, in dollars; `none` takes the limit away.
    #[arg(long, value_name = "USD")]
    budget: Option<String>,
    /// All tasks that have to be passed or closed first.
    #[arg(long, value_name = "TASK")]
    after: Option<Vec<String>>,
    /// A colour, or `none`.
    #[arg(long)]
    color: Option<String>,
    /// What closing it does: `reset` or `continue` for a task that comes back, `none` for an ordinary one.
    #[arg(long, value_parser = ["reset", "continue", "none"])]
    persistent: Option<String>,
    /// Another status. A persistent task that came with a file of the repository is a draft until it is made `pending`.
    #[arg(long, value_parser = PossibleValuesParser::new(Status::ALL.map(Status::name)))]
    status: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Move {
    /// The task: its id or the start or end of it, or its title.
    task: String,
    /// Below which task.
    #[arg(long, value_name = "TASK")]
    under: String,
    /// With how many before it; behind all others without it.
    #[arg(long, value_name = "NUMBER")]
    at: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The task: its id or the start or end of it, or its title.
    pub(crate) task: String,
    /// With everything below it.
    #[arg(short, long)]
    pub(crate) recursive: bool,
}

/// The daemon, the project and its tree.
struct At {
    daemon: Daemon,
    project: Project,
    tree: Tree,
}

impl At {
    async fn open(scope: &In) -> Result<Self, Failure> {
        let daemon = Daemon::find()?;
        let project = scope.project(&daemon).await?;
        let tree = Tree::read(&daemon, &project).await?;
        Ok(Self { daemon, project, tree })
    }

    fn path(&self, task: &Task) -> String {
        format!("/projects/{}/tasks/{}", self.project.id, task.id)
    }

    fn ids(&self, named: &[String]) -> Result<Vec<&str>, Failure> {
        named.iter().map(|named| self.tree.find(named).map(|task| task.id.as_str())).collect()
    }
}

impl TaskCommand {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        match self {
            Self::Create(create) => create.run(scope).await,
            Self::Edit(edit) => edit.run(scope).await,
            Self::Move(wanted) => wanted.run(scope).await,
            Self::Delete(delete) => delete.run(scope).await,
            Self::Close(one) => one.post(scope, "close", "is closed").await,
            Self::Reset(one) => one.post(scope, "reset", "begins again").await,
            Self::Files => files(scope).await,
        }
    }
}

async fn files(scope: &In) -> Result<(), Failure> {
    let at = At::open(scope).await?;
    let path = format!("/projects/{}/task-files", at.project.id);
    let answer: Value = at.daemon.ask(Method::GET, &path, None).await?;
    say::answer(scope.json, &answer, || {
        let mut lines = Vec::new();
        lines.extend(answer["waiting"].as_str().map(|why| format!("not written: {why}")));
        for file in answer["refused"].as_array().into_iter().flatten() {
            let word = |name: &str| file[name].as_str().unwrap_or_default().to_owned();
            lines.push(format!("{}: {}", word("name"), word("why")));
        }
        if lines.is_empty() {
            lines.push("The files in .mxd/tasks say what the persistent tasks say.".to_owned());
        }
        lines.join("\n")
    });
    Ok(())
}

impl One {
    async fn post(self, scope: &In, what: &str, said: &str) -> Result<(), Failure> {
        let at = At::open(scope).await?;
        let task = at.tree.find(&self.task)?;
        let answer: Value = at.daemon.post(&format!("{}/{what}", at.path(task)), json!({})).await?;
        say::answer(scope.json, &answer, || format!("“{}” {said}", task.title));
        Ok(())
    }
}

impl Create {
    async fn run(self, scope: &In) -> Result<(), Failure> {
        let at = At::open(scope).await?;
        let mut body = json!({
            "kind": if self.folder { "folder" } else { "task" },
            "title": self.title,
            "description": self.description,
            "parentId": at.tree.find(&self.under)?.id,
        });
        if !self.folder {
            body["draft"] = self.draft.into();
            body["checks"] = self.check.into();
            body["after"] = at.ids(&self.after)?.into();
        }
        if let Some(budget) = self.budget {
            body["budgetUsd"] = budget.into();
        }
        if let Some(color) = self.color {
            body["color"] = color.into();
        }
        if let Some(persistent) = self.persistent {
            body["persistent"] = persistent.into();
        }
        let made: Value = at.daemon.post(&format!("/projects/{}/tasks", at.project.id), body).await?;
        say::answer(scope.json, &made, || made["id"].as_str().unwrap_or_default().to_owned());
        Ok(())
    }
}

impl Edit {
    async fn run(self, scope: &In) -> Result<(), Failure> {
        let at = At::open(scope).await?;
        let task = at.tree.find(&self.task)?;
        let mut body = Map::new();
        let plain = [("title", self.title), ("description", self.description), ("status", self.status)];
        for (name, value) in plain {
            if let Some(value) = value {
                body.insert(name.to_owned(), Value::String(value));
            }
        }
        for (name, value) in [("color", self.color), ("persistent", self.persistent)] {
            if let Some(value) = value {
                let value = if value == "none" { Value::Null } else { Value::String(value) };
                body.insert(name.to_owned(), value);
            }
        }
        if let Some(budget) = self.budget {
            body.insert("budgetUsd".to_owned(), dollars(&budget)?);
        }
        if let Some(after) = self.after {
            body.insert("after".to_owned(), at.ids(&after)?.into());
        }
        if body.is_empty() {
            return Err(
                Failure::new("nothing to change").hint("`mxd task edit --help` says what can be changed.")
            );
        }
        let answer: Value = at.daemon.ask(Method::PATCH, &at.path(task), Some(Value::Object(body))).await?;
        say::answer(scope.json, &answer, || format!("“{}” is changed", task.title));
        Ok(())
    }
}

fn dollars(text: &str) -> Result<Value, Failure> {
    if text == "none" {
        return Ok(Value::Null);
    }
    amount(text)
        .map(Value::from)
        .map_err(|why| Failure::new(format!("`{text}`: {why}")).hint("`none` takes the limit away."))
}

/// An amount of dollars, as it is typed.
pub(super) fn amount(text: &str) -> Result<f64, &'static str> {
    let amount: Option<f64> = text.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    amount.ok_or("it is no amount of dollars, such as 2.50")
}

impl Move {
    async fn run(self, scope: &In) -> Result<(), Failure> {
        let at = At::open(scope).await?;
        let (task, above) = (at.tree.find(&self.task)?, at.tree.find(&self.under)?);
        let mut body = json!({ "parentId": above.id });
        if let Some(index) = self.at {
            body["index"] = index.into();
        }
        let answer: Value = at.daemon.ask(Method::PATCH, &at.path(task), Some(body)).await?;
        say::answer(scope.json, &answer, || format!("“{}” is below “{}”", task.title, above.title));
        Ok(())
    }
}

impl Delete {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let at = At::open(scope).await?;
        let task = at.tree.find(&self.task)?;
        let path = format!("{}?recursive={}", at.path(task), self.recursive);
        let answer: Value = at.daemon.ask(Method::DELETE, &path, None).await?;
        say::answer(scope.json, &answer, || format!("“{}” is deleted", task.title));
        Ok(())
    }
}
