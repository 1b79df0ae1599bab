//! Servers that have the model write for them: set aside, settled, limited, and never paid twice.

use mxd_core::decide::{Actor, Answer, Cost, Effect, Op, Reach, Sample, Sampled, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{SamplingEnded, StopReason};
use mxd_core::id::{ReservationId, TaskId};
use mxd_core::money::Usd;
use mxd_core::session::Load;
use mxd_core::show;

use super::script::{USED, answer, cents, done, run, usd, yields};
use super::stage::{Outcome, Stage};

fn named(n: u64) -> ReservationId {
    format!("01JZ000000000000000000{n:04}").parse().expect("an id")
}

/// A wish to read 1,000 bytes and to write 100 tokens: a cent and a half at most.
fn sample(n: u64) -> SessionOp {
    let (id, server, load) = (named(n), "notes".to_owned(), Load::text(1_000));
    SessionOp::Sample(Sample { id, server, load, max_tokens: 100 })
}

const WORST: u64 = 15_000;

fn sampled(n: u64, cost: Cost) -> SessionOp {
    SessionOp::Sampled(Sampled { id: named(n), stop: StopReason::EndTurn, usage: USED, cost, written: 0 })
}

/// A worker with a budget of its own, in the middle of a call.
fn calling(stage: &mut Stage, amount: Usd) -> TaskId {
    let root = stage.root();
    stage.steer(root, SessionOp::Grant { amount });
    let task = stage.worker();
    stage.calls(task, vec![run("r")]);
    task
}

fn left(stage: &Stage) -> u64 {
    stage.state.remaining(stage.root()).expect("a budget").micros()
}

fn cost(stage: &Stage, task: TaskId) -> u64 {
    stage.state.tree().get(task).and_then(|node| node.task()).expect("a task").cost_usd.micros()
}

fn ends(outcome: &Outcome) -> Vec<SamplingEnded> {
    let ended = |body: &EventBody| match body {
        EventBody::SamplingEnded(ended) => Some(ended.clone()),
        _ => None,
    };
    outcome.events.iter().filter_map(|event| ended(&event.body)).collect()
}

#[test]
fn the_worst_case_is_set_aside_and_what_it_cost_is_settled() {
    let mut stage = Stage::new();
    let task = calling(&mut stage, usd(1));
    let (before, spent, used) = (left(&stage), cost(&stage, task), stage.state.session(task).life().tokens);
    let outcome = stage.session(task, sample(1));
    assert_eq!(outcome.names(), ["budget_reserved", "sampling_started"]);
    assert_eq!(left(&stage), before - WORST);
    let outcome = stage.session(task, sampled(1, Cost::Known(cents(1))));
    assert_eq!(outcome.names(), ["sampling_ended", "budget_settled"]);
    assert_eq!((left(&stage), cost(&stage, task)), (before - 10_000, spent + 10_000));
    assert_eq!(stage.state.session(task).life().tokens, used + 110);
    assert_eq!(stage.refused(task, sampled(1, Cost::Known(cents(1)))), "late", "it is paid once");
    let line = show::line(&outcome.events[0].body).expect("a line");
    assert_eq!(line, "the model wrote 10 tokens for the server notes, for $0.01");
    stage.returns(task, "r", "fine");
    assert!(stage.is_asking(task), "the call goes on as if nothing had been");
}

#[test]
fn a_budget_that_does_not_hold_it_is_told_and_nothing_is_set_aside() {
    let mut stage = Stage::new();
    stage.limits.samplings_per_turn = 1_000;
    let (root, task) = (stage.root(), calling(&mut stage, usd(1)));
    let mut n = 0;
    while left(&stage) >= WORST {
        n += 1;
        stage.session(task, sample(n));
    }
    let (before, set_aside) = (left(&stage), stage.state.reservations().len());
    let refusal = stage.refuse(Actor::Daemon, Op::Session { task, op: sample(n + 1) });
    assert_eq!(refusal.code(), "not_enough_money");
    let says = refusal.to_string();
    assert!(says.contains(&root.to_string()) && says.contains("$0.015000 was wanted"), "{says}");
    assert_eq!((left(&stage), stage.state.reservations().len()), (before, set_aside));
}

#[test]
fn without_a_budget_it_is_counted_and_without_a_price_a_budget_is_kept() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![run("r")]);
    stage.session(task, sample(1));
    let before = cost(&stage, task);
    stage.session(task, sampled(1, Cost::Unknown));
    assert_eq!(cost(&stage, task), before + WORST, "who does not say what it cost has cost it all");
    let mut stage = Stage::new();
    stage.terms = None;
    let (root, task) = (stage.root(), stage.worker());
    let (turn, _) = stage.asked(task);
    let free = answer(turn, vec![run("r")], StopReason::ToolUse);
    stage.session(task, SessionOp::Answered(Answer { cost: Cost::Known(Usd::ZERO), ..free }));
    stage.session(task, sample(1));
    stage.session(task, sampled(1, Cost::Known(Usd::ZERO)));
    stage.steer(root, SessionOp::Grant { amount: usd(1) });
    assert_eq!(stage.refused(task, sample(2)), "price_unknown");
}

#[test]
fn only_a_running_call_is_a_reason_to_write() {
    let mut stage = Stage::new();
    let task = stage.worker();
    assert_eq!(stage.refused(task, sample(1)), "late", "the model is asked, no tool runs");
    stage.calls(task, vec![run("r")]);
    let by_user = Op::Session { task, op: sample(1) };
    assert_eq!(stage.refuse(Actor::User, by_user).code(), "user_only");
    stage.session(task, sample(1));
    assert_eq!(stage.refused(task, sample(1)), "late", "a name is used once");
    stage.session(task, sampled(1, Cost::Unknown));
    stage.steer(task, SessionOp::Interrupt);
    assert_eq!(stage.refused(task, sample(2)), "late", "the turn was broken off");
    stage.returns(task, "r", "cancelled");
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![yields("y")]);
    assert_eq!(stage.refused(task, sample(1)), "late", "who waits runs no tool");
}

#[test]
fn there_is_a_limit_for_the_calls_of_one_answer() {
    let mut stage = Stage::new();
    stage.limits.samplings_per_turn = 2;
    let task = stage.worker();
    stage.calls(task, vec![run("r")]);
    for n in 1..=2 {
        stage.session(task, sample(n));
        stage.session(task, sampled(n, Cost::Unknown));
    }
    assert_eq!(stage.refused(task, sample(3)), "too_many_samplings");
    stage.returns(task, "r", "fine");
    stage.calls(task, vec![run("s")]);
    stage.session(task, sample(3));
    stage.limits.tokens_per_task = 1;
    assert_eq!(stage.refused(task, sample(4)), "used_up");
}

#[test]
fn after_a_crash_all_that_was_set_aside_is_spent_once() {
    let mut stage = Stage::new();
    let task = calling(&mut stage, usd(1));
    let before = left(&stage);
    stage.session(task, sample(1));
    let ended = ends(&stage.crash());
    assert!(matches!(&ended[..], [one] if one.cost_unknown && one.cost_usd.micros() == WORST), "{ended:?}");
    assert!(stage.state.session(task).samplings().is_empty());
    let set_aside: Vec<_> = stage.state.reservations().keys().filter(|id| **id == named(1)).collect();
    assert!(set_aside.is_empty(), "{set_aside:?}");
    assert!(left(&stage) <= before - WORST);
    assert_eq!(stage.refused(task, sampled(1, Cost::Known(cents(1)))), "late");
    assert_eq!(ends(&stage.crash()), [], "and not again with the next start");
}

#[test]
fn what_a_call_leaves_behind_is_ended_and_paid_apart_from_the_next_turn() {
    let mut stage = Stage::new();
    let task = calling(&mut stage, usd(1));
    stage.session(task, sample(1));
    let outcome = stage.returns(task, "r", "fine");
    assert!(outcome.effects.contains(&Effect::CancelTools { task }), "{:?}", outcome.effects);
    assert!(stage.is_asking(task));
    assert_eq!(stage.state.reservations().len(), 2);
    stage.calls(task, vec![run("s")]);
    assert_eq!(
        stage.state.reservations().keys().collect::<Vec<_>>(),
        [&named(1)],
        "the turn settles its own"
    );
    let before = left(&stage);
    stage.session(task, sampled(1, Cost::Known(Usd::ZERO)));
    assert_eq!(left(&stage), before + WORST);
}

#[test]
fn a_conversation_that_goes_takes_no_money_with_it() {
    let mut stage = Stage::new();
    let task = calling(&mut stage, usd(1));
    stage.session(task, sample(1));
    let ended = ends(&stage.user(Op::ResetTask { task }));
    assert!(matches!(&ended[..], [one] if one.cost_unknown), "{ended:?}");
    let mut stage = Stage::new();
    let task = calling(&mut stage, usd(1));
    stage.session(task, sample(1));
    let ended = ends(&stage.user(Op::DeleteTask { task, reach: Reach::Only }));
    assert_eq!(ended.len(), 1);
    assert!(stage.state.reservations().is_empty());
}

#[test]
fn what_comes_free_after_the_end_is_handed_back() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.steer(root, SessionOp::Grant { amount: usd(5) });
    let task = stage.worker();
    stage.steer(task, SessionOp::Grant { amount: usd(1) });
    stage.calls(task, vec![run("r")]);
    stage.session(task, sample(1));
    stage.returns(task, "r", "fine");
    stage.calls(task, vec![done("d", "failed")]);
    let outcome = stage.session(task, sampled(1, Cost::Known(Usd::ZERO)));
    assert!(outcome.has("budget_refunded"), "{:?}", outcome.names());
    assert_eq!(stage.state.remaining(task), Some(Usd::ZERO));
}
