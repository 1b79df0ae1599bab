//! Money: set aside before a call, settled after it, handed down and back, and never more than there is.

use mxd_core::decide::{Actor, NewTask, Op, Reach, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{RestReason, StopReason};
use mxd_core::id::TaskId;
use mxd_core::money::Usd;

use super::script::{answer, cents, done, malformed, mxd, results, run, usd, yields};
use super::stage::{Outcome, Stage};

fn grant(stage: &mut Stage, task: TaskId, amount: Usd) -> Outcome {
    stage.steer(task, SessionOp::Grant { amount })
}

/// A worker whose project has so much money, about to answer for the first time.
fn with(stage: &mut Stage, amount: Usd) -> TaskId {
    let root = stage.root();
    grant(stage, root, amount);
    stage.worker()
}

fn left(stage: &Stage, task: TaskId) -> Usd {
    stage.state.remaining(task).expect("a budget")
}

/// The model answers, at this price.
fn answers(stage: &mut Stage, task: TaskId, call: &str, cost: Usd) -> Outcome {
    let (turn, _) = stage.asked(task);
    let mut answer = answer(turn, vec![run(call)], StopReason::ToolUse);
    answer.cost = cost;
    stage.session(task, SessionOp::Answered(answer))
}

#[test]
fn a_call_sets_its_worst_case_aside_and_settles_what_it_cost() {
    let mut stage = Stage::new();
    let task = with(&mut stage, usd(1));
    let root = stage.root();
    let reserved = stage.state.reservations().values().next().expect("money is set aside").amount;
    let worst = stage.state.session(task).context().worst();
    assert_eq!(reserved.micros(), worst * 10 + 1_000 * 50, "all it has to read, and all it may write");
    assert_eq!(left(&stage, root).micros(), 1_000_000 - reserved.micros());
    answers(&mut stage, task, "a", cents(2));
    assert_eq!(left(&stage, root), cents(98));
}

#[test]
fn a_call_that_might_exceed_the_budget_is_not_made_and_that_is_told_once() {
    let mut stage = Stage::new();
    let task = with(&mut stage, cents(8));
    answers(&mut stage, task, "a", cents(5));
    let outcome = stage.returns(task, "a", "fine");
    assert!(outcome.has("budget_exceeded"), "{:?}", outcome.names());
    assert_eq!(stage.rest(task), Some(&RestReason::Spent));
    let outcome = stage.say(task, "go on");
    assert!(!outcome.has("budget_exceeded"), "{:?}", outcome.names());
    assert!(!stage.is_asking(task));
    assert_eq!(stage.crash().effects, [], "nor is it made after a start");
    let root = stage.root();
    let outcome = grant(&mut stage, root, usd(1));
    assert!(outcome.has("budget_granted"));
    assert!(stage.is_asking(task), "more money lets it go on");
}

#[test]
fn who_waited_in_a_yield_without_money_goes_on_with_money() {
    let mut stage = Stage::new();
    let task = with(&mut stage, cents(8));
    let child = stage.task(task, "child");
    stage.say(child, "begin");
    let (turn, _) = stage.asked(task);
    let mut answer = answer(turn, vec![yields("y")], StopReason::ToolUse);
    answer.cost = cents(5);
    stage.session(task, SessionOp::Answered(answer));
    stage.say(task, "go on");
    assert_eq!(stage.rest(task), Some(&RestReason::Spent));
    let root = stage.root();
    let outcome = grant(&mut stage, root, usd(1));
    assert_eq!(results(&outcome)[0].0, "y");
    assert!(stage.is_asking(task));
}

#[test]
fn money_that_the_last_call_gave_back_pays_the_next() {
    let mut stage = Stage::new();
    let task = with(&mut stage, cents(8));
    let outcome = stage.calls(task, vec![malformed("m", "bash")]);
    assert!(stage.is_asking(task), "it has 7 cents, and a call costs 6: {:?}", outcome.names());
}

#[test]
fn messages_that_are_about_to_be_read_are_paid_for() {
    let mut stage = Stage::new();
    let task = with(&mut stage, usd(1));
    stage.answer(task, Vec::new(), StopReason::EndTurn);
    stage.ends_turn(task);
    stage.say(task, &"x".repeat(10_000));
    let reserved = stage.state.reservations().values().next().expect("money is set aside").amount;
    assert!(reserved > cents(15), "10,000 bytes may be as many tokens: {reserved}");
}

#[test]
fn a_warning_comes_once_at_four_fifths() {
    let mut stage = Stage::new();
    let task = with(&mut stage, cents(50));
    for n in 1..=9 {
        answers(&mut stage, task, &format!("c{n}"), if n < 9 { cents(5) } else { cents(1) });
        let outcome = stage.returns(task, &format!("c{n}"), &format!("fine {n}"));
        assert_eq!(outcome.has("budget_warning"), n == 8, "call {n}");
    }
}

#[test]
fn money_is_handed_down_and_comes_back_whole() {
    for word in ["passed", "failed"] {
        let mut stage = Stage::new();
        let task = with(&mut stage, usd(1));
        let root = stage.root();
        let args = r#"{"title":"child","description":"d","budgetUsd":0.3}"#;
        let outcome = stage.calls(task, vec![mxd("c", "create_task", args)]);
        let child = outcome.events.iter().find(|event| event.type_name() == "task_created").unwrap().task;
        assert_eq!(left(&stage, child), cents(30));
        stage.begin(child);
        stage.calls(child, vec![done("d", word)]);
        if word == "passed" {
            stage.checked(child, &[]);
        }
        assert_eq!(left(&stage, child), Usd::ZERO, "{word}");
        stage.ends_turn(task);
        let reserved: u64 = stage.state.reservations().values().map(|one| one.amount.micros()).sum();
        assert_eq!(left(&stage, root).micros() + reserved, 970_000, "three calls at a cent each");
    }
}

#[test]
fn nobody_hands_on_what_it_does_not_have_nor_to_what_is_no_task() {
    let mut stage = Stage::new();
    let task = with(&mut stage, usd(1));
    let folder = stage.calls(task, vec![mxd("f", "create_folder", &format!(r#"{{"parentId":"{task}","title":"f"}}"#))]);
    let folder = folder.events.iter().find(|event| event.type_name() == "task_created").unwrap().task;
    for (name, args) in [
        ("create_task", r#"{"title":"child","description":"d","budgetUsd":5}"#.to_owned()),
        ("update_task", format!(r#"{{"taskId":"{folder}","addBudgetUsd":0.1}}"#)),
    ] {
        let outcome = stage.calls(task, vec![mxd(name, name, &args)]);
        assert!(results(&outcome)[0].1.contains("Nothing was done"), "{outcome:?}");
    }
}

#[test]
fn a_child_without_money_goes_on_when_it_is_given_some() {
    let mut stage = Stage::new();
    let task = with(&mut stage, usd(1));
    let child = stage.create(NewTask { budget: Some(cents(1)), ..NewTask::new(task, "child", "d") });
    stage.begin(child);
    assert_eq!(stage.rest(child), Some(&RestReason::Spent));
    stage.calls(task, vec![mxd("u", "update_task", &format!(r#"{{"taskId":"{child}","addBudgetUsd":0.5}}"#))]);
    assert!(stage.is_asking(child));
}

#[test]
fn the_money_of_a_call_that_nobody_waits_for_any_more_is_spent_and_free() {
    let throw_away: [fn(TaskId) -> Op; 3] = [
        |task| Op::ResetTask { task },
        |task| Op::ClearConversation { task },
        |task| Op::DeleteTask { task, reach: Reach::Recursive },
    ];
    for op in throw_away {
        let mut stage = Stage::new();
        let task = with(&mut stage, usd(1));
        let root = stage.root();
        let reserved = stage.state.reservations().values().next().expect("money is set aside").amount;
        stage.user(op(task));
        assert!(stage.state.reservations().is_empty());
        assert_eq!(left(&stage, root).micros(), 1_000_000 - reserved.micros(), "nobody knows what it cost");
    }
}

#[test]
fn a_task_that_is_deleted_leaves_its_money_to_the_task_above() {
    let mut stage = Stage::new();
    let task = with(&mut stage, usd(1));
    let root = stage.root();
    let args = r#"{"title":"child","description":"d","budgetUsd":0.3}"#;
    let outcome = stage.calls(task, vec![mxd("c", "create_task", args)]);
    let child = outcome.events.iter().find(|event| event.type_name() == "task_created").unwrap().task;
    stage.ends_turn(task);
    stage.user(Op::DeleteTask { task: child, reach: Reach::Only });
    let reserved: u64 = stage.state.reservations().values().map(|one| one.amount.micros()).sum();
    assert_eq!(left(&stage, root).micros() + reserved, 980_000);
}

#[test]
fn a_workplace_for_somebody_without_money_is_made_once() {
    let mut stage = Stage::new();
    let task = stage.create(NewTask { budget: Some(cents(1)), ..NewTask::new(stage.root(), "t", "d") });
    stage.begin(task);
    let path = stage.state.tree().get(task).and_then(|node| node.task()).and_then(|task| task.worktree_path.clone());
    let removed = mxd_core::event::body::WorktreeRemoved { path: path.unwrap(), branch: "b".into() };
    stage.append(vec![mxd_core::event::Event::new(task, removed)]);
    stage.begin(task);
    assert!(!stage.state.session(task).is_busy(), "it rests for want of money");
    grant(&mut stage, task, usd(1));
    assert!(stage.is_asking(task));
}

#[test]
fn only_the_user_grants_and_only_something() {
    let mut stage = Stage::new();
    let root = stage.root();
    assert_eq!(stage.refused(root, SessionOp::Grant { amount: usd(1) }), "user_only");
    let nothing = Op::Session { task: root, op: SessionOp::Grant { amount: Usd::ZERO } };
    assert_eq!(stage.refuse(Actor::User, nothing).code(), "empty");
}

#[test]
fn a_budget_and_prices_that_nobody_knows_do_not_go_together() {
    let mut stage = Stage::new();
    stage.terms = None;
    let root = stage.root();
    grant(&mut stage, root, usd(1));
    stage.say(root, "begin");
    let outcome = stage.launches(root);
    let exceeded = outcome.of(root).any(|body| matches!(body, EventBody::BudgetExceeded(_)));
    assert!(exceeded && !stage.is_asking(root), "{:?}", outcome.names());
}
