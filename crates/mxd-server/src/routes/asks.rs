//! What waits for the user: seen, answered, allowed or denied.

use axum::extract::State;
use mxd_core::decide::{Actor, Op, SessionOp};
use mxd_core::event::body::{ApprovalScope, Verdict};
use mxd_core::id::{ApprovalId, ClarificationId, TaskId};
use mxd_engine::config;
use mxd_engine::project::Project;
use mxd_engine::provision::{ServerReport, ServerState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Given;
use super::control::Acted;
use crate::api::{Api, Route};
use crate::app::{App, find};
use crate::fault::{Answer, Fault};
use crate::take::{Input, Path};
use crate::view::{ClarificationNeed, Needs, ServerNeed, host_digest, needs};

pub(super) fn routes(api: Api) -> Api {
    api.add(Route::get("/projects/{project}/needs", "What waits for the user").gives::<Needs>(), list)
        .add(
            Route::get("/projects/{project}/clarifications", "Questions of agents").gives::<Clarifications>(),
            clarifications,
        )
        .add(
            Route::post("/projects/{project}/clarify", "Answers a question")
                .takes::<Clarify>()
                .gives::<Acted>(),
            clarify,
        )
        .add(
            Route::post("/projects/{project}/approve", "Allows or denies a tool call, or a host")
                .takes::<Approve>()
                .gives::<Acted>(),
            approve,
        )
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Clarifications {
    clarifications: Vec<ClarificationNeed>,
}

/// An answer to a question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Clarify {
    task_id: String,
    /// Which question; may be left out when there is only one.
    #[serde(default)]
    clarification_id: Option<String>,
    answer: String,
}

/// A word about a tool call, or about a host that a command wants to reach.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Approve {
    task_id: String,
    approval_id: String,
    decision: Decision,
    /// The hash that was looked at: the word is about this call and no other.
    #[serde(default)]
    args_digest: Option<String>,
    /// Words for the agent: when a call is denied they are part of its result, otherwise a message.
    #[serde(default)]
    note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Decision {
    /// This call, or the connections to this host that wait.
    Once,
    /// This tool with any arguments, or this host, for the whole task.
    Task,
    /// This host, for all tasks of the project, now and later: it is written into your settings for the project.
    Always,
    /// Not this call, or not this host.
    Deny,
}

async fn list(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<Needs>> {
    let (project, feed) = app.fed(&project).await?;
    // Servers that cannot be looked at are told where they are listed.
    let servers = project.servers().await.unwrap_or_default();
    let tally = feed.tally();
    let mut found = project.look(|state| needs(state, &tally));
    found.servers = servers.iter().filter_map(server_need).collect();
    Ok(Given(found))
}

fn server_need(report: &ServerReport) -> Option<ServerNeed> {
    let why = match &report.state {
        ServerState::Drifted(_) => report.state.differences().join("; "),
        ServerState::Unaccepted => "nobody has accepted what it offers".to_owned(),
        ServerState::Idle
        | ServerState::Connecting { .. }
        | ServerState::Ready
        | ServerState::Down { .. } => return None,
    };
    let commands = vec!["mxd servers".to_owned(), format!("mxd servers accept {}", report.name)];
    Some(ServerNeed { alias: report.name.to_string(), why, commands })
}

async fn clarifications(
    State(app): State<App>,
    Path(project): Path<String>,
) -> Answer<Given<Clarifications>> {
    let (project, feed) = app.fed(&project).await?;
    let tally = feed.tally();
    let clarifications = project.look(|state| needs(state, &tally)).clarifications;
    Ok(Given(Clarifications { clarifications }))
}

async fn clarify(
    State(app): State<App>,
    Path(project): Path<String>,
    Input(wish): Input<Clarify>,
) -> Answer<Given<Acted>> {
    let project = app.project(&project).await?;
    let task = find(&project, &wish.task_id)?;
    let id = match &wish.clarification_id {
        Some(id) => id.parse().map_err(|error| no_id("clarificationId", error))?,
        None => only_question(&project, task)?,
    };
    let op = SessionOp::AnswerQuestion { id, answer: wish.answer };
    Acted::of(&app, project.wish(Actor::User, Op::Session { task, op }).await).map(Given)
}

fn no_id(field: &str, error: mxd_core::id::ParseIdError) -> Fault {
    Fault::unfit(format!("{field}: {error}"))
}

fn only_question(project: &Project, task: TaskId) -> Answer<ClarificationId> {
    let open: Vec<_> = project.look(|state| state.session(task).questions().keys().copied().collect());
    match open.as_slice() {
        [one] => Ok(*one),
        [] => Err(Fault::conflict("late", "the task has no open question")
            .hint("It was answered, or nobody waits for it any more.")),
        many => Err(Fault::conflict("ambiguous", format!("the task has {} open questions", many.len()))
            .hint("Name one by `clarificationId`.")),
    }
}

async fn approve(
    State(app): State<App>,
    Path(name): Path<String>,
    Input(wish): Input<Approve>,
) -> Answer<Given<Acted>> {
    let project = app.project(&name).await?;
    let task = find(&project, &wish.task_id)?;
    let id: ApprovalId = wish.approval_id.parse().map_err(|error| no_id("approvalId", error))?;
    let (digest, host) = project.look(|state| {
        let session = state.session(task);
        let host = session.host_requests().get(&id).map(|request| request.host.clone());
        let call = session.approvals().get(&id).map(|call| call.call_hash.clone());
        (call.or_else(|| host.as_deref().map(host_digest)), host)
    });
    if let (Some(looked_at), Some(digest)) = (&wish.args_digest, &digest)
        && looked_at != digest
    {
        return Err(Fault::conflict("other_call", "the call is not the one that was looked at")
            .hint("Look at what waits again."));
    }
    if wish.decision == Decision::Always {
        allow_always(&app, &name, host.clone()).await?;
    }
    let (verdict, scope) = match wish.decision {
        Decision::Once => (Verdict::Allow, ApprovalScope::Once),
        Decision::Task => (Verdict::Allow, ApprovalScope::Task),
        Decision::Always => (Verdict::Allow, ApprovalScope::Project),
        Decision::Deny => (Verdict::Deny, ApprovalScope::Once),
    };
    let note = wish.note.filter(|note| !note.trim().is_empty());
    // A host that is denied is no call of its own, so there is no result that could say why.
    let is_result = verdict == Verdict::Deny && host.is_none();
    let (reason, message) = if is_result { (note, None) } else { (None, note) };
    let op = SessionOp::Approve { id, verdict, scope, reason };
    let acted = Acted::of(&app, project.wish(Actor::User, Op::Session { task, op }).await)?;
    if let Some(note) = message {
        // The word holds whatever becomes of the note.
        let id = crate::clock::fresh_id()?;
        let post = mxd_core::decide::Post::text(note);
        project.wish(Actor::User, Op::SendMessage { id, to: task, post }).await?;
    }
    Ok(Given(acted))
}

/// Writes a host into the user's settings for the project. Commands that run go by it at once.
async fn allow_always(app: &App, project: &str, host: Option<String>) -> Answer<()> {
    let Some(host) = host else {
        return Err(Fault::unfit("decision: only a host can be allowed always")
            .hint("Write a rule into `approvals.rules` for a tool."));
    };
    let registered = app.registered(project)?;
    let places = app.home.places(Some(&registered.entry));
    tokio::task::spawn_blocking(move || config::allow_host(&places, &host)).await??;
    Ok(())
}
