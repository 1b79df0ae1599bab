//! Whether a project is ready for its first task, and the set-up script that the user chooses.

use axum::extract::State;
use mxd_engine::git::init::{CommitError, ScriptChoice};
use mxd_engine::project::SetUpScriptError;
use mxd_engine::readiness::{Readiness, RequirementState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Given;
use crate::api::{Api, Route};
use crate::app::App;
use crate::fault::{Answer, Fault};
use crate::take::{Input, Path};

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::get("/projects/{project}/readiness", "What a project needs before its first task")
            .gives::<ReadinessView>(),
        look,
    )
    .add(
        Route::post(
            "/projects/{project}/setup-hook",
            "Writes and commits the script that makes worktrees ready",
        )
        .takes::<SetupHook>()
        .gives::<SetupHookDone>(),
        set_up,
    )
}

/// Whether a project is ready.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReadinessView {
    /// Whether nothing is missing that tasks need.
    ready: bool,
    /// Five: `model`, `budget`, `git`, `setupHook` and `checks`.
    items: Vec<ReadinessItemView>,
    /// Keys of providers that are set where the daemon runs, by the names of their variables.
    found_keys: Vec<FoundKeyView>,
    /// A set-up script for what the project is built with.
    example_hook: String,
    /// Commands by which the project seems to be tested.
    detected_checks: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReadinessItemView {
    name: String,
    state: ItemState,
    /// The state in words.
    says: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ItemState {
    /// It is there.
    Ready,
    /// It is not there, and agents can work without it.
    Optional,
    /// It is not there, and tasks fail without it.
    Missing,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FoundKeyView {
    variable: String,
    provider: String,
}

/// Which set-up script is wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SetupHook {
    choice: Choice,
    /// The script, when `choice` is `text`.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    text: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Choice {
    /// The one that was made for what the project is built with.
    Example,
    /// One that does nothing.
    Nothing,
    /// That in `text`.
    Text,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SetupHookDone {
    /// Whether it was committed; not when there was one.
    committed: bool,
}

async fn look(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<ReadinessView>> {
    Ok(Given(view(&app.project(&project).await?.readiness().await)))
}

fn view(readiness: &Readiness) -> ReadinessView {
    let items = readiness.items.iter().map(|item| ReadinessItemView {
        name: item.requirement.name().to_owned(),
        state: match item.state {
            RequirementState::Ready => ItemState::Ready,
            RequirementState::Optional => ItemState::Optional,
            RequirementState::Missing => ItemState::Missing,
        },
        says: item.says.clone(),
        next_step: item.next_step.clone(),
    });
    let keys = readiness.found_keys.iter();
    let keys =
        keys.map(|key| FoundKeyView { variable: key.variable.to_owned(), provider: key.provider.to_owned() });
    ReadinessView {
        ready: readiness.is_ready(),
        items: items.collect(),
        found_keys: keys.collect(),
        example_hook: readiness.example_hook.clone(),
        detected_checks: readiness.detected_checks.clone(),
    }
}

async fn set_up(
    State(app): State<App>,
    Path(project): Path<String>,
    Input(wanted): Input<SetupHook>,
) -> Answer<Given<SetupHookDone>> {
    let choice = match (wanted.choice, wanted.text) {
        (Choice::Example, None) => ScriptChoice::Example,
        (Choice::Nothing, None) => ScriptChoice::Nothing,
        (Choice::Text, Some(text)) if !text.trim().is_empty() => ScriptChoice::Text(text),
        (Choice::Text, _) => return Err(Fault::unfit("text: the script is missing")),
        (Choice::Example | Choice::Nothing, Some(_)) => {
            return Err(Fault::unfit("text: it goes with the choice `text` alone"));
        }
    };
    let project = app.project(&project).await?;
    let committed = project.set_up_script(choice).await.map_err(|error| {
        let hint = match &error {
            SetUpScriptError::Base(_) => "Choose the base branch, then try again.",
            SetUpScriptError::Commit(CommitError::Identity(_)) => "Say to git who you are, then try again.",
            SetUpScriptError::Commit(CommitError::NotCheckedOut { .. }) => {
                "Check that branch out and try again, or choose another base branch."
            }
            SetUpScriptError::Commit(CommitError::Git { .. }) => {
                "See to the repository, or write and commit the file yourself."
            }
        };
        Fault::conflict("not_committed", error.to_string()).hint(hint)
    })?;
    Ok(Given(SetupHookDone { committed }))
}
