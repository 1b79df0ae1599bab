//! Money: set aside before a call, settled after it, handed down and back, and never more than there is.

use mxd_core::change::Change;
use mxd_core::commit::Commit;
use mxd_core::decide::{Actor, Cost, Effect, NewTask, Op, Place, Post, Reach, SessionOp, TaskPatch};
use mxd_core::event::EventBody;
use mxd_core::event::body::{BlobId, Image, RestReason, StopReason, Terms, Usage};
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::price::{SHORTEST_USEFUL_OUTPUT, what_money_allows};
use mxd_core::state::Anomalies;

use super::script::{
    answer, cents, done, id, malformed, mxd, results, run, settled, terms, text, usd, yields,
};
use super::stage::{Outcome, Stage};
use crate::world::message_id;

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
    answer.cost = Cost::Known(cost);
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
    answer.cost = Cost::Known(cents(5));
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
    let folder = stage
        .calls(task, vec![mxd("f", "create_folder", &format!(r#"{{"parentId":"{task}","title":"f"}}"#))]);
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
    stage
        .calls(task, vec![mxd("u", "update_task", &format!(r#"{{"taskId":"{child}","addBudgetUsd":0.5}}"#))]);
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
    let path =
        stage.state.tree().get(task).and_then(|node| node.task()).and_then(|task| task.worktree_path.clone());
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

fn reserved(stage: &Stage) -> Usd {
    stage.state.reservations().values().next().expect("money is set aside").amount
}

fn picture() -> Image {
    Image { media_type: "image/png".into(), blob: BlobId("b".into()) }
}

#[test]
fn pictures_are_paid_for_whoever_sends_them() {
    // A picture has 12,000 tokens at the very most, and a thousand tokens cost a cent.
    let most = cents(12);
    let mut stage = Stage::new();
    let task = with(&mut stage, usd(5));
    let before = reserved(&stage);
    stage.calls(task, vec![run("a")]);
    let mut shown = settled(&id("a"), "a picture");
    shown.result.images = vec![picture(), picture()];
    stage.session(task, SessionOp::Settled(shown));
    assert!(reserved(&stage) > most.checked_add(most).unwrap(), "two of a tool: {}", reserved(&stage));
    stage.calls(task, vec![run("b")]);
    stage.returns(task, "b", "fine");
    assert!(reserved(&stage) < before, "what was billed is known");
    stage.calls(task, vec![run("c")]);
    let post = Post { images: vec![picture()], ..Post::text("look") };
    stage.user(Op::SendMessage { id: message_id(7), to: task, post });
    stage.returns(task, "c", "fine");
    assert!(reserved(&stage) > most, "one of the user: {}", reserved(&stage));
}

#[test]
fn a_call_whose_price_nobody_tells_costs_all_that_was_set_aside_and_that_is_marked() {
    let mut stage = Stage::new();
    let task = with(&mut stage, usd(5));
    let (root, worst) = (stage.root(), reserved(&stage));
    let (turn, _) = stage.asked(task);
    let answer =
        mxd_core::decide::Answer { cost: Cost::Unknown, ..answer(turn, vec![run("a")], StopReason::ToolUse) };
    let outcome = stage.session(task, SessionOp::Answered(answer));
    let marked = outcome.of(task).any(|body| match body {
        EventBody::TurnEnded(ended) => ended.cost_unknown && ended.cost_usd == worst,
        _ => false,
    });
    let settled = outcome.of(task).any(|body| match body {
        EventBody::BudgetSettled(settled) => settled.worst_case && settled.amount_usd == worst,
        _ => false,
    });
    assert!(marked && settled, "{outcome:?}");
    assert_eq!(left(&stage, root), usd(5).checked_sub(worst).unwrap());
}

#[test]
fn words_that_nobody_counted_are_paid_for_by_their_bytes() {
    for (stop, usage) in [
        (StopReason::ToolUse, Usage::default()),
        (StopReason::Cancelled, Usage { input_tokens: 50, output_tokens: 1, ..Usage::default() }),
    ] {
        let mut stage = Stage::new();
        let task = with(&mut stage, usd(5));
        let (turn, _) = stage.asked(task);
        let said = vec![text(&"x".repeat(30_000)), run("a")];
        let mut answer = answer(turn, said, stop.clone());
        answer.usage = usage;
        stage.session(task, SessionOp::Answered(answer));
        if stop == StopReason::ToolUse {
            stage.returns(task, "a", "fine");
        } else {
            stage.say(task, "go on");
        }
        assert!(reserved(&stage) > cents(30), "{stop:?}: {}", reserved(&stage));
    }
}

/// A worker without money of its own below one that has some, come to rest for want of it.
fn short(stage: &mut Stage) -> (TaskId, TaskId, TaskId) {
    let root = stage.root();
    let poor = stage.create(NewTask { budget: Some(cents(1)), ..NewTask::new(root, "poor", "d") });
    let middle = stage.task(poor, "middle");
    let task = stage.task(middle, "task");
    stage.begin(task);
    assert_eq!(stage.rest(task), Some(&RestReason::Spent));
    (poor, middle, task)
}

#[test]
fn more_money_reaches_everybody_who_is_paid_from_it() {
    let more: [fn(TaskId) -> Op; 3] = [
        |task| Op::Session { task, op: SessionOp::Grant { amount: usd(1) } },
        |task| {
            let patch = TaskPatch { budget: Change::Set(usd(1)), ..TaskPatch::default() };
            Op::UpdateTask { task, patch }
        },
        |task| {
            let patch = TaskPatch { budget: Change::Clear, ..TaskPatch::default() };
            Op::UpdateTask { task, patch }
        },
    ];
    for op in more {
        let mut stage = Stage::new();
        let (poor, _, task) = short(&mut stage);
        stage.user(op(poor));
        assert!(stage.is_asking(task), "{:?}", op(poor));
    }
}

#[test]
fn who_is_deleted_hears_nothing_of_what_the_others_hand_back() {
    let mut stage = Stage::new();
    let (poor, middle, task) = short(&mut stage);
    // The last in the tree goes first: this one hands its money back when the other is gone already.
    let saved = NewTask { budget: Some(usd(1)), place: Place::At(0), ..NewTask::new(middle, "saved", "d") };
    stage.create(saved);
    let outcome = stage.user(Op::DeleteTask { task: middle, reach: Reach::Recursive });
    assert!(outcome.has("budget_refunded"), "{:?}", outcome.names());
    assert_eq!(outcome.of(task).count(), 1, "{:?}", outcome.names());
    assert_eq!(stage.state.anomalies(), Anomalies::default());
    assert_eq!(left(&stage, poor), usd(1).checked_add(cents(1)).expect("a small sum"));
}

#[test]
fn less_money_calls_nobody() {
    let mut stage = Stage::new();
    let (poor, _, task) = short(&mut stage);
    let patch = TaskPatch { budget: Change::Set(Usd::ZERO), ..TaskPatch::default() };
    let outcome = stage.user(Op::UpdateTask { task: poor, patch });
    assert_eq!(outcome.of(task).count(), 0, "{:?}", outcome.names());
    assert_eq!(stage.rest(task), Some(&RestReason::Spent));
}

#[test]
fn who_is_moved_below_another_budget_goes_on() {
    for whole in [true, false] {
        let mut stage = Stage::new();
        let (_, middle, task) = short(&mut stage);
        let root = stage.root();
        let rich = stage.create(NewTask { budget: Some(usd(1)), ..NewTask::new(root, "rich", "d") });
        let moved = if whole { middle } else { task };
        stage.user(Op::MoveTask { task: moved, parent: rich, place: Place::Last });
        assert!(stage.is_asking(task), "with what stands above it: {whole}");
    }
}

#[test]
fn who_has_its_own_money_is_not_called_by_a_move() {
    let mut stage = Stage::new();
    let root = stage.root();
    let task = stage.create(NewTask { budget: Some(cents(1)), ..NewTask::new(root, "t", "d") });
    stage.begin(task);
    let rich = stage.create(NewTask { budget: Some(usd(1)), ..NewTask::new(root, "rich", "d") });
    stage.user(Op::MoveTask { task, parent: rich, place: Place::Last });
    assert_eq!(stage.rest(task), Some(&RestReason::Spent));
    assert!(!stage.is_asking(task));
}

#[test]
fn a_warning_comes_again_when_there_was_more_and_that_runs_out_too() {
    let mut stage = Stage::new();
    let task = with(&mut stage, cents(50));
    let root = stage.root();
    let mut warned = Vec::new();
    for n in 1..=16 {
        if n == 9 {
            grant(&mut stage, root, cents(50));
        }
        answers(&mut stage, task, &format!("c{n}"), cents(5));
        let outcome = stage.returns(task, &format!("c{n}"), &format!("fine {n}"));
        if outcome.has("budget_warning") {
            warned.push(n);
        }
        if !stage.is_asking(task) {
            break;
        }
    }
    assert_eq!(warned, [8, 16], "at 40 of 50 cents, and at 80 of 100");
}

/// A model that writes long answers: a whole one costs 40 cents, the shortest useful one a little over 5.
fn long_answers(stage: &mut Stage) {
    stage.terms = Some(Terms { max_output_tokens: 8_000, ..terms() });
}

fn allowed_tokens(stage: &Stage) -> Option<u64> {
    stage.state.reservations().values().next().and_then(|one| one.max_output_tokens)
}

#[test]
fn a_small_budget_pays_for_shorter_answers() {
    let mut stage = Stage::new();
    long_answers(&mut stage);
    let task = with(&mut stage, cents(20));
    let tokens = allowed_tokens(&stage).expect("it is asked");
    assert!((SHORTEST_USEFUL_OUTPUT..8_000).contains(&tokens), "{tokens}");
    let asked = stage.work.iter().any(|effect| {
        matches!(effect, Effect::CallModel { max_output_tokens: Some(asked), .. } if *asked == tokens)
    });
    assert!(asked, "the request says so: {:?}", stage.work);
    let root = stage.root();
    assert!(left(&stage, root) < cents(1), "as long as the money lasts: {}", left(&stage, root));
    answers(&mut stage, task, "a", cents(1));
    stage.returns(task, "a", "fine");
    assert!(allowed_tokens(&stage).is_some_and(|next| next < tokens), "and shorter with less");
}

#[test]
fn no_answer_is_asked_for_that_is_too_short_to_be_of_use() {
    let mut stage = Stage::new();
    long_answers(&mut stage);
    let task = with(&mut stage, cents(5));
    assert!(!stage.is_asking(task));
    assert_eq!(stage.rest(task), Some(&RestReason::Spent));
    let standing = mxd_core::show::standing(&stage.state, task).expect("a task");
    assert!(
        standing.why.contains("may cost up to $0.0") && standing.why.contains("$0.05 is left"),
        "{standing:?}"
    );
    assert!(standing.why.contains("grant at least"), "{standing:?}");
}

#[test]
fn nobody_is_stopped_without_a_warning_before() {
    for budget in [1, 5, 7, 10, 20, 45, 60, 100] {
        let mut stage = Stage::new();
        long_answers(&mut stage);
        let root = stage.root();
        grant(&mut stage, root, cents(budget));
        let task = stage.worker();
        for n in 0..40 {
            if !stage.is_asking(task) {
                break;
            }
            let reserved = reserved(&stage);
            let cost = if n % 2 == 0 { reserved } else { Usd::from_micros(reserved.micros() / 3).unwrap() };
            answers(&mut stage, task, &format!("c{n}"), cost);
            stage.returns(task, &format!("c{n}"), &format!("fine {n}"));
        }
        let names: Vec<String> = stage
            .commits
            .iter()
            .flat_map(Commit::events)
            .filter(|event| event.task == task)
            .map(|event| event.type_name().to_owned())
            .collect();
        let warned = names.iter().position(|name| name == "budget_warning");
        let stopped = names.iter().position(|name| name == "budget_exceeded");
        assert!(stopped.is_some() && warned < stopped && warned.is_some(), "{budget} cents: {names:?}");
    }
}

#[test]
fn a_grant_says_what_is_possible_with_it() {
    let mut stage = Stage::new();
    long_answers(&mut stage);
    let task = with(&mut stage, cents(1));
    let root = stage.root();
    let says = |stage: &Stage| what_money_allows(&stage.state, task);
    assert!(says(&stage).contains("grant at least $0.0"), "{}", says(&stage));
    grant(&mut stage, root, cents(1));
    assert!(
        says(&stage).starts_with("has $0.02 left, and its next model call may cost up to"),
        "{}",
        says(&stage)
    );
    grant(&mut stage, root, cents(10));
    assert_eq!(says(&stage), "goes on with more money");
    stage.user(Op::Session { task, op: SessionOp::Stop { reason: None } });
    let (turn, _) = stage.asked(task);
    stage.session(task, SessionOp::Answered(answer(turn, Vec::new(), StopReason::Cancelled)));
    assert!(says(&stage).contains("which pays for a short answer"), "{}", says(&stage));
    grant(&mut stage, root, usd(1));
    assert!(says(&stage).ends_with("which pays for its next model call"), "{}", says(&stage));
}
