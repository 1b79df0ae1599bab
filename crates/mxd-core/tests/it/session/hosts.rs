//! Hosts about which the user is asked.

use mxd_core::decide::{Actor, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{ApprovalScope, Verdict};
use mxd_core::id::{ApprovalId, TaskId};
use mxd_core::show::{self, AgentState};

use super::script::run;
use super::stage::Stage;

const HOST: &str = "example.org";

fn request(number: u8) -> ApprovalId {
    format!("01JZ00000000000000000000B{number}").parse().expect("an id")
}

fn ask(number: u8, host: &str) -> SessionOp {
    SessionOp::AskAboutHost { id: request(number), host: host.to_owned() }
}

fn decide(number: u8, verdict: Verdict, scope: ApprovalScope) -> SessionOp {
    SessionOp::Approve { id: request(number), verdict, scope, reason: None }
}

/// An agent whose command wants to reach a host.
fn asked(stage: &mut Stage) -> TaskId {
    let task = stage.worker();
    stage.calls(task, vec![run("r")]);
    stage.session(task, ask(1, HOST));
    task
}

fn waits(stage: &Stage, task: TaskId) -> bool {
    !stage.state.session(task).host_requests().is_empty()
}

#[test]
fn host_request_is_shown_as_asking_and_its_call_goes_on() {
    let mut stage = Stage::new();
    let task = asked(&mut stage);
    let standing = show::standing(&stage.state, task).expect("a standing");
    assert_eq!(standing.state, AgentState::Asking);
    assert_eq!(standing.why, "it needs your permission to reach example.org");
    assert!(show::progress(&stage.state, task).asking.contains(&task));
    let outcome = stage.steer(task, decide(1, Verdict::Allow, ApprovalScope::Once));
    assert_eq!(outcome.effects, [], "the call runs already");
    assert!(!waits(&stage, task));
    assert!(!stage.state.session(task).allows_host(HOST), "once is once");
    stage.returns(task, "r", "fetched");
    assert!(stage.is_asking(task));
}

#[test]
fn host_allowed_for_task_or_project_stays_allowed() {
    for (scope, verdict, stays) in [
        (ApprovalScope::Task, Verdict::Allow, true),
        (ApprovalScope::Project, Verdict::Allow, true),
        (ApprovalScope::Task, Verdict::Deny, false),
    ] {
        let mut stage = Stage::new();
        let task = asked(&mut stage);
        stage.steer(task, decide(1, verdict, scope));
        assert_eq!(stage.state.session(task).allows_host(HOST), stays);
        assert!(!stage.state.session(task).allows_host("example.org:8443"));
    }
}

#[test]
fn host_request_ends_with_its_call_its_turn_and_the_daemon() {
    let ends: [fn(&mut Stage, TaskId); 4] = [
        |stage, task| drop(stage.returns(task, "r", "gave up")),
        |stage, task| drop(stage.steer(task, SessionOp::Interrupt)),
        |stage, task| drop(stage.steer(task, SessionOp::Stop { reason: None })),
        |stage, task| drop(stage.session(task, SessionOp::Boot)),
    ];
    for end in ends {
        let mut stage = Stage::new();
        let task = asked(&mut stage);
        assert!(waits(&stage, task));
        end(&mut stage, task);
        assert!(!waits(&stage, task));
        let late = Op::Session { task, op: decide(1, Verdict::Allow, ApprovalScope::Once) };
        assert_eq!(stage.refuse(Actor::User, late).code(), "late");
    }
}

#[test]
fn host_is_asked_about_by_the_daemon_and_answered_by_the_user() {
    let mut stage = Stage::new();
    let task = asked(&mut stage);
    let by_user = Op::Session { task, op: ask(2, HOST) };
    assert_eq!(stage.refuse(Actor::User, by_user).code(), "user_only");
    assert_eq!(stage.refused(task, decide(1, Verdict::Allow, ApprovalScope::Once)), "user_only");
    assert_eq!(stage.refused(task, ask(1, HOST)), "late");
    assert_eq!(stage.refused(task, ask(2, "")), "empty");
    assert_eq!(stage.refused(task, ask(2, &"x".repeat(5_000))), "too_long");
    stage.session(task, SessionOp::WithdrawHost { id: request(1) });
    assert!(!waits(&stage, task));
}

#[test]
fn host_request_without_a_running_command_is_refused() {
    let mut stage = Stage::new();
    let task = stage.worker();
    assert_eq!(stage.refused(task, ask(1, HOST)), "late");
}

#[test]
fn host_requests_of_one_task_are_limited() {
    let mut stage = Stage::new();
    let task = asked(&mut stage);
    let limit = mxd_core::limits::Limits::default().questions_per_task;
    let mut refused = None;
    for number in 0..=limit {
        let id: ApprovalId = format!("01JZ0000000000000000000C{number:02}").parse().expect("an id");
        let op = SessionOp::AskAboutHost { id, host: format!("{number}.example.org") };
        if stage.state.session(task).host_requests().len() == limit {
            refused = Some(stage.refused(task, op));
            break;
        }
        let outcome = stage.session(task, op);
        assert!(matches!(outcome.events[0].body, EventBody::HostApprovalRequested(_)));
    }
    assert_eq!(refused, Some("too_many_questions"));
}
