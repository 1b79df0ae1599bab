//! What is done to one task and its agent: stopped, broken off, tried again, put away, merged, paid.

use axum::extract::State;
use mxd_core::decide::{Actor, Op, Refusal, SessionOp};
use mxd_core::id::TaskId;
use mxd_core::message::{Compact, Message};
use mxd_core::money::Usd;
use mxd_core::price;
use mxd_engine::agents::{Merge as Merged, MergeRequest};
use mxd_engine::project::{Project, Receipt, WishError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Given;
use crate::api::{Api, Route};
use crate::app::{App, find};
use crate::clock;
use crate::fault::{Answer, Fault};
use crate::take::{Input, Path};

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::post("/projects/{project}/tasks/{task}/stop", "Stops an agent and those below it")
            .takes::<Stop>()
            .gives::<Acted>(),
        stop,
    )
    .add(
        Route::post("/projects/{project}/tasks/{task}/interrupt", "Breaks the running turn off")
            .gives::<Interrupted>(),
        interrupt,
    )
    .add(
        Route::post("/projects/{project}/tasks/{task}/compact", "Has the conversation summarised")
            .gives::<Acted>(),
        compact,
    )
    .add(
        Route::post("/projects/{project}/tasks/{task}/retry", "Asks the model again").gives::<Acted>(),
        retry,
    )
    .add(Route::post("/projects/{project}/tasks/{task}/close", "Puts a task away").gives::<Acted>(), close)
    .add(
        Route::post("/projects/{project}/tasks/{task}/reset", "Throws the work of a task away")
            .gives::<Acted>(),
        reset,
    )
    .add(
        Route::post(
            "/projects/{project}/tasks/{task}/sessions/clear",
            "Throws the conversation of a task away",
        )
        .gives::<Acted>(),
        clear,
    )
    .add(
        Route::post("/projects/{project}/tasks/{task}/merge", "Merges the branch of a task into that above")
            .takes::<Merge>()
            .gives::<MergeDone>(),
        merge,
    )
    .add(
        Route::post("/projects/{project}/tasks/{task}/grant", "Gives a task more money")
            .takes::<Grant>()
            .gives::<Granted>(),
        grant,
    )
}

/// What was done is durable.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Acted {
    /// Its commit; none when there was nothing to be recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl Acted {
    pub(crate) fn of(app: &App, done: Result<Receipt, WishError>) -> Answer<Self> {
        let seq = done?.seq.map(|seq| seq.0);
        Ok(Self { seq, cursor: seq.map(|seq| app.cursor(seq)) })
    }
}

/// Why an agent is stopped.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stop {
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Interrupted {
    /// Whether there was a turn to be broken off.
    interrupted: bool,
}

/// How a merge is called.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Merge {
    /// The message of the commit.
    #[serde(default)]
    message: Option<String>,
    /// Accepts that it changes settings or hooks of the repository: the fingerprint that its refusal names.
    #[serde(default)]
    accept_settings: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MergeDone {
    /// What became of it.
    report: String,
}

/// Money for a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Grant {
    /// How much more, in dollars.
    #[schemars(with = "f64", range(min = 0, max = 1_000_000_000))]
    usd: Usd,
}

/// What is possible with the money that a task has now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Granted {
    /// Its commit; none when there was nothing to be recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// What is left in the budget that pays for it, with nothing in it that is set aside.
    #[schemars(with = "Option<f64>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    left_usd: Option<Usd>,
    /// What its next model call may cost, with an answer as long as its model can write; none when it was never asked.
    #[schemars(with = "Option<f64>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    next_call_usd: Option<Usd>,
    /// What is still missing before a model call can be made, even with a short answer.
    #[schemars(with = "Option<f64>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_usd: Option<Usd>,
    /// The same in words.
    says: String,
}

type At = Path<(String, String)>;

/// The project and the task of a path.
pub(crate) async fn located(app: &App, Path((project, task)): &At) -> Answer<(Project, TaskId)> {
    let project = app.project(project).await?;
    let task = find(&project, task)?;
    Ok((project, task))
}

async fn act(app: &App, at: &At, op: impl FnOnce(TaskId) -> Op) -> Answer<Given<Acted>> {
    let (project, task) = located(app, at).await?;
    Acted::of(app, project.wish(Actor::User, op(task)).await).map(Given)
}

async fn stop(State(app): State<App>, at: At, Input(stop): Input<Stop>) -> Answer<Given<Acted>> {
    act(&app, &at, |task| Op::Session { task, op: SessionOp::Stop { reason: stop.reason } }).await
}

async fn interrupt(State(app): State<App>, at: At) -> Answer<Given<Interrupted>> {
    let (project, task) = located(&app, &at).await?;
    let done = project.wish(Actor::User, Op::Session { task, op: SessionOp::Interrupt }).await;
    match done {
        Ok(_) => Ok(Given(Interrupted { interrupted: true })),
        // Somebody who presses the key when the turn has just ended did nothing wrong.
        Err(WishError::Refused(Refusal::NothingToChange { .. })) => {
            Ok(Given(Interrupted { interrupted: false }))
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn compacted(app: &App, project: &Project, task: TaskId) -> Answer<Acted> {
    let id = clock::fresh_id()?;
    let op = Op::Report { id, to: task, message: Message::Compact(Compact {}) };
    Acted::of(app, project.wish(Actor::User, op).await)
}

async fn compact(State(app): State<App>, at: At) -> Answer<Given<Acted>> {
    let (project, task) = located(&app, &at).await?;
    compacted(&app, &project, task).await.map(Given)
}

async fn retry(State(app): State<App>, at: At) -> Answer<Given<Acted>> {
    let (project, task) = located(&app, &at).await?;
    let turn = project.look(|state| state.session(task).life().turns);
    let op = Op::Session { task, op: SessionOp::Retry { turn } };
    Acted::of(&app, project.wish(Actor::User, op).await).map(Given)
}

async fn close(State(app): State<App>, at: At) -> Answer<Given<Acted>> {
    act(&app, &at, |task| Op::CloseTask { task }).await
}

async fn reset(State(app): State<App>, at: At) -> Answer<Given<Acted>> {
    act(&app, &at, |task| Op::ResetTask { task }).await
}

async fn clear(State(app): State<App>, at: At) -> Answer<Given<Acted>> {
    act(&app, &at, |task| Op::ClearConversation { task }).await
}

async fn merge(State(app): State<App>, at: At, Input(wish): Input<Merge>) -> Answer<Given<MergeDone>> {
    let (project, task) = located(&app, &at).await?;
    let request = MergeRequest { message: wish.message, accepted_settings: wish.accept_settings };
    match project.merge(task, request).await {
        Merged::ChangesSettings { why, fingerprint } => {
            let hint = format!(
                "Look at what it changes, then merge it with `acceptSettings` (`mxd merge --accept-settings`) {fingerprint}."
            );
            Err(Fault::conflict("changes_settings", format!("Nothing was merged: {why}")).hint(hint))
        }
        Merged::Done(report) => Ok(Given(MergeDone { report })),
        Merged::Refused(why) => Err(Fault::conflict("not_merged", why)
            .hint("Have the task resolve it on its branch, then merge again.")),
        Merged::Nowhere => Err(Fault::conflict("not_merged", "there is no task above it to merge into")
            .hint("Merge the tasks below it: what is merged into the root is in the base branch.")),
    }
}

async fn grant(State(app): State<App>, at: At, Input(grant): Input<Grant>) -> Answer<Given<Granted>> {
    let (project, task) = located(&app, &at).await?;
    let op = Op::Session { task, op: SessionOp::Grant { amount: grant.usd } };
    let Acted { seq, cursor } = Acted::of(&app, project.wish(Actor::User, op).await)?;
    let (next, says) =
        project.look(|state| (price::next_call(state, task), price::what_money_allows(state, task)));
    Ok(Given(Granted {
        seq,
        cursor,
        left_usd: next.map(|next| next.left),
        next_call_usd: next.map(|next| next.most),
        missing_usd: next.and_then(|next| next.missing()),
        says,
    }))
}
