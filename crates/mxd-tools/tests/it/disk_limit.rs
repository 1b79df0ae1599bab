//! An agent that fills the disk: ended, told, and able to clear up, while nobody else is disturbed.

use mxd_tools::builtin::write_file;
use mxd_tools::sandbox::{Limits, Mode};

use crate::scene::{Scene, text};

const LEVELS: [Mode; 2] = [Mode::Full, Mode::Landlock];

const TOLD: &str = "the worktree and the temporary files of this agent hold more than";

fn write(scene: &Scene) -> String {
    let args = write_file::Args { path: "by-the-tool".to_owned(), content: "text".to_owned() };
    text(&write_file::run(&args, &scene.scope))
}

/// Runs a command that never stops growing; then what can and cannot be done until there is less.
async fn fill(mode: Mode, limits: Limits, grow: &str) {
    let scene = Scene::limited(mode, limits).await;
    let shown = text(&scene.bash(&format!("mkdir full; echo old > kept; {grow}")).await);
    assert!(shown.contains(TOLD) && shown.contains("[killed]"), "{mode:?}: {shown}");

    let grow_again = "echo new > more; echo new >> kept; : > empty; mkdir folder; ln -s a b; truncate -s 1M kept; \
                      echo new > $TMPDIR/temporary; cp kept copy; mv kept moved && mv moved full/moved; ls";
    let shown = text(&scene.bash(grow_again).await);
    assert!(shown.contains(TOLD), "{mode:?}: {shown}");
    for made in ["more", "empty", "folder", "b", "copy"] {
        assert!(std::fs::symlink_metadata(scene.path(made)).is_err(), "{mode:?}: {made}\n{shown}");
    }
    assert_eq!(std::fs::read_to_string(scene.path("kept")).unwrap(), "old\n", "{mode:?}: {shown}");
    assert!(write(&scene).contains(TOLD));

    let other = Scene::with(mode, &[]).await;
    assert_eq!(text(&other.bash("echo mine > file; cat file").await), "mine\n[exit code: 0]");

    let shown = text(&scene.bash("rm -rf full; cat kept").await);
    assert_eq!(shown, "old\n[exit code: 0]", "{mode:?}");
    assert_eq!(text(&scene.bash("echo new > more; cat more").await), "new\n[exit code: 0]");
    assert!(!write(&scene).contains(TOLD));
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_beyond_the_limit_end_the_command_and_only_removal_works() {
    let limits = Limits { disk_bytes: 30 << 20, ..Limits::default() };
    for mode in LEVELS {
        fill(
            mode,
            limits.clone(),
            "while :; do i=$((i + 1)); head -c 1000000 /dev/zero > full/$((i % 100)); done",
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_beyond_the_limit_end_the_command_and_only_removal_works() {
    let limits = Limits { disk_files: 300, ..Limits::default() };
    for mode in LEVELS {
        fill(mode, limits.clone(), "while :; do i=$((i + 1)); : > full/$((i % 500)); done").await;
    }
}

/// Root looks into every folder; for an ordinary user one that stays closed counts as too large. Tried as both.
#[tokio::test(flavor = "multi_thread")]
async fn a_closed_folder_hides_nothing() {
    let told = if rustix::process::geteuid().is_root() { TOLD } else { "cannot be looked into" };
    for mode in LEVELS {
        let scene = Scene::limited(mode, Limits { disk_bytes: 30 << 20, ..Limits::default() }).await;
        let hide = "mkdir full; head -c 40000000 /dev/zero > full/a; chmod 000 full; while :; do :; done";
        let shown = text(&scene.bash(hide).await);
        assert!(shown.contains(told) && shown.contains("[killed]"), "{mode:?}: {shown}");
        let shown = text(&scene.bash("chmod 700 full; rm -rf full; echo removed").await);
        assert_eq!(shown, "removed\n[exit code: 0]", "{mode:?}");
    }
}
