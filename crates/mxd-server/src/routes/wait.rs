//! Waiting until a task and everything below it comes to rest, or needs the user.

use std::time::Duration;

use axum::extract::State;
use mxd_core::id::TaskId;
use mxd_core::show::{self, Progress};
use mxd_engine::project::Project;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Given;
use super::control::located;
use crate::api::{Api, Route};
use crate::app::App;
use crate::auth::Who;
use crate::fault::Answer;
use crate::guard::{Visitor, stranger};
use crate::limits;
use crate::take::{Asked, Path};

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::get(
            "/projects/{project}/tasks/{task}/wait",
            "Answers when nobody works at a task and below it, when somebody there asks the user, or when time is up",
        )
        .asks::<WaitQuery>()
        .gives::<Waited>(),
        wait,
    )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WaitQuery {
    /// How long to wait; 60 unless said, and never longer than 300.
    #[serde(default)]
    seconds: Option<u64>,
}

/// How far it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Waited {
    /// Whether nobody works there, and nobody will without a further word.
    rested: bool,
    /// Whether somebody there wants an answer or a permission.
    needs_you: bool,
    /// The tasks whose agents work.
    working: Vec<String>,
    /// The tasks that want an answer or a permission.
    asking: Vec<String>,
    /// The tasks that cannot go on before somebody does something about it.
    stuck: Vec<String>,
    /// The status of the task; none for a folder, and for one that is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    /// Where its own agent stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

async fn wait(
    State(app): State<App>,
    visitor: Option<axum::Extension<Visitor>>,
    at: Path<(String, String)>,
    Asked(query): Asked<WaitQuery>,
) -> Answer<Given<Waited>> {
    let (project, task) = located(&app, &at).await?;
    // A tool of the MCP endpoint asks without a visitor: the endpoint ends its answer itself.
    let who = visitor.map_or(Who::Anybody, |axum::Extension(visitor)| visitor.who);
    let patience = query.seconds.map_or(limits::WAIT, Duration::from_secs).min(limits::LONGEST_WAIT);
    tokio::select! {
        () = until_settled(&project, task) => {}
        () = tokio::time::sleep(patience) => {}
        () = app.end.cancelled() => {}
        () = app.auth.session_ended(&who) => return Err(stranger()),
    }
    Ok(Given(look(&project, task)))
}

/// Returns when nobody works at the task and below it, or somebody there asks.
async fn until_settled(project: &Project, task: TaskId) {
    let mut moved = project.through();
    let goes_on = || {
        let Progress { working, asking, .. } = project.look(|state| show::progress(state, task));
        asking.is_empty() && !working.is_empty()
    };
    // A project that is closed works on nothing.
    while goes_on() && moved.changed().await.is_ok() {}
}

fn look(project: &Project, task: TaskId) -> Waited {
    let named = |tasks: &[TaskId]| tasks.iter().map(TaskId::to_string).collect();
    project.look(|state| {
        let Progress { working, asking, stuck } = show::progress(state, task);
        Waited {
            rested: working.is_empty(),
            needs_you: !asking.is_empty(),
            working: named(&working),
            asking: named(&asking),
            stuck: named(&stuck),
            status: state.tree().get(task).and_then(|node| node.status()).map(|status| status.name()),
            why: show::standing(state, task).map(|standing| standing.why),
        }
    })
}
