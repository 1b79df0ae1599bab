//! The work of ten agents: a root, three tasks below it and two below each of those. Each one leaves lines in a file
//! outside of the repository, works in its worktree, commits, and merges what is below it.

use std::path::Path;

use serde_json::{Value, json};

/// The file outside of the repository that commands append to.
pub(crate) const TRACES: &str = "outside/traces";

/// What a call comes to that was running when the program died.
pub(crate) const UNKNOWN: &str = "outcome is unknown";

/// The script of all ten.
pub(crate) fn script(ground: &Path) -> Value {
    let traces = ground.join(TRACES).display().to_string();
    let mut conversations = Vec::new();
    let middles: Vec<String> = (1..=3).map(|middle| format!("Middle{middle}")).collect();
    conversations.push(parent(None, &middles, &traces));
    for (index, middle) in middles.iter().enumerate() {
        let leaves: Vec<String> = (1..=2).map(|leaf| format!("Leaf{}{leaf}", index + 1)).collect();
        conversations.push(parent(Some(middle), &leaves, &traces));
        conversations.extend(leaves.iter().map(|leaf| child(leaf, &traces)));
    }
    json!({ "resumes": true, "conversations": conversations })
}

fn parent(own: Option<&str>, below: &[String], traces: &str) -> Value {
    let name = own.unwrap_or("Root");
    let create =
        |title: &String| ("create_task", json!({ "title": title, "description": "Make your file." }));
    let capture = |title: &String| format!("Created the task (?<{title}>[0-9A-Z]{{26}})");
    let captures = below.iter().map(capture).collect::<Vec<_>>().join(".*?");
    let start = |title: &String| {
        ("send_message", json!({ "taskId": format!("${title}"), "title": "go", "message": "Begin." }))
    };
    let reports: Vec<String> = below.iter().map(|title| format!("{title} is ready")).collect();
    let mut go = calls(below.iter().map(start));
    go["capture"] = json!([format!("(?s){captures}")]);
    let mut wait = calls([("yield", json!({}))]);
    wait["until"] = json!({ "ever": { "contains": reports } });
    let mut turns = vec![calls(below.iter().map(create)), go, wait];
    for title in below {
        let mut merge = calls([("merge_task", json!({ "taskId": format!("${title}") }))]);
        merge["until"] = json!({ "added": { "matches": "Merged|has it already" } });
        turns.push(merge);
    }
    turns.push(match own {
        // The root only looks at the user's checkout.
        None => sure(format!("echo {name} merged >> {traces}")),
        Some(_) => work(name, "merged", traces),
    });
    turns.push(done(name));
    conversation(name, &turns)
}

fn child(name: &str, traces: &str) -> Value {
    let file = json!({ "path": format!("{name}.md"), "content": format!("# {name}\n") });
    let mut write = calls([("write_file", file)]);
    write["until"] = json!({ "added": { "not_contains": UNKNOWN } });
    let turns = [write, work(name, "first", traces), work(name, "second", traces), done(name)];
    conversation(name, &turns)
}

/// A file and a commit, made once however often it is asked for.
fn work(name: &str, step: &str, traces: &str) -> Value {
    sure(format!(
        "echo {name} {step} >> {traces} && echo {name} > {name}-{step}.txt && git add -A && \
         (git diff --cached --quiet || git commit -qm '{name} {step}')"
    ))
}

/// A command that is called again when nobody knows what came of it.
fn sure(command: String) -> Value {
    let mut turn = calls([("bash", json!({ "command": command }))]);
    turn["until"] = json!({ "added": { "not_contains": UNKNOWN } });
    turn
}

fn done(name: &str) -> Value {
    calls([("done", json!({ "status": "passed", "summary": format!("{name} is ready.") }))])
}

fn conversation(name: &str, turns: &[Value]) -> Value {
    json!({ "first_message": { "contains": format!("Title: {name}\n") }, "turns": turns })
}

fn calls(calls: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let block = |(name, input): (&str, Value)| json!({ "tool_call": { "name": format!("mcp__mxd__{name}"), "input": input } });
    json!({ "reply": { "blocks": calls.into_iter().map(block).collect::<Vec<_>>() } })
}
