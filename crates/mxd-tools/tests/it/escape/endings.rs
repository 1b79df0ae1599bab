//! Living on: processes that try to outlast the command that started them.
//!
//! Each holds a lock for as long as it lives, and the command ends only when the lock is held.

use std::fs::File;
use std::time::Duration;

use mxd_tools::sandbox::Mode;
use tokio::io::AsyncReadExt;

use super::attempt::{Attempt, Family, Outside, Sign};
use crate::farm::Farm;

pub(super) const FAMILY: Family = Family { name: "Living on", attempts: ATTEMPTS, ..Family::PLAIN };

/// The supervisor ends what is left at every level, so there is no outside to compare with.
const AT_EVERY_LEVEL: Outside = Outside::NotTried("the supervisor ends what is left without a sandbox, too");

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "live on in the background",
        script: "mkfifo a.ready; (exec 9> a; flock 9; echo > a.ready; exec sleep 60) > /dev/null 2>&1 & read < a.ready",
        sign: Sign::Seen(|scene| scene.is_held("a")),
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "live on deaf to signals",
        script: "mkfifo b.ready
                 nohup bash -c 'trap \"\" HUP INT TERM QUIT; exec 9> b; flock 9; echo > b.ready; sleep 60' > /dev/null 2>&1 &
                 read < b.ready",
        sign: Sign::Seen(|scene| scene.is_held("b")),
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "live on in a session of its own",
        script: "mkfifo c.ready
                 setsid bash -c 'exec 9> c; flock 9; echo > c.ready; exec sleep 60' > /dev/null 2>&1 & read < c.ready",
        sign: Sign::Seen(|scene| scene.is_held("c")),
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "live on as an orphan",
        script: "mkfifo d.ready
                 (setsid bash -c '(exec 9> d; flock 9; echo > d.ready; exec sleep 60) &' > /dev/null 2>&1 &); read < d.ready",
        sign: Sign::Seen(|scene| scene.is_held("d")),
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "live on while stopped",
        script: "mkfifo e.ready
                 bash -c 'exec 9> e; flock 9; echo > e.ready; kill -STOP $$; sleep 60' > /dev/null 2>&1 & read < e.ready",
        sign: Sign::Seen(|scene| scene.is_held("e")),
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "live on after killing the supervisor",
        script: "mkfifo f.ready
                 setsid bash -c 'exec 9> f; flock 9; echo > f.ready; exec sleep 60' > /dev/null 2>&1 & read < f.ready
                 kill -KILL $PPID",
        sign: Sign::Seen(|scene| scene.is_held("f")),
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "live on by starting others faster than they are ended",
        script: "exec 9> g; flock 9
                 perl -e 'setpgrp; $SIG{CHLD} = \"IGNORE\"; while (time < $^T + 30) { fork and exit }' > /dev/null 2>&1 &
                 true",
        sign: Sign::Seen(|scene| scene.is_held("g")),
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
];

/// A command that is dropped while it runs takes everything with it.
#[tokio::test]
async fn what_is_cancelled_is_gone_with_all_it_started() {
    const STUBBORN: &str = "trap '' HUP INT TERM; exec 9> held; flock 9
        setsid bash -c 'trap \"\" HUP INT TERM; (sleep 60 &) ; sleep 60' &
        echo ready; while true; do sleep 60; done";
    for mode in [Mode::Full, Mode::Landlock, Mode::Off] {
        let farm = Farm::new(mode).await;
        let hut = farm.hut(&farm.agent("one"));
        let mut child = hut.cell.spawn(hut.command(STUBBORN)).await.unwrap();
        let mut ready = [0; 6];
        child.stdout.as_mut().unwrap().read_exact(&mut ready).await.unwrap();
        drop(child);
        let held = File::open(farm.at("data/trees/one/held")).unwrap();
        let freed = tokio::task::spawn_blocking(move || held.lock());
        // Patience for a busy machine; what is not ended holds the lock for a minute.
        tokio::time::timeout(Duration::from_secs(20), freed).await.unwrap().unwrap().unwrap();
    }
}
