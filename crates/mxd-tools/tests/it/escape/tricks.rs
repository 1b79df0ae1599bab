//! Traps for the daemon: what an agent leaves where the daemon will work next time.

use std::fs;

use super::attempt::{Attempt, Daemon, Family, Outside, Sign};
use super::scene::Scene;
use crate::farm::SECRET;

pub(super) const FAMILY: Family = Family {
    name: "Traps for the daemon",
    daemon: Daemon::StartsTheAgentAnew,
    attempts: ATTEMPTS,
    ..Family::PLAIN
};

const DAEMONS_OWN: Outside = Outside::NotTried("it is the daemon that would act");

fn planted(scene: &Scene) -> bool {
    fs::remove_file(scene.at("home/planted")).is_ok()
}

/// Puts back what the agent moved, so that the next attempt begins with a sound agent.
fn put_back(scene: &Scene, name: &str) {
    let Ok(ground) = scene.farm.ground.path().strip_prefix("/tmp") else { return };
    let seen_by_the_agent = scene.at("data/scratch/one/tmp").join(ground);
    if fs::remove_file(seen_by_the_agent.join(name)).is_ok() {
        fs::rename(seen_by_the_agent.join(format!("{name}-before")), seen_by_the_agent.join(name)).unwrap();
    }
}

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "have the daemon make a file through a link among the branches",
        script: "for at in refs logs/refs; do ln -sf $GROUND/home/planted $COMMON/$at/heads/mxd/one/.keep; done",
        sign: Sign::Seen(planted),
        outside: DAEMONS_OWN,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "have the daemon wait for a pipe among the branches",
        script: "rm -f $COMMON/refs/heads/mxd/one/.keep; mkfifo $COMMON/refs/heads/mxd/one/.keep",
        sign: Sign::Seen(planted),
        outside: DAEMONS_OWN,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "have the daemon write settings through a link",
        script: "ln -sf $GROUND/home/notes.txt ~/.gitconfig",
        sign: Sign::Seen(|scene| scene.text("home/notes.txt") != SECRET),
        outside: DAEMONS_OWN,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "have the daemon wait for a pipe in the home folder",
        script: "rm -f ~/.gitconfig; mkfifo ~/.gitconfig",
        sign: Sign::Seen(planted),
        outside: DAEMONS_OWN,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "have the daemon write a copied file through a link",
        script: "for file in HEAD config packed-refs; do ln -sf $GROUND/home/notes.txt $COMMON/$file; done",
        sign: Sign::Seen(|scene| scene.text("home/notes.txt") != SECRET),
        outside: DAEMONS_OWN,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "have folders made through a link on the way to its worktree",
        script: "mv $GROUND/data $GROUND/data-before; ln -s /old$GROUND/home $GROUND/data",
        sign: Sign::Seen(|scene| {
            put_back(scene, "data");
            scene.at("home/trees").exists()
        }),
        outside: DAEMONS_OWN,
        ..Attempt::PLAIN
    },
];
