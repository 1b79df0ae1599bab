//! The story: what the three agents say and do, as a script of the model.
//!
//! The root splits the work into two tasks and merges both. Both add a line at the end of the same file, so the second merge
//! is a conflict, which the second agent resolves. At the end both tasks are put away.

use serde_json::{Value, json};

use crate::scene::Scene;

/// How the project is called, which is the title of its root.
pub(crate) const PROJECT: &str = "thing";
/// The line of the first agent.
pub(crate) const FIRST_LINE: &str = "a line of the first agent";
/// The line of the second agent.
pub(crate) const SECOND_LINE: &str = "a line of the second agent";

const FIRST: &str = "The first change";
const SECOND: &str = "The second change";
const FIRST_DONE: &str = "The first change is committed and tested.";
const SECOND_DONE: &str = "The second change is committed and tested.";
const RESOLVED: &str = "The conflict is resolved, both lines are there.";
const CREATED: &str = "(?s)Created the task (?<first>[0-9A-Z]{26}).*Created the task (?<second>[0-9A-Z]{26})";
const CANNOT_BE_MERGED: &str = r"cannot be merged into (?<base>\S+): both changed";

/// What the model says in a scene.
pub(crate) fn script(scene: &Scene) -> Value {
    let conversations = [(PROJECT, root(scene)), (FIRST, first(scene)), (SECOND, second(scene))];
    let told: Vec<Value> = conversations
        .into_iter()
        .map(|(title, turns)| json!({ "first_message": { "contains": format!("Title: {title}\n") }, "turns": turns }))
        .collect();
    let nothing_more = json!({ "blocks": [{ "text": "I have nothing more to say." }] });
    json!({ "conversations": told, "default_reply": nothing_more })
}

/// A turn with calls of the orchestrator's and the agent's own tools.
fn turn(calls: &[(&str, Value)]) -> Value {
    let call = |(name, input): &(&str, Value)| json!({ "tool_call": { "name": format!("mcp__mxd__{name}"), "input": input } });
    json!({ "reply": { "blocks": calls.iter().map(call).collect::<Vec<_>>() } })
}

fn capturing(mut turn: Value, pattern: &str) -> Value {
    turn["capture"] = json!([pattern]);
    turn
}

/// Waits until all of these words were read.
fn wait_for(words: &[&str]) -> Value {
    let mut turn = turn(&[("yield", json!({}))]);
    turn["until"] = json!({ "ever": { "contains": words } });
    turn
}

fn done(summary: &str) -> Value {
    turn(&[("done", json!({ "status": "passed", "summary": summary }))])
}

fn bash(command: &str) -> Value {
    turn(&[("bash", json!({ "command": command, "foreground_timeout": 600_000 }))])
}

fn root(scene: &Scene) -> Vec<Value> {
    let create = |title: &str| {
        let description = format!("Add a line to {} and commit it.", scene.shared);
        ("create_task", json!({ "title": title, "description": description, "checks": [scene.test] }))
    };
    let start = |task: &str| {
        ("send_message", json!({ "taskId": task, "title": "Begin", "message": "Please begin." }))
    };
    let merge = |task: &str| turn(&[("merge_task", json!({ "taskId": task }))]);
    let close = |task: &str| ("close_task", json!({ "taskId": task }));
    vec![
        turn(&[create(FIRST), create(SECOND)]),
        capturing(turn(&[start("$first"), start("$second")]), CREATED),
        wait_for(&[FIRST_DONE, SECOND_DONE]),
        merge("$first"),
        merge("$second"),
        wait_for(&[RESOLVED]),
        merge("$second"),
        turn(&[close("$first"), close("$second")]),
        done("Both lines are in."),
    ]
}

/// One line at the end of the file.
fn add_line(scene: &Scene, line: &str) -> String {
    format!("set -e; printf '%s\\n' '{}{line}' >> '{}'", scene.comment, scene.shared)
}

/// The tests decide; then everything is committed.
fn test_and_commit(scene: &Scene, message: &str) -> String {
    format!(
        "set -e; {}\ngit add -A; git commit -q -m '{message}'; git status --short; git log --oneline -1",
        scene.test
    )
}

fn first(scene: &Scene) -> Vec<Value> {
    vec![
        bash(&format!("{}\n{}", add_line(scene, FIRST_LINE), scene.agent)),
        bash(&test_and_commit(scene, FIRST)),
        done(FIRST_DONE),
    ]
}

fn second(scene: &Scene) -> Vec<Value> {
    // Both sides stay: only the lines between which git puts them go.
    let resolve = format!(
        "git merge -q '$base'; sed -i '/^<<<<<<< /d;/^||||||| /d;/^=======\\r*$/d;/^>>>>>>> /d' '{}'; git diff HEAD --stat",
        scene.shared
    );
    vec![
        bash(&add_line(scene, SECOND_LINE)),
        bash(&test_and_commit(scene, SECOND)),
        done(SECOND_DONE),
        capturing(bash(&resolve), CANNOT_BE_MERGED),
        bash(&test_and_commit(scene, "Both changes")),
        done(RESOLVED),
    ]
}
