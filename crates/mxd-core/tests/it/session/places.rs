//! Places: so many agents work at the same time, and others wait for their turn.

use mxd_core::decide::{Alarm, Effect, Op, Reach, SessionOp};
use mxd_core::event::body::{ApprovalScope, RestReason, Verdict};
use mxd_core::id::TaskId;
use mxd_core::show::{AgentState, standing};
use mxd_core::tree::Status;

use super::script::{cents, done, id, run, usd, yields};
use super::stage::{Outcome, Stage};

/// A project with so many places, and tasks that were not called yet.
fn with(places: usize) -> (Stage, [TaskId; 3]) {
    let mut stage = Stage::new();
    stage.limits.agents = places;
    let root = stage.root();
    let tasks = ["a", "b", "c"].map(|title| stage.task(root, title));
    (stage, tasks)
}

fn launches(outcome: &Outcome) -> Vec<TaskId> {
    let launched = outcome.effects.iter().filter_map(|effect| match effect {
        Effect::Launch { task } => Some(*task),
        _ => None,
    });
    launched.collect()
}

fn waits(stage: &Stage, task: TaskId) -> bool {
    stage.state.session(task).queued().is_some()
}

#[test]
fn who_finds_no_place_waits_for_one_and_that_is_shown() {
    let (mut stage, [a, b, _]) = with(1);
    stage.begin(a);
    let outcome = stage.say(b, "begin");
    assert!(outcome.has("agent_queued") && outcome.effects.is_empty(), "{outcome:?}");
    let shown = standing(&stage.state, b).expect("a task");
    assert_eq!(shown.state, AgentState::Waiting);
    assert!(shown.why.contains("free place"), "{}", shown.why);
    assert!(!stage.say(b, "and quickly").has("agent_queued"), "it is written down once");
    let outcome = stage.calls(a, vec![done("d", "failed")]);
    assert!(launches(&outcome).contains(&b), "{:?}", outcome.effects);
    assert!(!waits(&stage, b));
}

#[test]
fn places_are_given_in_the_order_in_which_they_were_asked_for() {
    let (mut stage, [a, b, c]) = with(1);
    stage.begin(a);
    stage.say(c, "begin");
    stage.say(b, "begin");
    // Its reminder calls it again, and now it is the last.
    assert_eq!(launches(&stage.ends_turn(a)), [c]);
    assert!(waits(&stage, a) && waits(&stage, b));
    stage.launches(c);
    assert_eq!(launches(&stage.calls(c, vec![done("d", "failed")])), [b]);
}

#[test]
fn a_place_is_free_again_however_its_agent_ends() {
    let ends: [fn(TaskId) -> Op; 4] = [
        |task| Op::Session { task, op: SessionOp::Stop { reason: None } },
        |task| Op::ResetTask { task },
        |task| Op::ClearConversation { task },
        |task| Op::DeleteTask { task, reach: Reach::Only },
    ];
    for end in ends {
        let (mut stage, [a, b, _]) = with(1);
        stage.say(a, "begin");
        stage.say(b, "begin");
        assert_eq!(launches(&stage.user(end(a))), [b], "{:?}", end(a));
    }
}

#[test]
fn who_waits_takes_no_place() {
    let (mut stage, [a, b, c]) = with(1);
    let child = stage.task(a, "child");
    stage.begin(a);
    stage.say(child, "begin");
    stage.say(b, "begin");
    stage.say(c, "begin");
    assert_eq!(launches(&stage.calls(a, vec![yields("y")])), [child], "it waits for its child");
    stage.launches(child);
    stage.calls(child, vec![run("r")]);
    let (rule, call_hash) = ("ask".to_owned(), "hash".to_owned());
    let outcome = stage.session(child, SessionOp::AskUser { call: id("r"), rule, call_hash });
    assert_eq!(launches(&outcome), [b], "it waits for the user");
    let approval = *stage.state.session(child).approvals().keys().next().expect("asked");
    let (verdict, scope) = (Verdict::Allow, ApprovalScope::Once);
    stage.steer(child, SessionOp::Approve { id: approval, verdict, scope, reason: None });
    assert!(waits(&stage, c), "and goes on at once when it has the word");
}

#[test]
fn a_start_forgets_nobody_who_waits() {
    let (mut stage, [a, b, c]) = with(1);
    stage.begin(a);
    stage.say(b, "begin");
    stage.say(c, "begin");
    let outcome = stage.crash();
    assert_eq!(launches(&outcome), [], "one is at work");
    stage.limits.agents = 2;
    assert_eq!(launches(&stage.crash()), [b]);
}

#[test]
fn who_was_taken_out_of_work_keeps_no_place_over_a_start() {
    let (mut stage, [a, b, _]) = with(1);
    stage.begin(a);
    stage.say(b, "begin");
    stage.user(Op::SetStatus { task: a, to: Status::Pending, reason: None });
    assert_eq!(launches(&stage.crash()), [b]);
    assert!(!stage.state.session(a).takes_a_place() && !waits(&stage, b));
}

#[test]
fn another_try_without_a_place_is_made_later() {
    let (mut stage, [a, b, _]) = with(1);
    stage.begin(a);
    stage.fails(a);
    stage.say(b, "begin");
    let outcome = stage.session(a, SessionOp::Retry { turn: 1 });
    assert!(
        matches!(outcome.effects[..], [Effect::Alarm { task, what: Alarm::Retry { turn: 1 }, .. }] if task == a),
        "{:?}",
        outcome.effects
    );
}

#[test]
fn who_has_no_use_for_its_place_leaves_it_to_the_next() {
    let (mut stage, [a, b, c]) = with(1);
    stage.steer(b, SessionOp::Grant { amount: cents(1) });
    stage.begin(b);
    assert_eq!(stage.rest(b), Some(&RestReason::Spent));
    stage.begin(a);
    stage.steer(b, SessionOp::Grant { amount: usd(1) });
    assert!(waits(&stage, b), "it has money now, and no place");
    let patch = mxd_core::decide::TaskPatch {
        budget: mxd_core::change::Change::Set(cents(1)),
        ..mxd_core::decide::TaskPatch::default()
    };
    stage.user(Op::UpdateTask { task: b, patch });
    stage.say(c, "begin");
    let outcome = stage.calls(a, vec![done("d", "failed")]);
    assert!(!waits(&stage, b), "it lacks money again");
    assert_eq!(launches(&outcome), [c], "{:?}", outcome.names());
}
