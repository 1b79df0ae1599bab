//! Waiting until an agent has nothing to do, or something needs the user.

use std::time::Duration;

use mxd_core::show;
use mxd_engine::project::Project;
use mxd_tools::outcome::Outcome;

use crate::app::{App, find};

/// How long one call waits at most.
const MOST_SECONDS: u64 = 300;

/// Waits until the agent of a task does not work; tells where it stands then.
pub(super) async fn wait(app: &App, project: &str, task: &str, seconds: u64) -> Outcome {
    let found =
        app.project(project).await.and_then(|project| find(&project, task).map(|task| (project, task)));
    let (project, task) = match found {
        Ok(found) => found,
        Err(fault) => return Outcome::error(format!("{} ({})", fault.message(), fault.code())),
    };
    let looking = Looking { project, task };
    let limit = Duration::from_secs(seconds.min(MOST_SECONDS));
    let rested = tokio::time::timeout(limit, looking.until_rest()).await.is_ok();
    let word = if rested { "It rests" } else { "It still works" };
    Outcome::text(format!("{word}: {}", looking.standing()))
}

struct Looking {
    project: Project,
    task: mxd_core::id::TaskId,
}

impl Looking {
    async fn until_rest(&self) {
        let mut moved = self.project.through();
        while self.is_active() {
            // A project that is closed works on nothing.
            if moved.changed().await.is_err() {
                return;
            }
        }
    }

    fn is_active(&self) -> bool {
        self.project.look(|state| {
            show::standing(state, self.task).is_some_and(|standing| standing.state.is_active())
                || state.inbox(self.task).wants_agent()
        })
    }

    fn standing(&self) -> String {
        self.project.look(|state| {
            let status = state.tree().get(self.task).and_then(|node| node.status());
            let status = status.map_or("gone", |status| status.name());
            match show::standing(state, self.task) {
                Some(standing) => format!("{status}, {}", standing.why),
                None => status.to_owned(),
            }
        })
    }
}
