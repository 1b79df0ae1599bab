//! What people are shown of an agent: its state with a reason, and one line for each thing that happened.

use mxd_core::decide::{NewTask, SessionOp};
use mxd_core::event::body::StopReason;
use mxd_core::id::TaskId;
use mxd_core::show::{self, AgentState};

use super::script::{done, failure, id, mxd, run, text, tool, yields};
use super::stage::Stage;

/// The state and the reason that are shown.
fn shown(stage: &Stage, task: TaskId) -> (AgentState, String) {
    let standing = show::standing(&stage.state, task).expect("a task");
    (standing.state, standing.why)
}

#[test]
fn an_agent_is_shown_as_it_stands_from_its_first_message_to_its_end() {
    let mut stage = Stage::new();
    let task = stage.task(stage.root(), "worker");
    assert_eq!(shown(&stage, task), (AgentState::None, "it starts with its first message".into()));
    stage.say(task, "begin");
    assert_eq!(shown(&stage, task).0, AgentState::Launching);
    stage.launches(task);
    assert_eq!(shown(&stage, task), (AgentState::Thinking, "the model works on turn 1".into()));
    stage.calls(task, vec![run("a"), run("b")]);
    assert_eq!(shown(&stage, task).0, AgentState::Tool);
    assert!(shown(&stage, task).1.ends_with("and 1 more run"), "{:?}", shown(&stage, task));
    stage.returns(task, "a", "fine");
    stage.returns(task, "b", "fine");
    stage.calls(task, vec![mxd("q", "clarify", r#"{"question":"red or blue?"}"#)]);
    assert_eq!(shown(&stage, task).0, AgentState::Thinking, "a question does not hold it up");
    stage.calls(task, vec![yields("y")]);
    assert_eq!(shown(&stage, task), (AgentState::Asking, "it waits for your answer".into()));
    stage.steer(task, SessionOp::Stop { reason: None });
    assert_eq!(shown(&stage, task).0, AgentState::Stopped);
}

#[test]
fn a_call_that_needs_a_permission_is_said_to_need_one() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![tool("a", "mcp__mxd__bash", r#"{"command":"rm -r ."}"#)]);
    let ask = SessionOp::AskUser { call: id("a"), rule: "ask first".into(), call_hash: "hash".into() };
    stage.session(root, ask);
    assert_eq!(shown(&stage, root), (AgentState::Asking, "it needs your permission to call bash".into()));
}

#[test]
fn who_waits_says_for_whom() {
    let mut stage = Stage::new();
    let root = stage.root();
    let first = stage.task(root, "paint the wall");
    let second = stage.create(NewTask { after: vec![first], ..NewTask::new(root, "hang the picture", "") });
    assert_eq!(shown(&stage, second), (AgentState::Blocked, "it starts after “paint the wall”".into()));
    stage.begin(first);
    stage.begin(root);
    stage.calls(root, vec![yields("y")]);
    assert_eq!(shown(&stage, root), (AgentState::Waiting, "it waits for “paint the wall”".into()));
}

/// Who works at a task and below it, and who asks there.
fn going_on(stage: &Stage, task: TaskId) -> (Vec<TaskId>, Vec<TaskId>) {
    let show::Progress { working, asking, .. } = show::progress(&stage.state, task);
    (working, asking)
}

#[test]
fn work_goes_on_as_long_as_anybody_below_works_or_will() {
    let mut stage = Stage::new();
    let root = stage.root();
    let task = stage.task(root, "worker");
    assert_eq!(going_on(&stage, root), (vec![], vec![]));
    stage.begin(task);
    assert_eq!(going_on(&stage, root), (vec![task], vec![]), "also what is below");
    stage.calls(task, vec![mxd("q", "clarify", r#"{"question":"red or blue?"}"#)]);
    assert_eq!(going_on(&stage, root), (vec![task], vec![task]), "it works and asks");
    stage.calls(task, vec![yields("y")]);
    assert_eq!(going_on(&stage, task), (vec![], vec![task]));
    stage.limits.agents = 1;
    let (other, late) = (stage.task(root, "other"), stage.task(root, "late"));
    stage.begin(other);
    stage.say(late, "begin");
    assert_eq!(going_on(&stage, root).0, [other, late], "whoever waits for a place will go on");
    assert_eq!(going_on(&stage, late).0, [late]);
    stage.calls(other, vec![done("d", "failed")]);
    assert!(!going_on(&stage, root).0.contains(&other));
}

#[test]
fn who_cannot_go_on_alone_is_not_waited_for() {
    let mut stage = Stage::new();
    let root = stage.root();
    let first = stage.task(root, "first");
    let second = stage.create(NewTask { after: vec![first], ..NewTask::new(root, "second", "") });
    stage.say(second, "begin");
    assert!(stage.state.inbox(second).wants_agent(), "its message lies there");
    assert_eq!(going_on(&stage, second).0, []);
    stage.begin(first);
    let most = stage.limits.failed_turns;
    for attempt in 1..most {
        let (turn, _) = stage.asked(first);
        stage.session(first, SessionOp::Failed(failure(turn)));
        assert_eq!(going_on(&stage, first).0, [first], "it tries again by itself");
        assert_eq!(shown(&stage, first).0, AgentState::Waiting);
        assert_eq!(show::progress(&stage.state, first).stuck, []);
        stage.now += stage.limits.retry_ms << attempt;
        stage.session(first, SessionOp::Retry { turn });
    }
    stage.fails(first);
    assert_eq!(going_on(&stage, first).0, []);
    assert_eq!(shown(&stage, first).0, AgentState::Failed);
    assert_eq!(show::progress(&stage.state, root).stuck, [first]);
}

#[test]
fn what_happened_is_one_line_each() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let wild = text("Look:\u{1b}[31m  red\n\n\u{202e}and\tmore");
    let call = tool("a", "mcp__mxd__bash", r#"{"command":"cargo test\n--all"}"#);
    stage.answer(root, vec![wild, call], StopReason::ToolUse);
    stage.returns(root, "a", "\nrunning 3 tests\nok\nok\n");
    let events = stage.commits.iter().flat_map(|commit| commit.events());
    let lines: Vec<String> = events.filter_map(|event| show::line(&event.body)).collect();
    assert!(lines.contains(&"you: begin".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"Look:[31m red and more".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"bash cargo test --all".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"running 3 tests (+2 lines)".to_owned()), "{lines:#?}");
}

#[test]
fn a_line_is_never_longer_than_it_may_be() {
    let long = "word ".repeat(1_000);
    assert_eq!(show::one_line(&long, 20), "word word word word…");
    assert_eq!(show::one_line(&"x".repeat(1_000), 20).chars().count(), 20);
    assert_eq!(show::one_line("ä ö", 3), "ä ö");
    assert_eq!(show::one_line(" \n ", 3), "");
    assert_eq!(show::call_line("mcp__files__read", r#"{"path":"/a","n":1}"#), "files/read path=/a n=1");
    assert_eq!(show::call_line("mcp__mxd__bash", "not json"), "bash");
}

#[test]
fn who_answers_for_a_call_sees_all_of_it() {
    let long = format!("echo {}; rm -r /important", "a".repeat(600));
    let rows = show::call_rows("mcp__mxd__bash", &format!(r#"{{"command":"{long}"}}"#));
    assert_eq!(rows, ["bash".to_owned(), format!("  command: {long}")]);
    let two = r#"{"command":"echo harmless\nrm -r /important\u001b[2J","foreground_timeout":5}"#;
    let rows = show::call_rows("mcp__files__run", two);
    let expected = [
        "files/run",
        "  command:",
        "    echo harmless",
        "    rm -r /important\\u{1b}[2J",
        "  foreground_timeout: 5",
    ];
    assert_eq!(rows, expected);
    assert_eq!(show::call_rows("mcp__mxd__bash", "no json"), ["bash", "  no json"]);
}

#[test]
fn money_is_shown_with_one_sign() {
    let mut stage = Stage::new();
    let root = stage.root();
    let outcome = stage.steer(root, SessionOp::Grant { amount: super::script::usd(1) });
    assert_eq!(show::line(&outcome.events[0].body).as_deref(), Some("$1.00 granted"));
}
