//! A daemon with a project, a model to play with, and a client that is logged in.

use std::path::Path;
use std::time::Duration;

use mxd_engine::Keyring;
use mxd_engine::git::Git;
use mxd_engine::home::Setup;
use mxd_server::{Build, Collector, Options, Policy, Running, serve};
use mxd_tools::sandbox::{Launcher, User};
use rehearse::{Rehearsal, Script, Wire};
use reqwest::{Client, Method, RequestBuilder};
use secrecy::SecretString;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use crate::repository::{git, make_repository, write, write_settings};

/// How long anything may take before it counts as stuck.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Everything a test needs.
pub(crate) struct Stage {
    pub(crate) ground: TempDir,
    pub(crate) model: Rehearsal,
    running: Option<Running>,
    pub(crate) client: Client,
    /// The project.
    pub(crate) project: String,
    pub(crate) root: String,
}

/// An answer: its status and its JSON.
pub(crate) type Reply = (u16, Value);

impl Stage {
    /// A daemon with one project, and a model that follows the script.
    pub(crate) async fn set(conversations: Value) -> Self {
        Self::set_with(conversations, json!({})).await
    }

    pub(crate) async fn set_with(conversations: Value, settings: Value) -> Self {
        Self::set_all(conversations, settings, None).await
    }

    /// The same with somebody who is told what agents do.
    pub(crate) async fn set_told(conversations: Value, collector: Collector) -> Self {
        Self::set_all(conversations, json!({}), Some(collector)).await
    }

    async fn set_all(conversations: Value, settings: Value, collector: Option<Collector>) -> Self {
        let ground = TempDir::new().unwrap();
        make_repository(&ground.path().join("repo"));
        let mut script = json!({ "conversations": conversations });
        if conversations == json!([]) {
            // Where nothing is said that matters, whoever asks is answered.
            script["default_reply"] = json!({ "blocks": [{ "text": "Nothing." }] });
        }
        let script = script.to_string();
        let script = Script::parse("story.json", &script).unwrap_or_else(|error| panic!("{error}"));
        let model = Rehearsal::start(script).unwrap();
        write_settings(ground.path(), &model.base_url(Wire::Anthropic), settings);
        let running = begin(Options { collector, ..options(ground.path()) }).await;
        let client = Client::builder().no_proxy().build().unwrap();
        let mut stage = Self {
            ground,
            model,
            running: Some(running),
            client,
            project: String::new(),
            root: String::new(),
        };
        let path = stage.ground.path().join("repo");
        let (status, made) = stage.post("/projects", json!({ "path": path, "name": "Root" })).await;
        assert_eq!(status, 201, "{made}");
        stage.project = text(&made["id"]);
        stage.root = text(&made["rootId"]);
        stage
    }

    pub(crate) fn running(&self) -> &Running {
        self.running.as_ref().unwrap()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running().address())
    }

    /// The path of something of the project.
    pub(crate) fn of(&self, path: &str) -> String {
        format!("/projects/{}{path}", self.project)
    }

    /// A request with the token of the command line.
    pub(crate) fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url(path)).bearer_auth(&self.running().contact().token)
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        reply(self.ask(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        reply(with(self.ask(Method::POST, path), &body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Reply {
        reply(with(self.ask(Method::PATCH, path), &body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        reply(self.ask(Method::DELETE, path)).await
    }

    /// Gets what has to be there.
    pub(crate) async fn see(&self, path: &str) -> Value {
        let (status, value) = self.get(&self.of(path)).await;
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    /// Does what has to be possible.
    pub(crate) async fn act(&self, path: &str, body: Value) -> Value {
        let (status, value) = self.post(&self.of(path), body).await;
        assert!((200..300).contains(&status), "{path}: {status} {value}");
        value
    }

    pub(crate) async fn task(&self, title: &str) -> String {
        let (status, made) = self.post(&self.of("/tasks"), json!({ "title": title })).await;
        assert_eq!(status, 201, "{made}");
        text(&made["id"])
    }

    /// Waits until a task is as wanted; asks again whenever the log has grown.
    pub(crate) async fn until(&self, task: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut stream = self.listen(None).await;
        let waiting = async {
            loop {
                let view = self.see(&format!("/tasks/{task}")).await;
                if wanted(&view) {
                    return view;
                }
                stream.commit().await;
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(view) => view,
            Err(_) => {
                panic!("{what} did not happen:\n{:#}\n{:?}", self.see("/tasks").await, self.model.report())
            }
        }
    }

    pub(crate) async fn until_status(&self, task: &str, status: &str) -> Value {
        self.until(task, status, |view| view["status"] == status).await
    }

    /// Ends the daemon and begins another with the same data.
    pub(crate) async fn restart(&mut self) {
        self.running.take().unwrap().shutdown().await;
        self.running = Some(begin(options(self.ground.path())).await);
    }

    /// Ends the daemon, whatever the model was asked.
    pub(crate) async fn leave(mut self) {
        self.running.take().unwrap().shutdown().await;
    }

    /// Ends the story: the model was asked everything that was expected, and nothing else.
    pub(crate) async fn end(mut self) {
        self.running.take().unwrap().shutdown().await;
        self.model.finish().unwrap_or_else(|report| panic!("{report}"));
    }
}

pub(crate) fn with(request: RequestBuilder, body: &Value) -> RequestBuilder {
    request.header("content-type", "application/json").body(body.to_string())
}

pub(crate) async fn reply(request: RequestBuilder) -> Reply {
    let answer = tokio::time::timeout(PATIENCE, request.send()).await.unwrap().unwrap();
    let status = answer.status().as_u16();
    let bytes = answer.bytes().await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

/// The text of a value that has to be one.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

pub(crate) fn setup(ground: &Path) -> Setup {
    Setup {
        data: ground.join("data"),
        launcher: Launcher { program: env!("CARGO_BIN_EXE_mxd-daemon").into(), args: Vec::new() },
        user: User {
            name: "user".into(),
            home: ground.into(),
            path: std::env::var("PATH").unwrap(),
            variables: Vec::new(),
        },
        keyring: Keyring::new(|name| (name == "STAGE_KEY").then(|| SecretString::from("a key of the stage"))),
        git: Git::from_environment()
            .variable("HOME", ground)
            .variable("XDG_CONFIG_HOME", ground)
            .identity_variables(&[]),
    }
}

pub(crate) fn options(ground: &Path) -> Options {
    Options {
        home: setup(ground),
        bind: ([127, 0, 0, 1], 0).into(),
        names: Vec::new(),
        policy: Policy::Enforced,
        session_days: 1,
        collector: None,
        build: Build::default(),
    }
}

async fn begin(options: Options) -> Running {
    let running = serve(options).await.unwrap();
    running.ready().await;
    running
}

/// A turn that calls tools.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let block = |(name, input): &(&str, Value)| json!({ "tool_call": { "name": format!("mcp__mxd__{name}"), "input": input } });
    json!({ "reply": { "blocks": calls.iter().map(block).collect::<Vec<_>>() } })
}

/// A turn that only speaks.
pub(crate) fn speaks(words: &str) -> Value {
    json!({ "reply": { "blocks": [{ "text": words }] } })
}

/// The same turn, which says half of it and then waits at a gate.
pub(crate) fn gated(mut turn: Value, gate: &str) -> Value {
    turn["gate"] = json!({ "name": gate, "after_chunks": 3 });
    turn
}

/// A conversation that begins with these words.
pub(crate) fn conversation(first: &str, turns: Vec<Value>) -> Value {
    json!({ "first_message": { "contains": first }, "turns": turns })
}
