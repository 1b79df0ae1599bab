//! The MCP endpoint: another agent makes a task, starts it, waits for it and reads what it did.

use reqwest::Method;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, conversation, speaks, text};

/// A client of the era that begins with `initialize`.
struct Client<'a> {
    stage: &'a Stage,
    session: Option<String>,
    calls: u64,
}

impl<'a> Client<'a> {
    async fn connect(stage: &'a Stage) -> Self {
        let mut client = Self { stage, session: None, calls: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = client.ask("initialize", hello).await;
        assert_eq!(answer["serverInfo"]["name"], "mxd");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.calls, "method": method, "params": params });
        let answer = self.send(&request).await;
        assert_eq!(answer["id"], self.calls, "{answer}");
        answer["result"].clone()
    }

    async fn send(&mut self, message: &Value) -> Value {
        let mut request = self.stage.ask(Method::POST, "/mcp").header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-06-18");
        }
        let answer = request.body(message.to_string()).send().await.unwrap();
        if let Some(session) = answer.headers().get("mcp-session-id") {
            self.session = Some(session.to_str().unwrap().to_owned());
        }
        let body = answer.text().await.unwrap();
        let data = body.lines().filter_map(|line| line.strip_prefix("data:").map(str::trim));
        let found =
            data.filter_map(|data| serde_json::from_str::<Value>(data).ok()).find(|data| data["id"].is_u64());
        found.or_else(|| serde_json::from_str(&body).ok()).unwrap_or(Value::Null)
    }

    /// What a tool says; panics when it says that it failed.
    async fn call(&mut self, tool: &str, args: Value) -> String {
        let (said, failed) = self.attempt(tool, args).await;
        assert!(!failed, "{tool}: {said}");
        said
    }

    async fn attempt(&mut self, tool: &str, args: Value) -> (String, bool) {
        let result = self.ask("tools/call", json!({ "name": tool, "arguments": args })).await;
        (text(&result["content"][0]["text"]), result["isError"] == json!(true))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_agent_has_a_task_done() {
    let stage = Stage::set(json!([
        conversation("Title: Root", vec![speaks("Good.")]),
        conversation(
            "Title: Answer",
            vec![
                speaks("I am on it."),
                calls(&[("done", json!({ "status": "failed", "summary": "There is no answer." }))]),
            ]
        ),
    ]))
    .await;
    let mut client = Client::connect(&stage).await;
    let listed = client.ask("tools/list", json!({})).await;
    let mut names: Vec<String> =
        listed["tools"].as_array().unwrap().iter().map(|tool| text(&tool["name"])).collect();
    names.sort_unstable();
    let expected = [
        "answer",
        "create_task",
        "get_logs",
        "get_task",
        "get_tree",
        "list_projects",
        "search",
        "send_message",
        "stop",
        "wait",
    ];
    assert_eq!(names, expected);
    let project = stage.project.clone();

    assert!(client.call("list_projects", json!({})).await.contains(&project));
    let made = client.call("create_task", json!({ "project": project, "title": "Answer" })).await;
    let made: Value = serde_json::from_str(&made).unwrap();
    let task = text(&made["id"]);
    let on = |more: Value| {
        let mut args = json!({ "project": project, "task": task });
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    client.call("send_message", on(json!({ "content": "Begin." }))).await;
    stage
        .until(&task, "a rest", |view| view["life"]["turns"] == 1 && view["agent"]["state"] == "waiting")
        .await;
    let stands = client.call("wait", on(json!({ "seconds": 30 }))).await;
    assert_eq!(stands, "It rests: in_progress, it waits for a message");
    client.call("send_message", on(json!({ "content": "And?" }))).await;
    stage.until_status(&task, "failed").await;
    let log = client.call("get_logs", on(json!({ "limit": 100 }))).await;
    assert!(log.contains("assistant_text: I am on it."), "{log}");
    assert!(client.call("get_tree", json!({ "project": project })).await.contains("\"status\":\"failed\""));
    assert!(client.call("search", json!({ "project": project, "query": "on it" })).await.contains(&task));

    let (said, failed) =
        client.attempt("get_task", json!({ "project": project, "task": "../../auth" })).await;
    assert!(failed && said.contains("not_an_id"), "{said}");
    let (said, failed) = client.attempt("answer", on(json!({ "answer": "42" }))).await;
    assert!(failed && said.contains("late"), "{said}");
    stage
        .until(&stage.root, "a rest", |view| {
            view["life"]["turns"] == 1 && view["agent"]["state"] == "waiting"
        })
        .await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_endpoint_is_behind_the_same_door() {
    let stage = Stage::set(json!([])).await;
    let stranger = stage.client.post(stage.url("/mcp")).header("content-type", "application/json").body("{}");
    assert_eq!(stranger.send().await.unwrap().status(), 401);
    let page = stage.ask(Method::POST, "/mcp").header("origin", "http://evil.example").body("{}");
    assert_eq!(page.send().await.unwrap().status(), 403);
    stage.end().await;
}
