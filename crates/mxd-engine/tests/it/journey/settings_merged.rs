//! A merge that changes settings or hooks of the base branch waits for the user, who is told which.

use mxd_core::decide::{Actor, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{ApprovalRequested, ApprovalScope, RestReason, Verdict};
use mxd_core::state::State;
use mxd_core::tree::Status;
use mxd_engine::agents::{Merge, MergeRequest};
use serde_json::{Value, json};

use super::stage::{Stage, calls, capturing, conversation, expecting, speaks};

const HOOK: &str =
    "mkdir -p .mxd/hooks && echo 'touch ran' >> .mxd/hooks/setup_worktree.sh && git commit -qam hook";
const SETTINGS: &str =
    "echo '{\"checks\": [\"true\"]}' > .mxd/config.json && git add -A && git commit -qm settings";
const NOTES: &str = "echo a note > .mxd/memory.md && git add -A && git commit -qm notes";

/// A child that commits, and says so.
fn child(title: &str, command: &str) -> Value {
    let commits = calls(&[("bash", json!({ "command": command }))]);
    let done = calls(&[("done", json!({ "status": "passed", "summary": "It is there." }))]);
    conversation(&format!("Title: {title}"), vec![commits, done])
}

/// What a root does to have a task done and merged; each turn for itself.
fn delegation(title: &str) -> Vec<Value> {
    let created = format!("Created the task (?<{}>[0-9A-Z]{{26}})", title.to_lowercase());
    let task = format!("${}", title.to_lowercase());
    vec![
        calls(&[("create_task", json!({ "title": title, "description": "Change it." }))]),
        capturing(
            calls(&[("send_message", json!({ "taskId": task, "title": "go", "message": "Begin." }))]),
            &created,
        ),
        calls(&[("yield", json!({}))]),
        calls(&[("merge_task", json!({ "taskId": task }))]),
    ]
}

fn merged(is_error: bool, contains: &str) -> Value {
    json!({ "tool_results": [{ "call": "mcp__mxd__merge_task", "contains": contains, "is_error": is_error }] })
}

/// Waits until the root asks, and what it asks.
async fn asked(stage: &Stage, already: usize) -> ApprovalRequested {
    let root = stage.root();
    let waits = |state: &State| !state.session(root).approvals().is_empty();
    stage.until("a merge that waits for the user", waits).await;
    let events = stage.events().into_iter().filter_map(|event| match event.body {
        EventBody::ApprovalRequested(body) => Some(body),
        _ => None,
    });
    events.into_iter().nth(already).unwrap()
}

async fn answer(stage: &Stage, asked: &ApprovalRequested, verdict: Verdict, scope: ApprovalScope) {
    let op = SessionOp::Approve { id: asked.id, verdict, scope, reason: None };
    stage.project().wish(Actor::User, Op::Session { task: stage.root(), op }).await.unwrap();
}

fn in_base(stage: &Stage, file: &str) -> String {
    std::fs::read_to_string(stage.repo().join(file)).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_hook_and_changed_settings_arrive_only_with_the_users_word() {
    let mut turns = delegation("Hook");
    let mut next = delegation("Settings");
    next[0] = expecting(next[0].clone(), merged(false, "Merged"));
    turns.extend(next);
    turns.push(expecting(speaks("Denied."), merged(true, "did not allow")));
    let script =
        json!([conversation("Title: Root", turns), child("Hook", HOOK), child("Settings", SETTINGS)]);
    let mut stage = Stage::set(script).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    let hook = asked(&stage, 0).await;
    assert!(hook.reason.contains(".mxd/hooks/setup_worktree.sh"), "{}", hook.reason);
    assert!(!hook.reason.contains("config.json"), "{}", hook.reason);
    assert!(!in_base(&stage, ".mxd/hooks/setup_worktree.sh").contains("ran"));
    // It waits through a restart.
    stage.restart().await;
    // A word for the whole task is about this change all the same.
    answer(&stage, &hook, Verdict::Allow, ApprovalScope::Task).await;
    let settings = asked(&stage, 1).await;
    assert!(in_base(&stage, ".mxd/hooks/setup_worktree.sh").contains("ran"));
    assert!(settings.reason.contains(".mxd/config.json"), "{}", settings.reason);
    answer(&stage, &settings, Verdict::Deny, ApprovalScope::Once).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert_eq!(in_base(&stage, ".mxd/config.json"), "");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_of_agents_are_merged_without_a_question() {
    let mut turns = delegation("Notes");
    turns.push(expecting(speaks("Merged."), merged(false, "Merged")));
    let stage = Stage::set(json!([conversation("Title: Root", turns), child("Notes", NOTES)])).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert_eq!(in_base(&stage, ".mxd/memory.md"), "a note\n");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_merges_accepts_exactly_the_change_that_was_shown() {
    let mut turns = delegation("Hook");
    turns.truncate(3);
    let stage = Stage::set(json!([conversation("Title: Root", turns), child("Hook", HOOK)])).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until("a task", |state| state.tree().nodes().len() > 1).await;
    let task = stage.task("Hook");
    stage.until_status(task, Status::Passed).await;
    let merge = |accepted: Option<&str>| {
        let accepted_settings = accepted.map(str::to_owned);
        stage.project().merge(task, MergeRequest { message: None, accepted_settings })
    };
    let refused = merge(None).await;
    let Merge::ChangesSettings { why, fingerprint } = refused else { panic!("{refused:?}") };
    assert!(why.contains(".mxd/hooks/setup_worktree.sh"), "{why}");
    let other = merge(Some("0123456789abcdef01234567")).await;
    assert!(matches!(other, Merge::ChangesSettings { .. }), "{other:?}");
    assert!(!in_base(&stage, ".mxd/hooks/setup_worktree.sh").contains("ran"));
    let done = merge(Some(&fingerprint)).await;
    assert!(matches!(done, Merge::Done(_)), "{done:?}");
    assert!(in_base(&stage, ".mxd/hooks/setup_worktree.sh").contains("ran"));
    stage.project().close().await;
}
