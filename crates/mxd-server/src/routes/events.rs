//! What happened: pages of the log, and the live stream.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use mxd_engine::project::Project;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Given;
use super::control::located;
use crate::api::{Api, Route};
use crate::app::{App, find, fixed};
use crate::fault::Answer;
use crate::feed::{Cursor, Listener, listen};
use crate::guard::Visitor;
use crate::history::{self, Extent, Whose};
use crate::limits;
use crate::take::{Asked, Path};

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::get("/projects/{project}/tasks/{task}/events", "The last events of a task")
            .asks::<EventsQuery>()
            .gives::<Events>(),
        of_task,
    )
    .add(
        Route::get("/projects/{project}/events", "The last events of all tasks")
            .asks::<EventsQuery>()
            .gives::<Events>(),
        of_project,
    )
    .add(
        Route::get("/projects/{project}/events/older", "Earlier events of a task")
            .asks::<OlderQuery>()
            .gives::<Events>(),
        older,
    )
    .add(
        Route::get("/events", "The live stream of a project (server-sent events)")
            .asks::<StreamQuery>()
            .gives_other("text/event-stream"),
        stream,
    )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EventsQuery {
    /// Only what came before this commit.
    #[serde(default)]
    before: Option<u64>,
    /// How many at most.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<u32>,
    /// `compact`: only what came after the last summary.
    #[serde(default)]
    after: Option<AfterName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AfterName {
    Compact,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OlderQuery {
    /// The task.
    session: String,
    /// Only what came before this commit.
    before: u64,
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Events {
    /// Oldest first. Each is as it is in the log, with its commit `seq`, its time `at` and one `line` for people.
    #[schemars(with = "Vec<EventShape>")]
    events: Vec<Box<RawValue>>,
    has_more: bool,
    /// Where a live stream goes on.
    cursor: String,
}

/// What every event has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EventShape {
    seq: u64,
    at: u64,
    task: String,
    #[serde(rename = "type")]
    type_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
}

fn most(limit: Option<u32>) -> usize {
    let limit = limit.map_or(limits::PAGE_EVENTS, |limit| limit as usize);
    limit.clamp(1, limits::MOST_PAGE_EVENTS)
}

async fn page(app: &App, project: Project, whose: Whose, query: &EventsQuery) -> Answer<Given<Events>> {
    let through = project.head().0;
    let most = most(query.limit);
    let extent = match query.after {
        Some(AfterName::Compact) => Extent::Summary(limits::MOST_PAGE_EVENTS),
        None => Extent::Events(most),
    };
    let before = query.before.unwrap_or(u64::MAX).min(through + 1);
    let page = tokio::task::spawn_blocking(move || history::page(project.log(), whose, before, extent));
    let page = page.await??;
    Ok(Given(Events { events: page.events, has_more: page.has_more, cursor: app.cursor(through) }))
}

async fn of_task(
    State(app): State<App>,
    at: Path<(String, String)>,
    Asked(query): Asked<EventsQuery>,
) -> Answer<Given<Events>> {
    let (project, task) = located(&app, &at).await?;
    page(&app, project, Whose::Task(task), &query).await
}

async fn of_project(
    State(app): State<App>,
    Path(project): Path<String>,
    Asked(query): Asked<EventsQuery>,
) -> Answer<Given<Events>> {
    let project = app.project(&project).await?;
    page(&app, project, Whose::Project, &query).await
}

async fn older(
    State(app): State<App>,
    Path(project): Path<String>,
    Asked(query): Asked<OlderQuery>,
) -> Answer<Given<Events>> {
    let project = app.project(&project).await?;
    let task = find(&project, &query.session)?;
    let query = EventsQuery { before: Some(query.before), limit: query.limit, after: None };
    page(&app, project, Whose::Task(task), &query).await
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StreamQuery {
    project_id: String,
    /// A stream token, for clients that cannot send a header.
    #[serde(default)]
    #[expect(dead_code, reason = "looked at before a request comes here; it stands here for the document")]
    token: Option<String>,
    /// Where to go on, for clients that cannot send the header `Last-Event-ID`.
    #[serde(default)]
    last_event_id: Option<String>,
}

async fn stream(
    State(app): State<App>,
    visitor: Visitor,
    headers: HeaderMap,
    Asked(query): Asked<StreamQuery>,
) -> Answer<Response> {
    let registered = app.registered(&query.project_id)?;
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let cursor = header.or(query.last_event_id.as_deref()).map_or(Cursor::Fresh, Cursor::parse);
    let seat = app.seat()?;
    let feed = app.feeds.of(&registered);
    let watched = app.clone();
    let session_ended = Box::pin(async move { watched.auth.session_ended(&visitor.who).await });
    let frames = listen(Listener { feed, cursor, session_ended, seat });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, fixed("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, fixed("no-cache, no-store"));
    headers.insert("x-accel-buffering", fixed("no"));
    Ok(response)
}
