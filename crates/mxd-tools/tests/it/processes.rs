//! Starting, hearing and ending processes, at every level.

use std::path::PathBuf;

use mxd_tools::sandbox::{Command, End, Launcher, Mode, Output, Policy, Sandbox, SandboxError};
use tokio::io::AsyncReadExt;

pub(crate) fn launcher() -> Launcher {
    Launcher { program: PathBuf::from(env!("CARGO_BIN_EXE_mxd-sandbox")), args: Vec::new() }
}

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

#[tokio::test]
async fn every_level_runs_a_command() {
    for mode in [Mode::Full, Mode::Landlock] {
        let sandbox = Sandbox::probe(launcher(), mode).await.unwrap();
        let policy = Policy {
            read: vec!["/usr".into(), "/bin".into(), "/lib".into(), "/lib64".into(), "/etc".into()],
            ..Policy::default()
        };
        let mut child = sandbox.cell(policy).spawn(bash("id; pwd; ls -la / /dev; cat /proc/self/status | grep -i -E 'cap|seccomp|nonew'; ls /proc; mount; echo $$; touch /x; touch /etc/x; ls /root; unshare -U true; ls /etc/ssh; ulimit -a; ip addr")).await.unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).await.unwrap();
        println!("{text}");
        println!("{:?}", child.wait().await);
    }
}
