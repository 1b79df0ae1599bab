//! One life of the program: opens the project, begins or goes on, and ends when the root task is done or when it is
//! killed.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use mxd_core::decide::{Actor, Op, Post};
use mxd_core::event::body::RestReason;
use mxd_core::id::{Fresh, TaskId, Ulid};
use mxd_core::state::State;
use mxd_core::tree::Status;
use mxd_engine::project::{Project, Receipt, WishError};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::ground::{create_root, open};

/// What is told when the root task has passed.
pub(crate) const DONE: &str = "done";

/// Lives on a disk that is full for a while: files may not grow, until that was told.
pub(crate) fn live_through_a_full_disk(ground: &Path) -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let project = open(ground).await;
        let root = create_root(&project).await;
        // The script has to be under way: a model that is asked for the first time waits whatever it reads.
        say(&project, root, "Begin.").await.unwrap();
        until(&project, |state| state.session(root).rest() == Some(&RestReason::Yield)).await;
        let written = std::fs::metadata(ground.join("data/project/log/log/000001.jsonl")).unwrap().len();
        limit_files(Some(written + 60_000));
        let mut told = 0;
        let refused = loop {
            match say(&project, root, &"a long message ".repeat(400)).await {
                Ok(_) => told += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, WishError::Disk(_)), "{refused}");
        tell(&format!("{told} told, then: {refused}"));
        limit_files(None);
        say(&project, root, "Finish now.").await.unwrap();
        until_passed(&project, root).await;
        project.close().await;
        tell(DONE);
    });
    ExitCode::SUCCESS
}

fn limit_files(bytes: Option<u64>) {
    setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

async fn say(project: &Project, to: TaskId, words: &str) -> Result<Receipt, WishError> {
    let id = Fresh::from_seed(Ulid::from_parts(1, u128::from(fastrand::u64(..)))).issue();
    project.wish(Actor::User, Op::SendMessage { id, to, post: Post::text(words) }).await
}

async fn until_passed(project: &Project, root: TaskId) {
    until(project, |state| state.tree().get(root).unwrap().status() == Some(Status::Passed)).await;
}

async fn until(project: &Project, wanted: impl Fn(&State) -> bool) {
    let mut moved = project.through();
    while !project.look(&wanted) {
        moved.changed().await.unwrap();
        tell(&moved.borrow_and_update().0.to_string());
    }
}

/// Lives until the root task has passed.
pub(crate) fn live(ground: &Path) -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        tell("born");
        let project = open(ground).await;
        tell("open");
        let root = create_root(&project).await;
        begin(&project, root).await;
        until_passed(&project, root).await;
        project.close().await;
        tell(DONE);
    });
    ExitCode::SUCCESS
}

/// Asks the root for its work, once in all lives.
async fn begin(project: &Project, root: TaskId) {
    let asked = project.look(|state| state.session(root).life().turns > 0 || state.inbox(root).wants_agent());
    let launching = project.look(|state| state.session(root).is_busy());
    if !asked && !launching {
        say(project, root, "Please have it made.").await.unwrap();
    }
}

fn tell(what: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{what}").unwrap();
    out.flush().unwrap();
}
