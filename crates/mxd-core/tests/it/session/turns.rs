//! A turn, and every way in which a model can end it.

use mxd_core::decide::{Cost, Effect, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{RestReason, StopReason, TurnPurpose, Usage};
use mxd_core::message::{Message, NoticeTopic};
use mxd_core::tree::Status;

use super::script::{answer, asks, run, text, thought, yields};
use super::stage::{Outcome, Stage};

/// The topics of the notices in this outcome.
fn notices(outcome: &Outcome) -> Vec<&NoticeTopic> {
    let notices = outcome.events.iter().filter_map(|event| match &event.body {
        EventBody::Message(posted) => match &posted.body {
            Message::Notice(notice) => Some(&notice.topic),
            _ => None,
        },
        _ => None,
    });
    notices.collect()
}

#[test]
fn a_message_makes_a_workplace_and_then_asks_the_model() {
    let mut stage = Stage::new();
    let task = stage.task(stage.root(), "worker");
    let outcome = stage.say(task, "begin");
    assert_eq!(outcome.effects, [Effect::Launch { task }]);
    assert!(stage.state.inbox(task).wants_agent(), "nothing is read before there is a place to work in");
    let outcome = stage.launches(task);
    assert_eq!(outcome.effects, [asks((task, 1), TurnPurpose::Work)]);
    assert!(stage.state.inbox(task).is_empty(), "the header and the message are read");
    assert_eq!(stage.status(task), Status::InProgress);
}

#[test]
fn what_an_agent_has_to_know_is_read_before_what_it_is_told() {
    let mut stage = Stage::new();
    let task = stage.task(stage.root(), "worker");
    stage.say(task, "first");
    stage.say(task, "second");
    let outcome = stage.launches(task);
    let posted = outcome.of(task).find_map(|body| match body {
        EventBody::Message(posted) => Some(posted.id),
        _ => None,
    });
    let read = outcome.of(task).find_map(|body| match body {
        EventBody::MessagesConsumed(consumed) => Some(consumed.message_ids.clone()),
        _ => None,
    });
    assert_eq!(read.as_ref().map(Vec::len), Some(3));
    assert_eq!(read.unwrap().first(), posted.as_ref());
}

#[test]
fn the_end_of_a_turn_is_a_yield_and_never_a_done() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let outcome = stage.ends_turn(root);
    assert_eq!(outcome.effects, []);
    assert_eq!(stage.rest(root), Some(&RestReason::EndTurn));
    assert_eq!(stage.status(root), Status::InProgress);
    stage.say(root, "and now?");
    assert!(stage.is_asking(root), "a message goes on with it");
}

#[test]
fn every_stop_without_a_call_has_its_way() {
    let other = |why: &str| StopReason::Other(why.to_owned());
    let rests = [
        (StopReason::EndTurn, RestReason::EndTurn),
        (StopReason::ToolUse, RestReason::EndTurn),
        (other("something new"), RestReason::EndTurn),
        (StopReason::Refusal, RestReason::Refused),
        (StopReason::Cancelled, RestReason::Interrupted),
    ];
    for (stop, rest) in rests {
        let mut stage = Stage::new();
        let root = stage.root();
        stage.begin(root);
        stage.answer(root, vec![text("so")], stop.clone());
        assert_eq!(stage.rest(root), Some(&rest), "{stop:?}");
    }
    for stop in [StopReason::MaxTokens, other("pause_turn")] {
        let mut stage = Stage::new();
        let root = stage.root();
        stage.begin(root);
        stage.answer(root, vec![text("half a")], stop.clone());
        assert!(stage.is_asking(root), "{stop:?} goes on");
    }
}

#[test]
fn a_full_window_is_summarised_and_the_turn_is_made_again() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.answer(root, vec![text("half a")], StopReason::Other("model_context_window_exceeded".into()));
    stage.summarises(root, "what was");
    assert!(stage.is_asking(root), "it had not finished");
}

#[test]
fn a_turn_of_nothing_but_thoughts_does_not_hang() {
    for items in [vec![thought()], Vec::new()] {
        let mut stage = Stage::new();
        let task = stage.worker();
        let outcome = stage.answer(task, items, StopReason::EndTurn);
        assert_eq!(notices(&outcome), [&NoticeTopic::Reminder], "it waits for nothing");
        assert!(stage.is_asking(task));
    }
}

#[test]
fn answers_that_are_cut_off_again_and_again_are_told_above() {
    let mut stage = Stage::new();
    let task = stage.worker();
    for _ in 0..stage.limits.cut_off_answers {
        let outcome = stage.answer(task, vec![text("half")], StopReason::MaxTokens);
        assert_eq!(notices(&outcome), [&NoticeTopic::CutOff]);
    }
    let outcome = stage.answer(task, vec![text("half")], StopReason::MaxTokens);
    assert_eq!(notices(&outcome), [&NoticeTopic::Stuck]);
    assert_eq!(stage.rest(task), Some(&RestReason::Failed));
    let outcome = stage.crash();
    assert_eq!(outcome.effects, [], "a start does not try what cannot succeed");
}

#[test]
fn a_refusal_is_seen_and_its_calls_are_not_made() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let outcome = stage.answer(task, vec![text("no"), run("a")], StopReason::Refusal);
    assert!(outcome.has("error") && !outcome.has("tool_call"), "{:?}", outcome.names());
    assert_eq!(outcome.effects, []);
    assert_eq!(notices(&outcome), [&NoticeTopic::Stuck], "the task above hears of it");
    assert_eq!(stage.rest(task), Some(&RestReason::Refused));
}

#[test]
fn what_was_written_during_a_turn_that_comes_to_nothing_is_read() {
    for stop in [StopReason::Refusal, StopReason::MaxTokens] {
        let mut stage = Stage::new();
        stage.limits.cut_off_answers = 0;
        let task = stage.worker();
        stage.say(task, "rather this");
        stage.answer(task, vec![text("no")], stop);
        assert!(stage.is_asking(task) && stage.state.inbox(task).is_empty());
    }
}

#[test]
fn an_answer_is_taken_once() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.ends_turn(root);
    let again = SessionOp::Answered(answer(1, vec![text("so")], StopReason::EndTurn));
    assert_eq!(stage.refused(root, again), "late");
    let never_asked = SessionOp::Answered(answer(7, vec![text("so")], StopReason::EndTurn));
    assert_eq!(stage.refused(root, never_asked), "late");
}

#[test]
fn calls_of_a_provider_that_counts_nothing_are_made() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let (turn, _) = stage.asked(root);
    let mut answer = answer(turn, vec![run("a")], StopReason::ToolUse);
    (answer.usage, answer.cost) = (Usage::default(), Cost::Unknown);
    let outcome = stage.session(root, SessionOp::Answered(answer));
    assert_eq!(outcome.effects.len(), 1);
    assert_eq!(stage.open(root), ["a"]);
}

#[test]
fn an_agent_that_waits_for_nothing_is_reminded_once_and_then_told_about() {
    let mut stage = Stage::new();
    let task = stage.worker();
    assert_eq!(notices(&stage.calls(task, vec![yields("y")])), [&NoticeTopic::Reminder]);
    assert_eq!(notices(&stage.ends_turn(task)), [&NoticeTopic::Stuck]);
    assert_eq!(stage.rest(task), Some(&RestReason::EndTurn));
    stage.say(task, "try this");
    assert_eq!(
        notices(&stage.ends_turn(task)),
        [&NoticeTopic::Reminder],
        "somebody wrote, so it counts anew"
    );
}

#[test]
fn an_agent_that_waits_for_something_is_left_alone() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let child = stage.task(task, "child");
    stage.begin(child);
    let outcome = stage.calls(task, vec![yields("y")]);
    assert_eq!(notices(&outcome), [] as [&NoticeTopic; 0]);
    assert_eq!(outcome.effects, []);
}

#[test]
fn limits_of_turns_tokens_and_time_end_the_asking_and_are_told_once() {
    let limit: [fn(&mut Stage); 3] = [
        |stage| stage.limits.turns_per_task = 2,
        |stage| stage.limits.tokens_per_task = 200,
        |stage| stage.limits.task_ms = 1_000,
    ];
    for limit in limit {
        let mut stage = Stage::new();
        limit(&mut stage);
        let task = stage.worker();
        stage.calls(task, vec![run("a")]);
        stage.returns(task, "a", "fine");
        stage.calls(task, vec![run("b")]);
        stage.now += 1_000;
        let outcome = stage.returns(task, "b", "fine");
        assert_eq!(stage.rest(task), Some(&RestReason::Spent));
        assert_eq!(notices(&outcome), [&NoticeTopic::Stuck]);
        assert_eq!(stage.say(task, "go on").events.len(), 2, "the message and its copy above, and no more");
        stage.reset(task);
        stage.vacates(task);
        stage.say(task, "again");
        stage.launches(task);
        assert_eq!(stage.rest(task), Some(&RestReason::Spent), "no reset gives a task another life");
    }
}

#[test]
fn an_answer_to_another_turn_is_late() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let (turn, _) = stage.asked(task);
    for other in [turn - 1, turn + 1] {
        let answer = answer(other, vec![text("so")], StopReason::EndTurn);
        assert_eq!(stage.refused(task, SessionOp::Answered(answer)), "late");
    }
    assert!(stage.is_asking(task));
}
