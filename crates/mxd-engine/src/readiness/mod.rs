//! What a project needs before its first task: five things, each with what to do about it.

mod checks;

use mxd_core::money::Usd;
use mxd_core::tool::Quoted;
use secrecy::ExposeSecret as _;

pub use self::checks::detect_checks;
use crate::agents::BaseBranchError;
use crate::config::{AgentModelError, Config, FoundKey, Role, found_keys};
use crate::git::{self, Branch, NAMESPACE, Repository};
use crate::keyring::Keyring;

/// What is told to a user whose commits are signed.
const UNSIGNED: &str = "Your settings say commit.gpgSign, but agents have no access to your key: their commits and merges are \
                        not signed. `git rebase --rebase-merges --force-rebase --gpg-sign COMMIT` signs what came after COMMIT.";

/// The five things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// A model that can be asked, with a key.
    Model,
    /// A limit on what may be spent.
    Budget,
    /// Whose commits they are, and the branch that tasks start from.
    Git,
    /// The script that makes worktrees ready.
    SetupHook,
    /// Commands that a merge has to pass.
    Checks,
}

impl Requirement {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Budget => "budget",
            Self::Git => "git",
            Self::SetupHook => "setupHook",
            Self::Checks => "checks",
        }
    }
}

/// How one of them is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequirementState {
    /// It is there.
    Ready,
    /// It is not there, and agents can work without it.
    Optional,
    /// It is not there, and tasks fail without it.
    Missing,
}

/// One of the five, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadinessItem {
    /// Which.
    pub requirement: Requirement,
    /// How it is.
    pub state: RequirementState,
    /// That in words.
    pub says: String,
    /// What to do about it.
    pub next_step: Option<String>,
}

/// Whether a project is ready for its first task.
#[derive(Debug, Clone)]
pub struct Readiness {
    /// The five things, always in the same order.
    pub items: Vec<ReadinessItem>,
    /// Keys that are set where the daemon runs, whether they are used or not.
    pub found_keys: Vec<FoundKey>,
    /// The set-up script that was made for what the project is built with.
    pub example_hook: String,
    /// Commands by which the project seems to be tested.
    pub detected_checks: Vec<String>,
}

impl Readiness {
    /// Whether nothing is missing that tasks need.
    pub fn is_ready(&self) -> bool {
        self.items.iter().all(|item| item.state != RequirementState::Missing)
    }
}

/// What readiness is found out from.
pub(crate) struct Subject<'a> {
    pub(crate) config: &'a Config,
    pub(crate) repository: &'a Repository,
    pub(crate) keyring: &'a Keyring,
    /// What the root may spend, when somebody limited it.
    pub(crate) root_budget: Option<Usd>,
    /// The branch that tasks start from.
    pub(crate) base_branch: Result<Branch, BaseBranchError>,
}

/// Looks at all five.
pub(crate) async fn examine(subject: Subject<'_>) -> Readiness {
    let folder = subject.repository.checkout().map(|checkout| checkout.folder.clone()).unwrap_or_default();
    // A variable that is set to nothing holds no key.
    let is_set = |name: &str| subject.keyring.get(name).is_some_and(|key| !key.expose_secret().is_empty());
    let found_keys = found_keys(is_set);
    let detected_checks = detect_checks(&folder);
    let base = &subject.base_branch;
    let items = vec![
        model(subject.config, subject.keyring, &found_keys),
        budget(subject.root_budget.or(subject.config.budget)),
        who_and_where(subject.repository, base).await,
        setup_hook(subject.repository, base.as_ref().ok()).await,
        checks(subject.config, &detected_checks),
    ];
    Readiness { items, found_keys, example_hook: git::init::script(&folder), detected_checks }
}

fn item(
    requirement: Requirement,
    state: RequirementState,
    says: impl Into<String>,
    next_step: Option<String>,
) -> ReadinessItem {
    ReadinessItem { requirement, state, says: says.into(), next_step }
}

fn model(config: &Config, keyring: &Keyring, found: &[FoundKey]) -> ReadinessItem {
    let lookup = |name: &str| keyring.get(name);
    let missing =
        |says: String, next: String| item(Requirement::Model, RequirementState::Missing, says, Some(next));
    for role in [Role::Root, Role::Child] {
        let model = match config.agent_model(role) {
            Ok(model) => model,
            Err(AgentModelError::NoGroup) if !found.is_empty() => {
                let keys: Vec<&str> = found.iter().map(|key| key.variable).collect();
                let says =
                    format!("no account is set up, and {} is set where the daemon runs", keys.join(", "));
                return missing(says, format!("`mxd init` uses it, or: {}", found[0].command()));
            }
            Err(error) => return missing(error.to_string(), error.hint()),
        };
        if let Err(error) = model.provider(&lookup) {
            let hint = format!(
                "{} A daemon has the variables it was started with: `mxd daemon restart`.",
                error.hint()
            );
            return missing(error.to_string(), hint);
        }
    }
    match config.agent_model(Role::Root) {
        Ok(model) => {
            let says = format!("{} at {} ({})", model.model.name, model.base_url, Quoted::of(&model.group));
            item(Requirement::Model, RequirementState::Ready, says, None)
        }
        Err(error) => missing(error.to_string(), error.hint()),
    }
}

fn budget(budget: Option<Usd>) -> ReadinessItem {
    match budget {
        Some(budget) => item(Requirement::Budget, RequirementState::Ready, format!("{budget} at most"), None),
        None => {
            let next = "`mxd config set budgetUsd 10` limits it for this project, with --global for all.";
            let says = "no limit: agents spend what the work takes";
            item(Requirement::Budget, RequirementState::Optional, says, Some(next.to_owned()))
        }
    }
}

async fn who_and_where(repository: &Repository, base: &Result<Branch, BaseBranchError>) -> ReadinessItem {
    let missing = |says: String, next: &str| {
        item(Requirement::Git, RequirementState::Missing, says, Some(next.to_owned()))
    };
    let branch = match base {
        Ok(branch) => branch,
        Err(error) => {
            let next = match error {
                BaseBranchError::Unborn { .. } => "Commit something: tasks start from it.",
                BaseBranchError::NotChosen | BaseBranchError::Gone { .. } => {
                    "`mxd base BRANCH` chooses the branch that tasks start from."
                }
                _ => "See to the repository.",
            };
            return missing(error.to_string(), next);
        }
    };
    if matches!(repository.has_branch_in_the_way().await, Ok(true)) {
        let says =
            format!("a branch is called {NAMESPACE}, so there can be no branches {NAMESPACE}/… for tasks");
        return missing(says, "`git branch -m mxd OTHER-NAME` gives it another name.");
    }
    match repository.identity().await {
        Ok(who) => {
            let says =
                format!("commits by {} <{}>, from {branch}", Quoted::of(&who.name), Quoted::of(&who.email));
            let unsigned =
                matches!(repository.asks_for_signatures().await, Ok(true)).then(|| UNSIGNED.to_owned());
            item(Requirement::Git, RequirementState::Ready, says, unsigned)
        }
        Err(error) => missing(error.to_string(), "Say it to git, once for all repositories."),
    }
}

async fn setup_hook(repository: &Repository, base: Option<&Branch>) -> ReadinessItem {
    let next = "`mxd init --hook example` uses the detected one, `--hook nothing` says that nothing is to be set up, \
                `--hook FILE` takes yours.";
    let missing =
        |says: String| item(Requirement::SetupHook, RequirementState::Missing, says, Some(next.to_owned()));
    match git::init::script_state(repository, base).await {
        Ok(git::init::ScriptState::Committed) => {
            let says = format!("{} is committed", git::init::SCRIPT);
            item(Requirement::SetupHook, RequirementState::Ready, says, None)
        }
        Ok(git::init::ScriptState::NotCommitted) => {
            missing(format!("{} is not committed", git::init::SCRIPT))
        }
        Ok(git::init::ScriptState::Missing) => missing(format!("{} is not there", git::init::SCRIPT)),
        Err(error) => missing(error.to_string()),
    }
}

fn checks(config: &Config, detected: &[String]) -> ReadinessItem {
    if !config.checks.is_empty() {
        let shown: Vec<String> = config.checks.iter().map(|check| Quoted::of(check).to_string()).collect();
        return item(Requirement::Checks, RequirementState::Ready, shown.join(", "), None);
    }
    let detected: Vec<String> =
        detected.iter().map(|check| serde_json::Value::from(check.as_str()).to_string()).collect();
    let example = if detected.is_empty() { "\"make test\"".to_owned() } else { detected.join(", ") };
    let says = "none: what is merged is not tested";
    let next = format!("`mxd config set checks '[{example}]'` has every merge tested.");
    item(Requirement::Checks, RequirementState::Optional, says, Some(next))
}
