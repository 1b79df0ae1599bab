//! Projects: registered, listed, renamed, moved, taken out; and what is true of a whole one.

use std::path::{Path as FilePath, PathBuf};

use axum::extract::State;
use mxd_core::decide::{Actor, Op, SessionOp};
use mxd_core::id::TaskId;
use mxd_core::show;
use mxd_engine::home::{Init, Registered, Registration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::control::{Acted, compacted};
use super::{Given, Made};
use crate::api::{Api, Route};
use crate::app::App;
use crate::fault::{Answer, Fault};
use crate::take::{Input, Path};
use crate::view::ProjectView;

pub(super) fn routes(api: Api) -> Api {
    api.add(Route::get("/projects", "All projects").gives::<Projects>(), list)
        .add(
            Route::post("/projects", "Registers a folder")
                .takes::<NewProject>()
                .gives::<ProjectView>()
                .status(201),
            register,
        )
        .add(Route::get("/projects/{project}", "A project").gives::<ProjectView>(), get)
        .add(
            Route::patch("/projects/{project}", "Renames a project, or says where its folder is now")
                .takes::<ProjectPatch>()
                .gives::<ProjectView>(),
            patch,
        )
        .add(
            Route::delete("/projects/{project}", "Takes a project out; its data is kept").gives::<Removed>(),
            remove,
        )
        .add(Route::get("/projects/{project}/agent", "Whether agents work").gives::<Agents>(), agents)
        .add(
            Route::get("/projects/{project}/agent/status", "Which agents work").gives::<AgentStatus>(),
            agent_status,
        )
        .add(Route::post("/projects/{project}/stop", "Stops all agents").gives::<Acted>(), stop)
        .add(
            Route::post("/projects/{project}/compact", "Has the conversation of a task summarised")
                .takes::<Compact>()
                .gives::<Acted>(),
            compact,
        )
        .add(
            Route::post("/projects/{project}/restart", "Reads the settings anew; agents go on with them")
                .gives::<ProjectView>(),
            restart,
        )
        .add(
            Route::post("/projects/{project}/sessions/clear", "Throws all conversations away")
                .gives::<Cleared>(),
            clear,
        )
        .add(
            Route::post("/projects/{project}/sessions/prune", "Throws conversations of closed tasks away")
                .takes::<Prune>()
                .gives::<Cleared>(),
            prune,
        )
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Projects {
    projects: Vec<ProjectView>,
}

/// A folder to be registered.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewProject {
    /// Its whole path.
    path: String,
    /// What it is to be called; otherwise as its folder.
    #[serde(default)]
    name: Option<String>,
    /// Whether the folder and its repository are made when they are not there.
    #[serde(default)]
    init: bool,
}

/// What changes about a project.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ProjectPatch {
    /// Where its folder is now.
    #[serde(default)]
    path: Option<String>,
    /// What it is called now.
    #[serde(default)]
    name: Option<String>,
    /// The branch that tasks start from and that work is merged into, from now on.
    #[serde(default)]
    base_branch: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Removed {
    /// Where its data is.
    kept: String,
}

/// Whose conversation is to be summarised.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Compact {
    /// The task; otherwise the root.
    #[serde(default)]
    task_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Agents {
    running: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentStatus {
    /// Agents that rest.
    idle: Vec<String>,
    /// Agents at work.
    active: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Cleared {
    /// How many conversations went.
    cleared: u64,
}

/// Which conversations of closed tasks stay.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Prune {
    /// How many stay, the newest.
    #[serde(default)]
    keep_count: Option<u32>,
}

async fn view(app: &App, registered: &Registered) -> ProjectView {
    let feed = app.feeds.of(registered);
    let mut view = ProjectView::of(registered, Some(&feed.tally()));
    if let Some(project) = registered.now().project() {
        view.base_branch = project.base_branch();
    }
    view
}

async fn list(State(app): State<App>) -> Given<Projects> {
    let mut projects = Vec::new();
    for registered in app.home.projects() {
        projects.push(view(&app, &registered).await);
    }
    Given(Projects { projects })
}

async fn register(State(app): State<App>, Input(new): Input<NewProject>) -> Answer<Made<ProjectView>> {
    let path = PathBuf::from(&new.path);
    if new.path.contains('\0') {
        return Err(Fault::invalid("a path holds no zero byte"));
    }
    let init = if new.init { Init::Make } else { Init::Refuse };
    let welcome = app.home.register(Registration { path, name: new.name, init }).await?;
    let mut view = view(&app, &welcome.project).await;
    view.notes = welcome.notes;
    Ok(Made(view))
}

async fn get(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<ProjectView>> {
    let registered = app.registered(&project)?;
    Ok(Given(view(&app, &registered).await))
}

async fn patch(
    State(app): State<App>,
    Path(project): Path<String>,
    Input(patch): Input<ProjectPatch>,
) -> Answer<Given<ProjectView>> {
    let id = app.registered(&project)?.entry.id;
    let mut notes = Vec::new();
    if let Some(name) = &patch.name {
        app.home.rename(id, name).await?;
    }
    if let Some(path) = &patch.path {
        notes = app.home.relocate(id, FilePath::new(path)).await?.notes;
    }
    if let Some(branch) = &patch.base_branch {
        app.project(&id.to_string()).await?.set_base_branch(branch).await?;
    }
    let mut view = view(&app, &app.registered(&id.to_string())?).await;
    view.notes = notes;
    Ok(Given(view))
}

async fn remove(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<Removed>> {
    let id = app.registered(&project)?.entry.id;
    let kept = app.home.unregister(id).await?;
    Ok(Given(Removed { kept: kept.display().to_string() }))
}

async fn agents(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<Agents>> {
    let project = app.project(&project).await?;
    let running = project.look(|state| state.sessions().values().filter(|session| session.is_busy()).count());
    let model = project.config().agent_model(mxd_engine::config::Role::Root).ok();
    Ok(Given(Agents { running: running as u64, model: model.map(|model| model.model.name) }))
}

async fn agent_status(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<AgentStatus>> {
    let project = app.project(&project).await?;
    let (mut idle, mut active) = (Vec::new(), Vec::new());
    project.look(|state| {
        for task in state.sessions().keys() {
            match show::standing(state, *task) {
                Some(standing) if standing.state.is_active() => active.push(task.to_string()),
                Some(_) => idle.push(task.to_string()),
                None => {}
            }
        }
    });
    Ok(Given(AgentStatus { idle, active }))
}

async fn stop(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<Acted>> {
    let project = app.project(&project).await?;
    let root = root(&project)?;
    let op = Op::Session { task: root, op: SessionOp::Stop { reason: None } };
    Ok(Given(Acted::of(&app, project.wish(Actor::User, op).await)?))
}

async fn compact(
    State(app): State<App>,
    Path(project): Path<String>,
    Input(wish): Input<Compact>,
) -> Answer<Given<Acted>> {
    let project = app.project(&project).await?;
    let task = match &wish.task_id {
        Some(given) => crate::app::find(&project, given)?,
        None => root(&project)?,
    };
    compacted(&app, &project, task).await.map(Given)
}

async fn restart(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<ProjectView>> {
    let id = app.registered(&project)?.entry.id;
    let registered = app.home.restart(id).await?;
    Ok(Given(view(&app, &registered).await))
}

async fn clear(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<Cleared>> {
    let project = app.project(&project).await?;
    let begun = project.look(|state| -> Vec<TaskId> {
        state.sessions().iter().filter(|(_, session)| session.is_open()).map(|(task, _)| *task).collect()
    });
    throw_away(&project, begun).await.map(Given)
}

async fn prune(
    State(app): State<App>,
    Path(project): Path<String>,
    Input(wish): Input<Prune>,
) -> Answer<Given<Cleared>> {
    let project = app.project(&project).await?;
    let mut closed = project.look(|state| -> Vec<_> {
        let nodes = state.tree().nodes().values();
        let closed = nodes.filter(|node| node.status() == Some(mxd_core::tree::Status::Closed));
        let begun = closed.filter(|node| state.session(node.id).is_open());
        begun.map(|node| (node.updated_at, node.id)).collect()
    });
    closed.sort_unstable_by(|one, other| other.cmp(one));
    let kept = wish.keep_count.map_or(0, |kept| kept as usize);
    throw_away(&project, closed.into_iter().skip(kept).map(|(_, task)| task).collect()).await.map(Given)
}

async fn throw_away(project: &mxd_engine::project::Project, tasks: Vec<TaskId>) -> Answer<Cleared> {
    let mut cleared = 0;
    for task in tasks {
        project.wish(Actor::User, Op::ClearConversation { task }).await?;
        cleared += 1;
    }
    Ok(Cleared { cleared })
}

pub(super) fn root(project: &mxd_engine::project::Project) -> Answer<TaskId> {
    let root = project.look(|state| state.tree().root().map(|root| root.id));
    root.ok_or_else(|| Fault::not_found("no_root", "the project has no root task"))
}
