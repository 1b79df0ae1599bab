//! Requests of one model call that fail: each is paid, and the next one is made only when it can be paid as well.

use mxd_core::decide::{Cost, FailedAttempt, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{AttemptFailed, RestReason, StopReason, TurnPurpose, Usage};
use mxd_core::id::TaskId;
use mxd_core::message::{Compact, Message};
use mxd_core::money::Usd;

use super::script::{self, attempt, cents, terms, text, usd};
use super::stage::{Outcome, Stage};
use crate::world::message_id;

/// A worker whose project has so much money, about to be answered for the first time.
fn with(stage: &mut Stage, amount: Usd) -> TaskId {
    let root = stage.root();
    stage.steer(root, SessionOp::Grant { amount });
    stage.worker()
}

fn reserved(stage: &Stage) -> Usd {
    stage.state.reservations().values().next().expect("money is set aside").amount
}

fn left(stage: &Stage) -> Usd {
    stage.state.remaining(stage.root()).expect("a budget")
}

fn failed(outcome: &Outcome, task: TaskId) -> AttemptFailed {
    let failed = outcome.of(task).find_map(|body| match body {
        EventBody::AttemptFailed(failed) => Some(failed.clone()),
        _ => None,
    });
    failed.expect("a failed request")
}

const READ: Usage =
    Usage { input_tokens: 400, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };

#[test]
fn a_request_that_was_cut_costs_what_was_reported_and_what_had_come() {
    let mut stage = Stage::new();
    let task = with(&mut stage, usd(1));
    let (turn, _) = stage.asked(task);
    let set_aside = reserved(&stage);
    // 400 tokens read cost 4,000 millionths, and 200 bytes are 200 tokens at the most.
    let cut = Cost::Cut { reported: Usd::from_micros(4_050).unwrap(), bytes: 200 };
    let cut = FailedAttempt { usage: READ, ..attempt(turn, cut) };
    let outcome = stage.session(task, SessionOp::AttemptFailed(cut));
    assert_eq!(outcome.names(), ["attempt_failed", "budget_settled", "budget_reserved"]);
    assert_eq!(failed(&outcome, task).cost_usd.micros(), 4_000 + 200 * 50);
    assert_eq!(reserved(&stage), set_aside, "the next request is the same");
    assert_eq!(left(&stage).micros(), 1_000_000 - 14_000 - set_aside.micros());
    assert!(outcome.effects.is_empty(), "who makes the requests goes on by itself: {:?}", outcome.effects);
}

#[test]
fn a_request_that_was_cut_before_anything_was_reported_costs_all_that_was_set_aside() {
    let mut stage = Stage::new();
    let task = with(&mut stage, usd(1));
    let (turn, _) = stage.asked(task);
    let set_aside = reserved(&stage);
    let cut = attempt(turn, Cost::Cut { reported: Usd::ZERO, bytes: 0 });
    let outcome = stage.session(task, SessionOp::AttemptFailed(cut));
    let failed = failed(&outcome, task);
    assert!(failed.cost_unknown && failed.cost_usd == set_aside, "{failed:?}");
}

#[test]
fn a_request_that_was_refused_costs_nothing() {
    let mut stage = Stage::new();
    let task = with(&mut stage, usd(1));
    let (turn, _) = stage.asked(task);
    let refused = attempt(turn, Cost::Known(Usd::ZERO));
    let outcome = stage.session(task, SessionOp::AttemptFailed(refused));
    assert_eq!(failed(&outcome, task).cost_usd, Usd::ZERO);
    assert_eq!(left(&stage).micros() + reserved(&stage).micros(), 1_000_000);
}

#[test]
fn a_next_request_that_cannot_be_paid_is_not_made_and_amounts_are_named() {
    let mut stage = Stage::new();
    let task = with(&mut stage, cents(10));
    let (turn, _) = stage.asked(task);
    let cut = attempt(turn, Cost::Cut { reported: Usd::ZERO, bytes: 0 });
    let outcome = stage.session(task, SessionOp::AttemptFailed(cut.clone()));
    assert!(outcome.has("turn_ended") && outcome.has("budget_exceeded"), "{:?}", outcome.names());
    assert_eq!(stage.rest(task), Some(&RestReason::Spent));
    assert!(stage.state.reservations().is_empty());
    let exceeded = outcome.of(task).find_map(|body| match body {
        EventBody::BudgetExceeded(exceeded) => Some(exceeded.clone()),
        _ => None,
    });
    let exceeded = exceeded.expect("it says so");
    assert_eq!(exceeded.left_usd, Some(left(&stage)));
    assert!(exceeded.next_call_usd > exceeded.left_usd, "{exceeded:?}");
    assert_eq!(stage.refused(task, SessionOp::AttemptFailed(cut)), "late");
    let root = stage.root();
    stage.steer(root, SessionOp::Grant { amount: usd(1) });
    assert!(stage.is_asking(task), "more money lets it go on");
}

#[test]
fn a_next_request_that_is_too_dear_is_made_with_a_shorter_answer() {
    let mut stage = Stage::new();
    let mut long = terms();
    long.max_output_tokens = 8_000;
    stage.terms = Some(long);
    let task = with(&mut stage, cents(50));
    let (turn, _) = stage.asked(task);
    let cut = Cost::Cut { reported: Usd::ZERO, bytes: 2_000 };
    let cut = FailedAttempt { usage: Usage { input_tokens: 1_000, ..READ }, ..attempt(turn, cut) };
    let outcome = stage.session(task, SessionOp::AttemptFailed(cut));
    assert!(outcome.has("turn_started") && outcome.has("budget_warning"), "{:?}", outcome.names());
    let reserved = *stage.state.reservations().values().next().expect("money is set aside");
    let tokens = reserved.max_output_tokens.expect("known");
    assert!((1_024..8_000).contains(&tokens), "{tokens}");
    assert!(left(&stage) < cents(1), "all of it: {}", left(&stage));
}

#[test]
fn a_summary_whose_next_request_cannot_be_paid_is_not_forgotten() {
    let mut stage = Stage::new();
    let task = stage.root();
    stage.steer(task, SessionOp::Grant { amount: cents(30) });
    stage.begin(task);
    stage.answer(task, vec![text("so")], StopReason::EndTurn);
    stage.user(Op::Report { id: message_id(7), to: task, message: Message::from(Compact {}) });
    let (turn, purpose) = stage.asked(task);
    assert_eq!(purpose, TurnPurpose::Summary);
    for _ in 0..10 {
        if !stage.is_asking(task) {
            break;
        }
        let cut = attempt(turn, Cost::Cut { reported: Usd::ZERO, bytes: 0 });
        stage.session(task, SessionOp::AttemptFailed(cut));
    }
    assert_eq!(stage.rest(task), Some(&RestReason::Spent));
    assert_eq!(stage.fold(), stage.state);
}

#[test]
fn a_request_that_fails_after_its_turn_was_broken_off_is_the_last_one() {
    let mut stage = Stage::new();
    let task = with(&mut stage, usd(1));
    let (turn, _) = stage.asked(task);
    stage.steer(task, SessionOp::Interrupt);
    let outcome = stage.session(task, SessionOp::AttemptFailed(attempt(turn, Cost::Unknown)));
    assert!(outcome.has("turn_ended") && !outcome.has("budget_reserved"), "{:?}", outcome.names());
    assert_eq!(stage.rest(task), Some(&RestReason::Interrupted));
    let late = script::answer(turn, Vec::new(), StopReason::Cancelled);
    assert_eq!(stage.refused(task, SessionOp::Answered(late)), "late");
}

#[test]
fn restarts_are_paid_until_the_budget_is_used_up() {
    let mut stage = Stage::new();
    let task = with(&mut stage, cents(30));
    let mut calls = 1;
    while stage.is_asking(task) {
        stage.work.clear();
        stage.crash();
        calls += u64::from(stage.is_asking(task));
        assert!(calls < 30, "a daemon that dies again and again must not ask for ever");
    }
    assert_eq!(stage.rest(task), Some(&RestReason::Spent));
    assert!(calls * 50_000 <= 300_000, "{calls} calls that cost five cents at least");
}
