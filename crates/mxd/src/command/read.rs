//! Looking: the tree, a task, what it costs, what changed.

use clap::Args;
use serde_json::{Value, json};

use super::scope::{In, Of, Tree};
use crate::client::view::{Project, Task};
use crate::client::{Daemon, Failure};
use crate::say::{self, BAD, DIM, GOOD};
use crate::tree_text;

/// Tasks that `mxd cost` names.
const DEAREST: usize = 10;

#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    of: Of,
    /// Also those that are closed.
    #[arg(short, long)]
    all: bool,
}

impl Status {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let (daemon, project) = open(&self.of.within(scope)).await?;
        if scope.json {
            return print(&daemon, &format!("/projects/{}/tasks", project.id)).await;
        }
        let tree = Tree::read(&daemon, &project).await?;
        let width = say::width();
        tree_text::lines(&tree, self.all).iter().for_each(|line| say::line(line.fit(width)));
        let total: f64 = tree.tasks.iter().map(|task| task.cost_usd).fold(0.0, |sum, cost| sum + cost);
        say::line(format!("{DIM}{} · ${total:.2}{DIM:#}", project.name));
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    of: Of,
}

impl List {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let (daemon, project) = open(&self.of.within(scope)).await?;
        if scope.json {
            return print(&daemon, &format!("/projects/{}/tasks", project.id)).await;
        }
        for task in &Tree::read(&daemon, &project).await?.tasks {
            let status = task.status.as_deref().unwrap_or("folder");
            let branch = task.branch.as_deref().unwrap_or("-");
            say::line(format!(
                "{}  {status:<11}  ${:<8.2} {:<36}  {DIM}{branch}{DIM:#}",
                task.id,
                task.cost_usd,
                mxd_core::show::one_line(&task.title, 36),
            ));
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The task: its id or the start or end of it, its title, or `root`.
    #[arg(default_value = "root")]
    task: String,
}

impl Show {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let (daemon, project) = open(scope).await?;
        let tree = Tree::read(&daemon, &project).await?;
        let id = tree.find(&self.task)?.id.clone();
        let path = format!("/projects/{}/tasks/{id}", project.id);
        if scope.json {
            return print(&daemon, &path).await;
        }
        let task: Task = daemon.get(&path).await?;
        say::line(format!("{GOOD}{}{GOOD:#}  {DIM}{}{DIM:#}", task.title, task.id));
        let mut rows = vec![("status", task.status.unwrap_or_else(|| "folder".to_owned()))];
        rows.extend(task.agent.map(|agent| ("agent", agent.why)));
        rows.extend(task.branch.map(|branch| ("branch", branch)));
        rows.extend(task.worktree_path.map(|path| ("worktree", path)));
        let of = task.budget_usd.map(|budget| format!(" of ${budget:.2}")).unwrap_or_default();
        let left = task.remaining_usd.map(|left| format!(", ${left:.2} left")).unwrap_or_default();
        rows.push(("cost", format!("${:.4}{of}{left}", task.cost_usd)));
        rows.push(("used", format!("{} turns, {} tokens", task.life.turns, task.life.tokens())));
        rows.extend(task.checks.into_iter().map(|check| ("check", check)));
        rows.extend(task.last_line.map(|line| ("last", line)));
        rows.iter().for_each(|(name, value)| say::line(format!("{DIM}{name:>9}{DIM:#}  {value}")));
        if !task.description.is_empty() {
            say::line(format!("\n{}", task.description));
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Cost {
    #[command(flatten)]
    of: Of,
    /// How much came from the cache, and every time it was lost.
    #[arg(long)]
    cache: bool,
}

impl Cost {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let (daemon, project) = open(&self.of.within(scope)).await?;
        if scope.json {
            return print(&daemon, &format!("/projects/{}/money", project.id)).await;
        }
        if self.cache {
            cached(&daemon.get(&format!("/projects/{}/money", project.id)).await?);
            return Ok(());
        }
        let mut tasks = Tree::read(&daemon, &project).await?.tasks;
        tasks.retain(|task| task.cost_usd > 0.0);
        tasks.sort_by(|a, b| b.cost_usd.total_cmp(&a.cost_usd));
        let total: f64 = tasks.iter().map(|task| task.cost_usd).fold(0.0, |sum, cost| sum + cost);
        say::line(format!("{GOOD}${total:.4}{GOOD:#}  {}", project.name));
        for task in tasks.iter().take(DEAREST) {
            say::line(format!("${:.4}  {}", task.cost_usd, task.title));
        }
        if let Some(more) = tasks.len().checked_sub(DEAREST).filter(|more| *more > 0) {
            say::line(format!("{DIM}and {more} more{DIM:#}"));
        }
        Ok(())
    }
}

/// How well the cache worked: of all that was read, task by task, and where it was lost.
fn cached(money: &Value) {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let share = |part: u64, whole: u64| part.saturating_mul(100).checked_div(whole);
    let percent = |share: Option<u64>| share.map_or("-".to_owned(), |share| format!("{share} %"));
    let (mut hits, mut all, mut rows) = (0, 0, Vec::new());
    let tasks = money["tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
    for task in tasks {
        let hit = number(&task["cacheReadTokens"]);
        let read = hit + number(&task["inputTokens"]) + number(&task["cacheWriteTokens"]);
        (hits, all) = (hits + hit, all + read);
        if read > 0 {
            let title = mxd_core::show::one_line(text(&task["title"]), 48);
            rows.push(format!("{:>5}  {title}", percent(share(hit, read))));
        }
    }
    say::line(format!("{GOOD}{:>5}{GOOD:#}  of {all} tokens came from the cache", percent(share(hits, all))));
    rows.iter().for_each(say::line);
    for broken in money["cache"]["breaks"].as_array().into_iter().flatten() {
        let title = tasks.iter().find(|task| task["taskId"] == broken["taskId"]);
        let title = title.map_or("?", |task| text(&task["title"]));
        say::line(format!("{BAD}lost{BAD:#}   {title}: {}", text(&broken["reason"])));
    }
}

#[derive(Debug, Args)]
pub(crate) struct Agent {
    #[command(flatten)]
    of: Of,
}

impl Agent {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let (daemon, project) = open(&self.of.within(scope)).await?;
        if scope.json {
            return print(&daemon, &format!("/projects/{}/agent", project.id)).await;
        }
        let tree = Tree::read(&daemon, &project).await?;
        let agent = tree.find("root")?.agent.as_ref();
        let active = agent.is_some_and(|agent| agent.state.is_active());
        let why = agent.map(|agent| agent.why.as_str()).unwrap_or_default();
        let word = if active { "RUNNING" } else { "IDLE" };
        say::line(format!("{word}  {why}"));
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The task: its id or the start or end of it, or its title.
    task: String,
    /// Only names and numbers.
    #[arg(long)]
    stat: bool,
}

impl Diff {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let (daemon, project) = open(scope).await?;
        let tree = Tree::read(&daemon, &project).await?;
        let task = tree.find(&self.task)?;
        let diff: Value = daemon.get(&format!("/projects/{}/tasks/{}/diff", project.id, task.id)).await?;
        if scope.json {
            say::line(diff.to_string());
            return Ok(());
        }
        let files = diff["files"].as_array().map(Vec::as_slice).unwrap_or_default();
        for file in files {
            let (name, more, less) = (text(&file["path"]), &file["additions"], &file["deletions"]);
            say::line(format!("{GOOD}+{more}{GOOD:#} {BAD}-{less}{BAD:#}  {name}"));
            if !self.stat {
                text(&file["patch"]).lines().for_each(patch_line);
            }
        }
        if files.is_empty() {
            say::note("There is nothing that its base does not have.");
        }
        Ok(())
    }
}

fn patch_line(line: &str) {
    // What agents wrote may hold anything; a terminal must not obey it.
    let shown: String =
        line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect();
    say::line(match line.chars().next() {
        Some('+') => format!("{GOOD}{shown}{GOOD:#}"),
        Some('-') => format!("{BAD}{shown}{BAD:#}"),
        Some('@') => format!("{DIM}{shown}{DIM:#}"),
        _ => shown,
    });
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What is looked for, in titles, descriptions and conversations.
    #[arg(required = true)]
    words: Vec<String>,
    /// How many of each at most.
    #[arg(short = 'n', long, default_value_t = 20)]
    limit: usize,
}

impl Search {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let (daemon, project) = open(scope).await?;
        let words = self.words.join(" ");
        if words.trim().is_empty() {
            return Err(
                Failure::new("nothing is looked for").hint("Name a few words: `mxd search borrow checker`.")
            );
        }
        let words = encoded(&words);
        let path = format!("/projects/{}/search?q={words}&limit={}", project.id, self.limit);
        let found: Value = daemon.get(&path).await?;
        if scope.json {
            say::line(found.to_string());
            return Ok(());
        }
        let is_empty = |list: &str| found[list].as_array().is_none_or(Vec::is_empty);
        if is_empty("tasks") && is_empty("log") {
            say::note("Nothing was found.");
        }
        for task in found["tasks"].as_array().into_iter().flatten() {
            say::line(format!(
                "{GOOD}{}{GOOD:#}  {DIM}{}{DIM:#}",
                text(&task["title"]),
                text(&task["taskId"])
            ));
        }
        for hit in found["log"].as_array().into_iter().flatten() {
            say::line(format!("{DIM}{:>8}{DIM:#}  {}", hit["seq"], text(&hit["line"])));
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Health {
    /// Also says whether the settings name a model that can be asked; `mxd doctor --reach` asks its provider.
    #[arg(long)]
    model: bool,
}

impl Health {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let answer: Value = daemon.get(&format!("/health?check_model={}", self.model)).await?;
        say::answer(scope.json, &answer, || {
            let seconds = answer["uptimeMs"].as_u64().unwrap_or(0) / 1000;
            format!(
                "{}  version {}, up {seconds} s, {}",
                text(&answer["status"]),
                text(&answer["version"]),
                daemon.base()
            )
        });
        if self.model && !scope.json {
            let model = &answer["model"];
            let said = if model["ok"] == true { text(&model["name"]) } else { text(&model["problem"]) };
            say::line(format!("model  {said}"));
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Version {}

impl Version {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let own = env!("CARGO_PKG_VERSION");
        let daemon: Option<Value> = match Daemon::find() {
            Ok(daemon) => daemon.get("/version").await.ok(),
            Err(_) => None,
        };
        say::answer(scope.json, &json!({ "version": own, "daemon": daemon }), || match &daemon {
            Some(daemon) => format!("mxd {own}, the daemon {}", text(&daemon["version"])),
            None => format!("mxd {own}, no daemon answers"),
        });
        Ok(())
    }
}

async fn open(scope: &In) -> Result<(Daemon, Project), Failure> {
    let daemon = Daemon::find()?;
    let project = scope.project(&daemon).await?;
    Ok((daemon, project))
}

/// What the daemon says, as it says it.
async fn print(daemon: &Daemon, path: &str) -> Result<(), Failure> {
    let answer: Value = daemon.get(path).await?;
    say::line(answer.to_string());
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A text as part of an address.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
