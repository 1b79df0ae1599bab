//! Secrets in every place that the daemon takes them from, and nowhere in what it writes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mxd_server::Contact;
use mxd_tools::secrets::Secrets;
use rehearse::{Rehearsal, Script, Wire};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::user::{make_repository, write};

/// How long anything may take before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// A key in a variable that the settings name.
const VARIABLE: &str = "canary-variable-7Jx2mQ9";
/// A key in the settings themselves.
const LITERAL: &str = "canary/literal+4Kd8=wZ1";
/// One that is put there while the daemon runs.
const PATCHED: &str = "canary-patched-0Tz5vB3";
/// What a server gets in its environment.
const SERVER: &str = "canary-server-9Hn3pL6";
/// What a service elsewhere gets in a header.
const HEADER: &str = "canary-header-2Wc7rF4";
/// What strangers show.
const BEARER: &str = "canary-bearer-5Gy1sD8";
const COOKIE: &str = "canary-cookie-3Bv6kM0";
const QUERY: &str = "canary-query-8Xq4jN7";
const TICKET: &str = "canary-ticket-1Lt9hC2";
const ANSWER: &str = "canary-answer-6Pf0yR5";
/// What a collector gets in a header.
const COLLECTOR: &str = "canary-collector-4Zs8uE1";

const ALL: [&str; 11] =
    [VARIABLE, LITERAL, PATCHED, SERVER, HEADER, BEARER, COOKIE, QUERY, TICKET, ANSWER, COLLECTOR];

/// A service that refuses everything and repeats what it was shown.
fn parrot() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| refuse(stream).unwrap_or(())));
    format!("http://{address}")
}

fn refuse(mut stream: TcpStream) -> std::io::Result<()> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte)? == 1 {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    stream.read_exact(&mut vec![0; length.unwrap_or(0)])?;
    let message = format!("You are not let in with {head} {}", head.replace('/', "%2F").replace('+', "%2B"));
    let body = json!({ "type": "error", "error": { "type": "authentication_error", "message": message } });
    let body = body.to_string();
    let front = "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close";
    write!(stream, "{front}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// A daemon in a process of its own, which says all it can.
struct Daemon {
    ground: TempDir,
    process: std::process::Child,
    client: Client,
    contact: Contact,
    /// All that it wrote about itself.
    said: Arc<Mutex<String>>,
    _model: Rehearsal,
}

/// Gathers what a daemon writes, and tells when it is ready.
fn listen(stderr: ChildStderr, said: &Mutex<String>, ready: oneshot::Sender<()>) {
    let mut ready = Some(ready);
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        if line.contains("the daemon is ready") {
            // Nobody waits any more when the test has failed already.
            let _told = ready.take().map(|ready| ready.send(()));
        }
        let mut said = said.lock().unwrap();
        said.push_str(&line);
        said.push('\n');
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _waited = self.process.wait();
    }
}

fn script() -> Value {
    let calls = |name: &str, input: Value| json!({ "reply": { "blocks": [{ "tool_call": { "name": name, "input": input } }] } });
    json!({ "conversations": [{
        "first_message": { "contains": "Title: Leak" },
        "turns": [
            calls("mcp__leaky__leak", json!({})),
            calls("mcp__mxd__bash", json!({ "command": "env; cat /proc/self/environ /proc/1/environ" })),
            calls("mcp__mxd__done", json!({ "status": "failed", "summary": "Nothing to be found." })),
        ],
    }], "default_reply": { "blocks": [{ "text": "Noted." }] } })
}

/// Settings with a secret wherever there can be one.
fn settings(parrot: &str, model: &str) -> Value {
    let group = |url: &str, key: &str| json!({ "provider": "anthropic", "anthropicBaseUrl": url, "anthropicApiKey": key });
    let bearer = "Bearer $env:CANARY_HEADER";
    json!({
        "authGroups": { "broken": group(parrot, "$env:CANARY_VARIABLE"), "well": group(model, LITERAL) },
        "defaultAuth": "broken",
        "childAuth": "well",
        "mcpServers": {
            "leaky": { "command": "python3", "args": ["leaky.py"], "env": { "LEAK": "$env:CANARY_SERVER" } },
            "remote": { "url": format!("{parrot}/mcp"), "headers": { "Authorization": bearer } },
        },
        "telemetry": { "endpoint": parrot },
    })
}

impl Daemon {
    async fn start() -> Self {
        let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let repository = ground.path().join("repo");
        fs::create_dir(&repository).unwrap();
        fs::copy(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/leaky.py"),
            repository.join("leaky.py"),
        )
        .unwrap();
        make_repository(&repository);
        let model = Rehearsal::start(Script::parse("story.json", &script().to_string()).unwrap()).unwrap();
        let (parrot, url) = (parrot(), model.base_url(Wire::Anthropic));
        let data = ground.path().join("data");
        fs::create_dir(&data).unwrap();
        write(&data.join("config.json"), &settings(&parrot, &url).to_string());
        Command::new("chmod").arg("600").arg(data.join("config.json")).status().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_mxd"))
            .args(["serve", "--port", "0"])
            .envs([("MXD_LOG", "trace"), ("CANARY_VARIABLE", VARIABLE), ("CANARY_SERVER", SERVER)])
            .envs([("CANARY_HEADER", HEADER)])
            .env("OTEL_EXPORTER_OTLP_HEADERS", format!("authorization=Bearer%20{COLLECTOR}"))
            .env("MXD_DATA_DIR", &data)
            .env("HOME", ground.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (ready, is_ready) = oneshot::channel();
        let said = Arc::new(Mutex::new(String::new()));
        std::thread::spawn({
            let (said, stderr) = (Arc::clone(&said), process.stderr.take().unwrap());
            move || listen(stderr, &said, ready)
        });
        let waited = tokio::time::timeout(PATIENCE, is_ready).await;
        assert!(matches!(waited, Ok(Ok(()))), "the daemon is not ready: {}", said.lock().unwrap());
        let client = Client::builder().no_proxy().build().unwrap();
        Self { contact: Contact::read(&data).unwrap(), ground, process, client, said, _model: model }
    }

    fn ask(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.contact.address))
    }

    async fn get(&self, path: &str) -> (u16, String) {
        said(self.ask(Method::GET, path).bearer_auth(&self.contact.token)).await
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> (u16, String) {
        let request = self.ask(method, path).bearer_auth(&self.contact.token);
        said(request.header("content-type", "application/json").body(body.to_string())).await
    }

    /// Waits until a task is as wanted; looks again whenever something happened.
    async fn until(&self, (project, task): (&str, &str), wanted: impl Fn(&Value) -> bool) {
        let stream = self.ask(Method::GET, &format!("/events?projectId={project}"));
        let mut stream = stream.bearer_auth(&self.contact.token).send().await.unwrap();
        let waiting = async {
            loop {
                let view = json(&self.get(&format!("/projects/{project}/tasks/{task}")).await.1);
                if wanted(&view) {
                    return;
                }
                stream.chunk().await.unwrap();
            }
        };
        if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
            panic!("{}", self.get(&format!("/projects/{project}/tasks")).await.1);
        }
    }

    /// Everything in the data folder.
    fn written(&self) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        let mut folders = vec![self.ground.path().join("data")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    let bytes = fs::read(entry.path()).unwrap();
                    found.push((entry.path(), String::from_utf8_lossy(&bytes).into_owned()));
                }
            }
        }
        found
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

async fn said(request: reqwest::RequestBuilder) -> (u16, String) {
    match request.send().await {
        Ok(answer) => (answer.status().as_u16(), answer.text().await.unwrap_or_default()),
        Err(_) => (0, String::new()),
    }
}

/// Shows the daemon what strangers show; what it answers.
async fn strangers(daemon: &Daemon, project: &str) -> Vec<String> {
    let mut answers = Vec::new();
    for (request, expected) in [
        (daemon.ask(Method::GET, "/projects").bearer_auth(BEARER), 401),
        (daemon.ask(Method::GET, "/projects").header("cookie", format!("mxd_session={COOKIE}")), 401),
        (daemon.ask(Method::GET, &format!("/events?projectId={project}&token={QUERY}")), 401),
        (login(daemon, &json!({ "ticket": TICKET })), 401),
        (login(daemon, &json!({ "challengeId": TICKET, "answer": ANSWER })), 401),
        (login(daemon, &json!({ "ticket": TICKET, "answer": ANSWER })), 422),
        (login(daemon, &json!({ "ticket": [ANSWER] })), 422),
    ] {
        let (status, answer) = said(request).await;
        assert_eq!(status, expected, "{answer}");
        answers.push(answer);
    }
    answers
}

fn login(daemon: &Daemon, body: &Value) -> reqwest::RequestBuilder {
    daemon.ask(Method::POST, "/auth/login").header("content-type", "application/json").body(body.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_in_anything_the_daemon_writes_or_answers() {
    let daemon = Daemon::start().await;
    let made =
        daemon.send(Method::POST, "/projects", &json!({ "path": daemon.ground.path().join("repo") })).await;
    let made = json(&made.1);
    let (project, root) = (made["id"].as_str().unwrap(), made["rootId"].as_str().unwrap());
    let mut answers = strangers(&daemon, project).await;

    let ticket = json(&daemon.send(Method::POST, "/auth/ticket", &json!({})).await.1);
    let (status, session) = said(login(&daemon, &json!({ "ticket": ticket["ticket"] }))).await;
    assert_eq!(status, 200, "{session}");
    let session = json(&session)["token"].as_str().unwrap().to_owned();

    let of = |path: &str| format!("/projects/{project}{path}");
    let say = json!({ "content": "Go." });
    answers.push(daemon.send(Method::POST, &of(&format!("/tasks/{root}/message")), &say).await.1);
    daemon.until((project, root), |view| view["agent"]["state"] == "failed").await;
    let task = json(&daemon.send(Method::POST, &of("/tasks"), &json!({ "title": "Leak" })).await.1);
    let task = task["id"].as_str().unwrap().to_owned();
    answers.push(daemon.send(Method::POST, &of(&format!("/tasks/{task}/message")), &say).await.1);
    daemon.until((project, &task), |view| view["status"] == "failed").await;

    let patch = json!({ "authGroups": { "later": { "provider": "openai", "openaiApiKey": PATCHED } } });
    let (status, patched) = daemon.send(Method::PATCH, "/config/global", &patch).await;
    assert_eq!(status, 200, "{patched}");
    answers.push(patched);
    for path in ["/health", "/stats", "/metrics", "/config/global", "/auth/sessions", "/projects"] {
        answers.push(daemon.get(path).await.1);
    }
    for path in ["/tasks", "/events", "/needs", "/servers", "/config/all", "/money", "/search?q=canary"] {
        answers.push(daemon.get(&of(path)).await.1);
    }
    let pages = [root, &task].map(|task| of(&format!("/tasks/{task}/events?limit=1000")));
    for page in &pages {
        answers.push(daemon.get(page).await.1);
    }
    let ledger = daemon.get(&of(&format!("/tasks/{task}/ledger"))).await.1;
    assert_eq!(json(&ledger)["calls"][0]["tool"], "mcp__leaky__leak", "{ledger}");
    assert!(answers.last().unwrap().contains("the secret is [redacted]"), "{}", answers.last().unwrap());

    let own = [daemon.contact.token.as_str(), session.as_str(), ticket["ticket"].as_str().unwrap()];
    let secrets = Secrets::new(ALL.into_iter().chain(own)).unwrap();
    let clean = |what: &str, text: &str| {
        let redacted = secrets.redact(text);
        let differs = text.lines().zip(redacted.lines()).find(|(line, clean)| line != clean);
        assert!(redacted == text, "{what}: {differs:?}");
    };
    answers.iter().for_each(|answer| clean("an answer", answer));
    for (path, text) in daemon.written() {
        // Where the user put one, and where programs of the user look.
        let theirs = ["config.json", "daemon.json"].iter().any(|name| path.ends_with(name));
        if !theirs {
            clean(&path.display().to_string(), &text);
        }
    }
    let said = daemon.said.lock().unwrap().clone();
    clean("the log", &said);
    said.lines().for_each(|line| assert!(json(line)["level"].is_string(), "{line}"));
    assert!(said.lines().count() > 50 && said.contains("TRACE"), "at this level it says something: {said}");
}
