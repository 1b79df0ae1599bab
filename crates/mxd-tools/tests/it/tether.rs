//! Knowing that nothing runs any more of a program that is gone.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use mxd_tools::sandbox::{self, Input, Mode, Policy, Sandbox};
use mxd_tools::tether::{Earlier, Tether};
use tempfile::TempDir;

use crate::farm::launcher;

/// How long something may take to end that has been told to.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn the_first_program_waits_for_nobody_and_the_file_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("living");
    let (tether, earlier) = Tether::take(&file, Duration::ZERO).unwrap();
    assert_eq!(earlier, Earlier::Gone);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    drop(tether);
    assert_eq!(Tether::take(&file, Duration::ZERO).unwrap().1, Earlier::Gone);
}

#[test]
fn a_process_that_outlives_its_program_is_waited_for() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("living");
    let (tether, _) = Tether::take(&file, Duration::ZERO).unwrap();
    let mut outlives =
        Command::new("tail").args(["-f", "/dev/null"]).stdin(tether.stdin().unwrap()).spawn().unwrap();
    drop(tether);
    let (second, earlier) = Tether::take(&file, Duration::ZERO).unwrap();
    assert_eq!(earlier, Earlier::Living);
    drop(second);
    outlives.kill().unwrap();
    outlives.wait().unwrap();
    assert_eq!(Tether::take(&file, PATIENCE).unwrap().1, Earlier::Gone);
}

#[test]
fn a_process_that_is_tied_finds_nothing_to_read() {
    let folder = TempDir::new().unwrap();
    let (tether, _) = Tether::take(&folder.path().join("living"), Duration::ZERO).unwrap();
    let read = Command::new("cat").stdin(tether.stdin().unwrap()).stdout(Stdio::piped()).output().unwrap();
    assert!(read.status.success() && read.stdout.is_empty());
}

#[tokio::test]
async fn what_runs_in_a_sandbox_is_waited_for_at_every_level() {
    for mode in [Mode::Full, Mode::Landlock, Mode::Off] {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("living");
        let (tether, _) = Tether::take(&file, Duration::ZERO).unwrap();
        let sandbox = Sandbox::probe(launcher(), mode).await.unwrap().tied_by(tether);
        let read = ["/usr", "/bin", "/lib", "/lib64"].map(PathBuf::from).to_vec();
        let policy = Policy { read, ..Policy::default() };
        let cell = sandbox.cell(policy);
        let reads = sandbox::Command {
            program: "/bin/cat".to_owned(),
            cwd: "/".into(),
            stdin: Input::Piped,
            ..sandbox::Command::default()
        };
        let child = cell.spawn(reads).await.unwrap();
        drop((sandbox, cell));
        let (second, earlier) = Tether::take(&file, Duration::ZERO).unwrap();
        assert_eq!(earlier, Earlier::Living, "{mode:?}");
        drop((child, second));
        let gone =
            tokio::task::spawn_blocking(move || Tether::take(&file, PATIENCE).unwrap().1).await.unwrap();
        assert_eq!(gone, Earlier::Gone, "{mode:?}");
    }
}
