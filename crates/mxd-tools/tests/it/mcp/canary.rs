//! A secret that must not be seen by anybody it was not given to.

use std::fs;

use mxd_core::manifest::{Program, Transport};
use mxd_tools::mcp::{CallOptions, Status};
use mxd_tools::sandbox::Mode;
use serde_json::json;
use tokio::sync::mpsc;

use super::scene::{Ground, echo, locked, name, odd_server, program, tool, unlocked, until, words};
use mxd_core::manifest::{Reconnect, ServerSpec};
use std::time::Duration;

const CANARY: &str = "canary-9f8e7d6c5b4a39281706";

/// A server that was given the secret and tells it everywhere.
fn teller(server: &str, kind: &str) -> ServerSpec {
    let mut spec = program(server, odd_server(), &[kind, "TOKEN"]);
    let Transport::Stdio(Program { env, .. }) = &mut spec.transport else { unreachable!() };
    env.push(("TOKEN".parse().unwrap(), "$env:CANARY".parse().unwrap()));
    spec
}

/// Everything that processes of this machine show of themselves to anybody.
fn command_lines() -> String {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let line = |path: std::path::PathBuf| fs::read(path.join("cmdline")).unwrap_or_default();
    processes.map(|entry| String::from_utf8_lossy(&line(entry.path())).into_owned()).collect()
}

#[tokio::test]
async fn a_secret_is_seen_by_nobody_it_was_not_given_to() {
    for mode in [Mode::Off, Mode::Full] {
        let ground = Ground::new(mode).await.knowing("CANARY", CANARY);
        let mut dying = teller("dying", "dies-in-a-call");
        dying.reconnect = Reconnect::UpTo(1);
        let bystander = program("bystander", odd_server(), &["tells-secrets", "TOKEN"]);
        let wanted = vec![locked(teller("teller", "tells-secrets")), locked(bystander), locked(dying)];
        let servers = ground.connect(wanted).await;
        let mut seen = vec![command_lines(), format!("{servers:?} {:?}", servers.statuses())];

        let (progress, mut notices) = mpsc::channel(64);
        let options =
            CallOptions { progress: Some(progress), ..CallOptions::within(Duration::from_secs(30)) };
        let told = servers.call(&tool("mcp:teller:echo"), &json!({}), options).await.unwrap();
        // It had the secret, or nothing would be proven.
        assert!(told.to_string().contains("TOKEN=[redacted]"), "{told}");
        seen.push(told.to_string());
        seen.push(format!("{:?}", notices.recv().await.unwrap()));

        let options = CallOptions::within(Duration::from_secs(30));
        let env = servers.call(&tool("mcp:bystander:echo"), &json!({}), options).await.unwrap().to_string();
        // Not even the names of what the tests themselves were started with.
        assert!(
            env.contains("PATH=") && !env.contains("CARGO_MANIFEST_DIR") && !env.contains("TOKEN="),
            "{env}"
        );
        seen.push(env);

        let lost = echo(&servers, "dying", "").await.unwrap_err();
        seen.push(format!("{lost} {lost:?}"));
        let status = until(&servers, "dying", |status| *status == Status::Ready).await;
        seen.push(words(&status));
        let teller = servers.connection(&name("teller")).unwrap();
        seen.push(format!("{teller:?} {:?}", teller.introduction()));
        teller.close().await;
        seen.push(format!("{:?} {}", teller.loss(), teller.loss().unwrap()));
        for text in seen {
            assert!(!text.contains(CANARY), "{text}");
        }
    }
}

#[tokio::test]
async fn a_complaint_is_quoted_without_secrets() {
    let ground = Ground::new(Mode::Off).await.knowing("CANARY", CANARY);
    let servers = ground.connect(vec![unlocked(teller("teller", "tells-secrets"))]).await;
    echo(&servers, "teller", "").await.unwrap();
    let teller = servers.connection(&name("teller")).unwrap();
    teller.close().await;
    let loss = teller.loss().unwrap().to_string();
    assert!(loss.contains("my token is [redacted]"), "{loss}");
    assert!(loss.contains("the last: token=[redacted]"), "{loss}");
}
