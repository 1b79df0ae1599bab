//! Tasks that change the same line: whatever the owner of the conflict is doing, it resolves it, or somebody is asked one
//! clear thing. What the merging agent is told about the owner is held against the state.

use std::path::Path;

use mxd_core::decide::{Actor, Op, SessionOp};
use mxd_core::event::body::RestReason;
use mxd_core::event::{Event, EventBody, split_events};
use mxd_core::id::TaskId;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_core::tree::Status;
use serde_json::{Value, json};

use super::stage::{Stage, calls, capturing, conversation, expecting, gated, git, speaks};

fn changes_the_line(line: &str) -> Value {
    calls(&[("bash", json!({ "command": format!("echo '{line}' > README.md && git commit -qam '{line}'") }))])
}

/// The turn of an owner who was told of a conflict: it keeps these lines.
fn resolves(lines: &str) -> Value {
    let command = format!("git merge -q main; printf '{lines}' > README.md; git commit -qam resolved");
    expecting(
        calls(&[("bash", json!({ "command": command }))]),
        json!({ "user_texts": [{ "contains": ["cannot be merged into main", "<<<<<<<"] }] }),
    )
}

fn done(words: &str) -> Value {
    calls(&[("done", json!({ "status": "passed", "summary": words }))])
}

fn merges(child: &str) -> Value {
    calls(&[("merge_task", json!({ "taskId": child }))])
}

/// The same turn, which comes when its agent is told that the merge before it arrived.
fn after_merge_of(title: &str, turn: Value) -> Value {
    expecting(turn, json!({ "tool_results": [{ "contains": format!("Merged {title}"), "is_error": false }] }))
}

/// The same turn, which comes when its agent is told of a conflict and of this.
fn after_conflict(words: &[&str], turn: Value) -> Value {
    let mut wanted = vec!["there are conflicts", "README.md", "<<<<<<<"];
    wanted.extend(words);
    expecting(turn, json!({ "tool_results": [{ "contains": wanted, "is_error": true }] }))
}

/// Waits until all of this was said.
fn waits_for(words: &[&str]) -> Value {
    let mut turn = calls(&[("yield", json!({}))]);
    turn["until"] = json!({ "ever": { "contains": words } });
    turn
}

/// The root creates these tasks, starts them in one turn, and waits for what they say. It knows them as `$First` and so on.
fn begins(tasks: &[&str], reports: &[&str]) -> Vec<Value> {
    let create = |title: &&str| ("create_task", json!({ "title": title, "description": "Change the line." }));
    let start = |title: &&str| {
        ("send_message", json!({ "taskId": format!("${title}"), "title": "go", "message": "Begin." }))
    };
    let capture = |title: &&str| format!("Created the task (?<{title}>[0-9A-Z]{{26}})");
    let captures = tasks.iter().map(capture).collect::<Vec<_>>().join(".*");
    let creates: Vec<_> = tasks.iter().map(create).collect();
    let starts: Vec<_> = tasks.iter().map(start).collect();
    vec![calls(&creates), capturing(calls(&starts), &format!("(?s){captures}")), waits_for(reports)]
}

/// The root of a story with two tasks: the first is merged, then the second, which conflicts; then this.
fn root(reports: &[&str], then: Vec<Value>) -> Value {
    let mut turns = begins(&["First", "Second"], reports);
    turns.extend([merges("$First"), after_merge_of("First", merges("$Second"))]);
    turns.extend(then);
    conversation("Title: Root", turns)
}

/// The root waits for the owner, merges again and is done.
fn merges_again(conflict: &[&str]) -> Vec<Value> {
    vec![
        after_conflict(conflict, waits_for(&["Second has resolved it"])),
        merges("$Second"),
        after_merge_of("Second", done("Both are merged.")),
    ]
}

fn first() -> Value {
    conversation("Title: First", vec![changes_the_line("one"), done("First is ready.")])
}

/// The second task: what it does until the conflict; then it resolves it.
fn second(before: Vec<Value>) -> Value {
    let mut turns = before;
    turns.extend([resolves("one\\ntwo\\n"), done("Second has resolved it.")]);
    conversation("Title: Second", turns)
}

const BOTH_READY: &[&str] = &["First is ready", "Second is ready"];

/// Plays to the end of the root: both changes are in the user's checkout, and everything that was told was true.
async fn ends_merged(stage: Stage, lines: &str) {
    stage.until_status(stage.root(), Status::Passed).await;
    assert_eq!(std::fs::read_to_string(stage.repo().join("README.md")).unwrap(), lines);
    assert_eq!(git(&stage.repo(), &["status", "--porcelain"]), "");
    assert_told_the_truth(&stage);
    stage.end().await;
}

/// Holds what merging agents were told about the owners of conflicts against the state at that moment.
fn assert_told_the_truth(stage: &Stage) {
    let mut state = State::default();
    let mut conflicts = 0;
    for commit in stage.project().log().read(0, 100_000).unwrap() {
        let texts = split_events(&commit.events).unwrap();
        for event in texts.iter().map(|text| Event::decode(text).unwrap()) {
            state.apply(&event, Millis(commit.at));
            let EventBody::ToolResult(result) = event.body else { continue };
            if result.content.contains("there are conflicts") {
                conflicts += 1;
                assert_owner(&state, &result.content);
            }
        }
    }
    assert!(conflicts > 0, "there was no conflict");
    for node in state.tree().nodes().values().filter(|node| node.title != "Root") {
        assert_eq!(state.inbox(node.id).len(), 0, "{} has read everything", node.title);
    }
}

fn assert_owner(state: &State, told: &str) {
    let owner =
        state.tree().nodes().values().find(|node| told.contains(&format!("conflicts. {} ", node.title)));
    let owner = owner.unwrap_or_else(|| panic!("whose conflict? {told}"));
    let rest = state.session(owner.id).rest();
    if told.contains("was stopped by the user") {
        assert_eq!(rest, Some(&RestReason::Stopped), "{told}");
    } else if told.contains("of its budget is left") {
        let left = state.remaining(state.budget_owner(owner.id).unwrap().id).unwrap();
        assert!(told.contains(&format!("{left} of its budget")), "{left} is left: {told}");
    } else {
        // It may have gone on already: then it works, or has ended once more.
        assert!(rest != Some(&RestReason::Stopped) && rest != Some(&RestReason::Spent), "{told}");
        assert!([Some(Status::InProgress), Some(Status::Passed)].contains(&owner.status()), "{told}");
    }
}

fn status_of(stage: &Stage, task: TaskId) -> Option<Status> {
    stage.project().look(|state| state.tree().get(task).and_then(|node| node.status()))
}

#[tokio::test(flavor = "multi_thread")]
async fn passed_owner_is_taken_up_again() {
    let stage = Stage::set(json!([
        root(BOTH_READY, merges_again(&["Second had ended (passed) and works again"])),
        first(),
        second(vec![changes_the_line("two"), done("Second is ready.")]),
    ]))
    .await;
    stage.say(stage.root(), "Have both change it.").await;
    ends_merged(stage, "one\ntwo\n").await;
}

/// What the owner promised is checked again on what it resolved to: the first attempt does not pass.
#[tokio::test(flavor = "multi_thread")]
async fn checks_of_a_resumed_owner_run_again() {
    let mut turns = begins(&["First"], &["First is ready"]);
    let second =
        json!({ "title": "Second", "description": "Change the line.", "checks": ["grep -qx two README.md"] });
    turns.extend([
        calls(&[("create_task", second)]),
        capturing(
            calls(&[("send_message", json!({ "taskId": "$Second", "title": "go", "message": "Begin." }))]),
            "Created the task (?<Second>[0-9A-Z]{26})",
        ),
        waits_for(&["Second is ready"]),
        merges("$First"),
        after_merge_of("First", merges("$Second")),
    ]);
    turns.extend(merges_again(&["works again"]));
    let stage = Stage::set(json!([
        conversation("Title: Root", turns),
        first(),
        conversation(
            "Title: Second",
            vec![
                changes_the_line("two"),
                done("Second is ready."),
                resolves("one\\n"),
                done("Second has not resolved it."),
                expecting(
                    calls(&[(
                        "bash",
                        json!({ "command": "printf 'one\\ntwo\\n' > README.md; git commit -qam both" })
                    )]),
                    json!({ "tool_results": [{ "contains": "A check failed", "is_error": true }] }),
                ),
                done("Second has resolved it."),
            ]
        ),
    ]))
    .await;
    stage.say(stage.root(), "Have both change it.").await;
    ends_merged(stage, "one\ntwo\n").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_owner_is_taken_up_again() {
    let failed =
        calls(&[("done", json!({ "status": "failed", "summary": "Second is ready, but I doubt it." }))]);
    let stage = Stage::set(json!([
        root(BOTH_READY, merges_again(&["Second had ended (failed) and works again"])),
        first(),
        second(vec![changes_the_line("two"), failed]),
    ]))
    .await;
    stage.say(stage.root(), "Have both change it.").await;
    ends_merged(stage, "one\ntwo\n").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_owner_is_woken() {
    let asks = calls(&[
        ("clarify", json!({ "question": "Which colour?" })),
        ("send_message", json!({ "taskId": "$above", "title": "wait", "message": "Second is ready." })),
    ]);
    let changes = capturing(changes_the_line("two"), "Above: (?<above>[0-9A-Z]{26})");
    let stage = Stage::set(json!([
        root(BOTH_READY, merges_again(&["Second is in progress and was told"])),
        first(),
        second(vec![changes, asks, calls(&[("yield", json!({}))])]),
    ]))
    .await;
    stage.say(stage.root(), "Have both change it.").await;
    ends_merged(stage, "one\ntwo\n").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn working_owner_reads_it_at_its_next_turn() {
    let works = calls(&[("bash", json!({ "command": "echo still working" }))]);
    let stage = Stage::set(json!([
        root(&["First is ready"], merges_again(&["Second is in progress and was told"])),
        first(),
        second(vec![changes_the_line("two"), gated(works, "working")]),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have both change it.").await;
    stage.model.gate_reached("working").await.unwrap();
    // The root waits for the resolution: it was told of the conflict while the owner was in the middle of a turn.
    stage
        .until("a conflict", |state| {
            let second = state.tree().nodes().values().find(|node| node.title == "Second");
            second.is_some_and(|second| state.inbox(second.id).wants_agent())
        })
        .await;
    stage.model.open_gate("working").unwrap();
    ends_merged(stage, "one\ntwo\n").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_owner_has_nothing_to_merge() {
    let closes = calls(&[("close_task", json!({ "taskId": "$Second" }))]);
    let mut turns = begins(&["First", "Second"], BOTH_READY);
    turns.extend([
        merges("$First"),
        closes,
        merges("$Second"),
        expecting(
            done("One of them is merged."),
            json!({ "tool_results": [{
                "contains": "it is closed, and its branch was put away with its worktree", "is_error": true
            }] }),
        ),
    ]);
    let stage = Stage::set(json!([
        conversation("Title: Root", turns),
        first(),
        conversation("Title: Second", vec![changes_the_line("two"), done("Second is ready.")]),
    ]))
    .await;
    stage.say(stage.root(), "Have both change it.").await;
    stage.until_status(stage.root(), Status::Passed).await;
    assert_eq!(status_of(&stage, stage.task("Second")), Some(Status::Closed), "nobody took it up again");
    assert_eq!(std::fs::read_to_string(stage.repo().join("README.md")).unwrap(), "one\n");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_owner_stays_stopped_until_somebody_writes() {
    let mut turns = begins(&["First", "Second"], &["First is ready"]);
    turns.extend([
        speaks("I wait for your word."),
        merges("$First"),
        after_merge_of("First", merges("$Second")),
        after_conflict(&["Second was stopped by the user", "Ask the user"], speaks("May Second go on?")),
        merges("$Second"),
        after_merge_of("Second", done("Both are merged.")),
    ]);
    let never = gated(calls(&[("bash", json!({ "command": "echo never" }))]), "working");
    let mut told = resolves("one\\ntwo\\n");
    told["expect"]["user_texts"] =
        json!([{ "contains": "cannot be merged into main" }, { "contains": "Go on" }]);
    let stage = Stage::set(json!([
        conversation("Title: Root", turns),
        first(),
        conversation(
            "Title: Second",
            vec![changes_the_line("two"), never, told, done("Second has resolved it."),]
        ),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have both change it.").await;
    stage.model.gate_reached("working").await.unwrap();
    stage.until_rest(root, &RestReason::EndTurn).await;
    let second = stage.task("Second");
    let stop = Op::Session { task: second, op: SessionOp::Stop { reason: None } };
    stage.project().wish(Actor::User, stop).await.unwrap();
    stage.until_rest(second, &RestReason::Stopped).await;
    stage.model.open_gate("working").unwrap();
    stage.say(root, "Merge them.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert_eq!(
        stage.project().look(|state| state.session(second).rest().cloned()),
        Some(RestReason::Stopped)
    );
    stage.say(second, "Go on.").await;
    ends_merged(stage, "one\ntwo\n").await;
}

/// A model whose calls cost up to nine cents, so that a budget of twelve is used up by one full answer.
fn small_model() -> Value {
    json!({
        "model": "small",
        "models": [{
            "name": "small", "vendor": "anthropic", "contextWindow": 40_000, "maxOutputTokens": 2_000,
            "thinking": "none", "images": false,
            "prices": { "input": 1, "output": 5, "cacheRead": 0.1, "cacheWrite5m": 1.25, "cacheWrite1h": 2 }
        }],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn owner_without_money_resolves_it_when_it_gets_some() {
    let second_task = json!({ "title": "Second", "description": "Change the line.", "budgetUsd": 0.1 });
    let mut turns = begins(&["First"], &["First is ready"]);
    turns.extend([
        calls(&[("create_task", second_task)]),
        capturing(
            calls(&[("send_message", json!({ "taskId": "$Second", "title": "go", "message": "Begin." }))]),
            "Created the task (?<Second>[0-9A-Z]{26})",
        ),
        waits_for(&["does not go on"]),
        merges("$First"),
        after_merge_of("First", merges("$Second")),
        after_conflict(
            &["of its budget is left", "addBudgetUsd"],
            calls(&[("update_task", json!({ "taskId": "$Second", "addBudgetUsd": 2.0 }))]),
        ),
        waits_for(&["Second has resolved it"]),
        merges("$Second"),
        after_merge_of("Second", done("Both are merged.")),
    ]);
    let mut expensive = changes_the_line("two");
    expensive["reply"]["usage"] = json!({ "input_tokens": 30_000, "output_tokens": 1_000 });
    let stage = Stage::set_with(
        json!([conversation("Title: Root", turns), first(), second(vec![expensive])]),
        small_model(),
    )
    .await;
    stage.say(stage.root(), "Have both change it.").await;
    ends_merged(stage, "one\ntwo\n").await;
}

async fn gets_its_worktree_back(remove: impl Fn(&Path, &str)) {
    let mut turns = begins(&["First", "Second"], BOTH_READY);
    turns.extend([speaks("Both are ready."), merges("$First"), after_merge_of("First", merges("$Second"))]);
    turns.extend(merges_again(&["works again"]));
    let mut told = resolves("one\\ntwo\\n");
    told["expect"]["user_texts"] =
        json!([{ "contains": ["cannot be merged", "made again from your branch"] }]);
    let stage = Stage::set(json!([
        conversation("Title: Root", turns),
        first(),
        conversation(
            "Title: Second",
            vec![changes_the_line("two"), done("Second is ready."), told, done("Second has resolved it."),]
        ),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have both change it.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let second = stage.task("Second");
    let folder =
        stage.project().look(|state| state.tree().get(second).unwrap().task().unwrap().worktree_path.clone());
    remove(&stage.repo(), &folder.unwrap());
    stage.say(root, "Merge them.").await;
    ends_merged(stage, "one\ntwo\n").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn owner_whose_worktree_was_removed_by_git_gets_it_back() {
    gets_its_worktree_back(|repo, folder| {
        git(repo, &["worktree", "remove", "--force", "--force", folder]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn owner_whose_folder_was_removed_gets_it_back() {
    gets_its_worktree_back(|_, folder| std::fs::remove_dir_all(folder).unwrap()).await;
}

/// Both are told at once; the one that is merged later conflicts a second time with what the other resolved to.
#[tokio::test(flavor = "multi_thread")]
async fn two_conflicts_at_once_are_resolved_one_after_the_other() {
    let mut turns =
        begins(&["First", "Second", "Third"], &["First is ready", "Second is ready", "Third is ready"]);
    turns.extend([
        merges("$First"),
        after_merge_of(
            "First",
            calls(&[
                ("merge_task", json!({ "taskId": "$Second" })),
                ("merge_task", json!({ "taskId": "$Third" })),
            ]),
        ),
        expecting(waits_for(&["Second has resolved it", "Third has resolved it"]), json!({ "tool_results": [
            { "index": 0, "contains": ["there are conflicts", "Second had ended (passed)"], "is_error": true },
            { "index": 1, "contains": ["there are conflicts", "Third had ended (passed)"], "is_error": true },
        ] })),
        merges("$Second"),
        after_merge_of("Second", merges("$Third")),
        after_conflict(&["Third had ended (passed)"], waits_for(&["Third has resolved it again"])),
        merges("$Third"),
        after_merge_of("Third", done("All are merged.")),
    ]);
    let stage = Stage::set(json!([
        conversation("Title: Root", turns),
        first(),
        second(vec![changes_the_line("two"), done("Second is ready.")]),
        conversation(
            "Title: Third",
            vec![
                changes_the_line("three"),
                done("Third is ready."),
                resolves("one\\nthree\\n"),
                done("Third has resolved it."),
                resolves("one\\ntwo\\nthree\\n"),
                done("Third has resolved it again."),
            ]
        ),
    ]))
    .await;
    stage.say(stage.root(), "Have all change it.").await;
    ends_merged(stage, "one\ntwo\nthree\n").await;
}
