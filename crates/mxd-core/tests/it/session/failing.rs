//! What goes wrong outside: models that cannot be asked, workplaces that cannot be made, agents that go in circles.

use mxd_core::decide::{Actor, Alarm, Cost, Effect, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{RestReason, StopReason, Usage};
use mxd_core::id::TaskId;
use mxd_core::limits::Limits;
use mxd_core::message::Message;
use mxd_core::time::Millis;
use mxd_core::tree::Status;

use super::script::{cents, done, failure, mxd, run, text};
use super::stage::{Outcome, Stage};

fn alarm(outcome: &Outcome) -> Option<(u64, u64)> {
    outcome.effects.iter().find_map(|effect| match effect {
        Effect::Alarm { at: Millis(at), what: Alarm::Retry { turn }, .. } => Some((*at, *turn)),
        _ => None,
    })
}

#[test]
fn a_failing_call_is_made_again_later_and_later_and_then_told_above() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let (retry, most) = (stage.limits.retry_ms, stage.limits.failed_turns);
    for n in 1..most {
        let (turn, _) = stage.asked(task);
        // A call that broke off in the middle fails as one that never began.
        let mut failure = failure(turn);
        failure.usage = Usage { input_tokens: 50, ..Usage::default() };
        failure.cost = Cost::Known(cents(1));
        let outcome = stage.session(task, SessionOp::Failed(failure));
        let expected = stage.now + retry * (1 << (n - 1));
        assert_eq!(alarm(&outcome), Some((expected, turn)), "failure {n}");
        stage.now = expected;
        stage.session(task, SessionOp::Retry { turn });
    }
    let outcome = stage.fails(task);
    assert_eq!(alarm(&outcome), None);
    assert_eq!(outcome.of(stage.root()).count(), 1, "the task above is told");
    assert_eq!(stage.rest(task), Some(&RestReason::Failed));
    stage.work.clear();
    assert_eq!(alarm(&stage.crash()), None, "nor is it tried after a start");
}

#[test]
fn a_call_that_fails_for_good_is_not_made_again_by_itself() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let (turn, _) = stage.asked(task);
    let mut failure = failure(turn);
    failure.passing = false;
    let outcome = stage.session(task, SessionOp::Failed(failure));
    assert_eq!(alarm(&outcome), None);
    assert_eq!(alarm(&stage.crash()), None, "nor after a start");
    stage.say(task, "now it should work");
    assert!(stage.is_asking(task));
}

#[test]
fn another_try_is_remembered_over_a_start_and_forgotten_when_something_else_happens() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.fails(task);
    assert_eq!(alarm(&stage.crash()).map(|(_, turn)| turn), Some(1));
    stage.say(task, "go on");
    assert_eq!(stage.refused(task, SessionOp::Retry { turn: 1 }), "late");
    stage.ends_turn(task);
    assert_eq!(stage.refused(task, SessionOp::Retry { turn: 2 }), "late");
}

#[test]
fn a_task_that_cannot_begin_has_failed_and_the_task_above_hears_of_it() {
    let mut stage = Stage::new();
    let task = stage.task(stage.root(), "t");
    stage.say(task, "begin");
    let message = "x".repeat(1_000_000);
    let outcome = stage.session(task, SessionOp::LaunchFailed { message: message.clone() });
    assert_eq!(stage.status(task), Status::Failed);
    let told = outcome.of(stage.root()).any(|body| match body {
        EventBody::Message(posted) => matches!(&posted.body, Message::TaskComplete(done) if !done.success),
        _ => false,
    });
    assert!(told, "{:?}", outcome.names());
    assert_eq!(stage.refused(task, SessionOp::LaunchFailed { message }), "late");
    assert_eq!(stage.say(task, "again").effects[0], Effect::Launch { task });
}

#[test]
fn paused_turn_goes_on_after_a_word_to_the_model() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let paused = StopReason::Other("pause_turn".into());
    let outcome = stage.answer(task, vec![text("half of it")], paused);
    let told = outcome.of(task).any(|body| match body {
        EventBody::Message(posted) => {
            matches!(&posted.body, Message::Notice(notice) if notice.content.contains("Go on"))
        }
        _ => false,
    });
    assert!(told && outcome.has("messages_consumed"), "{:?}", outcome.names());
    assert!(stage.is_asking(task));
}

#[test]
fn task_that_could_not_begin_is_tried_again_by_the_user() {
    let mut stage = Stage::new();
    let task = stage.task(stage.root(), "t");
    stage.say(task, "begin");
    stage.session(task, SessionOp::LaunchFailed { message: "the set-up failed".into() });
    stage.work.clear();
    assert_eq!(stage.refused(task, SessionOp::Retry { turn: 0 }), "late", "nobody but the user knows better");
    let outcome = stage.steer(task, SessionOp::Retry { turn: 0 });
    assert_eq!(stage.status(task), Status::InProgress);
    assert!(outcome.effects.contains(&Effect::Launch { task }), "{:?}", outcome.effects);
    stage.launches(task);
    assert!(stage.is_asking(task), "with the message that was to begin it");
    stage.calls(task, vec![done("d", "failed")]);
    assert_eq!(stage.status(task), Status::Failed);
    assert_eq!(stage.refuse(Actor::User, retry(task, 1)).code(), "late", "its agent gave up by itself");
}

fn retry(task: TaskId, turn: u64) -> Op {
    Op::Session { task, op: SessionOp::Retry { turn } }
}

#[test]
fn a_root_that_cannot_begin_waits_for_a_word() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.say(root, "begin");
    stage.session(root, SessionOp::LaunchFailed { message: "no".into() });
    assert_eq!((stage.status(root), stage.rest(root)), (Status::InProgress, Some(&RestReason::Failed)));
    stage.work.clear();
    assert_eq!(alarm(&stage.crash()), None, "no model is asked without a workplace");
    assert_eq!(stage.refused(root, SessionOp::Retry { turn: 0 }), "late");
}

#[test]
fn a_failed_start_is_told_by_its_status_when_nobody_can_take_the_report() {
    let mut stage = Stage::new();
    stage.limits = Limits { inbox_per_task: 1, notices_per_inbox: 1, report_reserve: 1, ..Limits::DEFAULT };
    let root = stage.root();
    for n in 0..stage.limits.inbox_in_all() {
        let child = stage.task(root, &format!("child {n}"));
        stage.begin(child);
        stage.calls(child, vec![done("d", "failed")]);
    }
    let task = stage.task(root, "t");
    stage.say(task, "begin");
    let outcome = stage.session(task, SessionOp::LaunchFailed { message: "no".into() });
    assert!(outcome.has("notice_skipped"), "{:?}", outcome.names());
    assert_eq!(stage.status(task), Status::Failed);
}

#[test]
fn a_late_workplace_is_remembered_and_starts_nothing() {
    let mut stage = Stage::new();
    let task = stage.task(stage.root(), "t");
    stage.say(task, "begin");
    stage.reset(task);
    let outcome = stage.launches(task);
    assert_eq!(outcome.names(), ["worktree_created"]);
    assert_eq!(outcome.effects, []);
}

/// The agent makes the same call with the same result so many times, and then something else happens.
fn circles(stage: &mut Stage, task: TaskId, times: usize) -> Vec<Outcome> {
    let again = |n: usize, stage: &mut Stage| {
        stage.calls(task, vec![run(&format!("c{n}"))]);
        stage.returns(task, &format!("c{n}"), "no such file")
    };
    (0..times).map(|n| again(n, stage)).collect()
}

#[test]
fn the_same_call_with_the_same_result_is_told_and_then_ended() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let (warning, most) = (stage.limits.repeats_before_warning, stage.limits.repeats_before_rest);
    let outcomes = circles(&mut stage, task, most);
    let told: Vec<usize> = (0..most).filter(|n| outcomes[*n].has("message")).collect();
    assert_eq!(told, [warning - 1, most - 1], "the agent, and then the task above");
    assert_eq!(stage.rest(task), Some(&RestReason::Loop));
    stage.say(task, "look elsewhere");
    assert!(stage.is_asking(task), "whoever writes to it knows more");
}

#[test]
fn something_else_in_between_breaks_the_circle() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let most = stage.limits.repeats_before_rest;
    circles(&mut stage, task, most - 1);
    stage.calls(task, vec![run("other")]);
    stage.returns(task, "other", "ah");
    assert_eq!(stage.rest(task), None);
    assert!(stage.is_asking(task));
}

#[test]
fn turns_of_nothing_but_messages_come_to_an_end() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let args = format!(r#"{{"taskId":"{}","title":"t","message":"hello"}}"#, stage.root());
    let most = stage.limits.talk_turns;
    for n in 0..most {
        assert!(stage.is_asking(task), "turn {n}");
        let args = args.replace("hello", &format!("hello {n}"));
        stage.calls(task, vec![mxd(&format!("s{n}"), "send_message", &args)]);
    }
    assert_eq!(stage.rest(task), Some(&RestReason::Loop));
}
