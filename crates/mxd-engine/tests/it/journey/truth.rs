//! What agents are told about their place, branch, base, budget and children is what git and the state say.
//!
//! The agents of these stories look at git in the turn after they were told something. So the log holds every claim and,
//! behind it, the world at that moment; it is read again from its beginning, and both are compared.

use std::collections::{BTreeMap, BTreeSet};

use mxd_core::decide::{Actor, Op, TaskPatch};
use mxd_core::event::body::RestReason;
use mxd_core::event::{Event, EventBody, split_events};
use mxd_core::id::TaskId;
use mxd_core::message::Message;
use mxd_core::money::Usd;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_core::tree::Status;
use serde_json::{Value, json};

use super::stage::{Stage, breaking, calls, capturing, conversation, expecting, git, speaks, write};

/// Has an agent look where it is.
const LOOK: &str = "echo \"directory=$(pwd)\"; echo \"branch=$(git branch --show-current)\"; \
                    echo \"head=$(git rev-parse HEAD)\"";

fn looks() -> Value {
    calls(&[("bash", json!({ "command": LOOK }))])
}

/// The same turn, after which the window of the small model is full.
fn filling(mut turn: Value) -> Value {
    turn["reply"]["usage"] = json!({ "input_tokens": 36_000, "output_tokens": 100 });
    turn
}

/// The same turn for 5.4 cents: nearly all that was set aside for it.
fn costing(mut turn: Value) -> Value {
    turn["reply"]["usage"] = json!({ "input_tokens": 14_000, "output_tokens": 8_000 });
    turn
}

fn done(words: &str) -> Value {
    calls(&[("done", json!({ "status": "passed", "summary": words }))])
}

fn starts(child: &str) -> (&'static str, Value) {
    ("send_message", json!({ "taskId": child, "title": "go", "message": "Begin." }))
}

fn commits(file: &str) -> Value {
    let command = format!("echo {file} > {file} && git add {file} && git commit -qm {file}");
    calls(&[("bash", json!({ "command": command }))])
}

/// A model with little room, so that a conversation is summarised soon.
fn small_model() -> Value {
    json!({
        "model": "small",
        "models": [{
            "name": "small", "vendor": "anthropic", "contextWindow": 40_000, "maxOutputTokens": 8_000,
            "thinking": "none", "images": false,
            "prices": { "input": 1, "output": 5, "cacheRead": 0.1, "cacheWrite5m": 1.25, "cacheWrite1h": 2 }
        }],
    })
}

/// On which occasion an agent was told where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Occasion {
    Launch,
    Fork,
    Compaction,
}

/// Reads the log from its beginning and holds every claim about a place against the world. Returns what was compared.
fn compare_with_the_world(stage: &Stage) -> BTreeSet<(String, Occasion)> {
    let mut state = State::default();
    let mut claims: BTreeMap<TaskId, (Occasion, String)> = BTreeMap::new();
    let mut compared = BTreeSet::new();
    for commit in stage.project().log().read(0, 100_000).unwrap() {
        let texts = split_events(&commit.events).unwrap();
        let events: Vec<Event> = texts.iter().map(|text| Event::decode(text).unwrap()).collect();
        for event in &events {
            state.apply(event, Millis(commit.at));
        }
        for event in events {
            let task = event.task;
            match event.body {
                EventBody::Message(posted) => {
                    let Message::WorkContext(context) = posted.body else { continue };
                    let forked = !state.session(task).lineage().is_empty();
                    let occasion = if forked { Occasion::Fork } else { Occasion::Launch };
                    assert_budget(&state, task, &context.content);
                    claims.insert(task, (occasion, context.content));
                }
                EventBody::CompactedResume(resume) => {
                    assert_budget(&state, task, &resume.content);
                    assert_children(&state, task, &resume.content);
                    claims.insert(task, (Occasion::Compaction, resume.content));
                }
                EventBody::ToolResult(result) if result.content.contains("directory=") => {
                    let Some((occasion, text)) = claims.remove(&task) else { continue };
                    assert_place(stage, (&state, task), (&text, &result.content));
                    compared.insert((state.tree().get(task).unwrap().title.clone(), occasion));
                }
                _ => {}
            }
        }
    }
    assert!(claims.is_empty(), "nobody looked after being told: {claims:?}");
    compared
}

/// The rest of the line that begins like this.
fn line<'t>(text: &'t str, begin: &str) -> &'t str {
    let found = text.lines().find_map(|line| line.strip_prefix(begin));
    found.unwrap_or_else(|| panic!("no line {begin:?} in:\n{text}"))
}

fn assert_place(stage: &Stage, (state, task): (&State, TaskId), (claimed, world): (&str, &str)) {
    assert_eq!(line(claimed, "Directory: "), line(world, "directory="), "{claimed}");
    assert_eq!(line(claimed, "Branch: "), line(world, "branch="), "{claimed}");
    let is_for_reading = claimed.contains("This is a copy of the base branch for you to read");
    let Some(above) = state.tree().task_above(task) else {
        assert!(is_for_reading, "{claimed}");
        assert_eq!(git(&stage.repo(), &["rev-parse", line(world, "branch=")]), line(world, "head="));
        return;
    };
    assert!(!is_for_reading, "{claimed}");
    let above = above.task().unwrap().branch.as_deref().unwrap();
    let (branch, commit) = line(claimed, "Started from: ").split_once(" at ").unwrap();
    assert_eq!(branch, above, "{claimed}");
    let base = git(&stage.repo(), &["merge-base", above, line(world, "head=")]);
    assert_eq!(commit, base, "{claimed}");
    let fields = state.tree().get(task).unwrap().task().unwrap();
    assert_eq!(fields.branch.as_deref(), Some(line(world, "branch=")));
    assert_eq!(fields.worktree_path.as_deref(), Some(line(world, "directory=")));
}

/// The budget that a task is paid from, and what is left of it, found without the program's own way of looking.
fn assert_budget(state: &State, task: TaskId, claimed: &str) {
    let line = line(claimed, "Budget: ");
    let mut payer = state.tree().get(task);
    while let Some(node) = payer
        && node.task().is_none_or(|fields| fields.budget_usd.is_none())
    {
        payer = node.parent_id.and_then(|parent| state.tree().get(parent));
    }
    let Some(payer) = payer else {
        assert_eq!(line, "no limit was set");
        return;
    };
    let fields = payer.task().unwrap();
    let given = fields.budget_usd.unwrap();
    let left = given.checked_sub(fields.spent_usd).unwrap();
    assert!(line.contains(&given.to_string()), "{line}, and {given} was given");
    assert!(line.contains(&format!("{left} ")) || left == given, "{line}, and {left} is left");
    assert_eq!(line.contains(&payer.id.to_string()), payer.id != task, "{line}");
}

fn assert_children(state: &State, task: TaskId, claimed: &str) {
    for child in state.tree().tasks_below(task) {
        let fields = child.task().unwrap();
        let branch = fields.branch.as_ref().map_or(String::new(), |branch| format!(", branch {branch}"));
        let wanted = format!("* {} {}: {}{branch}\n", child.id, fields.status, child.title);
        assert!(claimed.contains(&wanted), "{wanted} is not in:\n{claimed}");
    }
    if state.tree().tasks_below(task).is_empty() {
        assert!(claimed.contains("There are no open tasks below yours."), "{claimed}");
    }
}

/// The root, a task with a budget and one without, a task below a task, and one that inherits a conversation.
fn family() -> Value {
    let capture = "(?s)Created the task (?<build>[0-9A-Z]{26}).*Created the task (?<plain>[0-9A-Z]{26})";
    let summary = || breaking(speaks("## Current phase\nIn the middle of it."));
    let mut wait = calls(&[("yield", json!({}))]);
    wait["until"] = json!({ "ever": { "contains": ["Build is ready", "Plain is ready"] } });
    let mut root = conversation(
        "Title: Root",
        vec![
            capturing(looks(), "# Your task\\s+Task: (?<own>[0-9A-Z]{26})"),
            calls(&[
                ("create_task", json!({ "title": "Build", "description": "Work.", "budgetUsd": 2.0 })),
                ("create_task", json!({ "title": "Plain", "description": "Work." })),
            ]),
            capturing(calls(&[starts("$build"), starts("$plain")]), capture),
            wait,
            calls(&[("create_task", json!({ "title": "Heir", "description": "Go on from here." }))]),
            capturing(
                calls(&[("fork_task_context", json!({ "sourceTaskId": "$own", "targetTaskId": "$heir" }))]),
                "Created the task (?<heir>[0-9A-Z]{26})",
            ),
            calls(&[starts("$heir")]),
            calls(&[("yield", json!({}))]),
            filling(looks()),
            summary(),
            breaking(looks()),
            done("All are ready."),
        ],
    );
    root["id"] = json!("root");
    let mut heir = conversation("You are the one who inherits", vec![looks(), done("Heir is ready.")]);
    heir["fork_of"] = json!({ "conversation": "root", "at_turn": 6 });
    let build = conversation(
        "Title: Build",
        vec![
            looks(),
            commits("built"),
            calls(&[("create_task", json!({ "title": "Deep", "description": "Work." }))]),
            capturing(calls(&[starts("$deep")]), "Created the task (?<deep>[0-9A-Z]{26})"),
            calls(&[("yield", json!({}))]),
            filling(looks()),
            summary(),
            breaking(looks()),
            done("Build is ready."),
        ],
    );
    let plain = conversation(
        "Title: Plain",
        vec![
            looks(),
            commits("plain"),
            filling(looks()),
            summary(),
            breaking(looks()),
            done("Plain is ready."),
        ],
    );
    json!([root, heir, build, plain, conversation("Title: Deep", vec![looks(), done("Deep is ready.")])])
}

#[tokio::test(flavor = "multi_thread")]
async fn told_at_launch_fork_and_compaction() {
    let stage = Stage::set_with(family(), small_model()).await;
    let root = stage.root();
    let budget = mxd_core::change::Change::Set(Usd::from_cents(2_000).unwrap());
    let patch = TaskPatch { budget, ..TaskPatch::default() };
    stage.project().wish(Actor::User, Op::UpdateTask { task: root, patch }).await.unwrap();
    stage.say(root, "Begin.").await;
    stage.until_status(root, Status::Passed).await;
    let told = |title: &str, occasion| (title.to_owned(), occasion);
    let expected = BTreeSet::from([
        told("Root", Occasion::Launch),
        told("Root", Occasion::Compaction),
        told("Build", Occasion::Launch),
        told("Build", Occasion::Compaction),
        told("Plain", Occasion::Launch),
        told("Plain", Occasion::Compaction),
        told("Deep", Occasion::Launch),
        told("Heir", Occasion::Fork),
    ]);
    assert_eq!(compare_with_the_world(&stage), expected);
    stage.end().await;
}

/// The daemon ends while the worktree is being set up: the next one finds it half made, and tells of what it finished.
#[tokio::test(flavor = "multi_thread")]
async fn told_after_a_restart_during_the_launch() {
    let script = json!([
        conversation(
            "Title: Root",
            vec![
                looks(),
                calls(&[("create_task", json!({ "title": "Child", "description": "Work." }))]),
                capturing(calls(&[starts("$child")]), "Created the task (?<child>[0-9A-Z]{26})"),
                calls(&[("yield", json!({}))]),
                done("It is ready."),
            ]
        ),
        conversation("Title: Child", vec![looks(), done("Child is ready.")]),
    ]);
    let mut stage = Stage::furnished(script, |ground| {
        let hook = "until git rev-parse -q --verify refs/tags/go; do read -t 0.05 < /dev/zero; done";
        write(ground.join("repo/.mxd/hooks/setup_worktree.sh"), &format!("#!/bin/bash\n{hook}\n"));
        git(&ground.join("repo"), &["commit", "-qam", "a hook that waits"]);
        json!({})
    })
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::Yield).await;
    let child = stage.task("Child");
    assert!(stage.project().look(|state| state.session(child).is_busy()), "its worktree is being made");
    stage
        .restart_after(|ground| {
            git(&ground.join("repo"), &["tag", "go"]);
        })
        .await;
    stage.until_status(root, Status::Passed).await;
    let told = |title: &str| (title.to_owned(), Occasion::Launch);
    assert_eq!(compare_with_the_world(&stage), BTreeSet::from([told("Root"), told("Child")]));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn told_of_a_failed_set_up() {
    let script = json!([conversation(
        "Title: Root",
        vec![
            calls(&[("create_task", json!({ "title": "Child", "description": "Work." }))]),
            capturing(calls(&[starts("$child")]), "Created the task (?<child>[0-9A-Z]{26})"),
            calls(&[("yield", json!({}))]),
            expecting(
                speaks("I see."),
                json!({ "user_texts": [{ "contains": ["could not be started", "no package manager here", "7"] }] }),
            ),
        ]
    )]);
    let stage = Stage::furnished(script, |ground| {
        let hook = ground.join("repo/.mxd/hooks/setup_worktree.sh");
        write(hook, "#!/bin/bash\necho no package manager here >&2\nexit 7\n");
        git(&ground.join("repo"), &["commit", "-qam", "a hook that fails"]);
        json!({})
    })
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let child = stage.task("Child");
    let (status, fields) = stage.project().look(|state| {
        let node = state.tree().get(child).unwrap();
        (node.status(), node.task().unwrap().clone())
    });
    assert_eq!((status, fields.worktree_path, fields.branch), (Some(Status::Failed), None, None));
    assert_eq!(git(&stage.repo(), &["for-each-ref", "refs/heads/mxd"]), "");
    assert_eq!(git(&stage.repo(), &["worktree", "list"]).lines().count(), 1);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn told_of_a_spent_budget() {
    let create = json!({ "title": "Child", "description": "Work.", "budgetUsd": 0.12 });
    let stage = Stage::set_with(
        json!([
            conversation(
                "Title: Root",
                vec![
                    calls(&[("create_task", create)]),
                    capturing(calls(&[starts("$child")]), "Created the task (?<child>[0-9A-Z]{26})"),
                    calls(&[("yield", json!({}))]),
                    speaks("I see."),
                ]
            ),
            conversation("Title: Child", vec![costing(looks()), costing(looks())]),
        ]),
        small_model(),
    )
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let child = stage.task("Child");
    let left = stage.project().look(|state| state.remaining(child)).unwrap();
    let told = stage.events().into_iter().find_map(|event| match event.body {
        EventBody::Message(posted) if event.task == root => match posted.body {
            Message::Notice(notice) => Some(notice.content),
            _ => None,
        },
        _ => None,
    });
    let told = told.unwrap();
    assert!(told.contains("Child") && told.contains(&format!("{left} of its budget is left")), "{told}");
    assert_eq!(stage.project().look(|state| state.session(child).rest().cloned()), Some(RestReason::Spent));
    stage.end().await;
}
