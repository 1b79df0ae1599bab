//! Commands of agents that run, or go on in the background.

use axum::extract::State;
use mxd_core::event::body::ToolCallId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Given;
use crate::api::{Api, Route};
use crate::app::{App, find};
use crate::fault::{Answer, Fault};
use crate::take::{Input, Path};

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::post("/projects/{project}/background/move", "Lets a running command go on in the background")
            .takes::<MoveWish>()
            .gives::<Moved>(),
        to_background,
    )
    .add(
        Route::post("/projects/{project}/background/{name}/kill", "Ends a command in the background")
            .takes::<KillWish>()
            .gives::<Killed>(),
        kill,
    )
    .add(
        Route::post(
            "/projects/{project}/background/{name}/cancel-await",
            "Lets an agent go on that waits for a command in the background; the command runs on",
        )
        .takes::<KillWish>()
        .gives::<LetGo>(),
        cancel_await,
    )
}

/// A command that runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MoveWish {
    /// Whose it is: the task.
    session_id: String,
    /// The call that runs it.
    exec_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Moved {
    moved: bool,
}

/// Whose command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KillWish {
    /// The task.
    session_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Killed {
    killed: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LetGo {
    cancelled: bool,
}

fn none(what: &str) -> Fault {
    Fault::not_found("no_such_command", format!("the task has no command {what} that runs"))
        .hint("It may have ended: look at the task again.")
}

async fn to_background(
    State(app): State<App>,
    Path(project): Path<String>,
    Input(wish): Input<MoveWish>,
) -> Answer<Given<Moved>> {
    let project = app.project(&project).await?;
    let task = find(&project, &wish.session_id)?;
    if project.to_background(task, &ToolCallId(wish.exec_id.clone())).await {
        Ok(Given(Moved { moved: true }))
    } else {
        Err(none(&wish.exec_id))
    }
}

async fn kill(
    State(app): State<App>,
    Path((project, name)): Path<(String, String)>,
    Input(wish): Input<KillWish>,
) -> Answer<Given<Killed>> {
    let project = app.project(&project).await?;
    let task = find(&project, &wish.session_id)?;
    if project.kill_background(task, &name).await {
        Ok(Given(Killed { killed: true }))
    } else {
        Err(none(&name))
    }
}

async fn cancel_await(
    State(app): State<App>,
    Path((project, name)): Path<(String, String)>,
    Input(wish): Input<KillWish>,
) -> Answer<Given<LetGo>> {
    let project = app.project(&project).await?;
    let task = find(&project, &wish.session_id)?;
    if project.let_go(task, &name).await {
        return Ok(Given(LetGo { cancelled: true }));
    }
    if !project.look(|state| state.session(task).background().contains(&name)) {
        return Err(none(&name));
    }
    Err(Fault::conflict("not_awaited", format!("the agent does not wait for {name}"))
        .hint("Its end comes to the agent as a message; there is nothing to cancel."))
}
