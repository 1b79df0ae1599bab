//! Calls that come together in one answer: which of them count, and in which order they may come back.

use mxd_core::decide::{Effect, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{RestReason, StopReason};

use super::script::{done, id, malformed, mxd, results, run, settled, text, tool, yields};
use super::stage::Stage;

#[test]
fn tools_of_one_turn_run_at_once_and_may_come_back_in_any_order() {
    let mut stage = Stage::new();
    let root = stage.root();
    for order in [["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"]] {
        stage.say(root, "begin");
        if stage.commits.len() < 5 {
            stage.launches(root);
        }
        let outcome = stage.calls(root, ["a", "b", "c"].map(run).to_vec());
        assert_eq!(outcome.effects.len(), 3);
        for call in order {
            assert!(!stage.is_asking(root));
            stage.returns(root, call, &format!("of {call}"));
        }
        assert!(stage.is_asking(root), "the last result asks the model");
        stage.ends_turn(root);
    }
}

#[test]
fn a_result_counts_once_and_only_for_a_call_that_is_open() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![run("a"), run("b")]);
    stage.returns(root, "a", "fine");
    for call in ["a", "never made"] {
        assert_eq!(stage.refused(root, SessionOp::Settled(settled(&id(call), "again"))), "late");
    }
    assert_eq!(stage.open(root), ["b"]);
}

#[test]
fn a_result_has_the_name_of_the_tool_that_was_called() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![run("a")]);
    let outcome = stage.returns(root, "a", "fine");
    let named = outcome.events.iter().any(|event| event.to_json().unwrap().contains(r#""tool":"bash""#));
    assert!(named, "{outcome:?}");
}

#[test]
fn a_yield_beside_other_tools_does_nothing() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let outcome = stage.calls(root, vec![yields("y"), run("a")]);
    assert_eq!(results(&outcome)[0].0, "y");
    assert_eq!(stage.open(root), ["a"]);
    assert_eq!(stage.rest(root), None);
}

#[test]
fn a_done_beside_other_tools_is_an_error_and_the_others_run() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let outcome = stage.calls(root, vec![run("a"), done("d", "passed")]);
    assert!(results(&outcome)[0].1.contains("Not done"), "{outcome:?}");
    assert!(!outcome.has("done_requested"));
    assert_eq!(stage.open(root), ["a"]);
}

#[test]
fn of_several_yields_or_dones_the_last_counts() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![yields("y1"), yields("y2")]);
    assert_eq!((stage.open(root), stage.rest(root)), (vec!["y2"], Some(&RestReason::Yield)));
    stage.say(root, "go on");
    let outcome = stage.calls(root, vec![done("d1", "failed"), done("d2", "passed")]);
    assert_eq!(outcome.effects, [Effect::RunChecks { task: root }], "the last one's word is `passed`");
    assert_eq!(stage.open(root), ["d2"]);
}

#[test]
fn a_yield_and_a_done_together_are_neither() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let outcome = stage.calls(root, vec![yields("y"), done("d", "passed")]);
    assert_eq!(results(&outcome).len(), 2);
    assert!(stage.is_asking(root), "both have their result, so it is the model's turn");
}

#[test]
fn a_fork_beside_other_tools_is_an_error() {
    let mut stage = Stage::new();
    let root = stage.root();
    let child = stage.task(root, "child");
    stage.begin(root);
    let args = format!(r#"{{"sourceTaskId":"{root}","targetTaskId":"{child}"}}"#);
    let outcome = stage.calls(root, vec![mxd("f", "fork_task_context", &args), run("a")]);
    assert!(results(&outcome)[0].1.contains("alone"), "{outcome:?}");
    assert!(!stage.state.session(child).is_open());
}

#[test]
fn malformed_calls_are_answered_and_never_made() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let names = ["bash", "mcp__mxd__create_task", "mcp__mxd__fork_task_context"];
    let calls = names.iter().enumerate().map(|(n, name)| malformed(&format!("m{n}"), name)).collect();
    let outcome = stage.answer(root, calls, StopReason::MaxTokens);
    assert_eq!(results(&outcome).len(), 3);
    assert!(stage.is_asking(root));
    let outcome = stage.calls(root, vec![malformed("m", "mcp__mxd__done")]);
    assert!(results(&outcome)[0].1.contains("not done"), "{outcome:?}");
}

#[test]
fn silly_arguments_and_tools_that_are_not_there_come_back_as_errors() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let calls = vec![
        mxd("a", "create_task", r#"{"title":5}"#),
        mxd("b", "delete_task", &format!(r#"{{"taskId":"{root}"}}"#)),
        mxd("c", "send_message", r#"{"taskId":"nobody","title":"t","message":"m"}"#),
    ];
    let outcome = stage.calls(root, calls);
    assert_eq!(results(&outcome).len(), 3);
    assert!(stage.is_asking(root));
    let outcome = stage.calls(root, vec![tool("x", "mcp__mxd__no_such_tool", "{}")]);
    assert_eq!(outcome.effects.len(), 1, "what this core does not know is for the outside to answer");
}

#[test]
fn what_is_decided_here_is_one_commit_with_its_result() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let args = r#"{"title":"child","description":"do it"}"#;
    stage.calls(root, vec![text("I will"), mxd("c", "create_task", args), run("a")]);
    let together = stage.commits.iter().any(|commit| {
        let names: Vec<&str> = commit.events().iter().map(|event| event.type_name()).collect();
        names.contains(&"task_created") && names.contains(&"tool_result")
    });
    assert!(together);
    assert_eq!(stage.open(root), ["a"], "the other is still out");
}

#[test]
fn a_done_beside_other_tools_is_an_error_and_a_yield_is_none() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let outcome = stage.calls(root, vec![done("d", "passed"), yields("y"), run("a")]);
    let failed = outcome.of(root).filter_map(|body| match body {
        EventBody::ToolResult(result) => Some((result.tool_call_id.0.as_str(), result.is_error)),
        _ => None,
    });
    assert_eq!(failed.collect::<Vec<_>>(), [("d", true), ("y", false)]);
}
