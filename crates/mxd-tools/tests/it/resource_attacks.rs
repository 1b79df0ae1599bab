//! Commands that take all they can get, for real: held at their limit, told so, and nobody beside them is disturbed.

use mxd_tools::sandbox::{Limits, Mode};

use crate::scene::{Scene, marked, text};

const LEVELS: [Mode; 2] = [Mode::Full, Mode::Landlock];

/// Whether the machine lets us limit all commands of an agent together. Without that an attack on all of them would hit the
/// machine; `docs/sandbox.md` says what is not held then.
#[expect(clippy::print_stdout, reason = "what is not tried is said")]
fn held_together(scene: &Scene) -> bool {
    let missing = scene.scope.cell.shortfalls();
    if !missing.is_empty() {
        println!("not tried: limits do not hold for all commands together here: {missing:?}");
    }
    missing.is_empty()
}

/// What another agent does meanwhile: it starts processes, uses memory and the disk.
async fn work_beside(mode: Mode) {
    let other = Scene::with(mode, &[]).await;
    let work = "seq 1 20000 > numbers; sort -rn numbers | head -n 1; perl -e 'my $size = 30 << 20; print length(\"a\" x $size), \"\\n\"'";
    assert_eq!(text(&other.bash(work).await), "20000\n31457280\n[exit code: 0]");
}

/// Runs an attack that writes a line to `told` when it is at its height and then waits at `gate`. Another agent works
/// meanwhile. Returns what the attacker reads at the end.
async fn attacked(scene: &Scene, mode: Mode, command: &str) -> String {
    let (mut told, gate) = (scene.ear("told"), scene.gate("gate"));
    let attack = scene.bash(command);
    tokio::pin!(attack);
    tokio::select! {
        outcome = &mut attack => panic!("it ended before it was at its height: {}", text(&outcome)),
        _line = told.line() => {}
    }
    work_beside(mode).await;
    gate.open().await;
    text(&attack.await)
}

/// One child and all of its own fork on for ever; the first process says when no more are to be had, and waits. It takes the
/// place of the shell, which would not be able to start it beside the others.
const FORK_BOMB: &str = r#"
    exec perl -e '
        fork or do { fork while 1 };
        while (defined(my $child = fork)) { next if $child; sleep 600; exit }
        open my $tell, ">", "told"; print $tell "no more\n"; close $tell;
        open my $wait, "<", "gate"; readline $wait'"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_bomb_is_held_and_told() {
    for mode in LEVELS {
        let scene = Scene::limited(mode, Limits { processes: 100, ..Limits::default() }).await;
        if !held_together(&scene) {
            continue;
        }
        let shown = attacked(&scene, mode, FORK_BOMB).await;
        assert!(
            shown.contains("the limit of 100 processes and threads for all commands of this agent"),
            "{shown}"
        );
        assert_eq!(text(&scene.bash("echo still here").await), "still here\n[exit code: 0]");
    }
}

/// Ten processes, each of which may have what it takes.
const MEMORY_HOG: &str = r#"
    perl -e '
        for (1 .. 10) {
            next if fork;
            my $size = 60 << 20;
            my $memory = "a" x $size;
            sleep 600;
        }
        my $killed = wait;
        print "killed by $?\n";
        open my $tell, ">", "told"; print $tell "full\n"; close $tell;
        open my $wait, "<", "gate"; readline $wait'"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_hog_is_held_and_told() {
    for mode in LEVELS {
        let scene = Scene::limited(mode, Limits { memory_bytes: 256 << 20, ..Limits::default() }).await;
        if !held_together(&scene) {
            continue;
        }
        let shown = attacked(&scene, mode, MEMORY_HOG).await;
        assert!(shown.contains("killed by 9"), "{shown}");
        assert!(
            shown.contains("the limit of 256 MiB of memory for all commands of this agent was reached"),
            "{shown}"
        );
        assert_eq!(text(&scene.bash("echo still here").await), "still here\n[exit code: 0]");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_that_wants_too_much_memory_is_refused() {
    for mode in LEVELS {
        let scene = Scene::limited(mode, Limits { memory_bytes: 256 << 20, ..Limits::default() }).await;
        let outcome = scene
            .bash("perl -e 'my $size = 400 << 20; my $memory = \"a\" x $size; print \"had it\\n\"'")
            .await;
        let shown = text(&outcome);
        assert!(outcome.is_error && !shown.contains("had it") && shown.contains("Out of memory"), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_one_process_is_told() {
    for mode in LEVELS {
        let limits = Limits { cpu_seconds: 1, file_bytes: 100_000, ..Limits::default() };
        let scene = Scene::limited(mode, limits).await;
        let shown = text(&scene.bash("perl -e '1 while 1'").await);
        assert!(shown.contains("[no process may use more than 1 seconds of processor time]"), "{shown}");
        let shown = text(&scene.bash("head -c 200000 /dev/zero > large").await);
        assert!(shown.contains("[no file may be larger than 100000 bytes]"), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_background_processes_end_with_their_command() {
    for mode in LEVELS {
        let scene = Scene::with(mode, &[]).await;
        // A name of its own for each round, so that the processes can be told from others.
        let mark = format!("one-of-a-thousand-{}-{mode:?}", std::process::id());
        let command = format!(
            r#"perl -e 'for (1 .. 990) {{ fork or do {{ $0 = "{mark}"; sleep 600; exit }} }}
                open my $tell, ">", "told"; print $tell "all\n"; close $tell;
                open my $wait, "<", "gate"; readline $wait; print "done\n"'"#
        );
        assert_eq!(attacked(&scene, mode, &command).await, "done\n[exit code: 0]");
        assert_eq!(marked(&mark), Vec::<std::ffi::OsString>::new(), "{mode:?}");
    }
}

/// All of it passes through the daemon; its beginning and its end are kept.
#[tokio::test(flavor = "multi_thread")]
async fn ten_gigabytes_of_output_keep_their_ends() {
    let scene = Scene::with(Mode::Full, &[]).await;
    let attack = scene.bash("echo first; head -c 10000000000 /dev/zero | tr '\\0' x; echo; echo last");
    let (outcome, ()) = tokio::join!(attack, work_beside(Mode::Full));
    let shown = text(&outcome);
    assert!(shown.starts_with("first\nxxx") && shown.contains("\nlast\n[exit code: 0]"), "{}", &shown[..100]);
    assert!(shown.contains("the output has 10000000012 bytes"));
    assert!(shown.len() < 20_000, "{}", shown.len());
    let kept = std::fs::read_dir(scene.scope.kept.path())
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len());
    assert!(kept.sum::<u64>() < 18 << 20);
}
