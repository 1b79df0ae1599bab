//! A program that died between deciding that something goes and removing it: the next start removes it.

use std::path::{Path, PathBuf};

use mxd_core::decide::{Actor, Input, Op, Reach, decide};
use mxd_core::event::EventKind;
use mxd_core::event::body::RestReason;
use mxd_core::id::{Fresh, TaskId, Ulid};
use mxd_core::limits::Limits;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_store::{Draft, Log, Options};
use serde_json::{Value, json};

use super::stage::{Stage, calls, capturing, conversation, expecting};

impl Stage {
    /// Has the program die right after this was decided and before anything of it was done, and starts it again; until
    /// what the start owes is done.
    async fn die_of(&mut self, op: Op) {
        let state = self.project().look(State::clone);
        self.restart_after(move |ground| write_down(ground, (&state, op))).await;
        // Who hears of it reads it before the next end, and not at some moment in it.
        self.until_rest(self.root(), &RestReason::Yield).await;
        // The end of a program waits for what its start had to clear up.
        self.restart().await;
    }
}

/// Decides something and writes it down.
fn write_down(ground: &Path, (state, op): (&State, Op)) {
    let log = Log::open(&ground.join("data/project/log"), Options::default(), &mut ()).unwrap();
    let (at, fresh) = (Millis(1), Fresh::from_seed(Ulid::from_parts(1, u128::from(fastrand::u64(..)))));
    let decision = decide(state, &Limits::DEFAULT, Input { at, actor: Actor::User, fresh, op }).unwrap();
    let mut draft = Draft::new(at.0);
    decision.events.iter().for_each(|event| draft.push(&event.to_json().unwrap()).unwrap());
    log.append(draft).unwrap();
}

/// What the log still has of a task's conversation, by type.
fn conversation_of(stage: &Stage, task: TaskId) -> Vec<String> {
    let events = stage.events().into_iter().filter(|event| event.task == task);
    let said = events.filter(|event| event.body.kind().is_some_and(EventKind::is_conversation));
    said.map(|event| event.body.type_name().to_owned()).collect()
}

fn makes(title: &str) -> (&'static str, Value) {
    ("create_task", json!({ "title": title, "description": "Look around." }))
}

fn starts(id: &str) -> (&'static str, Value) {
    ("send_message", json!({ "taskId": id, "title": "go", "message": "Begin." }))
}

fn waits() -> Value {
    calls(&[("yield", json!({}))])
}

fn done() -> Value {
    calls(&[("done", json!({ "status": "passed", "summary": "Seen." }))])
}

/// What a root reads that waits while a task below it is deleted.
fn hears_of_it() -> Value {
    expecting(waits(), json!({ "user_texts": [{ "contains": "action=\"deleted\"" }] }))
}

/// A root that waits, with a task below it that has done its work; and what the root is asked later.
async fn one_below(later: Vec<Value>) -> (Stage, TaskId) {
    let mut turns = vec![
        calls(&[makes("Below")]),
        capturing(calls(&[starts("$below")]), "Created the task (?<below>[0-9A-Z]{26})"),
        waits(),
        expecting(waits(), json!({ "user_texts": [{ "contains": "Seen." }] })),
    ];
    turns.extend(later);
    let below = conversation("Title: Below", vec![done()]);
    let stage = Stage::set(json!([conversation("Title: Root", turns), below])).await;
    let root = stage.root();
    stage.say(root, "Go.").await;
    let is_over =
        |state: &State| state.session(root).life().turns == 4 && state.session(root).rest().is_some();
    stage.until("the last turn", is_over).await;
    let below = stage.task("Below");
    (stage, below)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_was_thrown_away_right_before_a_crash_is_removed_by_the_next_start() {
    let (mut stage, below) = one_below(Vec::new()).await;
    let root = stage.root();
    assert_ne!(conversation_of(&stage, below), Vec::<String>::new());
    stage.die_of(Op::ClearConversation { task: below }).await;
    assert_eq!(conversation_of(&stage, below), Vec::<String>::new());
    assert_ne!(conversation_of(&stage, root), Vec::<String>::new(), "the others' stay");
    // The second time there is nothing to do, and nothing is written about it.
    let head = *stage.project().log().head().borrow();
    stage.restart().await;
    stage.restart().await;
    assert_eq!(*stage.project().log().head().borrow(), head);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worktree_of_a_task_that_was_deleted_right_before_a_crash_is_removed_by_the_next_start() {
    let (mut stage, below) = one_below(vec![hears_of_it()]).await;
    let place =
        |state: &State| state.tree().get(below).unwrap().task().unwrap().worktree_path.clone().unwrap();
    let folder = PathBuf::from(stage.project().look(place));
    assert!(folder.is_dir());
    stage.die_of(Op::DeleteTask { task: below, reach: Reach::Recursive }).await;
    assert!(!folder.exists(), "its folder is gone");
    assert_eq!(conversation_of(&stage, below), Vec::<String>::new());
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_a_fork_begins_with_goes_with_the_fork_also_after_crashes() {
    let created = |name: &str| format!("Created the task (?<{name}>[0-9A-Z]{{26}})");
    let fork = json!({ "sourceTaskId": "$first", "targetTaskId": "$second" });
    let turns = vec![
        calls(&[makes("First")]),
        capturing(calls(&[starts("$first")]), &created("first")),
        waits(),
        calls(&[makes("Second")]),
        capturing(calls(&[("fork_task_context", fork)]), &created("second")),
        waits(),
        hears_of_it(),
    ];
    let first = conversation("Title: First", vec![done()]);
    let mut stage = Stage::set(json!([conversation("Title: Root", turns), first])).await;
    stage.say(stage.root(), "Go.").await;
    let is_forked = |state: &State| state.sessions().values().any(|session| !session.lineage().is_empty());
    stage.until("the fork", is_forked).await;
    stage.until_rest(stage.root(), &RestReason::Yield).await;
    let (first, second) = (stage.task("First"), stage.task("Second"));
    stage.die_of(Op::ClearConversation { task: first }).await;
    assert_ne!(conversation_of(&stage, first), Vec::<String>::new(), "the fork begins with it");
    stage.die_of(Op::DeleteTask { task: second, reach: Reach::Recursive }).await;
    assert_eq!(conversation_of(&stage, first), Vec::<String>::new(), "nobody begins with it any more");
    stage.end().await;
}
