//! `bash`, from outside.

use std::fs;

use mxd_tools::sandbox::Mode;
use mxd_tools::shell::limits::{INLINE_BYTES, MAX_PROCESSES};
use mxd_tools::shell::{CallId, Watcher};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::scene::{MODES, Scene, marked, text};

#[tokio::test]
async fn output_is_merged_in_order_and_the_exit_code_is_told() {
    let scene = Scene::new().await;
    let outcome = scene.bash("echo out; echo err >&2; echo out again").await;
    assert_eq!(text(&outcome), "out\nerr\nout again\n[exit code: 0]");
    assert!(!outcome.is_error);
    let outcome = scene.bash("printf 'no line break'; exit 3").await;
    assert_eq!(text(&outcome), "no line break\n[exit code: 3]");
    assert!(outcome.is_error);
    assert_eq!(text(&scene.bash("true").await), "[no output]\n[exit code: 0]");
}

#[tokio::test]
async fn signals_are_named() {
    let scene = Scene::new().await;
    assert_eq!(text(&scene.bash("kill -KILL $$").await), "[no output]\n[killed by signal 9 (SIGKILL)]");
    let outcome = scene.bash("bash -c 'kill -SEGV $$' 2>/dev/null; exit $?").await;
    assert!(text(&outcome).ends_with("\n[exit code: 139, which is 128 + SIGSEGV]"), "{}", text(&outcome));
}

#[tokio::test]
async fn the_working_directory_persists_at_every_level() {
    for mode in MODES {
        let scene = Scene::with(mode, &[]).await;
        let deep = scene.path("a/b");
        let outcome = scene.bash("mkdir -p a/b && cd a/b").await;
        assert_eq!(
            text(&outcome),
            format!("[no output]\n[exit code: 0]\n[cwd: {}]", deep.display()),
            "{mode:?}"
        );
        let outcome = scene.bash("pwd; cd ../..").await;
        assert_eq!(text(&outcome), format!("{}\n[exit code: 0]", deep.display()), "{mode:?}");
        assert_eq!(
            text(&scene.bash("pwd").await),
            format!("{}\n[exit code: 0]", scene.scope.worktree.display())
        );
    }
}

#[tokio::test]
async fn a_folder_that_stands_in_for_another_is_the_agents_own() {
    let scene = Scene::with(Mode::Full, &[]).await;
    assert_eq!(
        text(&scene.bash("mkdir /tmp/sub; cd /tmp/sub").await),
        "[no output]\n[exit code: 0]\n[cwd: /tmp/sub]"
    );
    assert_eq!(text(&scene.bash("pwd; cd /tmp").await), "/tmp/sub\n[exit code: 0]\n[cwd: /tmp]");
    assert!(text(&scene.bash("pwd; cd /usr").await).contains("[the command ended in /usr, which is outside"));
    let outside = Scene::new().await;
    assert!(text(&outside.bash("cd /tmp").await).contains("[the command ended in /tmp, which is outside"));
}

#[tokio::test]
async fn variables_and_traces_of_our_own_do_not_show() {
    let scene = Scene::new().await;
    let outcome = scene.bash("env | grep -E 'MXD|BASH_ENV'; bash -c 'trap -p'; set -x; cd /; :").await;
    let shown = text(&outcome);
    assert!(shown.starts_with("+ cd /\n+ :\n[exit code: 0]"), "{shown}");
    let outcome = scene.bash("echo \"$#,$0\"; false\nno-such-command").await;
    assert!(text(&outcome).contains("line 2: no-such-command"), "{}", text(&outcome));
    assert!(text(&outcome).starts_with("0,"), "{}", text(&outcome));
}

#[tokio::test]
async fn a_command_that_leaves_the_worktree_is_told_and_comes_back() {
    let scene = Scene::new().await;
    let root = format!("{}\n[exit code: 0]", scene.scope.worktree.display());
    let outcome = scene.bash("cd /etc").await;
    assert_eq!(
        text(&outcome),
        "[no output]\n[exit code: 0]\n[the command ended in /etc, which is outside of the worktree; the next \
         starts in the worktree's root]"
    );
    assert_eq!(text(&scene.bash("pwd").await), root);
    scene.bash("ln -s /etc link; cd link").await;
    assert_eq!(text(&scene.bash("pwd").await), root);
    let mut neighbour = scene.scope.worktree.clone().into_os_string();
    neighbour.push("-other");
    fs::create_dir(&neighbour).unwrap();
    scene.bash(&format!("cd '{}'", neighbour.display())).await;
    assert_eq!(text(&scene.bash("pwd").await), root, "a neighbour with the same beginning is no part of it");
}

#[tokio::test]
async fn what_a_command_says_about_its_folder_is_not_believed_blindly() {
    let scene = Scene::new().await;
    fs::create_dir(scene.path("sub")).unwrap();
    let root = format!("{}\n[exit code: 0]", scene.scope.worktree.display());
    let say = |what: &str| format!("trap - EXIT; {what}");
    for lie in [
        "echo /etc >|\"$__mxd_cwd\"",
        "echo relative >|\"$__mxd_cwd\"",
        "ln -s /etc/passwd \"$__mxd_cwd\"",
        "mkfifo \"$__mxd_cwd\"",
        "mkdir \"$__mxd_cwd\"",
        "printf '/%.0s' {1..9000} >|\"$__mxd_cwd\"",
        "printf '\\xff' >|\"$__mxd_cwd\"",
        "echo \"$PWD/sub/../sub\" >|\"$__mxd_cwd\"",
        "echo \"$PWD/gone\" >|\"$__mxd_cwd\"",
        ": >|\"$__mxd_cwd\"",
    ] {
        let outcome = scene.bash(&say(lie)).await;
        assert!(!outcome.is_error, "{lie}: {}", text(&outcome));
        assert_eq!(text(&scene.bash("pwd").await), root, "{lie}");
    }
}

#[tokio::test]
async fn a_folder_that_vanished_is_left() {
    let scene = Scene::new().await;
    scene.bash("mkdir gone; cd gone").await;
    fs::remove_dir(scene.path("gone")).unwrap();
    let outcome = scene.bash("pwd").await;
    let (root, gone) = (scene.scope.worktree.display().to_string(), scene.path("gone"));
    let told = format!(
        "{root}\n[exit code: 0]\n[the working directory {} does not exist any more; this command started in \
         the worktree's root]",
        gone.display()
    );
    assert_eq!(text(&outcome), told);
    let outcome = scene.bash("mkdir gone; cd gone; rmdir ../gone").await;
    assert!(!outcome.is_error, "{}", text(&outcome));
    assert_eq!(text(&scene.bash("pwd").await), format!("{root}\n[exit code: 0]"));
}

#[tokio::test]
async fn of_commands_at_once_the_last_called_that_moved_decides() {
    let scene = Scene::new().await;
    scene.bash("mkdir one two").await;
    let (gate_one, gate_two) = (scene.gate("gate-one"), scene.gate("gate-two"));
    let (mut started, end) = (scene.ear("started"), CancellationToken::new());
    let both = async {
        let one = scene.bash("cd one; echo 1 > ../started; read < ../gate-one");
        let two = async {
            let outcome = scene.bash("cd two; echo 2 > ../started; read < ../gate-two").await;
            // The one that was called first ends last.
            gate_one.open().await;
            outcome
        };
        let outcomes = tokio::join!(one, two, scene.bash("pwd"));
        end.cancel();
        outcomes
    };
    let script = async {
        started.line().await;
        started.line().await;
        gate_two.open().await;
        end.cancelled().await;
    };
    let ((_, _, third), ()) = tokio::join!(both, script);
    assert!(text(&third).starts_with(&format!("{}\n", scene.scope.worktree.display())), "{}", text(&third));
    assert!(text(&scene.bash("pwd").await).starts_with(&format!("{}\n", scene.path("two").display())));
}

#[tokio::test]
async fn long_output_shows_its_ends_and_where_the_rest_is() {
    let scene = Scene::new().await;
    let outcome = scene.bash("seq 1 20000").await;
    let shown = text(&outcome);
    assert!(shown.len() <= INLINE_BYTES, "{}", shown.len());
    assert!(shown.starts_with("1\n2\n3\n") && shown.contains("\n19999\n20000\n[exit code: 0]"), "{shown}");
    let path = shown.split(" are in ").nth(1).unwrap().split(": read_file").next().unwrap();
    assert!(shown.contains("[… the output has 108894 bytes; all of them are in "), "{shown}");
    let whole = fs::read_to_string(path).unwrap();
    assert_eq!((whole.len(), whole.lines().count()), (108_894, 20_000));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn short_output_leaves_no_file() {
    let scene = Scene::new().await;
    scene.bash("echo short").await;
    assert_eq!(fs::read_dir(scene.scope.kept.path()).unwrap().count(), 0);
    assert_eq!(fs::read_dir(scene.scope.scratch.join("cwd")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_hundred_megabytes_keep_their_ends_in_little_memory() {
    let scene = Scene::new().await;
    let before = peak_memory();
    let outcome = scene.bash("echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last").await;
    let shown = text(&outcome);
    assert!(shown.starts_with("first\nxxx") && shown.contains("\nlast\n[exit code: 0]"), "{}", &shown[..100]);
    assert!(shown.contains("the output has 100000012 bytes"));
    assert!(shown.contains("except for 82960652 bytes in the middle"), "{}", &shown[3_900..4_400]);
    let file = fs::read_dir(scene.scope.kept.path()).unwrap().next().unwrap().unwrap();
    assert!(file.metadata().unwrap().len() < 18 << 20);
    assert!(peak_memory() - before < 32 << 20, "{} {before}", peak_memory());
}

/// Bytes of this process in memory, at most so far.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn escape_sequences_are_for_watchers_and_the_file() {
    let scene = Scene::new().await;
    let (sender, mut live) = mpsc::channel(64);
    let args = json!({ "command": "printf '\\033[31mred\\033[0m \\xff\\n'" });
    let outcome = scene.call_with("c1", args, &Watcher::new(sender), &CancellationToken::new()).await;
    assert_eq!(text(&outcome), "red \u{fffd}\n[exit code: 0]");
    let mut watched = String::new();
    while let Some(piece) = live.recv().await {
        assert_eq!(piece.call, CallId::new("c1"));
        watched.push_str(&piece.text);
    }
    assert_eq!(watched, "\u{1b}[31mred\u{1b}[0m \u{fffd}\n");
}

#[tokio::test]
async fn live_output_comes_while_the_command_runs() {
    let scene = Scene::new().await;
    let gate = scene.gate("gate");
    let (sender, mut live) = mpsc::channel(64);
    let (watcher, cancel) = (Watcher::new(sender), CancellationToken::new());
    let call = scene.call_with("c", json!({ "command": "echo working; read < gate" }), &watcher, &cancel);
    let watch = async {
        assert_eq!(live.recv().await.unwrap().text, "working\n");
        gate.open().await;
    };
    let (outcome, ()) = tokio::join!(call, watch);
    assert!(!outcome.is_error);
}

#[tokio::test]
async fn a_timeout_moves_the_command_to_the_background() {
    let scene = Scene::new().await;
    let gate = scene.gate("gate");
    let command = "cd /; echo begun; read < $OLDPWD/gate; echo finished; exit 4";
    let outcome = scene.call("slow", json!({ "command": command, "foreground_timeout": 50 })).await;
    let shown = text(&outcome);
    assert!(!outcome.is_error && shown.contains("it did not end within 50 ms"), "{shown}");
    assert!(shown.contains("runs in the background as bg-1;"), "{shown}");
    gate.open().await;
    let completion = scene.scope.processes.next_completion().await;
    assert_eq!((completion.id.as_str(), completion.command.as_str()), ("bg-1", command));
    assert_eq!(completion.call, CallId::new("slow"));
    assert_eq!(completion.ending.in_words(), "exit code: 4");
    assert_eq!(completion.tail, "begun\nfinished\n");
    assert_eq!(fs::read_to_string(&completion.output).unwrap(), "begun\nfinished\n");
    let pwd = text(&scene.bash("pwd").await);
    assert!(pwd.starts_with(&format!("{}\n[exit", scene.scope.worktree.display())), "{pwd}");
}

#[tokio::test]
async fn the_user_moves_a_command_to_the_background() {
    let scene = Scene::new().await;
    let (mut started, gate) = (scene.ear("started"), scene.gate("gate"));
    let call = scene.call("mine", json!({ "command": "echo on > started; read < gate; echo off" }));
    let user = async {
        started.line().await;
        assert!(!scene.scope.processes.to_background(&CallId::new("other")));
        assert!(scene.scope.processes.to_background(&CallId::new("mine")));
        assert!(!scene.scope.processes.to_background(&CallId::new("mine")), "it is there already");
    };
    let (outcome, ()) = tokio::join!(call, user);
    assert!(text(&outcome).contains("[the user moved it to the background]"), "{}", text(&outcome));
    gate.open().await;
    assert_eq!(scene.scope.processes.next_completion().await.tail, "off\n");
}

#[tokio::test]
async fn cancelling_ends_the_whole_tree_at_every_level() {
    for mode in MODES {
        let scene = Scene::with(mode, &[]).await;
        let (mut alive, cancel) = (scene.ear("alive"), CancellationToken::new());
        let mark = format!("mark-{}", scene.outside().file_name().unwrap().display());
        let hold = format!("exec -a {mark} sleep 1000");
        let command = format!(
            "exec 9>alive; cd /; (setsid bash -c '{hold}' &); nohup bash -c '{hold}' >/dev/null 2>&1 & \
             (trap '' TERM HUP INT; ( ({hold}) & ) & ) ; ({hold}) & echo ready >&9; echo shown; wait"
        );
        let args = json!({ "command": command });
        let (sender, mut live) = mpsc::channel(8);
        let (watcher, ended) = (Watcher::new(sender), CancellationToken::new());
        let call = async {
            let outcome = scene.call_with("c", args, &watcher, &cancel).await;
            ended.cancel();
            outcome
        };
        let stop = async {
            assert_eq!(alive.line().await, "ready");
            assert_eq!(live.recv().await.unwrap().text, "shown\n");
            cancel.cancel();
            // Every process of the tree has the pipe; it falls silent when the last one is gone.
            alive.silence().await;
            ended.cancelled().await;
        };
        let (outcome, ()) = tokio::join!(call, stop);
        assert!(outcome.is_error);
        assert!(text(&outcome).ends_with("[the command and everything it started were ended]"));
        assert_eq!(marked(&mark), Vec::<std::ffi::OsString>::new(), "{mode:?}");
    }
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    for mode in MODES {
        let scene = Scene::with(mode, &[]).await;
        let alive = scene.ear("alive");
        let mut alive = alive;
        let command = "exec 9>alive; (setsid sleep 1000 &) ; sleep 1000 & echo ready >&9";
        let heard = async {
            assert_eq!(alive.line().await, "ready");
            alive.silence().await;
        };
        let (outcome, ()) = tokio::join!(scene.bash(command), heard);
        assert!(!outcome.is_error, "{mode:?}: {}", text(&outcome));
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_its_command() {
    let scene = Scene::new().await;
    let mut alive = scene.ear("alive");
    tokio::select! {
        _never = scene.bash("exec 9>alive; echo ready >&9; sleep 1000") => panic!("it cannot end"),
        line = alive.line() => assert_eq!(line, "ready"),
    }
    alive.silence().await;
}

#[tokio::test]
async fn a_call_cancelled_before_it_started_runs_nothing() {
    let scene = Scene::new().await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcome = scene.call_with("c", json!({ "command": "touch ran" }), &Watcher::default(), &cancel).await;
    assert_eq!(text(&outcome), "cancelled before the command was started");
    assert!(!scene.path("ran").exists());
    assert_eq!(fs::read_dir(scene.scope.kept.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_secret_is_in_no_output() {
    let scene = Scene::with(Mode::Off, &[("TOKEN", "hunter2-hunter2")]).await;
    let (sender, mut live) = mpsc::channel(64);
    let command = "echo $TOKEN; printf '%s' ${TOKEN:0:7}; echo ${TOKEN:7}; printf %s $TOKEN | base64; seq 1 4000; \
                   echo \"end $TOKEN\"";
    let args = json!({ "command": command });
    let outcome = scene.call_with("c", args, &Watcher::new(sender), &CancellationToken::new()).await;
    let mut watched = String::new();
    while let Some(piece) = live.recv().await {
        watched.push_str(&piece.text);
    }
    let file = fs::read_dir(scene.scope.kept.path()).unwrap().next().unwrap().unwrap();
    for shown in [text(&outcome), watched, fs::read_to_string(file.path()).unwrap()] {
        assert!(shown.starts_with("[redacted]\n[redacted]\n[redacted]"), "{}", &shown[..100]);
        assert!(shown.contains("end [redacted]\n"));
        assert!(!shown.contains("hunter2-hunter2") && !shown.contains("aHVudGVyMi1odW50ZXIy"));
    }
}

#[tokio::test]
async fn a_secret_is_in_no_notice() {
    let scene = Scene::with(Mode::Off, &[("TOKEN", "hunter2-hunter2")]).await;
    let command = "printf '%s\\033[0m%s' ${TOKEN:0:5} ${TOKEN:5}; : hunter2-hunter2";
    scene.call("c", json!({ "command": command, "run_in_background": true })).await;
    let completion = scene.scope.processes.next_completion().await;
    assert_eq!(completion.tail, "[redacted]");
    assert!(!completion.command.contains("hunter2"), "{}", completion.command);
    let listed = scene.scope.processes.list();
    assert!(!format!("{listed:?} {:?}", scene.scope).contains("hunter2"), "{listed:?}");
}

#[tokio::test]
async fn there_is_a_limit_on_commands_at_once() {
    let scene = Scene::new().await;
    let gate = scene.gate("gate");
    let mut calls = Vec::new();
    for _ in 0..MAX_PROCESSES {
        calls.push(scene.bash("read < gate"));
    }
    let all = async {
        let mut running = futures_util::future::join_all(calls);
        // The first poll gives every command its place.
        tokio::select! {
            biased;
            _never = &mut running => panic!("nobody opened the gate"),
            () = std::future::ready(()) => {}
        }
        let refused = scene.bash("true").await;
        assert!(refused.is_error);
        assert!(text(&refused).starts_with("there are 32 commands already"), "{}", text(&refused));
        for _ in 0..MAX_PROCESSES {
            gate.open().await;
        }
        running.await
    };
    let outcomes = all.await;
    assert!(outcomes.iter().all(|outcome| !outcome.is_error));
}
