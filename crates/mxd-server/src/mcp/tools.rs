//! The table of tools: what a model reads of each, and which route does it.

use axum::http::Method;
use mxd_core::tool::SideEffect;
use serde_json::{Map, Value, json};

use super::Wanted;

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) effect: SideEffect,
    pub(super) schema: fn() -> Value,
    pub(super) wanted: fn(&Value) -> Wanted,
    /// What the model sees of the answer.
    pub(super) shown: fn(&Value) -> String,
}

/// All tools.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "list_projects",
        description: "Lists the projects of the daemon: id, name, folder, and how many tasks there are by status.",
        effect: SideEffect::Read,
        schema: || object(&[], &[]),
        wanted: |_| get("/projects".to_owned()),
        shown: |answer| {
            picked(
                &answer["projects"],
                &["id", "name", "path", "state", "problem", "rootId", "counts", "needs"],
            )
        },
    },
    Tool {
        name: "get_tree",
        description: "Shows the tree of tasks of a project: ids, titles, statuses, and what each agent does.",
        effect: SideEffect::Read,
        schema: || object(&[("project", text("The id of the project."))], &["project"]),
        wanted: |args| get(format!("/projects/{}/tasks", part(args, "project"))),
        shown: |answer| {
            picked(
                &answer["tasks"],
                &["id", "parentId", "kind", "title", "status", "agent", "costUsd", "lastLine"],
            )
        },
    },
    Tool {
        name: "get_task",
        description: "Shows everything about one task.",
        effect: SideEffect::Read,
        schema: || on_task(&[], &[]),
        wanted: |args| get(task(args, "")),
        shown: Value::to_string,
    },
    Tool {
        name: "create_task",
        description: "Creates a task. It starts with its first message: send one with send_message.",
        effect: SideEffect::Write,
        schema: || {
            let fields = [
                ("project", text("The id of the project.")),
                ("title", text("One line.")),
                ("description", text("What is to be done, and how one sees that it is done.")),
                ("parentId", text("The task it is a part of; otherwise the root.")),
                ("after", list("Ids of tasks that have to be passed or closed first.")),
                ("checks", list("Commands that have to succeed before it can be passed.")),
            ];
            object(&fields, &["project", "title"])
        },
        wanted: |args| {
            let body = taken(args, &["title", "description", "parentId", "after", "checks"]);
            post(format!("/projects/{}/tasks", part(args, "project")), body)
        },
        shown: |answer| picked(&json!([answer]), &["id", "title", "status"]),
    },
    Tool {
        name: "send_message",
        description: "Writes to the agent of a task, in the name of the user. It starts or wakes the agent.",
        effect: SideEffect::Write,
        schema: || on_task(&[("content", text("The message."))], &["content"]),
        wanted: |args| post(task(args, "/message"), taken(args, &["content"])),
        shown: |answer| format!("Delivered as {}.", answer["messageId"].as_str().unwrap_or_default()),
    },
    Tool {
        name: "get_logs",
        description: "Shows the last events of a task, one line each, oldest first. `before` goes further back.",
        effect: SideEffect::Read,
        schema: || {
            on_task(
                &[
                    ("before", number("Only what came before this commit.")),
                    ("limit", number("How many at most.")),
                ],
                &[],
            )
        },
        wanted: |args| get(format!("{}?{}", task(args, "/events"), numbers(args, &["before", "limit"]))),
        shown: |answer| lines(&answer["events"]),
    },
    Tool {
        name: "search",
        description: "Finds tasks by their words, and what was said and done in any of them.",
        effect: SideEffect::Read,
        schema: || {
            object(
                &[("project", text("The id of the project.")), ("query", text("The words."))],
                &["project", "query"],
            )
        },
        wanted: |args| get(format!("/projects/{}/search?q={}", part(args, "project"), part(args, "query"))),
        shown: Value::to_string,
    },
    Tool {
        name: "answer",
        description: "Answers an open question of an agent, in the name of the user.",
        effect: SideEffect::Write,
        schema: || {
            let fields = [
                ("answer", text("The answer.")),
                ("clarificationId", text("Which question, when there are several.")),
            ];
            on_task(&fields, &["answer"])
        },
        wanted: |args| {
            let mut body = taken(args, &["answer", "clarificationId"]);
            body["taskId"] = args["task"].clone();
            post(format!("/projects/{}/clarify", part(args, "project")), body)
        },
        shown: |_| "Answered.".to_owned(),
    },
    Tool {
        name: "stop",
        description: "Stops the agent of a task and those below it. A message starts them again.",
        effect: SideEffect::Write,
        schema: || on_task(&[], &[]),
        wanted: |args| post(task(args, "/stop"), json!({})),
        shown: |_| "Stopped.".to_owned(),
    },
    Tool {
        name: "wait",
        description: "Waits until nobody works at a task and below it, or somebody there asks the user, and tells where it stands.",
        effect: SideEffect::Read,
        schema: || on_task(&[("seconds", number("How long to wait, up to 300; 60 unless said."))], &[]),
        wanted: |args| get(format!("{}?{}", task(args, "/wait"), numbers(args, &["seconds"]))),
        shown: |answer| {
            let word = match (answer["needsYou"] == true, answer["rested"] == true) {
                (true, _) => "The user is asked something",
                (false, true) => "It rests",
                (false, false) => "It still works",
            };
            let told = ["status", "why"].map(|name| answer[name].as_str()).into_iter().flatten();
            let told = told.collect::<Vec<_>>().join(", ");
            let tasks = |name: &str| match answer[name].as_array().map(Vec::as_slice) {
                None | Some([]) => String::new(),
                Some(ids) => format!("\n{name}: {}", json!(ids)),
            };
            format!("{word}: {told}{}{}{}", tasks("working"), tasks("asking"), tasks("stuck"))
        },
    },
];

fn text(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "description": description })
}

fn number(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": description })
}

fn list(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

fn object(fields: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// The arguments of a tool that is about one task.
fn on_task(more: &[(&str, Value)], required: &[&str]) -> Value {
    let mut fields = vec![
        ("project", text("The id of the project.")),
        ("task", text("The id of the task, or the first characters of it.")),
    ];
    fields.extend_from_slice(more);
    let required: Vec<&str> = ["project", "task"].iter().chain(required).copied().collect();
    object(&fields, &required)
}

fn get(path: String) -> Wanted {
    Wanted { method: Method::GET, path, body: None }
}

fn post(path: String, body: Value) -> Wanted {
    Wanted { method: Method::POST, path, body: Some(body) }
}

/// Arguments that are numbers, as a query.
fn numbers(args: &Value, names: &[&str]) -> String {
    let number = |name: &&str| args[*name].as_u64().map(|value| format!("{name}={value}"));
    names.iter().filter_map(number).collect::<Vec<_>>().join("&")
}

fn word(args: &Value, name: &str) -> String {
    args[name].as_str().unwrap_or_default().to_owned()
}

/// An argument as a part of a path or a query: nothing in it leads anywhere else.
fn part(args: &Value, name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let mut encoded = String::new();
    for byte in word(args, name).bytes() {
        if plain(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    // A name of dots would lead upwards.
    if encoded.chars().all(|c| c == '.') { encoded.replace('.', "%2E") } else { encoded }
}

fn task(args: &Value, rest: &str) -> String {
    format!("/projects/{}/tasks/{}{rest}", part(args, "project"), part(args, "task"))
}

fn taken(args: &Value, names: &[&str]) -> Value {
    let given = names.iter().filter_map(|name| Some(((*name).to_owned(), args.get(*name)?.clone())));
    Value::Object(given.collect())
}

/// One line of JSON for each element, with these fields only.
fn picked(list: &Value, names: &[&str]) -> String {
    let elements = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |element: &Value| taken(element, names).to_string();
    let lines: Vec<String> = elements.iter().map(line).collect();
    if lines.is_empty() { "None.".to_owned() } else { lines.join("\n") }
}

fn lines(events: &Value) -> String {
    let events = events.as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |event: &Value| {
        let said = event["line"].as_str()?;
        Some(format!("{} {}: {said}", event["seq"], event["type"].as_str().unwrap_or_default()))
    };
    let lines: Vec<String> = events.iter().filter_map(line).collect();
    if lines.is_empty() { "Nothing yet.".to_owned() } else { lines.join("\n") }
}
