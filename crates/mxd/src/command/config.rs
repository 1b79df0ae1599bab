//! `mxd config`: the three layers, what holds and where it comes from.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use mxd_engine::config::{self, Config, Layer, Places};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::model::ModelCommand;
use super::scope::{In, registered};
use super::servers;
use crate::client::{Daemon, Failure, data_folder};
use crate::say::{self, DIM};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd config                                          what holds here, and where each value comes from
  mxd config set model claude-opus-5-5                for this project, on this machine
  mxd config set budgetUsd 20 --global                for all projects
  mxd config auth add main --provider anthropic --key '$env:ANTHROPIC_API_KEY' --default
  mxd config auth add local --provider openai --base-url http://127.0.0.1:11434/v1 --default
  mxd config model add qwen3-coder:30b --window 65536     a model that the program does not know

A daemon that runs takes changes over at once. Where agents work, approval rules and the hosts of commands hold at once,
and everything else after `mxd daemon restart`; it says so. Agents that have begun get tools of new servers with their
next summary: `mxd compact TASK` asks for one.")]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    command: Option<Wanted>,
}

#[derive(Debug, Subcommand)]
enum Wanted {
    /// Sets a key of one layer.
    Set {
        /// The key, such as `model` or `sandbox.mode`.
        key: String,
        /// The value: a number, true, false, JSON, or a text.
        value: String,
        #[command(flatten)]
        layer: Which,
    },
    /// Removes a key from one layer.
    Unset {
        /// The key.
        key: String,
        #[command(flatten)]
        layer: Which,
    },
    /// Credentials, in groups.
    #[command(subcommand)]
    Auth(Auth),
    /// Models that the program does not know, such as those of a server of one's own.
    #[command(subcommand)]
    Model(ModelCommand),
}

#[derive(Debug, Clone, Copy, Args)]
struct Which {
    /// For all projects of this user.
    #[arg(long, conflicts_with = "repo")]
    global: bool,
    /// In the repository, for everybody who works on it.
    #[arg(long = "repo", visible_alias = "project-layer")]
    repo: bool,
}

impl Which {
    fn layer(self) -> Layer {
        match (self.global, self.repo) {
            (true, _) => Layer::User,
            (_, true) => Layer::Repository,
            _ => Layer::Project,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Provider {
    Anthropic,
    Openai,
}

#[derive(Debug, Subcommand)]
enum Auth {
    /// Adds or replaces a group. A key that is written as `$env:NAME` is read from the environment of the daemon.
    Add {
        /// How the group is called.
        name: String,
        /// Whose wire it speaks.
        #[arg(long, value_enum)]
        provider: Provider,
        /// The key, or `$env:NAME`; not needed with the address of a server that wants none.
        #[arg(long, required_unless_present = "base_url")]
        key: Option<String>,
        /// Another address than the provider's own.
        #[arg(long, value_name = "URL")]
        base_url: Option<String>,
        /// Makes it the group that agents use.
        #[arg(long)]
        default: bool,
    },
    /// Lists the groups, without secrets.
    List,
    /// Removes a group.
    Remove {
        /// How the group is called.
        name: String,
    },
}

impl ConfigCommand {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let places = places(scope).await?;
        match self.command {
            None => show(scope, &places, ""),
            Some(Wanted::Set { key, value, layer }) => {
                change(&places, layer.layer(), &key, config::value_of(&value))?;
                done(scope, layer.layer(), &key, "is set").await
            }
            Some(Wanted::Unset { key, layer }) => {
                is_set(&places, layer.layer(), &key)?;
                config::unset(&places, layer.layer(), &key).map_err(|error| wrong(&error))?;
                done(scope, layer.layer(), &key, "is unset").await
            }
            Some(Wanted::Auth(auth)) => auth.run(scope, &places).await,
            Some(Wanted::Model(model)) => model.run(scope, &places).await,
        }
    }
}

impl Auth {
    async fn run(self, scope: &In, places: &Places) -> Result<(), Failure> {
        match self {
            Self::List => show(scope, places, "authGroups."),
            Self::Remove { name } => {
                is_set(places, Layer::User, &format!("authGroups.{name}"))?;
                let layer = config::shown(places, Layer::User).unwrap_or_default();
                if layer["defaultAuth"] == name.as_str() {
                    return Err(Failure::new(format!("agents use `{name}`"))
                        .hint("`mxd config set defaultAuth OTHER --global` names another one first."));
                }
                config::unset(places, Layer::User, &format!("authGroups.{name}"))
                    .map_err(|error| wrong(&error))?;
                done(scope, Layer::User, &name, "is removed").await
            }
            Self::Add { name, provider, key, base_url, default } => {
                let (word, key_name, url_name) = match provider {
                    Provider::Anthropic => ("anthropic", "anthropicApiKey", "anthropicBaseUrl"),
                    Provider::Openai => ("openai", "openaiApiKey", "openaiBaseUrl"),
                };
                let mut group = Map::new();
                group.insert("provider".to_owned(), word.into());
                if let Some(key) = key {
                    group.insert(key_name.to_owned(), key.into());
                }
                if let Some(url) = base_url {
                    group.insert(url_name.to_owned(), url.into());
                }
                change(places, Layer::User, &format!("authGroups.{name}"), Value::Object(group))?;
                if default {
                    change(places, Layer::User, "defaultAuth", name.clone().into())?;
                }
                done(scope, Layer::User, &name, "is added").await
            }
        }
    }
}

/// Where the layers are: of the project that is meant, or only the user's when none is.
pub(crate) async fn places(scope: &In) -> Result<Places, Failure> {
    let data = data_folder()?;
    let found = match Daemon::find() {
        Ok(daemon) => match scope.project(&daemon).await {
            Err(failure) if failure.is_unreachable() => registered(scope),
            found => found,
        },
        Err(_) => registered(scope),
    };
    Ok(match found {
        Ok(project) => Places {
            repository: Some(PathBuf::from(&project.path)),
            project: Some(data.join("projects").join(&project.id)),
            data,
        },
        Err(failure) if scope.project.is_some() => return Err(failure),
        Err(_) => Places::user_only(data),
    })
}

pub(super) fn change(places: &Places, layer: Layer, key: &str, value: Value) -> Result<(), Failure> {
    config::set(places, layer, key, value).map_err(|error| wrong(&error))
}

/// What is not there cannot be taken away, and its name is perhaps another one.
fn is_set(places: &Places, layer: Layer, key: &str) -> Result<(), Failure> {
    let said = config::shown(places, layer).map_err(|problems| Failure::new(problems.to_string()))?;
    // Names of groups and servers may hold dots, so each part may be longer than it looks.
    let (group, name) = key.split_once('.').unwrap_or((key, ""));
    let member = said.get(group).and_then(|members| members.get(name));
    let found = said.pointer(&format!("/{}", key.replace('.', "/"))).or(member);
    if found.is_some() {
        return Ok(());
    }
    Err(Failure::not_found(format!("`{key}` is not set in the {layer} layer"))
        .hint("`mxd config` shows what is set, and in which layer; `--global` is the user's, `--repo` the repository's."))
}

fn wrong(error: &config::WriteError) -> Failure {
    Failure::new(error.to_string()).hint(error.hint())
}

/// What became of a change that the daemon was told about.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TakenOver {
    /// Projects in which agents work with what held before.
    restart_needed: Vec<String>,
    /// Projects that cannot be opened with it.
    #[serde(default)]
    broken: Vec<Broken>,
    /// Projects with a budget of their own.
    #[serde(default)]
    budget_kept: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Broken {
    problem: String,
}

/// Has the daemon take a change over, and says that it was made.
pub(super) async fn done(scope: &In, layer: Layer, what: &str, said: &str) -> Result<(), Failure> {
    let taken = take_over(scope, layer).await?.unwrap_or_default();
    let later = !taken.restart_needed.is_empty();
    if let Some(broken) = taken.broken.first() {
        let said = format!("{what} {said}, but a project cannot be opened any more: {}", broken.problem);
        return Err(Failure::new(said).hint("Put that right with `mxd config`; its agents wait meanwhile."));
    }
    say::answer(scope.json, &json!({ "ok": true, "restartNeeded": later }), || format!("{what} {said}"));
    if later && !scope.json {
        say::note("Where agents are at work it holds after `mxd daemon restart`.");
    }
    if (what == "manifest" || what.split('.').next() == Some("mcpServers")) && !scope.json {
        say::note(servers::ARRIVAL);
    }
    if !taken.budget_kept.is_empty() && what == "budgetUsd" && !scope.json {
        say::note("Projects that have a budget keep it: `mxd task edit root --budget USD` changes it there.");
    }
    Ok(())
}

/// Has the daemon read a layer anew: a change of nothing. None when no daemon runs, which will read it when it starts.
async fn take_over(scope: &In, layer: Layer) -> Result<Option<TakenOver>, Failure> {
    let Ok(daemon) = Daemon::find() else { return Ok(None) };
    let told = async {
        let path = match layer {
            Layer::User => "/config/global".to_owned(),
            Layer::Project => format!("/projects/{}/config", scope.project(&daemon).await?.id),
            Layer::Repository => format!("/projects/{}/config/repo", scope.project(&daemon).await?.id),
        };
        daemon.ask(Method::PATCH, &path, Some(json!({}))).await.map(Some)
    };
    match told.await {
        Err(failure) if failure.is_unreachable() => Ok(None),
        told => told,
    }
}

fn show(scope: &In, places: &Places, prefix: &str) -> Result<(), Failure> {
    let wrong = |problems: config::Problems| {
        Failure::new(problems.to_string())
            .hint("Each problem says what to do; `mxd doctor` lists them again.")
    };
    let config = Config::load(places).map_err(wrong)?;
    let rows: Vec<_> = config.rows().into_iter().filter(|row| row.path.starts_with(prefix)).collect();
    if scope.json {
        say::line(serde_json::to_string(&rows).unwrap_or_default());
        return Ok(());
    }
    let width = rows.iter().map(|row| row.path.len()).max().unwrap_or(0);
    for row in rows {
        let value = mxd_core::show::one_line(&row.value.to_string(), 80);
        let origin = row.origin.layer().map_or("default", Layer::name);
        say::line(format!("{:width$}  {value}  {DIM}{origin}{DIM:#}", row.path));
    }
    Ok(())
}
