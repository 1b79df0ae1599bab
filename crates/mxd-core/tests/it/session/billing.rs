//! Providers whose usage cannot be: it is not believed, never costs more than was set aside, and is shown.

use mxd_core::decide::{Answer, Cost, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{StopReason, TurnEnded, Usage};
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::show;

use super::script::{answer, cents, run, text, usd};
use super::stage::Stage;

/// A worker with money, about to be answered, and what is set aside for it.
fn stage() -> (Stage, TaskId, Usd) {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.steer(root, SessionOp::Grant { amount: usd(5) });
    let task = stage.worker();
    let set_aside = stage.state.reservations().values().next().expect("money is set aside").amount;
    (stage, task, set_aside)
}

fn used(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

/// The model answers so much, and its provider reports this.
fn billed(stage: &mut Stage, task: TaskId, (words, usage, cost): (&str, Usage, Cost)) -> TurnEnded {
    let (turn, _) = stage.asked(task);
    let answer = Answer { usage, cost, ..answer(turn, vec![text(words), run("a")], StopReason::ToolUse) };
    let outcome = stage.session(task, SessionOp::Answered(answer));
    let ended = outcome.of(task).find_map(|body| match body {
        EventBody::TurnEnded(ended) => Some(ended.clone()),
        _ => None,
    });
    ended.expect("the turn ended")
}

#[test]
fn usage_that_can_be_is_believed() {
    let (mut stage, task, _) = stage();
    let ended = billed(&mut stage, task, ("so", used(100, 10), Cost::Known(cents(1))));
    assert_eq!((ended.usage_fault, ended.cost_usd), (None, cents(1)));
    assert_eq!(stage.state.session(task).usage_fault(), None);
}

#[test]
fn usage_that_cannot_be_is_booked_within_what_was_set_aside_and_shown() {
    let long = "word ".repeat(1_000);
    let cases: [(&str, &str, Usage, Cost); 7] = [
        ("more written than allowed", "so", used(100, 1_001), Cost::Known(cents(1))),
        ("absurdly much", "so", used(100, 50_000_000), Cost::Known(usd(2_500))),
        ("nothing read", "so", used(0, 10), Cost::Known(cents(1))),
        ("much text as one token", &long, used(100, 1), Cost::Known(cents(1))),
        ("dearer than it can be", "so", used(100, 10), Cost::Known(usd(3))),
        ("all that there is", "so", used(u64::MAX, u64::MAX), Cost::Known(Usd::MAX)),
        ("no count", "so", used(100, 10), Cost::Impossible { reported: cents(1), fault: "it is negative" }),
    ];
    for (what, words, usage, cost) in cases {
        let (mut stage, task, set_aside) = stage();
        let ended = billed(&mut stage, task, (words, usage, cost));
        assert!(ended.usage_fault.is_some(), "{what}: {ended:?}");
        assert!(ended.cost_usd <= set_aside && ended.cost_usd > Usd::ZERO, "{what}: {ended:?}");
        assert!(ended.usage.output_tokens <= 1_000, "{what}: {ended:?}");
        assert!(!ended.cost_unknown, "{what}: {ended:?}");
        let line = show::line(&EventBody::TurnEnded(ended)).expect("it is shown");
        assert!(line.contains("usage that cannot be"), "{what}: {line}");
        let standing = show::standing(&stage.state, task).expect("a task");
        assert!(standing.why.contains("usage that cannot be"), "{what}: {standing:?}");
    }
}

#[test]
fn much_text_that_is_reported_as_little_costs_what_is_likely() {
    let (mut stage, task, _) = stage();
    let ended = billed(&mut stage, task, (&"x".repeat(6_000), used(100, 1), Cost::Known(cents(1))));
    // At most as much as was allowed, which 6,000 bytes are by any estimate.
    assert!(ended.cost_usd >= cents(5), "{ended:?}");
}

#[test]
fn a_fault_is_forgotten_when_usage_can_be_again() {
    let (mut stage, task, _) = stage();
    billed(&mut stage, task, ("so", used(0, 10), Cost::Known(cents(1))));
    stage.returns(task, "a", "fine");
    billed(&mut stage, task, ("so", used(500, 10), Cost::Known(cents(1))));
    assert_eq!(stage.state.session(task).usage_fault(), None);
}

#[test]
fn a_model_that_costs_nothing_may_report_what_it_likes() {
    let mut stage = Stage::new();
    let free = mxd_core::event::body::Terms {
        input_usd: Usd::ZERO,
        output_usd: Usd::ZERO,
        ..super::script::terms()
    };
    stage.terms = Some(free);
    let task = stage.worker();
    let ended = billed(&mut stage, task, ("so", used(0, 0), Cost::Known(Usd::ZERO)));
    assert_eq!((ended.usage_fault, ended.cost_usd), (None, Usd::ZERO));
}
