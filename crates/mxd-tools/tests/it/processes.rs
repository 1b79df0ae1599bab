//! Starting, hearing and ending processes, at every level.

use std::path::PathBuf;

use mxd_core::tool::{EffectSet, SideEffect};
use mxd_tools::sandbox::{Command, End, Input, Mode, Output, Policy, Sandbox, SandboxError};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

use crate::farm::{Farm, launcher};

fn bash(script: &str) -> Command {
    Command {
        program: "/bin/bash".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        cwd: PathBuf::from("/"),
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        stderr: Output::WithStdout,
        ..Command::default()
    }
}

async fn off() -> Sandbox {
    Sandbox::probe(launcher(), Mode::Off).await.unwrap()
}

#[tokio::test]
async fn output_and_exit_code_come_back() {
    let mut child =
        off().await.cell(Policy::default()).spawn(bash("echo out; echo err >&2; exit 7")).await.unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "out\nerr\n");
    assert_eq!(child.wait().await.unwrap().end, End::Code(7));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let command = Command { program: "/no/such/program".to_owned(), ..bash("") };
    let error = off().await.cell(Policy::default()).spawn(command).await.unwrap_err();
    assert!(matches!(error, SandboxError::Exec { .. }), "{error}");
    assert!(error.to_string().contains("/no/such/program"), "{error}");
}

const LEVELS: [Mode; 3] = [Mode::Full, Mode::Landlock, Mode::Off];

/// Two processes, one of which has hidden from its parents, hold the writing end of a pipe.
const HOLD: &str =
    "(setsid nohup bash -c 'exec 3>pipe; echo held >&3; exec tail -f /dev/null' &) >/dev/null 2>&1
    exec 3>pipe; echo held >&3; exec tail -f /dev/null";

#[tokio::test]
async fn dropping_a_command_ends_everything_it_started() {
    for mode in LEVELS {
        let farm = Farm::new(mode).await;
        let hut = farm.hut(&farm.agent("one"));
        hut.run("mkfifo pipe").await.ok();
        let child = hut.cell.spawn(hut.command(HOLD)).await.unwrap();
        let mut held = BufReader::new(tokio::fs::File::open(hut.cwd.join("pipe")).await.unwrap());
        for _command in 0..2 {
            let mut line = String::new();
            held.read_line(&mut line).await.unwrap();
            assert_eq!(line, "held\n");
        }
        drop(child);
        assert_eq!(held.read_line(&mut String::new()).await.unwrap(), 0, "level {}", farm.level());
    }
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    for mode in LEVELS {
        let farm = Farm::new(mode).await;
        let hut = farm.hut(&farm.agent("one"));
        hut.run("mkfifo pipe").await.ok();
        let pipe = hut.cwd.join("pipe").to_string_lossy().into_owned();
        let leave = format!(
            "(setsid nohup bash -c 'exec 3>{pipe}; echo held >&3; exec tail -f /dev/null' &) >/dev/null 2>&1
            read -r line <pipe; echo $line"
        );
        assert_eq!(hut.run(&leave).await.ok(), "held\n", "level {}", farm.level());
        let holds = |process: &std::path::Path| {
            let words = std::fs::read(process.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(&format!("exec 3>{pipe}"))
        };
        let mut processes = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(processes.find(|process| holds(process)), None);
    }
}

#[tokio::test]
async fn commands_of_an_agent_share_a_network_and_nobody_else_does() {
    let farm = Farm::new(Mode::Full).await;
    let (one, two) = (farm.hut(&farm.agent("one")), farm.hut(&farm.agent("two")));
    let serve = "python3 -c 'import socket
s = socket.create_server((\"127.0.0.1\", 0)); print(s.getsockname()[1], flush=True)
while True: s.accept()[0].send(b\"served\\n\")'";
    let mut server = one.cell.spawn(one.command(serve)).await.unwrap();
    let mut port = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).await.unwrap();
    let ask = format!("exec 3<>/dev/tcp/127.0.0.1/{} && head -n 1 <&3", port.trim());
    assert_eq!(one.run(&ask).await.ok(), "served\n");
    for stranger in [two.run(&ask).await, two.run_outside(&ask)] {
        assert!(stranger.text.contains("Connection refused"), "{stranger:?}");
    }
}

#[tokio::test]
async fn commands_of_an_agent_share_temporary_files_and_nobody_else_does() {
    for mode in [Mode::Full, Mode::Landlock] {
        let farm = Farm::new(mode).await;
        let (one, two) = (farm.hut(&farm.agent("one")), farm.hut(&farm.agent("two")));
        one.run("echo kept > $TMPDIR/note; echo kept > ~/note").await.ok();
        assert_eq!(one.run("cat $TMPDIR/note ~/note").await.ok(), "kept\nkept\n");
        let there = two.run("ls $TMPDIR ~; cat /tmp/note").await;
        assert!(!there.text.contains("kept"), "{there:?}");
    }
}

#[tokio::test]
async fn what_a_command_used_is_told() {
    let farm = Farm::new(Mode::Full).await;
    let hut = farm.hut(&farm.agent("one"));
    let mut child = hut.cell.spawn(hut.command("for i in {1..200000}; do :; done")).await.unwrap();
    let usage = child.wait().await.unwrap().usage;
    assert!(usage.cpu_ms > 0 && usage.peak_bytes > 1 << 20, "{usage:?}");
}

#[tokio::test]
async fn an_order_that_is_too_large_is_refused_with_advice() {
    let farm = Farm::new(Mode::Full).await;
    let hut = farm.hut(&farm.agent("one"));
    let error = hut.cell.spawn(hut.command(&"x".repeat(200_000))).await.unwrap_err();
    assert!(matches!(error, SandboxError::TooLarge { .. }), "{error}");
    assert!(error.to_string().contains("to a file"), "{error}");
}

#[tokio::test]
async fn the_classes_of_a_tool_decide_what_its_process_can_change() {
    let write = "echo new > new && git commit -q --allow-empty -m new";
    for mode in [Mode::Full, Mode::Landlock] {
        let farm = Farm::new(mode).await;
        let looks = farm.agent("one").held_to(EffectSet::NONE.with(SideEffect::Read));
        let looking = farm.hut(&looks).run(&format!("cat README; git log --format=%s; {write}")).await;
        assert!(looking.text.starts_with("hello\nstart\n"), "{looking:?}");
        assert_ne!(looking.end, End::Code(0), "{looking:?}");
        assert!(!farm.at("data/trees/one/new").exists(), "{looking:?}");
        let writes = farm.agent("one").held_to(EffectSet::NONE.with(SideEffect::Write));
        farm.hut(&writes).run(write).await.ok();
    }
}

/// Process numbers of the supervisors that are there: the anchors, and those that live with them.
fn supervisors() -> Vec<String> {
    let mut all = below("self");
    all.extend(all.clone().iter().flat_map(|anchor| below(anchor)));
    all.sort_unstable();
    all
}

/// What a process has started and not buried.
fn below(process: &str) -> Vec<String> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let children =
        threads.flatten().flat_map(|thread| std::fs::read_to_string(thread.path().join("children")));
    children.flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Lets the runtime work until there are so many supervisors.
async fn until_there_are(count: usize) -> Vec<String> {
    loop {
        let all = supervisors();
        if all.len() == count {
            return all;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_next_command_runs_under_the_supervisor_that_waits_for_it() {
    let farm = Farm::new(Mode::Full).await;
    let hut = farm.hut(&farm.agent("one"));
    hut.run("true").await.ok();
    let anchor = until_there_are(1).await;
    hut.cell.expect_another(&hut.command(""));
    let waiting = until_there_are(2).await;
    let stays = Command { stdin: Input::Piped, ..hut.command("echo here; exec cat") };
    let mut child = hut.cell.spawn(stays).await.unwrap();
    assert_eq!(until_there_are(2).await, waiting);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    assert_eq!(line, "here\n");
    drop(child);
    assert_eq!(until_there_are(1).await, anchor);
    hut.cell.expect_another(&hut.command(""));
    until_there_are(2).await;
    drop(hut);
    until_there_are(0).await;
}

#[tokio::test]
async fn a_supervisor_that_died_while_it_waited_is_not_missed() {
    let farm = Farm::new(Mode::Full).await;
    let hut = farm.hut(&farm.agent("one"));
    hut.run("true").await.ok();
    for _round in 0..20 {
        let anchor = until_there_are(1).await;
        hut.cell.expect_another(&hut.command(""));
        let all = until_there_are(2).await;
        let waiting = all.iter().find(|id| !anchor.contains(id)).unwrap();
        let killed = std::process::Command::new("kill").args(["-9", waiting]).status().unwrap();
        assert!(killed.success());
        // Dead, whether anybody has noticed by now or not.
        while std::fs::read_to_string(format!("/proc/{waiting}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z "))
        {
            std::thread::yield_now();
        }
        assert_eq!(hut.run("echo ran").await.ok(), "ran\n");
    }
}
