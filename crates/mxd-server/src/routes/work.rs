//! What a task did: its commits, its files, its checks, its tool calls.

use std::collections::HashMap;

use axum::extract::State;
use mxd_core::event::EventBody;
use mxd_core::event::body::{ToolCallId, Verdict};
use mxd_core::show;
use mxd_engine::git::{FileChange, FileStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Given;
use super::control::located;
use crate::api::{Api, Route};
use crate::app::App;
use crate::fault::Answer;
use crate::history;
use crate::limits;
use crate::take::{Asked, Path};
use crate::view::DiffView;

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::get("/projects/{project}/tasks/{task}/gitlog", "The last commits of a task's branch")
            .gives::<GitLog>(),
        git_log,
    )
    .add(
        Route::get("/projects/{project}/tasks/{task}/diff", "What a task has changed, committed or not")
            .gives::<Diff>(),
        diff,
    )
    .add(
        Route::get("/projects/{project}/tasks/{task}/evidence", "The checks of a task that were run")
            .gives::<Evidence>(),
        evidence,
    )
    .add(
        Route::get(
            "/projects/{project}/tasks/{task}/ledger",
            "The tool calls of a task, and what was said about them",
        )
        .asks::<LedgerQuery>()
        .gives::<Ledger>(),
        ledger,
    )
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GitLog {
    /// Newest first.
    commits: Vec<GitCommit>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GitCommit {
    hash: String,
    message: String,
    at: u64,
    author: String,
}

type At = Path<(String, String)>;

async fn git_log(State(app): State<App>, at: At) -> Answer<Given<GitLog>> {
    let (project, task) = located(&app, &at).await?;
    let commits = project.history(task, limits::HISTORY).await?.into_iter().map(|logged| GitCommit {
        hash: logged.hash,
        message: logged.message,
        at: logged.at.saturating_mul(1_000),
        author: logged.author,
    });
    Ok(Given(GitLog { commits: commits.collect() }))
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Diff {
    /// The commit that the files are compared with.
    base: String,
    /// Where the branch stands; none when the agent deleted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    /// Whether something is not committed.
    dirty: bool,
    files: Vec<FileView>,
    /// Whether something was left out because it is too much.
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FileView {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_path: Option<String>,
    status: StatusName,
    additions: u64,
    deletions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    binary: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StatusName {
    Added,
    Modified,
    Deleted,
    Renamed,
    Other,
}

impl From<FileChange> for FileView {
    fn from(change: FileChange) -> Self {
        Self {
            path: change.path,
            old_path: change.old_path,
            status: match change.status {
                FileStatus::Added => StatusName::Added,
                FileStatus::Modified => StatusName::Modified,
                FileStatus::Deleted => StatusName::Deleted,
                FileStatus::Renamed => StatusName::Renamed,
                FileStatus::Other => StatusName::Other,
            },
            additions: change.additions,
            deletions: change.deletions,
            patch: change.patch,
            binary: change.binary,
        }
    }
}

async fn diff(State(app): State<App>, at: At) -> Answer<Given<Diff>> {
    let (project, task) = located(&app, &at).await?;
    let review = project.review(task).await?;
    app.feeds.of(&app.registered(&at.0.0)?).see_diff(task, DiffView::of(&review));
    Ok(Given(Diff {
        base: review.base.to_string(),
        head: review.head.map(|head| head.to_string()),
        dirty: review.dirty,
        files: review.files.into_iter().map(FileView::from).collect(),
        truncated: review.truncated,
    }))
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Evidence {
    /// Newest last.
    checks: Vec<CheckView>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CheckView {
    command: String,
    /// None when it was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The files it was run on.
    tree_hash: String,
    at: u64,
    output: String,
    /// The whole output, when it was too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
}

async fn evidence(State(app): State<App>, at: At) -> Answer<Given<Evidence>> {
    let (project, task) = located(&app, &at).await?;
    let found = tokio::task::spawn_blocking(move || {
        let mut checks = Vec::new();
        let read = history::events_of(project.log(), task, |(_, at), event| {
            if let EventBody::CheckFinished(check) = event.body {
                checks.push(CheckView {
                    command: check.command,
                    exit_code: check.exit_code,
                    tree_hash: check.tree,
                    at,
                    output: check.output,
                    blob: check.blob.map(|blob| blob.0),
                });
            }
        });
        read.map(|()| checks)
    });
    Ok(Given(Evidence { checks: found.await?? }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LedgerQuery {
    /// Only calls before this commit.
    #[serde(default)]
    before: Option<u64>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Ledger {
    /// Oldest first.
    calls: Vec<CallView>,
    has_more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CallView {
    seq: u64,
    at: u64,
    call_id: String,
    tool: String,
    /// The side-effect class of the tool, once it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    /// `allow`, `ask` or `deny`, once it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// From the call to its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// Whether it went well; none while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
    line: String,
}

async fn ledger(State(app): State<App>, at: At, Asked(query): Asked<LedgerQuery>) -> Answer<Given<Ledger>> {
    let (project, task) = located(&app, &at).await?;
    let found = tokio::task::spawn_blocking(move || {
        let mut book = Book::default();
        let read = history::events_of(project.log(), task, |place, event| book.take(place, event.body));
        read.map(|()| book.calls)
    });
    let mut calls: Vec<CallView> = found.await??;
    calls.retain(|call| query.before.is_none_or(|before| call.seq < before));
    let most = query.limit.map_or(limits::PAGE_EVENTS, |limit| limit as usize);
    let left_out = calls.len().saturating_sub(most.clamp(1, limits::MOST_PAGE_EVENTS));
    calls.drain(..left_out);
    Ok(Given(Ledger { calls, has_more: left_out > 0 }))
}

/// Calls, with what was said about them and what came of them.
#[derive(Default)]
struct Book {
    calls: Vec<CallView>,
    open: HashMap<ToolCallId, usize>,
}

impl Book {
    fn take(&mut self, (seq, at): (u64, u64), body: EventBody) {
        match body {
            EventBody::ToolCall(call) => {
                self.open.insert(call.tool_call_id.clone(), self.calls.len());
                let line = show::call_line(&call.tool, call.input.get());
                self.calls.push(CallView {
                    seq,
                    at,
                    call_id: call.tool_call_id.0,
                    tool: call.tool,
                    class: None,
                    verdict: None,
                    rule: None,
                    duration_ms: None,
                    ok: None,
                    line,
                });
            }
            EventBody::ToolVerdict(said) => {
                if let Some(call) = self.of(&said.tool_call_id) {
                    call.class = Some(said.class);
                    call.rule = Some(said.rule);
                    call.verdict = Some(match said.verdict {
                        Verdict::Allow => "allow".to_owned(),
                        Verdict::Ask => "ask".to_owned(),
                        Verdict::Deny => "deny".to_owned(),
                        Verdict::Other(word) => word,
                    });
                }
            }
            EventBody::ToolResult(result) => {
                if let Some(call) = self.of(&result.tool_call_id) {
                    call.duration_ms = Some(at.saturating_sub(call.at));
                    call.ok = Some(!result.is_error);
                }
            }
            _ => {}
        }
    }

    fn of(&mut self, id: &ToolCallId) -> Option<&mut CallView> {
        self.open.get(id).and_then(|place| self.calls.get_mut(*place))
    }
}
