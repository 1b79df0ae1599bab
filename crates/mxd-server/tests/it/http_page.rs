//! The page about HTTP, written from the OpenAPI document.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value};

const INTRODUCTION: &str = "\
# HTTP

This page is written by a test from the routes in `crates/mxd-server/src/routes`; do not change it by hand
(`MXD_BLESS=1 cargo test -p mxd-server --test it http_page` writes it anew). [openapi.json](openapi.json) is the same for
programs, and the daemon serves it at `/openapi.json`.

Everything is JSON, in both directions. Times are milliseconds since 1970, money is in dollars, ids are ULIDs; those of tasks
may be shortened to a unique beginning of at least 8 characters. A body may have 1 MiB, one with pictures 24 MiB.

## Who may call

Every route wants `Authorization: Bearer TOKEN`, or the cookie of a browser that has logged in, unless it says otherwise below.
The token of this machine stands in `daemon.json` in the data folder, which only you can read, and is new with every start:

```sh
DATA=${MXD_DATA_DIR:-$HOME/.mxd}
URL=http://$(jq -r .address $DATA/daemon.json)
TOKEN=$(jq -r .token $DATA/daemon.json)
P=$(curl -sH \"Authorization: Bearer $TOKEN\" $URL/projects | jq -r '.projects[0].id')
```

A request has to call the daemon by its own name (`Host`), and a page has to be its own (`Origin`).

## When something is refused

The body is `{\"error\": {\"code\", \"message\", \"hint\"}}`: the code is for programs, the hint says what to do.

| status | when |
|---|---|
| 400 `invalid` | the request cannot be read |
| 401 `unauthenticated` | one has to log in first |
| 403 | the name, the page or the route is not for the caller |
| 404 | there is no such thing |
| 409 | the rules of the tree refuse it; the code is the name of the rule |
| 413 | the body is too large |
| 422 `schema` | the body does not fit; the message names the place |
| 429 | too many, or too often; `Retry-After` says when to come back |
| 503 | the daemon is starting, or the project cannot be opened |

## The live stream

`GET /events?projectId=…` is a stream of server-sent events. It begins with `snapshot` (`cursor`, `rootId`, `tasks`, `needs`); each
change of the log is a `commit` (`seq`, `at`, `events`, `tasks` that look different now, `removed`, and `needs` when that has
changed), whose `id` a client sends as `Last-Event-ID` to go on exactly there, also after a restart of the daemon. `delta` is
for the eye, comes before what it becomes, and may be lost; `heartbeat` comes every 15 seconds. A client that is too slow
reads what it missed from disk and holds nobody up.
";

/// The parts of the page, by how paths begin; the first that fits is taken.
const PARTS: &[(&str, &[&str])] = &[
    (
        "The daemon",
        &["/health", "/version", "/stats", "/metrics", "/openapi.json", "/restart-daemon", "/events"],
    ),
    ("Logging in", &["/auth/"]),
    ("Settings", &["/config/", "/projects/{project}/config"]),
    ("Tasks", &["/projects/{project}/tasks"]),
    (
        "What waits for you",
        &["/projects/{project}/needs", "/projects/{project}/clari", "/projects/{project}/approve"],
    ),
    ("Servers of agents", &["/projects/{project}/servers"]),
    ("Commands in the background", &["/projects/{project}/background"]),
    ("Projects", &["/projects"]),
];

/// What is called most often, as one types it.
const EXAMPLES: &[(&str, &str)] = &[
    ("getHealth", "curl $URL/health"),
    ("getEvents", "curl -NH \"Authorization: Bearer $TOKEN\" \"$URL/events?projectId=$P\""),
    (
        "postProjects",
        "curl -H \"Authorization: Bearer $TOKEN\" --json '{\"path\": \"/home/me/code/thing\"}' $URL/projects",
    ),
    ("getProjects", "curl -H \"Authorization: Bearer $TOKEN\" $URL/projects"),
    ("getProjectsProjectTasks", "curl -H \"Authorization: Bearer $TOKEN\" $URL/projects/$P/tasks"),
    (
        "postProjectsProjectTasks",
        "curl -H \"Authorization: Bearer $TOKEN\" --json '{\"title\": \"Parse dates\", \"checks\": [\"cargo test\"]}' $URL/projects/$P/tasks",
    ),
    (
        "patchProjectsProjectTasksTask",
        "curl -X PATCH -H \"Authorization: Bearer $TOKEN\" --json '{\"title\": \"Parse times\", \"budgetUsd\": 2}' $URL/projects/$P/tasks/$T",
    ),
    (
        "postProjectsProjectTasksTaskMessage",
        "curl -H \"Authorization: Bearer $TOKEN\" --json '{\"content\": \"Begin.\"}' $URL/projects/$P/tasks/$T/message",
    ),
    (
        "postProjectsProjectTasksTaskStop",
        "curl -X POST -H \"Authorization: Bearer $TOKEN\" $URL/projects/$P/tasks/$T/stop",
    ),
    (
        "getProjectsProjectTasksTaskEvents",
        "curl -H \"Authorization: Bearer $TOKEN\" \"$URL/projects/$P/tasks/$T/events?limit=50\"",
    ),
    (
        "getProjectsProjectTasksTaskDiff",
        "curl -H \"Authorization: Bearer $TOKEN\" $URL/projects/$P/tasks/$T/diff",
    ),
    ("getProjectsProjectNeeds", "curl -H \"Authorization: Bearer $TOKEN\" $URL/projects/$P/needs"),
    (
        "postProjectsProjectClarify",
        "curl -H \"Authorization: Bearer $TOKEN\" --json '{\"taskId\": \"'$T'\", \"answer\": \"Blue.\"}' $URL/projects/$P/clarify",
    ),
    (
        "patchConfigGlobal",
        "curl -X PATCH -H \"Authorization: Bearer $TOKEN\" --json '{\"budgetUsd\": 5}' $URL/config/global",
    ),
];

/// One operation of the document.
struct Operation<'d> {
    method: String,
    path: &'d str,
    value: &'d Value,
}

fn page(document: &Value) -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut used = BTreeSet::new();
    let paths = document["paths"].as_object().unwrap();
    for (name, beginnings) in PARTS {
        writeln!(page, "\n## {name}").unwrap();
        for (path, operations) in paths {
            let part =
                PARTS.iter().find(|(_, beginnings)| beginnings.iter().any(|begin| path.starts_with(begin)));
            if part.unwrap_or_else(|| panic!("{path} is in no part")).1 != *beginnings {
                continue;
            }
            for (method, value) in operations.as_object().unwrap() {
                let operation = Operation { method: method.to_uppercase(), path, value };
                describe(&mut page, &operation, &mut used);
            }
        }
    }
    types(&mut page, document, used);
    page
}

fn describe(page: &mut String, operation: &Operation<'_>, used: &mut BTreeSet<String>) {
    let Operation { method, path, value } = operation;
    let open = value["security"] == Value::Array(Vec::new());
    let access = if open { " Nobody has to log in for it." } else { "" };
    writeln!(page, "\n### `{method} {path}`\n\n{}.{access}", value["summary"].as_str().unwrap()).unwrap();
    let asked = value["parameters"].as_array().into_iter().flatten().filter(|one| one["in"] == "query");
    let asked: Vec<&Value> = asked.collect();
    if !asked.is_empty() {
        page.push_str("\n| query | | |\n|---|---|---|\n");
        for parameter in asked {
            let (kind, words) = (kind(&parameter["schema"], used), words(parameter));
            writeln!(page, "| `{}` | {kind} | {words} |", parameter["name"].as_str().unwrap()).unwrap();
        }
    }
    let body = &value["requestBody"]["content"]["application/json"]["schema"];
    if !body.is_null() {
        writeln!(page, "\nTakes {}.", kind(body, used)).unwrap();
    }
    let (status, good) =
        value["responses"].as_object().unwrap().iter().find(|(status, _)| *status != "default").unwrap();
    let (media, content) = good["content"].as_object().unwrap().iter().next().unwrap();
    let gives = match media.as_str() {
        "application/json" => kind(&content["schema"], used),
        other => format!("`{other}`"),
    };
    writeln!(page, "\nAnswers {status} with {gives}.").unwrap();
    let example = EXAMPLES.iter().find(|(id, _)| value["operationId"] == *id);
    if let Some((_, example)) = example {
        writeln!(page, "\n```sh\n{example}\n```").unwrap();
    }
}

/// Every type that is named above, with its fields; those that their fields name come too.
fn types(page: &mut String, document: &Value, mut used: BTreeSet<String>) {
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut sections = Map::new();
    while let Some(name) = used.pop_first() {
        if !sections.contains_key(&name) {
            let mut text = String::new();
            fields(&mut text, &schemas[&name], &mut used);
            sections.insert(name, Value::String(text));
        }
    }
    sections.sort_keys();
    page.push_str("\n## Types\n");
    for (name, text) in sections {
        writeln!(page, "\n### type {name}\n\n{}", text.as_str().unwrap().trim_end()).unwrap();
    }
}

fn fields(text: &mut String, schema: &Value, used: &mut BTreeSet<String>) {
    if let Some(description) = schema["description"].as_str() {
        writeln!(text, "{}\n", one_line(description)).unwrap();
    }
    let Some(properties) = schema["properties"].as_object() else {
        writeln!(text, "{}.", kind(schema, used)).unwrap();
        return;
    };
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|required| required == name))
    };
    text.push_str("| field | | |\n|---|---|---|\n");
    for (name, property) in properties {
        let optional = if required(name) { "" } else { ", optional" };
        writeln!(text, "| `{name}` | {}{optional} | {} |", kind(property, used), words(property)).unwrap();
    }
}

/// What a schema is, in a few words; a type with a name is a link.
fn kind(schema: &Value, used: &mut BTreeSet<String>) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        used.insert(name.to_owned());
        return format!("[{name}](#type-{})", name.to_lowercase());
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(options) = schema[several].as_array() {
            let options = options.iter().filter(|option| option["type"] != "null");
            let options: Vec<String> = options.map(|option| kind(option, used)).collect();
            return options.join(" or ");
        }
    }
    if let Some(names) = schema["enum"].as_array() {
        let names: Vec<String> =
            names.iter().filter(|name| !name.is_null()).map(|name| format!("`{name}`")).collect();
        return names.join(", ");
    }
    if !schema["const"].is_null() {
        return format!("`{}`", schema["const"]);
    }
    let named = match &schema["type"] {
        Value::String(name) => name.as_str(),
        Value::Array(names) => {
            names.iter().find_map(|name| name.as_str().filter(|name| *name != "null")).unwrap()
        }
        _ => return "anything".to_owned(),
    };
    match named {
        "array" => format!("list of {}", kind(&schema["items"], used)),
        "object" if schema["additionalProperties"].is_object() => {
            format!("object of {}", kind(&schema["additionalProperties"], used))
        }
        "integer" | "number" => range(named, schema),
        other => other.to_owned(),
    }
}

fn range(named: &str, schema: &Value) -> String {
    let bound = |name: &str| schema.get(name).filter(|bound| bound.as_f64() != Some(0.0));
    match (bound("minimum"), bound("maximum")) {
        (Some(low), Some(high)) => format!("{named} from {low} to {high}"),
        (None, Some(high)) => format!("{named} up to {high}"),
        (Some(low), None) => format!("{named} from {low}"),
        (None, None) => named.to_owned(),
    }
}

fn words(of: &Value) -> String {
    one_line(of["description"].as_str().unwrap_or_default())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[test]
fn the_page_says_what_the_document_says() {
    let document = mxd_server::openapi();
    let now = page(&document);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/http.md");
    if std::env::var_os("MXD_BLESS").is_some() {
        crate::stage::write(path.clone(), &now);
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        there == now,
        "docs/http.md is outdated: run this test once with MXD_BLESS=1 and look at the change"
    );
    let operations = document["paths"].as_object().unwrap().values();
    let ids: Vec<&str> = operations
        .flat_map(|operations| operations.as_object().unwrap().values())
        .map(|operation| operation["operationId"].as_str().unwrap())
        .collect();
    for (id, _) in EXAMPLES {
        assert!(ids.contains(id), "there is no operation {id}");
    }
}
