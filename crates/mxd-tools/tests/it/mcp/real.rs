//! Servers that we did not write, from npm and PyPI: accepted, called, killed in a call, found again, drifted.
//!
//! They are installed once, below the target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mxd_core::manifest::{
    Discovered, EnvName, LockedServer, Program, Reconnect, Remote, Sampling, ServerSpec, Template, Tools,
    Transport,
};
use mxd_core::raw::RawJson;
use mxd_core::tool::SideEffect;
use mxd_tools::mcp::{
    CallError, CallOptions, Cause, Connection, Limits, Servers, Status, Unaccepted, View, Wanted,
};
use mxd_tools::sandbox::Mode;
use mxd_tools::scope::{Access, Root};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::scene::{Ground, name, program, tool, until, words};
use crate::npm;
use crate::python::{python, run};

/// An agent whose servers may read this folder, with time enough for a busy machine.
async fn ground(mode: Mode, folder: &Path) -> Ground {
    let mut ground = Ground::new(mode).await;
    ground.around.limits = Limits {
        connect: Duration::from_secs(180),
        question: Duration::from_secs(120),
        backoff: super::scene::limits().backoff,
        ..Limits::default()
    };
    ground.around.agent.extra.push(Root { path: folder.to_owned(), access: Access::Read });
    ground
}

fn first_use(server: &str, command: &str, args: &[&str]) -> ServerSpec {
    let spec = program(server, command, args);
    ServerSpec { tools: Tools::FirstUse, reconnect: Reconnect::UpTo(5), ..spec }
}

/// Looks at what a server offers and accepts it, with this class for every tool.
async fn accept(ground: &Ground, spec: ServerSpec, effect: SideEffect) -> Wanted {
    let connection = Connection::open(&spec, None, &ground.around()).await.unwrap();
    let mut locked = LockedServer::accept(&spec, &connection.discovered(), None);
    locked.tools.values_mut().for_each(|tool| tool.effect = Some(effect));
    connection.close().await;
    Wanted { spec, locked: Some(locked), view: View::Worktree, unaccepted: Unaccepted::Refuse }
}

async fn call(servers: &Servers, id: &str, args: Value) -> Result<String, CallError> {
    let result = servers.call(&tool(id), &args, CallOptions::within(Duration::from_secs(60))).await?;
    assert_ne!(result["isError"], json!(true), "{id}: {result}");
    Ok(result.to_string())
}

/// The same server, of which something else was accepted.
fn doctored(mut wanted: Wanted) -> Wanted {
    let locked = wanted.locked.as_mut().unwrap();
    let (name, tool) = locked.tools.iter_mut().next().unwrap();
    let other = json!({ "name": name.as_str(), "description": "Something else.", "inputSchema": { "type": "object" } });
    let other = RawJson::parse(&other.to_string()).unwrap();
    tool.definition = Discovered::read([&other]).tools.remove(0);
    wanted
}

async fn drifts(ground: &Ground, wanted: &Wanted) {
    let servers = ground.connect(vec![doctored(wanted.clone())]).await;
    let server = &wanted.spec.name;
    let status = servers.status(server).unwrap();
    assert!(
        matches!(status, Status::Drifted(_)) && words(&status).contains("has changed at"),
        "{}",
        words(&status)
    );
    servers.close().await;
}

/// Processes whose command line holds this.
fn processes(mark: &str) -> Vec<i32> {
    let folders = fs::read_dir("/proc").unwrap().filter_map(Result::ok).map(|entry| entry.path());
    let is_meant = |folder: &PathBuf| {
        let line = fs::read(folder.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    let number = |folder: PathBuf| folder.file_name()?.to_str()?.parse().ok();
    folders.filter(is_meant).filter_map(number).collect()
}

fn signal(mark: &str, signal: Signal) {
    let processes = processes(mark);
    assert!(!processes.is_empty(), "{mark} does not run");
    for process in processes {
        let process = rustix::process::Pid::from_raw(process).unwrap();
        rustix::process::kill_process(process, signal).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_of_npm_are_accepted_called_killed_found_again_and_drift() {
    let folder = npm::servers();
    let ground = ground(Mode::Full, &folder).await;
    let worktree = ground.around.agent.worktree.path.to_str().unwrap().to_owned();
    let mut hello = fs::File::create(Path::new(&worktree).join("hello")).unwrap();
    std::io::Write::write_all(&mut hello, b"hello, servers").unwrap();
    let node = |server: &str, package: &str, args: &[&str]| {
        let index = npm::index(&folder, package);
        first_use(server, "node", &[&[index.as_str()], args].concat())
    };
    let mark = format!("mark-{}", std::process::id());
    let mut memory = node("memory", "server-memory", &[]);
    if let Transport::Stdio(Program { env, .. }) = &mut memory.transport {
        let file: Template = format!("{worktree}/memory.json").parse().unwrap();
        env.push(("MEMORY_FILE_PATH".parse::<EnvName>().unwrap(), file));
    }
    let wanted = vec![
        accept(&ground, node("fs", "server-filesystem", &[&worktree]), SideEffect::Write).await,
        accept(&ground, memory, SideEffect::Write).await,
        accept(&ground, node("think", "server-sequential-thinking", &[]), SideEffect::Read).await,
        accept(&ground, node("everything", "server-everything", &["stdio", &mark]), SideEffect::Read).await,
    ];
    let servers = ground.connect(wanted.clone()).await;
    for change in servers.statuses() {
        assert_eq!(change.status, Status::Ready, "{}: {}", change.server, words(&change.status));
    }
    let read = call(&servers, "mcp:fs:read_text_file", json!({ "path": format!("{worktree}/hello") }))
        .await
        .unwrap();
    assert!(read.contains("hello, servers"), "{read}");
    let entity =
        json!({ "entities": [{ "name": "Ada", "entityType": "person", "observations": ["counts"] }] });
    call(&servers, "mcp:memory:create_entities", entity).await.unwrap();
    assert!(call(&servers, "mcp:memory:read_graph", json!({})).await.unwrap().contains("Ada"));
    let thought =
        json!({ "thought": "hm", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1 });
    call(&servers, "mcp:think:sequentialthinking", thought).await.unwrap();
    assert!(call(&servers, "mcp:everything:get-sum", json!({ "a": 2, "b": 3 })).await.unwrap().contains('5'));
    let image = call(&servers, "mcp:everything:get-tiny-image", json!({})).await.unwrap();
    assert!(image.contains("image/png"), "{image}");

    let mut changes = servers.changes(&name("everything")).unwrap();
    let long = call(
        &servers,
        "mcp:everything:trigger-long-running-operation",
        json!({ "duration": 600, "steps": 2 }),
    );
    let killed = async {
        // The call is under way as soon as the server has taken it; whether it has, nobody else can see.
        assert!(call(&servers, "mcp:everything:echo", json!({ "message": "x" })).await.is_ok());
        signal(&mark, Signal::KILL);
    };
    let (lost, ()) = tokio::join!(long, killed);
    let lost = lost.unwrap_err();
    assert!(matches!(&lost, CallError::Lost { loss, .. } if loss.cause == Cause::Killed(9)), "{lost}");
    while changes.recv().await.unwrap().status != Status::Ready {}
    assert!(
        call(&servers, "mcp:everything:echo", json!({ "message": "again" })).await.unwrap().contains("again")
    );
    servers.close().await;
    for wanted in &wanted {
        drifts(&ground, wanted).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_of_pypi_are_accepted_called_killed_found_again_and_drift() {
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mcp_servers.txt");
    let python = python("mcp-servers-python", &requirements);
    let folder = python.parent().unwrap().parent().unwrap().to_owned();
    let mut ground = ground(Mode::Full, &folder).await;
    // Where the Python of the environment comes from.
    let original = fs::canonicalize(&python).unwrap();
    let original = original.parent().and_then(Path::parent).unwrap().to_owned();
    ground.around.agent.extra.push(Root { path: original, access: Access::Read });
    let worktree = ground.around.agent.worktree.path.to_str().unwrap().to_owned();
    run(Command::new("git").args(["init", "-q", "-b", "main", &worktree]), "install git");
    let program = |server: &str, module: &str, args: &[&str]| {
        let path = folder.join("bin").join(module);
        first_use(server, path.to_str().unwrap(), args)
    };
    let wanted = vec![
        accept(&ground, program("git", "mcp-server-git", &["--repository", &worktree]), SideEffect::Write)
            .await,
        accept(&ground, program("time", "mcp-server-time", &["--local-timezone", "UTC"]), SideEffect::Read)
            .await,
        accept(&ground, program("fetch", "mcp-server-fetch", &[]), SideEffect::Network).await,
    ];
    let servers = ground.connect(wanted.clone()).await;
    for change in servers.statuses() {
        assert_eq!(change.status, Status::Ready, "{}: {}", change.server, words(&change.status));
    }
    let status = call(&servers, "mcp:git:git_status", json!({ "repo_path": worktree })).await.unwrap();
    assert!(status.contains("On branch main"), "{status}");
    let noon = json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" });
    assert!(call(&servers, "mcp:time:convert_time", noon).await.unwrap().contains("21:00"));
    // Its sandbox has no network, and that is an answer.
    let fetch = json!({ "url": "https://example.org/" });
    let fetched =
        servers.call(&tool("mcp:fetch:fetch"), &fetch, CallOptions::within(Duration::from_secs(60))).await;
    assert!(fetched.is_err() || fetched.unwrap()["isError"] == json!(true));

    let mut changes = servers.changes(&name("git")).unwrap();
    let mark = format!("--repository\0{worktree}");
    // One that is held up cannot answer, so it dies in the middle of the call.
    signal(&mark, Signal::STOP);
    let held_up = call(&servers, "mcp:git:git_status", json!({ "repo_path": worktree }));
    let killed = async { signal(&mark, Signal::KILL) };
    let (lost, ()) = tokio::join!(held_up, killed);
    let lost = lost.unwrap_err();
    assert!(matches!(&lost, CallError::Lost { loss, .. } if loss.cause == Cause::Killed(9)), "{lost}");
    while changes.recv().await.unwrap().status != Status::Ready {}
    let status = call(&servers, "mcp:git:git_status", json!({ "repo_path": worktree })).await.unwrap();
    assert!(status.contains("On branch main"), "{status}");
    servers.close().await;
    for wanted in &wanted {
        drifts(&ground, wanted).await;
    }
}

/// A port that nobody listened at a moment ago.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_npm_is_reached_in_both_ways_of_http() {
    let folder = npm::servers();
    let mut ground = ground(Mode::Off, &folder).await;
    ground.around.limits.backoff.longest = Duration::from_secs(1);
    for (way, path) in [("streamableHttp", "/mcp"), ("sse", "/sse")] {
        let port = free_port();
        let mut server = tokio::process::Command::new("node");
        server
            .arg(npm::index(&folder, "server-everything"))
            .arg(way)
            .env("PORT", port.to_string())
            .kill_on_drop(true);
        let _running =
            server.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        let remote = Remote { endpoint: format!("http://127.0.0.1:{port}{path}"), headers: Vec::new() };
        let transport = if way == "sse" { Transport::Sse(remote) } else { Transport::Http(remote) };
        let spec = ServerSpec { transport, reconnect: Reconnect::UpTo(100), ..first_use("web", "", &[]) };
        let wanted = Wanted { spec, locked: None, view: View::Worktree, unaccepted: Unaccepted::Use };
        let servers = ground.connect(vec![wanted]).await;
        let settled = |status: &Status| matches!(status, Status::Ready | Status::Down { .. });
        let status = until(&servers, "web", settled).await;
        assert_eq!(status, Status::Ready, "{way}: {}", words(&status));
        assert!(call(&servers, "mcp:web:get-sum", json!({ "a": 20, "b": 22 })).await.unwrap().contains("42"));
        let resources = servers.connection(&name("web")).unwrap().resources().await.unwrap();
        assert!(!resources.is_empty());
        servers.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_npm_has_a_model_write_where_its_entry_says_so() {
    let folder = npm::servers();
    let mut ground = ground(Mode::Full, &folder).await;
    ground.around.answers.sampling = Some(std::sync::Arc::new(|question| {
        Box::pin(async move {
            let asked = question.params["messages"][0]["content"]["text"].clone();
            let text = format!("{} was asked: {asked}", question.server);
            Ok(json!({ "role": "assistant", "content": { "type": "text", "text": text }, "model": "m" }))
        })
    }));
    let everything = |sampling: Sampling| {
        let spec = first_use("everything", "node", &[&npm::index(&folder, "server-everything")]);
        ServerSpec { sampling, ..spec }
    };
    let silent = accept(&ground, everything(Sampling::Off), SideEffect::Read).await;
    let trigger = "trigger-sampling-request".parse().unwrap();
    assert!(!silent.locked.unwrap().tools.contains_key(&trigger), "it is not told that a model would write");
    let wanted = accept(&ground, everything(Sampling::On), SideEffect::Read).await;
    let servers = ground.connect(vec![wanted]).await;
    let args = json!({ "prompt": "roses", "maxTokens": 50 });
    let said = call(&servers, "mcp:everything:trigger-sampling-request", args).await.unwrap();
    assert!(said.contains("everything was asked: ") && said.contains("roses"), "{said}");
    servers.close().await;
}
