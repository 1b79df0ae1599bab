//! The life of servers: connected, lost, found again, changed, closed.

use std::sync::Arc;
use std::time::Duration;

use mxd_core::manifest::{Finding, Program, Reconnect, Sampling, ServerSpec, Tools, Transport};
use mxd_core::tool::SideEffect;
use mxd_tools::mcp::{
    Answerer, CallError, CallOptions, Cause, Connection, Era, Refusal, Status, Unaccepted, View, Wanted,
};
use mxd_tools::sandbox::Mode;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::scene::{
    Ground, declared, echo, locked, name, odd, program, tool, unlocked, until, within, words,
};
use crate::scene::marked;

fn found_again(kind: &str, attempts: u64) -> Wanted {
    let mut spec = odd("odd", kind);
    spec.reconnect = Reconnect::UpTo(attempts);
    locked(spec)
}

#[tokio::test]
async fn both_kinds_of_protocol_are_spoken() {
    let ground = Ground::new(Mode::Off).await;
    let servers = ground.connect(vec![locked(odd("old", "good")), locked(odd("new", "modern-good"))]).await;
    for (server, era) in
        [("old", Era::Greeting("2025-06-18".to_owned())), ("new", Era::Stateless("2026-07-28".to_owned()))]
    {
        assert_eq!(servers.connection(&name(server)).unwrap().introduction().era, era);
        assert_eq!(echo(&servers, server, "hi").await.unwrap(), "hi");
    }
    let old = servers.connection(&name("old")).unwrap();
    assert_eq!(old.resources().await.unwrap(), [json!({ "uri": "odd://one", "name": "one" })]);
    assert_eq!(old.prompts().await.unwrap()[0]["name"], "greet");
    let read = old.read_resource("odd://one", CallOptions::within(Duration::from_secs(30))).await.unwrap();
    assert_eq!(read["contents"][0]["text"], "one");
    old.check().await.unwrap();
}

#[tokio::test]
async fn a_call_that_is_lost_fails_at_once_and_its_server_is_found_again() {
    let ground = Ground::new(Mode::Off).await;
    let servers = ground.connect(vec![found_again("dies-in-a-call", 2)]).await;
    // An hour is longer than any test waits.
    let hour = Duration::from_secs(3600);
    for _life in 0..3 {
        until(&servers, "odd", |status| *status == Status::Ready).await;
        let lost = within(&servers, "odd", "hi", hour).await.unwrap_err();
        let CallError::Lost { loss, .. } = &lost else { panic!("{lost}") };
        assert_eq!(loss.cause, Cause::Exited(7));
    }
    let down = until(&servers, "odd", |status| matches!(status, Status::Down { .. })).await;
    assert!(words(&down).contains("it was looked for 2 times"), "{}", words(&down));
    let refused = echo(&servers, "odd", "hi").await.unwrap_err();
    assert!(matches!(refused, CallError::Unavailable { .. }), "{refused}");
    servers.retry(&name("odd"));
    until(&servers, "odd", |status| *status == Status::Ready).await;
}

#[tokio::test]
async fn a_server_that_changes_what_it_offers_is_put_aside() {
    for kind in ["changes-later", "modern-drift"] {
        let ground = Ground::new(Mode::Off).await;
        let servers = ground.connect(vec![found_again(kind, 5), locked(odd("good", "good"))]).await;
        let first = echo(&servers, "odd", "hi").await;
        let drifted = until(&servers, "odd", |status| matches!(status, Status::Drifted(_))).await;
        let Status::Drifted(report) = &drifted else { panic!("{drifted:?}") };
        let [Finding::Drift { differences, .. }] = &report.findings[..] else { panic!("{report:?}") };
        assert_eq!(differences[0].path, "description", "{kind}: {first:?}");
        let refused = echo(&servers, "odd", "hi").await.unwrap_err();
        assert!(matches!(refused, CallError::Drifted { .. }), "{refused}");
        assert!(refused.to_string().contains("echo has changed at description"), "{refused}");
        assert_eq!(echo(&servers, "good", "hi").await.unwrap(), "hi");
    }
}

#[tokio::test]
async fn a_server_that_does_not_say_what_has_changed_is_not_used() {
    let ground = Ground::new(Mode::Off).await;
    let servers = ground.connect(vec![locked(odd("odd", "refuses-to-list-again"))]).await;
    let _answered_or_not = echo(&servers, "odd", "hi").await;
    let down = until(&servers, "odd", |status| matches!(status, Status::Down { .. })).await;
    assert!(words(&down).contains("I have said it once"), "{}", words(&down));
}

#[tokio::test]
async fn what_nobody_accepted_is_used_only_when_that_is_allowed_and_stays_the_same() {
    let ground = Ground::new(Mode::Off).await;
    let refused = Wanted { unaccepted: Unaccepted::Refuse, ..unlocked(odd("odd", "good")) };
    let servers = ground.connect(vec![refused]).await;
    assert!(matches!(servers.status(&name("odd")), Some(Status::Unaccepted(_))));
    let mut first_use = odd("odd", "changes-later");
    first_use.tools = Tools::FirstUse;
    let servers = ground.connect(vec![unlocked(first_use)]).await;
    assert_eq!(echo(&servers, "odd", "hi").await.unwrap(), "hi");
    let drifted = until(&servers, "odd", |status| matches!(status, Status::Drifted(_))).await;
    assert!(words(&drifted).contains("echo has changed at description"), "{}", words(&drifted));
}

#[tokio::test]
async fn a_server_that_is_not_there_any_more_is_noticed_without_a_call() {
    let mut ground = Ground::new(Mode::Off).await;
    (ground.around.limits.health, ground.around.limits.question) =
        (Duration::from_millis(100), Duration::from_secs(2));
    let servers =
        ground.connect(vec![locked(odd("odd", "stops-answering")), locked(odd("good", "good"))]).await;
    let down = until(&servers, "odd", |status| matches!(status, Status::Down { .. })).await;
    assert!(words(&down).contains("did not answer whether it is there"), "{}", words(&down));
    assert_eq!(echo(&servers, "good", "hi").await.unwrap(), "hi");
}

#[tokio::test]
async fn nothing_of_a_server_is_left_when_it_is_closed() {
    let ground = Ground::new(Mode::Off).await;
    let mark = format!("left-over-{}", std::process::id());
    let spec = program("odd", super::scene::odd_server(), &["forks-children", &mark]);
    let servers =
        ground.connect(vec![locked(spec.clone()), locked(odd("stubborn", "ignores-the-end"))]).await;
    assert_eq!(echo(&servers, "odd", "hi").await.unwrap(), "hi");
    servers.close().await;
    assert_eq!(servers.status(&name("odd")), Some(Status::Closed));
    // Supervisors that are told to end are waited for by whoever started them.
    while !marked(&mark).is_empty() {
        tokio::task::yield_now().await;
    }
    let servers = ground.connect(vec![locked(spec)]).await;
    drop(servers);
    while !marked(&mark).is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_withdrawn_call_is_withdrawn_at_the_server() {
    let ground = Ground::new(Mode::Off).await;
    let servers = ground.connect(vec![locked(odd("odd", "counts-withdrawals"))]).await;
    let cancel = CancellationToken::new();
    let options = CallOptions { cancel: cancel.clone(), ..CallOptions::within(Duration::from_secs(3600)) };
    let (id, args) = (tool("mcp:odd:echo"), json!({}));
    cancel.cancel();
    let cancelled = servers.call(&id, &args, options).await.unwrap_err();
    assert!(matches!(cancelled, CallError::Cancelled { .. }), "{cancelled}");
    assert_eq!(echo(&servers, "odd", "").await.unwrap(), "1");
    // Dropped without a word, it is withdrawn, too.
    let dropped = tokio::time::timeout(Duration::ZERO, echo(&servers, "odd", "")).await;
    drop(dropped);
    assert!(echo(&servers, "odd", "").await.is_ok());
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let ground = Ground::new(Mode::Off).await;
    let missing = program("missing", "no-such-program-anywhere", &[]);
    let mut unset = odd("unset", "good");
    let Transport::Stdio(Program { env, .. }) = &mut unset.transport else { unreachable!() };
    env.push(("TOKEN".parse().unwrap(), "Bearer $env:NO_SUCH_VARIABLE".parse().unwrap()));
    let servers = ground.connect(vec![locked(missing), locked(unset), locked(odd("good", "good"))]).await;
    let told = |server: &str| words(&servers.status(&name(server)).unwrap());
    assert!(told("missing").contains("the server missing cannot be started"), "{}", told("missing"));
    assert!(told("unset").contains("the variable NO_SUCH_VARIABLE"), "{}", told("unset"));
    assert_eq!(echo(&servers, "good", "hi").await.unwrap(), "hi");
}

fn answering(with: Result<serde_json::Value, Refusal>) -> Answerer {
    Arc::new(move |question| {
        let with = with.clone();
        Box::pin(async move {
            assert_eq!(question.server, name("odd"));
            with
        })
    })
}

#[tokio::test]
async fn servers_that_ask_are_answered() {
    let mut ground = Ground::new(Mode::Off).await;
    let worktree = ground.around.agent.worktree.path.clone();
    ground.around.answers.roots = vec![worktree.clone()];
    ground.around.answers.elicitation =
        Some(answering(Ok(json!({ "action": "accept", "content": { "n": 7 } }))));
    ground.around.answers.sampling = Some(answering(Err(Refusal("the budget is spent".to_owned()))));
    let asks = |method: &str| program("odd", super::scene::odd_server(), &["asks-somebody", method]);
    let sampling = |spec: ServerSpec| ServerSpec { sampling: Sampling::On, ..spec };
    for (spec, expected) in [
        (odd("odd", "asks-for-roots"), worktree.to_str().unwrap()),
        (asks("elicitation/create"), r#""content":{"n":7}"#),
        (sampling(asks("sampling/createMessage")), "the budget is spent"),
        (asks("sampling/createMessage"), "no model writes for this server"),
        (asks("no/such/thing"), "no/such/thing is not offered"),
        (odd("odd", "modern-asks-once"), r#""opaque" {"q":{"action":"accept","content":{"n":7}}}"#),
    ] {
        let servers = ground.connect(vec![locked(spec.clone())]).await;
        let said = echo(&servers, "odd", "hi").await.unwrap();
        assert!(said.contains(expected), "{said}");
    }
}

#[tokio::test]
async fn a_question_that_a_server_withdraws_is_put_to_nobody_any_more() {
    let mut ground = Ground::new(Mode::Off).await;
    let (tell, mut told) = tokio::sync::mpsc::channel(1);
    ground.around.answers.elicitation = Some(Arc::new(move |_question| {
        let tell = tell.clone();
        Box::pin(async move {
            let (open, closed) = tokio::sync::oneshot::channel::<()>();
            tell.send(closed).await.unwrap();
            std::future::pending::<()>().await;
            drop(open);
            Err(Refusal("nobody waits for ever".to_owned()))
        })
    }));
    let servers = ground.connect(vec![locked(odd("odd", "withdraws-its-question"))]).await;
    assert_eq!(echo(&servers, "odd", "hi").await.unwrap(), "hi");
    let question = told.recv().await.unwrap();
    assert_eq!(echo(&servers, "odd", "never mind").await.unwrap(), "never mind");
    assert!(question.await.is_err(), "whoever was asked is left alone");
    assert_eq!(echo(&servers, "odd", "on").await.unwrap(), "on");
}

#[tokio::test]
async fn a_server_is_held_to_what_its_tools_do() {
    for mode in [Mode::Landlock, Mode::Full] {
        let ground = Ground::new(mode).await;
        let file = ground.around.agent.worktree.path.join("written");
        for (effect, expected) in [(SideEffect::Read, "Err("), (SideEffect::Write, "Ok(")] {
            let mut spec = program("odd", super::scene::odd_server(), &["writes", file.to_str().unwrap()]);
            spec.tools = Tools::Declared(vec![declared("echo", effect)]);
            let servers = ground.connect(vec![locked(spec)]).await;
            let said = echo(&servers, "odd", "").await.unwrap();
            assert!(said.starts_with(expected), "{mode:?}: {effect}: {said}");
        }
        let blind = Wanted {
            view: View::Nothing,
            ..locked(program("odd", super::scene::odd_server(), &["writes", file.to_str().unwrap()]))
        };
        std::fs::remove_file(&file).unwrap();
        let servers = ground.connect(vec![blind]).await;
        // Where `/tmp` is its own it may well find a place of this name there.
        echo(&servers, "odd", "").await.unwrap();
        assert!(!file.exists(), "{mode:?}");
    }
}

#[tokio::test]
async fn a_connection_alone_tells_what_is_there_byte_for_byte() {
    let ground = Ground::new(Mode::Off).await;
    let connection = Connection::open(&odd("odd", "many-words"), None, &ground.around()).await.unwrap();
    let [definition] = &connection.definitions()[..] else { panic!("one tool") };
    assert!(definition.get().contains(r#""execution":{"taskSupport":"forbidden"}"#), "{definition:?}");
    assert_eq!(connection.report().findings, [Finding::ServerNotLocked]);
    connection.close().await;
    assert_eq!(connection.loss().unwrap().cause, Cause::Closed);
    let lost = connection
        .call(&"echo".parse().unwrap(), &json!({}), CallOptions::within(Duration::from_secs(9)))
        .await;
    assert!(matches!(lost, Err(CallError::Lost { .. })), "{lost:?}");
}
