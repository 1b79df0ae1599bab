//! `background`, from outside.

use std::fs;

use mxd_tools::shell::limits::MAX_BACKGROUND;
use mxd_tools::shell::{CallId, Completion, Watcher};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::scene::{MODES, Scene, marked, text};

async fn start(scene: &Scene, command: &str) -> String {
    let outcome = scene.call("start", json!({ "command": command, "run_in_background": true })).await;
    assert!(!outcome.is_error, "{}", text(&outcome));
    let shown = text(&outcome);
    shown.split(" as ").nth(1).unwrap().split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_background_command_is_listed_shown_and_told_about_once() {
    let scene = Scene::new().await;
    let (mut started, gate) = (scene.ear("started"), scene.gate("gate"));
    let id = start(&scene, "echo line; echo x > started; read < gate; echo end; exit 2").await;
    assert_eq!(id, "bg-1");
    started.line().await;
    let listed = text(&scene.background(json!({ "action": "list" })).await);
    assert!(listed.starts_with("bg-1: runs for ") && listed.contains("echo line; echo x"), "{listed}");
    gate.open().await;
    let completion = scene.scope.processes.next_completion().await;
    assert_eq!((completion.id.as_str(), completion.tail.as_str()), ("bg-1", "line\nend\n"));
    assert_eq!(completion.call, CallId::new("start"));
    let status = scene.background(json!({ "action": "status", "id": "bg-1" })).await;
    let output = scene.scope.kept.path().join("bg-1.txt");
    assert_eq!(
        text(&status),
        format!(
            "bg-1: ended, exit code: 2: echo line; echo x > started; read < gate; echo end; exit 2\n9 bytes of \
             output in {}; its end:\nline\nend\n",
            output.display()
        )
    );
    assert_eq!(fs::read_to_string(output).unwrap(), "line\nend\n");
    // Closing ends what is left; had the end been told twice, the second notice would be there now.
    scene.scope.processes.close().await;
    assert_eq!(another_notice(&scene).await, None);
}

#[tokio::test]
async fn a_timeout_of_zero_is_the_background_at_once() {
    let scene = Scene::new().await;
    let outcome = scene.call("c", json!({ "command": "cd /; echo done", "foreground_timeout": 0 })).await;
    assert!(text(&outcome).starts_with("[runs in the background as bg-1;"), "{}", text(&outcome));
    assert_eq!(scene.scope.processes.next_completion().await.tail, "done\n");
    scene.bash("mkdir sub; cd sub").await;
    let outcome = scene.call("c", json!({ "command": "pwd", "foreground_timeout": 0 })).await;
    let sub = scene.path("sub");
    assert!(text(&outcome).ends_with(&format!("\n[cwd: {}]", sub.display())), "{}", text(&outcome));
    assert_eq!(scene.scope.processes.next_completion().await.tail, format!("{}\n", sub.display()));
    scene.bash("cd ..").await;
    let pwd = text(&scene.bash("pwd").await);
    assert!(pwd.starts_with(&format!("{}\n[exit", scene.scope.worktree.display())), "{pwd}");
}

#[tokio::test]
async fn awaiting_honours_its_timeout_and_the_end() {
    let scene = Scene::new().await;
    let gate = scene.gate("gate");
    let id = start(&scene, "read < gate").await;
    let outcome = scene.background(json!({ "action": "await", "id": id, "timeout": 20 })).await;
    assert_eq!(text(&outcome), "bg-1 still runs after 20 ms");
    let wait = scene.background(json!({ "action": "await", "id": id }));
    let (outcome, ()) = tokio::join!(wait, gate.open());
    assert_eq!(text(&outcome), "bg-1 ended: exit code: 0. Its output comes with the message about its end");
    let outcome = scene.background(json!({ "action": "await", "id": id })).await;
    assert_eq!(text(&outcome), "bg-1 has ended already: exit code: 0");
    assert_eq!(scene.scope.processes.next_completion().await.id, id);
}

#[tokio::test]
async fn an_agent_that_waits_is_let_go_and_the_command_runs_on() {
    let scene = Scene::new().await;
    let gate = scene.gate("gate");
    let id = start(&scene, "read < gate").await;
    assert!(!scene.scope.processes.let_go(&id), "nobody waits yet");
    let wait = scene.background(json!({ "action": "await", "id": id }));
    let word = async {
        while !scene.scope.processes.let_go(&id) {
            tokio::task::yield_now().await;
        }
    };
    let (outcome, ()) = tokio::join!(wait, word);
    assert_eq!(text(&outcome), "the user wants you to go on without waiting; bg-1 still runs");
    assert!(!scene.scope.processes.let_go(&id), "nobody waits any more");
    gate.open().await;
    assert_eq!(scene.scope.processes.next_completion().await.id, id);
}

#[tokio::test]
async fn killing_ends_the_whole_tree_at_every_level() {
    for mode in MODES {
        let scene = Scene::with(mode, &[]).await;
        let mut alive = scene.ear("alive");
        let mark = format!("mark-{}", scene.outside().file_name().unwrap().display());
        let command = format!(
            "exec 9>alive; (setsid bash -c 'exec -a {mark} sleep 1000' &); echo ready >&9; sleep 1000"
        );
        let id = start(&scene, &command).await;
        assert_eq!(alive.line().await, "ready");
        let outcome = scene.background(json!({ "action": "kill", "id": id })).await;
        assert_eq!(text(&outcome), "bg-1 was ended");
        alive.silence().await;
        assert!(marked(&mark).is_empty(), "{mode:?}");
        assert_eq!(scene.scope.processes.next_completion().await.ending.in_words(), "killed");
        let again = scene.background(json!({ "action": "kill", "id": id })).await;
        assert_eq!(text(&again), "bg-1 has ended already: killed");
    }
}

#[tokio::test]
async fn closing_ends_everything_and_lets_nothing_start() {
    let scene = Scene::new().await;
    let mut alive = scene.ear("alive");
    start(&scene, "exec 9>alive; (setsid sleep 1000 &); echo 1 >&9; sleep 1000").await;
    let (sender, mut live) = mpsc::channel(8);
    let (watcher, never) = (Watcher::new(sender), CancellationToken::new());
    let args = json!({ "command": "exec 9>alive; echo 2; sleep 1000" });
    let foreground = scene.call_with("c", args, &watcher, &never);
    let close = async {
        alive.line().await;
        live.recv().await.unwrap();
        scene.scope.processes.close().await;
        alive.silence().await;
    };
    let (outcome, ()) = tokio::join!(foreground, close);
    assert_eq!(text(&outcome), "2\n[killed]");
    assert_eq!(text(&scene.bash("true").await), "the agent is being closed; no command can be started");
    assert_eq!(scene.scope.processes.next_completion().await.id, "bg-1");
}

#[tokio::test]
async fn with_the_last_handle_everything_ends() {
    let scene = Scene::new().await;
    let mut alive = scene.ear("alive");
    start(&scene, "exec 9>alive; echo 1 >&9; sleep 1000").await;
    alive.line().await;
    drop(scene);
    alive.silence().await;
}

#[tokio::test]
async fn unknown_and_missing_ids_are_told() {
    let scene = Scene::new().await;
    assert_eq!(text(&scene.background(json!({ "action": "list" })).await), "no background commands");
    for (args, told) in [
        (json!({ "action": "status" }), "`id` is needed for this action; `list` shows the ids"),
        (json!({ "action": "kill", "id": "bg-9" }), "no background command is called `bg-9`; there are none"),
    ] {
        let outcome = scene.background(args).await;
        assert!(outcome.is_error);
        assert_eq!(text(&outcome), told);
    }
}

#[tokio::test]
async fn notices_wait_until_they_are_taken_and_hold_back_more_commands() {
    let scene = Scene::new().await;
    for number in 0..MAX_BACKGROUND {
        let id = start(&scene, &format!("echo {number}")).await;
        scene.background(json!({ "action": "await", "id": id })).await;
    }
    let refused = scene.call("c", json!({ "command": "true", "run_in_background": true })).await;
    assert!(refused.is_error);
    assert!(text(&refused).starts_with("there are 16 background commands already"), "{}", text(&refused));
    for number in 0..MAX_BACKGROUND {
        let completion = scene.scope.processes.next_completion().await;
        assert_eq!(completion.tail, format!("{number}\n"));
    }
    start(&scene, "true").await;
}

#[tokio::test]
async fn whoever_moves_a_command_its_end_is_told_once() {
    let scene = Scene::new().await;
    let mut moved = 0;
    for round in 0..60 {
        let (call, done) = (CallId::new(&round.to_string()), CancellationToken::new());
        let (sender, mut live) = mpsc::channel(8);
        let (watcher, never) = (Watcher::new(sender), CancellationToken::new());
        let run = async {
            let args = json!({ "command": "echo out" });
            let outcome = scene.call_with(call.as_str(), args, &watcher, &never).await;
            done.cancel();
            outcome
        };
        // Some are moved as they start, some as they end, some not at all.
        let user = async {
            if round % 3 == 1 {
                live.recv().await.unwrap();
            }
            while round % 3 < 2 && !done.is_cancelled() && !scene.scope.processes.to_background(&call) {
                tokio::task::yield_now().await;
            }
        };
        let (outcome, ()) = tokio::join!(run, user);
        if text(&outcome).contains("[the user moved it to the background]") {
            moved += 1;
            assert_eq!(scene.scope.processes.next_completion().await.call, call);
        } else {
            assert_eq!(text(&outcome), "out\n[exit code: 0]");
        }
        assert_eq!(another_notice(&scene).await, None, "{round}");
    }
    assert!(moved > 0);
}

/// A notice that is there already.
async fn another_notice(scene: &Scene) -> Option<Completion> {
    tokio::select! {
        biased;
        completion = scene.scope.processes.next_completion() => Some(completion),
        () = std::future::ready(()) => None,
    }
}

#[tokio::test]
async fn names_are_not_used_again_after_a_restart() {
    let scene = Scene::new().await;
    start(&scene, "echo old").await;
    scene.scope.processes.next_completion().await;
    let kept = mxd_tools::kept::Kept::open(&scene.scope.scratch).unwrap();
    let processes = mxd_tools::shell::Processes::open(&scene.scope.scratch, kept.clone()).unwrap();
    let mut scope = scene.scope.clone();
    (scope.processes, scope.kept) = (processes, kept);
    let later = Scene { scope, ..scene };
    assert_eq!(start(&later, "echo new").await, "bg-2");
}
