//! Our engine, in a process of its own: opens the project and does what it is told, then rests until its input ends.

use std::io::Read as _;
use std::path::Path;

use mxd_core::decide::{Actor, NewTask, Op, Post};
use mxd_core::event::body::RestReason;
use mxd_core::id::{Fresh, TaskId, Ulid};
use mxd_core::state::State;
use mxd_engine::project::Project;

use crate::ground::{create_root, open};

/// `work <agents>`, `say` to the first agent, or `open`.
pub(crate) fn run(ground: &Path, work: &[&str]) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let project = open(ground).await;
        println!("open");
        match work {
            ["work", agents] => begin(&project, agents.parse().unwrap()).await,
            ["say"] => {
                let first = project.look(|state| agents(state)[0]);
                say(&project, first, "Go on.").await;
            }
            ["open"] => {}
            other => panic!("unknown work: {other:?}"),
        }
        let mut moved = project.through();
        while !project.look(|state| agents(state).into_iter().all(|task| rests(state, task))) {
            moved.changed().await.unwrap();
        }
        println!("rest");
        let _ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await;
        project.close().await;
    });
}

async fn begin(project: &Project, count: usize) {
    let root = create_root(project).await;
    for agent in 0..count {
        let task = NewTask::new(root, format!("agent-{agent:04}"), "Work.");
        let task = project.wish(Actor::User, Op::CreateTask(task)).await.unwrap().node.unwrap();
        say(project, task, "Begin.").await;
    }
}

async fn say(project: &Project, to: TaskId, words: &str) {
    let id = Fresh::from_seed(Ulid::from_parts(1, u128::from(fastrand::u64(..)))).issue();
    project.wish(Actor::User, Op::SendMessage { id, to, post: Post::text(words) }).await.unwrap();
}

fn agents(state: &State) -> Vec<TaskId> {
    let nodes = state.tree().nodes().values();
    nodes.filter(|node| node.title.starts_with("agent-")).map(|node| node.id).collect()
}

fn rests(state: &State, task: TaskId) -> bool {
    let session = state.session(task);
    session.rest() == Some(&RestReason::Yield) && !session.is_busy() && !state.inbox(task).wants_agent()
}
