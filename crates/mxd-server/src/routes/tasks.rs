//! The tree: nodes listed, created, changed, moved, ordered, deleted.

use axum::extract::State;
use mxd_core::change::Change;
use mxd_core::decide::{
    Actor, DescriptionEdit, NewFolder, NewTask, Op, Place, Reach, Refusal, TaskPatch as Patch,
};
use mxd_core::event::body::InitialStatus;
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::tree::{Color, Persistence, Status};
use mxd_engine::project::{Project, WishError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::control::{Acted, located};
use super::projects::root;
use super::{Given, Made};
use crate::api::{Api, Route};
use crate::app::{App, find};
use crate::fault::{Answer, Fault};
use crate::take::{Asked, Input, Path};
use crate::view::{Detail, TaskView};

pub(super) fn routes(api: Api) -> Api {
    api.add(Route::get("/projects/{project}/tasks", "The whole tree").gives::<Tasks>(), list)
        .add(
            Route::post("/projects/{project}/tasks", "Creates a task or a folder")
                .takes::<TaskWish>()
                .gives::<TaskView>()
                .status(201),
            create,
        )
        .add(Route::get("/projects/{project}/tasks/{task}", "A task").gives::<TaskView>(), get)
        .add(
            Route::patch(
                "/projects/{project}/tasks/{task}",
                "Changes a task: its fields, its place and its status, all of it or nothing",
            )
            .takes::<TaskPatch>()
            .gives::<TaskView>(),
            patch,
        )
        .add(
            Route::patch("/projects/{project}/tasks/{task}/reorder", "Orders the children of a node")
                .takes::<Reorder>()
                .gives::<TaskView>(),
            reorder,
        )
        .add(
            Route::delete("/projects/{project}/tasks/{task}", "Deletes a node")
                .asks::<DeleteQuery>()
                .gives::<Acted>(),
            delete,
        )
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Tasks {
    tasks: Vec<TaskView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_id: Option<String>,
    /// Where a live stream goes on.
    cursor: String,
}

/// A node to be created.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TaskWish {
    /// Task or folder; a task unless said otherwise.
    #[serde(default)]
    kind: Kind,
    title: String,
    #[serde(default)]
    description: String,
    /// Below which node; otherwise below the root.
    #[serde(default)]
    parent_id: Option<String>,
    /// Whether it is only written down, and not ready to be started.
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    color: Option<String>,
    /// What it may spend, in dollars.
    #[serde(default)]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1_000_000_000))]
    budget_usd: Option<Usd>,
    /// Tasks that have to be passed or closed first.
    #[serde(default)]
    after: Vec<String>,
    /// Commands that have to succeed before it can be passed.
    #[serde(default)]
    checks: Vec<String>,
    /// What closing it does, if it is to come back.
    #[serde(default)]
    #[schemars(schema_with = "persistence_schema")]
    persistent: Option<Persistence>,
    /// The manifest its agent works under, a file of the repository: it only takes away from what the task above has.
    #[serde(default)]
    manifest: Option<String>,
    /// The skill its agent works by.
    #[serde(default)]
    skill: Option<String>,
    /// How many children stand before it; otherwise it is the last.
    #[serde(default)]
    index: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    #[default]
    Task,
    Folder,
}

/// The statuses there are, as the domain names them.
fn status_schema(_: &mut SchemaGenerator) -> Schema {
    let names = Status::ALL.iter().map(|status| Value::from(status.name())).chain([Value::Null]);
    json_schema!({ "enum": names.collect::<Vec<_>>() })
}

/// What closing a task that comes back can do, as the domain names it.
fn persistence_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": [Persistence::Reset, Persistence::Continue, Value::Null] })
}

/// What changes about a node. What is left out stays; null clears.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TaskPatch {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    color: Change<Color>,
    #[serde(default)]
    #[schemars(schema_with = "status_schema")]
    status: Option<Status>,
    /// True makes it a draft, false makes a draft ready.
    #[serde(default)]
    draft: Option<bool>,
    /// The new node above.
    #[serde(default)]
    parent_id: Option<String>,
    /// The new place among its siblings.
    #[serde(default)]
    index: Option<u32>,
    #[serde(default)]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1_000_000_000))]
    budget_usd: Change<Usd>,
    #[serde(default)]
    after: Option<Vec<String>>,
    #[serde(default)]
    #[schemars(schema_with = "persistence_schema")]
    persistent: Change<Persistence>,
}

/// All children of a node, each once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reorder {
    children: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DeleteQuery {
    /// Whether what is below goes too.
    #[serde(default)]
    recursive: bool,
}

async fn list(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<Tasks>> {
    let (project, feed) = app.fed(&project).await?;
    // Read before the state, so that nothing is missed by whoever goes on from it.
    let through = project.head().0;
    let tally = feed.tally();
    let (tasks, root_id) = project.look(|state| {
        let nodes = state.tree().nodes().values();
        let tasks = nodes.map(|node| TaskView::of(state, &tally, node, Detail::List)).collect();
        (tasks, state.tree().root().map(|root| root.id.to_string()))
    });
    Ok(Given(Tasks { tasks, root_id, cursor: app.cursor(through) }))
}

/// A task as it is now, whole.
pub(crate) async fn shown(app: &App, project: &Project, task: TaskId) -> Answer<TaskView> {
    let feed = app.feed(project).await?;
    let tally = feed.tally();
    let view = project
        .look(|state| state.tree().get(task).map(|node| TaskView::of(state, &tally, node, Detail::Whole)));
    view.ok_or_else(|| Fault::from(Refusal::UnknownTask { task }))
}

async fn create(
    State(app): State<App>,
    Path(id): Path<String>,
    Input(wish): Input<TaskWish>,
) -> Answer<Made<TaskView>> {
    let project = app.project(&id).await?;
    let parent = match &wish.parent_id {
        Some(given) => find(&project, given)?,
        None => root(&project)?,
    };
    let made = project.wish(Actor::User, creation(&project, wish, parent)?).await?;
    let node = made.node.ok_or_else(|| Fault::internal("a task was created and has no id"))?;
    shown(&app, &project, node).await.map(Made)
}

fn creation(project: &Project, wish: TaskWish, parent: TaskId) -> Answer<Op> {
    let place = wish.index.map_or(Place::Last, |index| Place::At(index as usize));
    let color = wish.color.map(Color);
    if wish.kind == Kind::Folder {
        let lists = !wish.after.is_empty() || !wish.checks.is_empty();
        let fields = wish.budget_usd.is_some() || wish.draft || wish.persistent.is_some();
        if lists || fields || wish.manifest.is_some() || wish.skill.is_some() {
            return Err(Fault::unfit("a folder has a title, a colour and a place, and nothing else"));
        }
        return Ok(Op::CreateFolder(NewFolder { parent, place, title: wish.title, color }));
    }
    Ok(Op::CreateTask(NewTask {
        parent,
        place,
        title: wish.title,
        description: wish.description,
        status: if wish.draft { InitialStatus::Draft } else { InitialStatus::Pending },
        color,
        persistent: wish.persistent,
        budget: wish.budget_usd,
        after: found(project, &wish.after)?,
        checks: wish.checks,
        manifest: wish.manifest,
        skill: wish.skill,
    }))
}

fn found(project: &Project, given: &[String]) -> Answer<Vec<TaskId>> {
    given.iter().map(|given| find(project, given)).collect()
}

async fn get(State(app): State<App>, at: Path<(String, String)>) -> Answer<Given<TaskView>> {
    let (project, task) = located(&app, &at).await?;
    shown(&app, &project, task).await.map(Given)
}

async fn patch(
    State(app): State<App>,
    at: Path<(String, String)>,
    Input(patch): Input<TaskPatch>,
) -> Answer<Given<TaskView>> {
    let (project, task) = located(&app, &at).await?;
    let changes = changes(&project, task, patch)?;
    if !changes.is_empty() {
        match project.wish(Actor::User, Op::Together(changes)).await {
            // A patch says how it is to be, and so it is.
            Ok(_) | Err(WishError::Refused(Refusal::NothingToChange { .. })) => {}
            Err(error) => return Err(error.into()),
        }
    }
    shown(&app, &project, task).await.map(Given)
}

fn changes(project: &Project, task: TaskId, patch: TaskPatch) -> Answer<Vec<Op>> {
    let mut ops = Vec::new();
    let fields = Patch {
        title: patch.title,
        description: patch.description.map(DescriptionEdit::Whole),
        color: patch.color,
        persistent: patch.persistent,
        budget: patch.budget_usd,
        after: patch.after.map(|after| found(project, &after)).transpose()?,
    };
    if fields != Patch::default() {
        ops.push(Op::UpdateTask { task, patch: fields });
    }
    if patch.parent_id.is_some() || patch.index.is_some() {
        let above = project.look(|state| state.tree().get(task).and_then(|node| node.parent_id));
        let parent = match &patch.parent_id {
            Some(given) => find(project, given)?,
            None => above.ok_or(Refusal::IsRoot { task, wanted: "moved" })?,
        };
        let place = patch.index.map_or(Place::Last, |index| Place::At(index as usize));
        ops.push(Op::MoveTask { task, parent, place });
    }
    let draft = patch.draft.map(|draft| if draft { Status::Draft } else { Status::Pending });
    if let (Some(status), Some(draft)) = (patch.status, draft)
        && status != draft
    {
        return Err(Fault::unfit("`status` and `draft` say different things"));
    }
    let now = project.look(|state| state.tree().get(task).and_then(|node| node.status()));
    if let Some(to) = patch.status.or(draft).filter(|to| now != Some(*to)) {
        ops.push(Op::SetStatus { task, to, reason: None });
    }
    Ok(ops)
}

async fn reorder(
    State(app): State<App>,
    at: Path<(String, String)>,
    Input(wish): Input<Reorder>,
) -> Answer<Given<TaskView>> {
    let (project, node) = located(&app, &at).await?;
    let children = found(&project, &wish.children)?;
    match project.wish(Actor::User, Op::ReorderChildren { node, children }).await {
        Ok(_) | Err(WishError::Refused(Refusal::NothingToChange { .. })) => {}
        Err(error) => return Err(error.into()),
    }
    shown(&app, &project, node).await.map(Given)
}

async fn delete(
    State(app): State<App>,
    at: Path<(String, String)>,
    Asked(query): Asked<DeleteQuery>,
) -> Answer<Given<Acted>> {
    let (project, task) = located(&app, &at).await?;
    let reach = if query.recursive { Reach::Recursive } else { Reach::Only };
    Acted::of(&app, project.wish(Actor::User, Op::DeleteTask { task, reach }).await).map(Given)
}
