//! The end of a task: what an agent says, what the checks say, and who hears of it.

use mxd_core::decide::{Actor, Checked, Effect, NewTask, Op, Place, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{ExitReason, RestReason};
use mxd_core::id::TaskId;
use mxd_core::limits::Limits;
use mxd_core::message::Message;
use mxd_core::tree::Status;

use super::script::{checks, done, mxd, results, run};
use super::stage::{Outcome, Stage};
use crate::world::set;

fn exit(outcome: &Outcome) -> Option<ExitReason> {
    outcome.events.iter().find_map(|event| match &event.body {
        EventBody::OrchestrationCompleted(completed) => completed.exit.clone(),
        _ => None,
    })
}

#[test]
fn an_end_its_status_and_the_report_above_are_one_commit() {
    for (word, status, expected) in [
        ("passed", Status::Passed, ExitReason::DonePassed),
        ("failed", Status::Failed, ExitReason::DoneFailed),
    ] {
        let mut stage = Stage::new();
        let task = stage.worker();
        let mut outcome = stage.calls(task, vec![done("d", word)]);
        if word == "passed" {
            assert_eq!(outcome.effects, [Effect::RunChecks { task }]);
            assert_eq!(stage.status(task), Status::InProgress);
            outcome = stage.checked(task, &[0, 0]);
        }
        assert_eq!(stage.status(task), status);
        assert_eq!(exit(&outcome), Some(expected));
        let commit = stage.commits.iter().find(|commit| {
            commit.events().iter().any(|event| matches!(event.body, EventBody::DoneNotified(_)))
        });
        let reports = commit.unwrap().events().iter().filter(|event| match &event.body {
            EventBody::Message(posted) => matches!(posted.body, Message::TaskComplete(_)),
            _ => false,
        });
        assert_eq!(reports.count(), 1);
        assert_eq!(stage.open(task), ["d"], "the call stays open");
        assert_eq!(stage.rest(task), Some(&RestReason::Done));
        assert!(
            outcome.effects.contains(&Effect::Launch { task: stage.root() }),
            "the task above works on it"
        );
    }
}

#[test]
fn checks_that_fail_or_cannot_be_run_are_told_and_the_agent_goes_on() {
    let problem = Some("files are not committed".to_owned());
    let ended = Checked { checks: vec![checks(&[0]).checks[0].clone()], problem: None };
    let mut killed = ended.clone();
    killed.checks[0].exit_code = None;
    for (checked, words) in [
        (checks(&[0, 1]), "exit code 1"),
        (killed, "had to be ended"),
        (Checked { checks: Vec::new(), problem }, "not committed"),
    ] {
        let mut stage = Stage::new();
        let task = stage.worker();
        stage.calls(task, vec![done("d", "passed")]);
        let outcome = stage.session(task, SessionOp::Checked(checked));
        assert!(results(&outcome)[0].1.contains(words), "{outcome:?}");
        assert_eq!(stage.status(task), Status::InProgress);
        assert!(stage.is_asking(task));
    }
}

#[test]
fn checks_are_asked_for_once_and_answered_once() {
    let mut stage = Stage::new();
    let task = stage.worker();
    assert_eq!(stage.refused(task, SessionOp::Checked(checks(&[0]))), "late");
    stage.calls(task, vec![done("d", "passed")]);
    stage.checked(task, &[0]);
    assert_eq!(stage.refused(task, SessionOp::Checked(checks(&[1]))), "late");
    assert_eq!(stage.status(task), Status::Passed);
}

#[test]
fn a_task_does_not_end_over_unread_messages_also_if_they_come_during_the_checks() {
    for word in ["passed", "failed"] {
        let mut stage = Stage::new();
        let task = stage.worker();
        stage.say(task, "wait");
        let outcome = stage.calls(task, vec![done("d", word)]);
        assert!(results(&outcome)[0].1.contains("not read"), "{outcome:?}");
        assert!(stage.is_asking(task) && stage.state.inbox(task).is_empty());
    }
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![done("d", "passed")]);
    stage.say(task, "wait");
    let outcome = stage.checked(task, &[0]);
    assert!(results(&outcome)[0].1.contains("not read"), "{outcome:?}");
    assert_eq!(stage.status(task), Status::InProgress);
}

#[test]
fn a_task_does_not_end_over_tasks_that_work_below_it() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let child = stage.task(task, "the child");
    stage.begin(child);
    let outcome = stage.calls(task, vec![done("d", "passed")]);
    assert!(results(&outcome)[0].1.contains("the child"), "{outcome:?}");
    assert!(stage.is_asking(task));
}

#[test]
fn many_tasks_below_do_not_make_an_answer_too_long() {
    let mut stage = Stage::new();
    let task = stage.worker();
    for n in 0..60 {
        let child = stage.task(task, &format!("child {n}"));
        stage.say(child, "begin");
    }
    let outcome = stage.calls(task, vec![done("d", "passed")]);
    assert!(results(&outcome)[0].1.contains("and 10 more"), "{outcome:?}");
}

#[test]
fn checks_of_a_task_that_was_ended_meanwhile_change_nothing() {
    for status in [Status::Failed, Status::Verify, Status::Pending] {
        let mut stage = Stage::new();
        let task = stage.worker();
        stage.calls(task, vec![done("d", "passed")]);
        stage.user(set(task, status));
        stage.checked(task, &[0]);
        assert_eq!(stage.status(task), status);
        stage.say(task, "once more");
        assert!(stage.is_asking(task), "and it can be called again");
    }
}

#[test]
fn a_done_that_cannot_be_read_is_no_end() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let outcome = stage.calls(task, vec![mxd("d", "done", r#"{"status":"perhaps","summary":"s"}"#)]);
    assert!(results(&outcome)[0].1.contains("not done"), "{outcome:?}");
    assert!(stage.is_asking(task));
}

#[test]
fn a_message_to_an_ended_task_answers_its_done_and_goes_on() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![done("d", "failed")]);
    let outcome = stage.say(task, "once more");
    assert!(results(&outcome)[0].1.contains("in progress"));
    assert_eq!(stage.status(task), Status::InProgress);
    assert!(stage.is_asking(task));
}

#[test]
fn a_task_above_that_takes_no_more_reports_is_waited_for() {
    let mut stage = Stage::new();
    stage.limits = Limits { inbox_per_task: 1, notices_per_inbox: 1, report_reserve: 1, ..Limits::DEFAULT };
    let task = stage.worker();
    let root = stage.root();
    for n in 0..stage.limits.inbox_in_all() {
        let child = stage.task(root, &format!("child {n}"));
        stage.begin(child);
        stage.calls(child, vec![done("d", "failed")]);
    }
    let outcome = stage.calls(task, vec![done("d", "failed")]);
    assert!(results(&outcome)[0].1.contains("too many unread"), "{outcome:?}");
    assert_eq!(stage.status(task), Status::InProgress);
}

/// What an agent cannot say by changing a status.
fn refused_status(stage: &mut Stage, (task, about): (TaskId, TaskId), status: &str) -> String {
    let args = format!(r#"{{"taskId":"{about}","status":"{status}"}}"#);
    let outcome = stage.calls(task, vec![mxd("u", "update_task", &args)]);
    results(&outcome)[0].1.clone()
}

#[test]
fn an_agent_ends_its_task_by_done_alone() {
    for status in ["passed", "failed", "closed"] {
        let mut stage = Stage::new();
        let task = stage.worker();
        let text = refused_status(&mut stage, (task, task), status);
        assert!(text.contains("Nothing was done"), "{text}");
        assert_eq!(stage.status(task), Status::InProgress);
    }
}

#[test]
fn an_agent_does_not_pass_a_task_past_its_checks() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let args = r#"{"title":"c","description":"d","checks":["make test"]}"#;
    let outcome = stage.calls(task, vec![mxd("c", "create_task", args), run("a")]);
    let child = outcome.events.iter().find(|event| event.type_name() == "task_created").unwrap().task;
    stage.returns(task, "a", "fine");
    stage.say(child, "begin");
    let text = refused_status(&mut stage, (task, child), "passed");
    assert!(text.contains("checks"), "{text}");
    assert_eq!(stage.status(child), Status::InProgress);
    stage.accept(Actor::User, Op::SetStatus { task: child, to: Status::Passed, reason: None });
}

#[test]
fn who_waits_for_a_task_below_it_starts_with_the_report_of_its_end() {
    for asked in [false, true] {
        let mut stage = Stage::new();
        let (root, child) = (stage.root(), stage.task(stage.root(), "child"));
        let above = stage.create(NewTask { after: vec![child], ..NewTask::new(root, "above", "d") });
        stage.user(Op::MoveTask { task: child, parent: above, place: Place::Last });
        if asked {
            stage.say(above, "when the other is done");
        }
        stage.begin(child);
        stage.calls(child, vec![done("d", "passed")]);
        let outcome = stage.checked(child, &[]);
        assert_eq!(stage.status(above), Status::InProgress, "asked before: {asked}");
        let starts = outcome.of(above).filter(|body| matches!(body, EventBody::TaskStatusChanged(_)));
        assert_eq!(starts.count(), 1, "asked before: {asked}");
    }
}
