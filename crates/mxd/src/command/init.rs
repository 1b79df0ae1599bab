//! `mxd init`: a repository becomes a project and is set up, by flags or by a few questions on a terminal.

use std::io::{BufRead as _, IsTerminal as _, Write as _, stderr, stdin};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mxd_engine::config::Config;
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::project::{absolute, read};
use super::readiness::{Key, Readiness};
use super::scope::{In, named_project, projects};
use crate::client::view::Project;
use crate::client::{Daemon, Failure};
use crate::doctor::settings::ask_root_model;
use crate::say::{self, DIM};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd init                                     the repository of this folder; asks what is missing, on a terminal
  mxd init --hook example --budget 10          without questions
  mxd init --provider anthropic --key '$env:ANTHROPIC_API_KEY' --hook nothing --check 'make test'
  mxd init ~/code/new --new                    a new folder with an empty repository

It can be called again and again: what is there stays. Exit codes: 0 it is a project, perhaps with something missing, which
is listed; 1 something that was asked for could not be done.")]
pub(crate) struct Init {
    /// The folder; this one without it.
    path: Option<PathBuf>,
    /// Makes the folder and its repository when they are not there.
    #[arg(long)]
    new: bool,
    /// How it is called; the folder's name without it.
    #[arg(long)]
    name: Option<String>,
    /// Whose models agents use; the account is called `main` and holds for all projects.
    #[arg(long, value_enum)]
    provider: Option<Provider>,
    /// The key, or `$env:NAME`; without it the usual variable of the provider, where the daemon has it.
    #[arg(long, requires = "provider")]
    key: Option<String>,
    /// Another address than the provider's own.
    #[arg(long, value_name = "URL", requires = "provider")]
    base_url: Option<String>,
    /// Does not ask the provider whether it takes the key.
    #[arg(long)]
    no_test: bool,
    /// Dollars that the project may spend.
    #[arg(long, value_name = "USD")]
    budget: Option<f64>,
    /// The script that makes worktrees ready: `example` for the detected one, `nothing` when nothing is to be set up, or a file.
    #[arg(long, value_name = "example|nothing|FILE")]
    hook: Option<String>,
    /// A command that every merge has to pass; may be given several times. `detected` takes what was detected.
    #[arg(long = "check", value_name = "COMMAND")]
    checks: Vec<String>,
    /// Asks nothing, also on a terminal.
    #[arg(long)]
    no_questions: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Provider {
    Anthropic,
    Openai,
}

impl Provider {
    fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
        }
    }

    fn member(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropicApiKey",
            Self::Openai => "openaiApiKey",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Anthropic, Self::Openai].into_iter().find(|provider| provider.name() == name)
    }
}

/// A project that is being set up.
struct SetUp<'a> {
    daemon: &'a Daemon,
    project: Project,
    /// Whether somebody is there to be asked.
    asks: bool,
    no_test: bool,
}

impl Init {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let asks = !self.no_questions && !scope.json && stdin().is_terminal() && stderr().is_terminal();
        let mut answer = self.register(&daemon).await?;
        let project: Project = read(answer.clone())?;
        if !scope.json {
            say::line(format!("{}  {}\n{DIM}{}{DIM:#}", project.id, project.name, project.path));
            project.notes.iter().for_each(say::note);
        }
        let set_up = SetUp { daemon: &daemon, project, asks, no_test: self.no_test || scope.json };
        set_up.model(self.provider, (self.key.as_deref(), self.base_url)).await?;
        set_up.budget(self.budget).await?;
        set_up.hook(self.hook.as_deref()).await?;
        set_up.checks(&self.checks).await?;
        let readiness = Readiness::read(&daemon, &set_up.project).await?;
        if scope.json {
            answer["readiness"] = serde_json::to_value(&readiness).unwrap_or_default();
            say::line(answer.to_string());
            return Ok(());
        }
        readiness.lines().iter().for_each(say::line);
        say::line(format!("Next: {}", readiness.next_step()));
        Ok(())
    }

    /// Registers the folder, or finds the project that it is.
    async fn register(&self, daemon: &Daemon) -> Result<Value, Failure> {
        let path = absolute(self.path.as_deref().unwrap_or(Path::new(".")))?;
        let mut body = json!({ "path": path, "init": self.new });
        if let Some(name) = &self.name {
            body["name"] = Value::String(name.clone());
        }
        match daemon.post("/projects", body).await {
            Err(failure) if failure.is("already_registered") => {
                let folder = std::fs::canonicalize(&path).unwrap_or_else(|_| PathBuf::from(&path));
                let found = named_project(projects(daemon).await?, &folder.display().to_string());
                // A folder inside of a repository is not where its project is.
                let Ok(project) = found else { return Err(failure) };
                daemon.get(&format!("/projects/{}", project.id)).await
            }
            answer => answer,
        }
    }
}

impl SetUp<'_> {
    async fn readiness(&self) -> Result<Readiness, Failure> {
        Readiness::read(self.daemon, &self.project).await
    }

    /// An account, where there is none: as the flags say, or a key that is there and that the user wants used.
    async fn model(
        &self,
        provider: Option<Provider>,
        (key, base_url): (Option<&str>, Option<String>),
    ) -> Result<(), Failure> {
        let readiness = self.readiness().await?;
        let chosen = match provider {
            Some(provider) => Some((provider, key_for(provider, key, &readiness.found_keys)?)),
            None if self.asks && readiness.is_missing("model") => self.ask_for_key(&readiness.found_keys)?,
            None => None,
        };
        let Some((provider, key)) = chosen else { return Ok(()) };
        let mut group = Map::new();
        group.insert("provider".to_owned(), provider.name().into());
        group.insert(provider.member().to_owned(), key.into());
        if let Some(base_url) = base_url {
            group.insert(format!("{}BaseUrl", provider.name()), base_url.into());
        }
        let patch = json!({ "authGroups": { "main": group }, "defaultAuth": "main" });
        let _changed: Value = self.daemon.ask(Method::PATCH, "/config/global", Some(patch)).await?;
        self.test_key().await;
        Ok(())
    }

    fn ask_for_key(&self, found: &[Key]) -> Result<Option<(Provider, String)>, Failure> {
        for key in found {
            let Some(provider) = Provider::named(&key.provider) else { continue };
            let question = format!("{} is set. Use it for all agents? [Y/n] ", key.variable);
            if is_yes(&ask(&question)?, true) {
                return Ok(Some((provider, format!("$env:{}", key.variable))));
            }
        }
        let answer = ask("A provider of models (anthropic, openai; nothing to do it later): ")?;
        let Some(provider) = Provider::named(answer.trim()) else { return Ok(None) };
        let key = ask("Its key, or $env:NAME for a variable of the daemon: ")?;
        Ok(Some(key.trim()).filter(|key| !key.is_empty()).map(|key| (provider, key.to_owned())))
    }

    /// One call with the key. What it says is told; a key that is refused can be replaced later.
    async fn test_key(&self) {
        if self.no_test {
            return;
        }
        let scope = In { project: Some(self.project.id.clone()), json: false };
        let Ok(places) = super::config::places(&scope).await else { return };
        let Ok(config) = Config::load(&places) else { return };
        match ask_root_model(&config).await {
            Ok(said) => say::note(said),
            Err(said) => say::note(format!("The key was stored, but: {said}")),
        }
    }

    async fn budget(&self, budget: Option<f64>) -> Result<(), Failure> {
        let wanted = match budget {
            Some(budget) => Some(budget),
            None if self.asks && !self.readiness().await?.is_ready("budget") => {
                ask("Dollars that this project may spend (nothing for no limit): ")?.trim().parse().ok()
            }
            None => None,
        };
        let Some(budget) = wanted else { return Ok(()) };
        self.change(json!({ "budgetUsd": budget })).await
    }

    async fn hook(&self, hook: Option<&str>) -> Result<(), Failure> {
        let readiness = self.readiness().await?;
        if !readiness.is_missing("setupHook") {
            return Ok(());
        }
        let body = match hook {
            Some("example") => json!({ "choice": "example" }),
            Some("nothing") => json!({ "choice": "nothing" }),
            Some(file) => {
                let text = std::fs::read_to_string(file);
                json!({ "choice": "text", "text": text.map_err(|error| Failure::new(format!("{file}: {error}")))? })
            }
            None if self.asks => match ask_for_hook(&readiness.example_hook)? {
                Some(body) => body,
                None => return Ok(()),
            },
            None => return Ok(()),
        };
        let path = format!("/projects/{}/setup-hook", self.project.id);
        self.daemon.post::<Value>(&path, body).await.map(drop)
    }

    async fn checks(&self, wanted: &[String]) -> Result<(), Failure> {
        let readiness = self.readiness().await?;
        let detected = &readiness.detected_checks;
        let checks: Vec<String> = if !wanted.is_empty() {
            let given =
                |check: &String| if check == "detected" { detected.clone() } else { vec![check.clone()] };
            wanted.iter().flat_map(given).collect()
        } else if self.asks && !readiness.is_ready("checks") && !detected.is_empty() {
            let question = format!("Have every merge pass `{}`? [Y/n] ", detected.join("`, `"));
            if is_yes(&ask(&question)?, true) { detected.clone() } else { Vec::new() }
        } else {
            Vec::new()
        };
        if checks.is_empty() {
            return Ok(());
        }
        self.change(json!({ "checks": checks })).await
    }

    /// Changes the user's settings for this project.
    async fn change(&self, patch: Value) -> Result<(), Failure> {
        let path = format!("/projects/{}/config", self.project.id);
        self.daemon.ask::<Value>(Method::PATCH, &path, Some(patch)).await.map(drop)
    }
}

/// The key of a flag, or the variable that the daemon has.
fn key_for(provider: Provider, key: Option<&str>, found: &[Key]) -> Result<String, Failure> {
    if let Some(key) = key {
        return Ok(key.to_owned());
    }
    let known = found.iter().find(|key| key.provider == provider.name());
    known.map(|key| format!("$env:{}", key.variable)).ok_or_else(|| {
        Failure::new(format!("no key of {} is set where the daemon runs", provider.name()))
            .hint("Name one with --key, or set it and `mxd daemon restart`.")
    })
}

/// One of three answers, or none for later.
fn ask_for_hook(example: &str) -> Result<Option<Value>, Failure> {
    say::note("Every task works in a fresh worktree. This would make it ready:\n");
    say::note(example);
    let answer = ask("[u]se it, [e]dit it first, [n]othing has to be set up, or [l]ater: ")?;
    Ok(match answer.trim().to_lowercase().as_str() {
        "u" | "use" => Some(json!({ "choice": "example" })),
        "n" | "nothing" => Some(json!({ "choice": "nothing" })),
        "e" | "edit" => Some(json!({ "choice": "text", "text": edited(example)? })),
        _ => None,
    })
}

/// The text as the user leaves it in an editor.
fn edited(text: &str) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("the script cannot be edited: {error}"));
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|name| std::env::var(name).ok());
    let mut draft =
        tempfile::Builder::new().prefix("setup_worktree-").suffix(".sh").tempfile().map_err(failed)?;
    draft.write_all(text.as_bytes()).and_then(|()| draft.flush()).map_err(failed)?;
    // An editor is often named with arguments.
    let command = format!("{} \"$1\"", editor.unwrap_or_else(|| "vi".to_owned()));
    let ended = std::process::Command::new("sh").args(["-c", &command, "sh"]).arg(draft.path()).status();
    if !ended.map_err(failed)?.success() {
        return Err(Failure::new("the editor did not end well, so nothing was written"));
    }
    std::fs::read_to_string(draft.path()).map_err(failed)
}

fn ask(question: &str) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("the terminal: {error}"));
    let mut err = stderr();
    err.write_all(question.as_bytes()).and_then(|()| err.flush()).map_err(failed)?;
    let mut line = String::new();
    stdin().lock().read_line(&mut line).map_err(failed)?;
    Ok(line)
}

fn is_yes(answer: &str, by_default: bool) -> bool {
    match answer.trim().to_lowercase().as_str() {
        "" => by_default,
        answer => answer.starts_with('y'),
    }
}
