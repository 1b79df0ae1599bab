//! Cases in which programs of this kind are known to go wrong, as far as no other file has them.
//! `docs/regressions.md` is the whole list.

use mxd_core::commit::Seq;
use mxd_core::decide::{Actor, Effect, Op, Post, SessionOp};
use mxd_core::event::body::{ApprovalScope, MessagePosted, RestReason, TurnPurpose, Verdict};
use mxd_core::event::{Event, EventBody};
use mxd_core::id::{MessageId, TaskId};
use mxd_core::message::{Compact, Message};
use mxd_core::raw::RawJson;
use mxd_core::tree::Status;

use super::conversation;
use super::script::{self, done, failure, id, mxd, results, run, yields};
use super::stage::{Outcome, Stage};
use crate::world::message_id;

/// The ids of the messages that a task has read, in order.
fn read(stage: &Stage, task: TaskId) -> Vec<MessageId> {
    let events = stage.commits.iter().flat_map(|commit| commit.events());
    let consumed = events.filter(|event| event.task == task).filter_map(|event| match &event.body {
        EventBody::MessagesConsumed(consumed) => Some(consumed.message_ids.clone()),
        _ => None,
    });
    consumed.flatten().collect()
}

fn write(stage: &mut Stage, (from, to): (Actor, TaskId), n: u64) -> Outcome {
    let post = Post { title: Some("t".into()), ..Post::text(format!("message {n}")) };
    let post = if from == Actor::User { Post::text(format!("message {n}")) } else { post };
    stage.accept(from, Op::SendMessage { id: message_id(n), to, post })
}

#[test]
fn two_who_write_at_once_are_both_read_once() {
    let mut stage = Stage::new();
    let (root, task) = (stage.root(), stage.worker());
    stage.begin(root);
    stage.calls(task, vec![run("a")]);
    write(&mut stage, (Actor::Agent(root), task), 1);
    write(&mut stage, (Actor::User, task), 2);
    let again = Op::SendMessage { id: message_id(1), to: task, post: Post::text("message 1") };
    assert_eq!(stage.refuse(Actor::User, again).code(), "duplicate_message");
    stage.returns(task, "a", "fine");
    stage.crash();
    let sent = [message_id(1), message_id(2)];
    let both: Vec<MessageId> = read(&stage, task).into_iter().filter(|id| sent.contains(id)).collect();
    assert_eq!(both, sent);
}

#[test]
fn a_message_to_nobody_is_refused_and_says_so() {
    let mut stage = Stage::new();
    let (root, task) = (stage.root(), stage.worker());
    let gone = stage.task(root, "gone");
    stage.user(Op::DeleteTask { task: gone, reach: mxd_core::decide::Reach::Only });
    let args = format!(r#"{{"taskId":"{gone}","title":"t","message":"hello"}}"#);
    let outcome = stage.calls(task, vec![mxd("s", "send_message", &args)]);
    let (_, said) = &results(&outcome)[0];
    assert!(said.starts_with("Nothing was done") && said.contains(&gone.to_string()), "{said}");
    let post = Post::text("hello");
    let refusal = stage.refuse(Actor::User, Op::SendMessage { id: message_id(1), to: gone, post });
    assert_eq!(refusal.code(), "unknown_task");
}

/// A newer program has other tools and other words about them. The conversation that has begun is sent as it began.
#[test]
fn another_version_of_the_tools_changes_nothing_that_was_sent() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![done("d", "passed")]);
    stage.checked(task, &[]);
    stage.user(Op::CloseTask { task });
    stage.vacates(task);
    stage.say(task, "once more");
    let mut launched = script::launched(task, false, stage.terms);
    launched.config.tools = RawJson::parse(r#"[{"name":"bash","description":"other words"}]"#).expect("json");
    launched.config.system_stable = "other rules".into();
    let outcome = stage.session(task, SessionOp::Launched(launched));
    assert!(outcome.has("orchestration_started") && stage.is_asking(task), "{:?}", outcome.names());
    assert!(!outcome.has("session_config"), "{:?}", outcome.names());
}

#[test]
fn a_message_that_nobody_understands_stops_nobody() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![run("a")]);
    let odd = RawJson::parse(r#"{"source":"of_a_newer_version","what":[1,{"x":null}]}"#).expect("json");
    let posted = MessagePosted { id: message_id(1), body: Message::Unknown(odd), wake: true };
    stage.append(vec![Event::new(task, posted)]);
    stage.say(task, "and this");
    stage.returns(task, "a", "fine");
    assert!(stage.is_asking(task));
    assert!(stage.state.inbox(task).is_empty(), "both are read");
}

#[test]
fn a_word_is_for_the_call_it_was_given_for() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![run("a"), run("b")]);
    for call in ["a", "b"] {
        let (rule, call_hash) = ("ask".to_owned(), format!("hash of {call}"));
        stage.session(task, SessionOp::AskUser { call: id(call), rule, call_hash });
    }
    let asked = stage.state.session(task).approvals().clone();
    let (first, waiting) = asked.iter().next().expect("asked");
    let (verdict, scope) = (Verdict::Allow, ApprovalScope::Once);
    let allow = SessionOp::Approve { id: *first, verdict, scope, reason: None };
    let approved = Some(waiting.call_hash.clone());
    let run = Effect::RunTool { task, call: waiting.call.clone(), approved };
    assert_eq!(stage.steer(task, allow.clone()).effects, [run]);
    let again = Op::Session { task, op: allow };
    assert_eq!(stage.refuse(Actor::User, again).code(), "late", "it is used up");
    assert_eq!(stage.state.session(task).approvals().len(), 1, "the other one still waits");
}

#[test]
fn who_waits_below_a_task_that_is_stopped_or_crashes_is_heard_of() {
    for stopped in [true, false] {
        let mut stage = Stage::new();
        let task = stage.worker();
        let child = stage.task(task, "child");
        stage.begin(child);
        stage.calls(task, vec![yields("y")]);
        if stopped {
            // Only the task above: its child was called again since.
            stage.steer(task, SessionOp::Stop { reason: None });
            stage.ends_turn(child);
            stage.say(child, "go on");
        }
        stage.crash();
        stage.calls(child, vec![done("d", "failed")]);
        assert_eq!(stage.status(child), Status::Failed);
        assert!(stage.is_asking(task), "the report of its child calls it; stopped: {stopped}");
    }
}

#[test]
fn a_task_whose_model_fails_is_never_passed() {
    for passing in [true, false] {
        let mut stage = Stage::new();
        let (root, task) = (stage.root(), stage.worker());
        stage.begin(root);
        stage.calls(root, vec![yields("y")]);
        for _ in 0..stage.limits.failed_turns {
            let (turn, _) = stage.asked(task);
            let mut failure = failure(turn);
            failure.passing = passing;
            stage.session(task, SessionOp::Failed(failure));
            if !passing || stage.is_asking(root) {
                break;
            }
            stage.session(task, SessionOp::Retry { turn });
        }
        assert_eq!(stage.status(task), Status::InProgress, "passing: {passing}");
        assert_eq!(stage.rest(task), Some(&RestReason::Failed));
        assert!(stage.is_asking(root), "the task above is told that it does not go on");
    }
}

#[test]
fn a_report_that_comes_during_a_summary_is_read_after_it() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let child = stage.task(task, "child");
    stage.begin(child);
    stage.calls(task, vec![yields("y")]);
    let wish = Op::Report { id: message_id(1), to: task, message: Message::from(Compact {}) };
    stage.user(wish);
    stage.calls(child, vec![done("d", "failed")]);
    assert_eq!(stage.state.inbox(task).waking(), 1, "it waits until the summary is made");
    stage.summarises(task, "what was");
    let asking = stage.state.session(task).asking().expect("it is asked");
    assert_eq!(asking.purpose, TurnPurpose::Work);
    assert!(stage.state.inbox(task).is_empty());
}

#[test]
fn a_fork_of_what_was_forked_from_itself_ends() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let (one, other) = (stage.task(root, "one"), stage.task(root, "other"));
    // It has a workplace and no turn yet when the other goes on from it; then it begins again, from there.
    stage.steer(one, SessionOp::Grant { amount: super::script::cents(1) });
    stage.begin(one);
    assert_eq!(stage.state.session(one).life().turns, 0);
    for (call, (source, target)) in [("f", (one, other)), ("g", (other, one))] {
        let args = format!(r#"{{"sourceTaskId":"{source}","targetTaskId":"{target}"}}"#);
        let outcome = stage.calls(root, vec![mxd(call, "fork_task_context", &args)]);
        assert!(outcome.has("fork_marker"), "{:?}", results(&outcome));
        if call == "f" {
            stage.reset(one);
        }
    }
    assert_eq!(stage.state.session(one).lineage(), [one, other]);
    let (whole, pruned) = (conversation::log(&stage), conversation::pruned(&stage));
    let end = Seq(stage.commits.len() as u64);
    let said = conversation::read(&whole, one, end);
    assert!(
        said.iter().any(|(_, _, event)| event.type_name() == "session_config"),
        "it goes back to the start"
    );
    assert_eq!(conversation::read(&pruned, one, end), said);
}
