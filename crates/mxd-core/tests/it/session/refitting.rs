//! Another model for a conversation that has begun.

use mxd_core::decide::{Effect, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{RestReason, SessionConfig, StopReason, Terms, TurnPurpose};
use mxd_core::id::TaskId;
use mxd_core::message::{Compact, Message};
use mxd_core::money::Usd;

use super::script::{self, asks, cents, run, text, usd};
use super::stage::{Outcome, Stage};
use crate::world::message_id;

/// A model that costs twice as much to read, and counts.
fn other() -> SessionConfig {
    let terms = Terms { input_usd: usd(20), counts_tokens: true, ..script::terms() };
    SessionConfig { model: "another".into(), ..script::config(Some(terms)) }
}

fn refit(stage: &mut Stage, task: TaskId) -> Outcome {
    let (turn, _) = stage.asked(task);
    stage.session(task, SessionOp::Refitted { turn, config: other() })
}

fn reserved(stage: &Stage) -> Usd {
    stage.state.reservations().values().next().expect("money is set aside").amount
}

#[test]
fn nothing_was_sent_and_the_other_model_is_asked_for_its_own_price() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.steer(root, SessionOp::Grant { amount: usd(1) });
    let task = stage.worker();
    let outcome = refit(&mut stage, task);
    let names =
        ["turn_ended", "budget_settled", "cache_break", "session_config", "budget_reserved", "turn_started"];
    assert_eq!(outcome.names(), names);
    assert_eq!(outcome.effects, [asks((task, 2), TurnPurpose::Work)]);
    let worst = stage.state.session(task).context().worst();
    assert_eq!(reserved(&stage).micros(), worst * 20 + 1_000 * 50);
    assert_eq!(stage.state.remaining(root).unwrap().micros() + reserved(&stage).micros(), 1_000_000);
    stage.calls(task, vec![run("a")]);
    let late = SessionOp::Refitted { turn: 2, config: other() };
    assert_eq!(stage.refused(task, late), "late", "it was asked and has answered");
}

#[test]
fn a_model_that_costs_too_much_is_not_asked() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.steer(root, SessionOp::Grant { amount: cents(6) });
    let task = stage.worker();
    let mut config = other();
    config.terms = Some(Terms { output_usd: usd(500), ..script::terms() });
    let (turn, _) = stage.asked(task);
    let outcome = stage.session(task, SessionOp::Refitted { turn, config });
    assert!(outcome.has("budget_exceeded"), "{:?}", outcome.names());
    assert_eq!(stage.rest(task), Some(&RestReason::Spent));
    assert_eq!(stage.state.remaining(root), Some(cents(6)), "nothing was spent on the first one");
}

#[test]
fn a_summary_is_asked_of_the_other_model_and_who_rested_rests_afterwards() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.ends_turn(root);
    let (id, message) = (message_id(1), Message::from(Compact {}));
    stage.user(Op::Report { id, to: root, message });
    let outcome = refit(&mut stage, root);
    assert_eq!(outcome.effects, [asks((root, 3), TurnPurpose::Summary)]);
    let outcome = stage.summarises(root, "what was");
    assert!(outcome.has("compact_marker"));
    assert_eq!(stage.rest(root), Some(&RestReason::EndTurn), "nobody asked it to go on");
    assert!(!stage.is_asking(root));
}

#[test]
fn who_was_to_count_counts_again() {
    let mut stage = Stage::new();
    let terms = Terms { counts_tokens: true, ..script::terms() };
    stage.terms = Some(terms);
    stage.limits.count_within = u64::MAX;
    let root = stage.root();
    stage.begin(root);
    let (turn, _) = stage.asked(root);
    let answer = script::answer(turn, vec![run("a")], StopReason::ToolUse);
    stage.session(root, SessionOp::Answered(answer));
    let outcome = stage.returns(root, "a", "fine");
    assert_eq!(outcome.effects, [Effect::CountTokens { task: root }]);
    let outcome = stage.session(root, SessionOp::Refitted { turn, config: other() });
    assert_eq!(outcome.effects, [Effect::CountTokens { task: root }], "{:?}", outcome.names());
    stage.session(root, SessionOp::Counted { tokens: 500 });
    assert!(stage.is_asking(root));
}

#[test]
fn who_was_broken_off_meanwhile_is_not_asked() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.steer(task, SessionOp::Interrupt);
    let outcome = refit(&mut stage, task);
    assert_eq!(stage.rest(task), Some(&RestReason::Interrupted), "{:?}", outcome.names());
    let config = stage.commits.iter().flat_map(|commit| commit.events()).rev().find_map(|event| {
        if let EventBody::SessionConfig(config) = &event.body { Some(config.model.clone()) } else { None }
    });
    assert_eq!(config.as_deref(), Some("another"), "the next call is its");
    stage.say(task, "go on");
    stage.answer(task, vec![text("here")], StopReason::EndTurn);
}

#[test]
fn a_call_that_was_not_made_leaves_nothing_to_summarise() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    refit(&mut stage, root);
    stage.steer(root, SessionOp::Interrupt);
    stage.answer(root, Vec::new(), StopReason::Cancelled);
    let (id, message) = (message_id(1), Message::from(Compact {}));
    let outcome = stage.user(Op::Report { id, to: root, message });
    assert_eq!(outcome.effects, [], "{:?}", outcome.names());
}
