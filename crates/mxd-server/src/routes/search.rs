//! Finding tasks by their words, and what was said by what it contains.

use axum::extract::State;
use mxd_core::event::{Event, EventBody, split_events};
use mxd_core::show;
use mxd_core::state::State as Tree;
use mxd_engine::project::Project;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Given;
use crate::api::{Api, Route};
use crate::app::App;
use crate::fault::{Answer, Fault};
use crate::history::{self, Whose};
use crate::limits;
use crate::take::{Asked, Path};

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::get("/projects/{project}/search", "Finds tasks and what was said")
            .asks::<SearchQuery>()
            .gives::<Found>(),
        search,
    )
}

/// Characters of a question.
const MOST_CHARS: usize = 200;
/// Characters around a place in the log.
const AROUND: usize = 60;
/// Commits that are looked at together, from the end of the log backwards.
const STEP: u64 = 2_048;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SearchQuery {
    /// The words.
    q: String,
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Found {
    tasks: Vec<TaskHit>,
    /// Newest first.
    log: Vec<LogHit>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskHit {
    task_id: String,
    title: String,
    line: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LogHit {
    seq: u64,
    task_id: String,
    line: String,
}

async fn search(
    State(app): State<App>,
    Path(project): Path<String>,
    Asked(query): Asked<SearchQuery>,
) -> Answer<Given<Found>> {
    let project = app.project(&project).await?;
    let words = query.q.trim().to_lowercase();
    if words.is_empty() || words.chars().count() > MOST_CHARS {
        return Err(Fault::invalid(format!("`q` has to have 1 to {MOST_CHARS} characters")));
    }
    let most = query.limit.map_or(limits::SEARCH_RESULTS, |limit| limit as usize);
    let most = most.clamp(1, limits::SEARCH_RESULTS);
    let found = tokio::task::spawn_blocking(move || {
        let tasks = project.look(|state| tasks(state, &words, most));
        said(&project, &words, most).map(|log| Found { tasks, log })
    });
    Ok(Given(found.await??))
}

/// Tasks by how often they have the words; the title counts most.
fn tasks(state: &Tree, words: &str, most: usize) -> Vec<TaskHit> {
    let each: Vec<&str> = words.split_whitespace().collect();
    let mut found: Vec<(usize, TaskHit)> = Vec::new();
    for node in state.tree().nodes().values() {
        let (title, text) = (node.title.to_lowercase(), node.description.to_lowercase());
        let count =
            |word: &&str| 3 * title.matches(*word).count().min(3) + text.matches(*word).count().min(3);
        let score: usize = each.iter().map(count).sum();
        if score > 0 || node.id.to_string().to_lowercase().starts_with(words) {
            let line = around(&node.description, words);
            found.push((score, TaskHit { task_id: node.id.to_string(), title: node.title.clone(), line }));
        }
    }
    found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.task_id.cmp(&other.1.task_id)));
    found.into_iter().take(most).map(|(_, hit)| hit).collect()
}

fn said(project: &Project, words: &str, most: usize) -> Result<Vec<LogHit>, mxd_store::ReadError> {
    let head = project.head().0;
    let (mut hits, mut before) = (Vec::new(), head + 1);
    while hits.len() < most && before > 1 && head.saturating_sub(before) < limits::SEARCH_COMMITS {
        let after = before.saturating_sub(STEP + 1);
        let mut here = Vec::new();
        history::commits(project.log(), Whose::Project, (after, before), |commit| {
            // Most commits say nothing of it, and need not be taken apart.
            if commit.events.to_lowercase().contains(words) {
                here.extend(hits_of(commit.seq, &commit.events, words));
            }
        })?;
        hits.extend(here.into_iter().rev());
        before = after + 1;
    }
    hits.truncate(most);
    Ok(hits)
}

fn hits_of(seq: u64, events: &str, words: &str) -> Vec<LogHit> {
    let mut hits = Vec::new();
    for text in split_events(events).into_iter().flatten() {
        let Ok(event) = Event::decode(text) else { continue };
        let Some(said) = words_of(&event.body).filter(|said| said.to_lowercase().contains(words)) else {
            continue;
        };
        hits.push(LogHit { seq, task_id: event.task.to_string(), line: around(&said, words) });
    }
    hits
}

/// What people and agents said and did, without what is only for machines.
fn words_of(body: &EventBody) -> Option<String> {
    match body {
        EventBody::AssistantText(text) => Some(text.content.clone()),
        EventBody::Thinking(thought) if !thought.redacted => Some(thought.thinking.clone()),
        EventBody::ToolCall(call) => Some(format!("{} {}", call.tool, call.input.get())),
        EventBody::ToolResult(result) => Some(result.content.clone()),
        EventBody::CompactMarker(marker) => Some(marker.checkpoint.clone()),
        EventBody::Message(posted) => {
            serde_json::to_value(&posted.body).ok()?.get("content")?.as_str().map(str::to_owned)
        }
        other => show::line(other),
    }
}

/// The place where the words stand, with a little around it.
fn around(text: &str, words: &str) -> String {
    let lower = text.to_lowercase();
    let at = lower.find(words).map_or(0, |at| lower[..at].chars().count());
    let shown: String = text.chars().skip(at.saturating_sub(AROUND)).take(AROUND * 2 + words.len()).collect();
    show::one_line(&shown, show::LINE_CHARS)
}
