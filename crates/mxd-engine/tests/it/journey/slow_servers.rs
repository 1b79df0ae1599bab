//! Servers that take their time or do not come up: nobody waits for them, and what is told about them is the cause.

use std::process::Command;

use mxd_core::event::EventBody;
use mxd_core::event::body::RestReason;
use mxd_core::message::Message;
use mxd_engine::provision::ServerState;
use serde_json::json;

use super::served::{install, report, until};
use super::stage::{Stage, apart, conversation, expecting, speaks, write};

/// It comes up as soon as somebody writes into the pipe beside it.
const LATE: &str = "import os, runpy\nhere = os.path.dirname(os.path.abspath(__file__))\n\
                    open(here + '/go').read()\n\
                    runpy.run_path(here + '/server.py', run_name='__main__')\n";

#[tokio::test(flavor = "multi_thread")]
async fn first_turn_does_not_wait_for_a_slow_server() {
    let turns = vec![expecting(speaks("I begin."), json!({ "lacks_tools": ["mcp__stage__echo"] }))];
    let stage = Stage::furnished(json!([conversation("Title: Root", turns)]), |ground| {
        let folder = ground.join("server");
        install(&folder);
        write(folder.join("late.py"), LATE);
        assert!(Command::new("mkfifo").arg(folder.join("go")).status().unwrap().success());
        json!({
            "mcpServers": { "stage": { "command": "python3", "args": [folder.join("late.py")] } },
            "sandbox": { "read": [folder] },
        })
    })
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    // It has not failed: nobody waited until it would have.
    assert_eq!(report(&stage).await.state, ServerState::Connecting { why: None });
    assert!(told(&stage, "has not come up yet"), "{}", stage.story());
    apart(|| write(stage.repo().join("../server/go"), "go"));
    stage.until("it is told", |_| told(&stage, "The server stage has come up.")).await;
    until(&stage, |state| *state == ServerState::Idle || *state == ServerState::Ready).await;
    assert!(report(&stage).await.tools.iter().any(|tool| tool.name.as_str() == "echo"));
    stage.end().await;
}

fn told(stage: &Stage, words: &str) -> bool {
    stage.events().into_iter().any(|event| match event.body {
        EventBody::Message(posted) => match posted.body {
            Message::WorkContext(context) => context.content.contains(words),
            _ => false,
        },
        _ => false,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn cause_is_named_when_the_sandbox_is_why_a_server_fails() {
    let stage = Stage::furnished(json!([conversation("Title: Root", vec![speaks("I begin.")])]), |ground| {
        let script = install(&ground.join("own"));
        std::fs::create_dir(ground.join("bin")).unwrap();
        write(ground.join("bin/npx"), "#!/bin/sh\necho 'npm warn exec' >&2\nexit 1\n");
        std::fs::set_permissions(ground.join("bin/npx"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        let npx = ground.join("bin/npx");
        json!({
            "mcpServers": {
                "own": { "command": "python3", "args": [script] },
                "fetched": { "command": npx, "args": ["-y", "some-server@1.2.3"] },
            },
            "sandbox": { "read": [ground.join("bin")] },
        })
    })
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let servers = stage.project().servers().await.unwrap();
    let hint = |name: &str| match &servers.iter().find(|server| server.name.as_str() == name).unwrap().state {
        ServerState::Down { hint, .. } => hint.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let own = hint("own");
    let folder = std::fs::canonicalize(stage.repo().join("../own")).unwrap();
    assert!(own.contains(&format!("`sandbox.read` to [\"{}\"]", folder.display())), "{own}");
    assert!(own.contains("mxd servers retry own"), "{own}");
    let fetched = hint("fetched");
    assert!(fetched.contains("`npx` gets its package from the network"), "{fetched}");
    stage.end().await;
}
