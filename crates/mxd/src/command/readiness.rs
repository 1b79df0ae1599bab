//! What a project needs before its first task, as the daemon sees it.

use mxd_engine::config::{AgentModelError, Config, Places, Role, found_keys};
use serde::{Deserialize, Serialize};

use crate::client::view::Project;
use crate::client::{Daemon, Failure, data_folder};
use crate::say::{self, BAD, DIM, GOOD, WEAK};

/// Columns of the names.
const NAME_WIDTH: usize = 10;

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Readiness {
    pub(crate) ready: bool,
    pub(crate) items: Vec<Item>,
    #[serde(default)]
    pub(crate) found_keys: Vec<Key>,
    #[serde(default)]
    pub(crate) example_hook: String,
    #[serde(default)]
    pub(crate) detected_checks: Vec<String>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) state: State,
    pub(crate) says: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) next_step: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Ready,
    Optional,
    Missing,
}

/// A variable that holds a key where the daemon runs.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Key {
    pub(crate) variable: String,
    pub(crate) provider: String,
}

impl Readiness {
    pub(crate) async fn read(daemon: &Daemon, project: &Project) -> Result<Self, Failure> {
        daemon.get(&format!("/projects/{}/readiness", project.id)).await
    }

    pub(crate) fn is_missing(&self, name: &str) -> bool {
        self.items.iter().any(|item| item.name == name && item.state == State::Missing)
    }

    pub(crate) fn is_ready(&self, name: &str) -> bool {
        self.items.iter().any(|item| item.name == name && item.state == State::Ready)
    }

    /// Refuses what could only fail later, and says what to do. Without a set-up script the root can still talk, so that
    /// is told only.
    pub(crate) fn refuse_unless_possible(&self) -> Result<(), Failure> {
        let missing = |item: &&Item| item.state == State::Missing;
        let mut essential = self.items.iter().filter(missing).filter(|item| item.name != "setupHook");
        if let Some(item) = essential.next() {
            let failure = Failure::new(format!("nothing was sent: {}", item.says)).named("not_ready");
            return Err(
                failure.hint(item.next_step.clone().unwrap_or_else(|| "`mxd init` sets it up.".to_owned()))
            );
        }
        if let Some(item) = self.items.iter().find(|item| item.name == "setupHook" && missing(item)) {
            say::note(format!("Tasks below the root will fail: {}.", item.says));
            item.next_step.iter().for_each(say::note);
        }
        Ok(())
    }

    /// The five ticks.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for item in &self.items {
            let mark = match item.state {
                State::Ready => format!("{GOOD}✓{GOOD:#}"),
                State::Optional => format!("{WEAK}-{WEAK:#}"),
                State::Missing => format!("{BAD}✗{BAD:#}"),
            };
            lines.push(format!("{mark} {:NAME_WIDTH$} {}", title(&item.name), item.says));
            let next = item.next_step.iter().map(|next| format!("  {:NAME_WIDTH$} {DIM}{next}{DIM:#}", ""));
            lines.extend(next);
        }
        lines
    }

    /// What to do first.
    pub(crate) fn next_step(&self) -> String {
        let missing = self.items.iter().find(|item| item.state == State::Missing);
        match missing.and_then(|item| item.next_step.clone()) {
            Some(next) => next,
            None => "mxd send Say what you want done".to_owned(),
        }
    }
}

fn title(name: &str) -> &str {
    if name == "setupHook" { "set-up" } else { name }
}

/// Says that no model can be asked, where that is so, and which keys are here.
pub(crate) fn note_missing_model() {
    let Ok(data) = data_folder() else { return };
    // Settings with problems are told where they are used.
    let Ok(config) = Config::load(&Places::user_only(data)) else { return };
    let Err(error) = config.agent_model(Role::Root) else { return };
    say::note(format!("Agents cannot work yet: {error}."));
    let found = found_keys(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    match (error, found.first()) {
        (AgentModelError::NoGroup, Some(key)) => {
            say::note(format!("{} is set here. `mxd init` uses it, or: {}", key.variable, key.command()));
        }
        (error, _) => say::note(error.hint()),
    }
}
