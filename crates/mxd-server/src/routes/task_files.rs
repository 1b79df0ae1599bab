//! The files of persistent tasks in the repository.

use axum::extract::State;
use mxd_engine::agents::TaskFileReport;
use schemars::JsonSchema;
use serde::Serialize;

use super::Given;
use crate::api::{Api, Route};
use crate::app::App;
use crate::fault::Answer;
use crate::take::Path;

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::get("/projects/{project}/task-files", "How the files of persistent tasks are")
            .gives::<TaskFilesView>(),
        look,
    )
}

/// How the files of persistent tasks, `.mxd/tasks/<id>.json` of the base branch, are.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskFilesView {
    /// Why the files are not as the tasks are; they are written when that has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<String>,
    /// Files that are not taken over.
    refused: Vec<RefusedFileView>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RefusedFileView {
    /// The file.
    name: String,
    /// What is wrong with it.
    why: String,
}

async fn look(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<TaskFilesView>> {
    let TaskFileReport { waiting, refused } = app.project(&project).await?.task_files();
    let refused = refused.into_iter().map(|(name, why)| RefusedFileView { name, why }).collect();
    Ok(Given(TaskFilesView { waiting, refused }))
}
