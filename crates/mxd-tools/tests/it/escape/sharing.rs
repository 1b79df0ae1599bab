//! What processes of one user share without asking: memory, temporary files, caches, settings, attributes of files.

use super::attempt::{Attempt, Family, Landlock, Outside, Sign};

pub(super) const FAMILY: Family = Family {
    name: "What one user's programs share",
    prepare: PREPARE,
    clean: CLEAN,
    attempts: ATTEMPTS,
    ..Family::PLAIN
};

/// Agent `two` leaves a word wherever somebody else could come across it.
const PREPARE: &str = r#"
    echo ESCAPED > /dev/shm/mxd-$KEY
    echo ESCAPED > $TMPDIR/word
    perl -e '
        my $key = $ENV{KEY} + 0;
        shmwrite shmget($key, 64, 0600 | 01000), "ESCAPED\n", 0, 8;
        msgsnd msgget($key, 0600 | 01000), pack("l! a*", 1, "ESCAPED\n"), 0;
        semctl semget($key, 1, 0600 | 01000), 0, 16, 7;
        syscall($ENV{SYS_mq_open} + 0, "mxd-$key", 0102, 0600, 0);'
"#;

const CLEAN: &str = r#"
    rm -f /dev/shm/mxd-$KEY
    ipcrm -M $KEY; ipcrm -Q $KEY; ipcrm -S $KEY; sys mq_unlink mxd-$KEY
"#;

const NOT_ASKED: &str =
    "the kernel does not ask Landlock about the mode, owner, times and attributes of files";
const ONE_IPC: &str = "all programs of a user share these without a namespace";

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "read shared memory of another agent by its name",
        script: "cat /dev/shm/mxd-$KEY",
        landlock: Landlock::NotStopped("`/dev/shm` is one folder for all without a view of one's own"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read shared memory of another agent by its key",
        script: "perl -e 'shmread shmget($ENV{KEY} + 0, 0, 0), my $text, 0, 8; print $text'",
        landlock: Landlock::NotStopped(ONE_IPC),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "take a message from another agent's queue",
        script: "perl -e 'msgrcv msgget($ENV{KEY} + 0, 0), my $text, 64, 0, 04000; print unpack \"x8 a*\", $text'",
        landlock: Landlock::NotStopped(ONE_IPC),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read another agent's semaphore",
        script: "perl -e 'my $id = semget($ENV{KEY} + 0, 0, 0); print \"ESCAPED\\n\" if defined $id && \
                 semctl($id, 0, 12, 0) == 7'",
        landlock: Landlock::NotStopped(ONE_IPC),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "open another agent's POSIX message queue",
        script: "sys mq_open mxd-$KEY 0 0 0 && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "find another agent's temporary file",
        script: "cat $GROUND/data/scratch/two/tmp/word /tmp/word /var/tmp/word",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "leave a temporary file for another agent",
        script: "echo ESCAPED > $GROUND/data/scratch/two/tmp/left; echo ESCAPED > /tmp/left",
        sign: Sign::ToldByTheOther("cat $TMPDIR/left"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change a downloaded package in the user's cache",
        script: "echo poison > $GROUND/home/.cargo/registry/crate",
        sign: Sign::Seen(|scene| scene.text("home/.cargo/registry/crate") != "clean\n"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change a downloaded package for another agent",
        script: "echo ESCAPED > $GROUND/home/.cargo/registry/crate",
        sign: Sign::ToldByTheOther("cat $GROUND/home/.cargo/registry/crate"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "delete a downloaded package",
        script: "rm -f $GROUND/home/.cargo/registry/crate",
        sign: Sign::Seen(|scene| !scene.at("home/.cargo/registry/crate").exists()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change a program in the home folder",
        script: "echo evil > $GROUND/home/.cargo/bin/tool",
        sign: Sign::Seen(|scene| scene.text("home/.cargo/bin/tool") != "clean\n"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change the settings of a tool",
        script: "echo evil > $GROUND/home/.cargo/config.toml",
        sign: Sign::Seen(|scene| scene.text("home/.cargo/config.toml") != "# clean\n"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "add to the start-up file of the user's shell",
        script: "echo evil >> $GROUND/home/.bashrc",
        sign: Sign::Seen(|scene| scene.at("home/.bashrc").exists()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change the settings of another agent's git",
        script: "git config --global alias.evil '!true'; git config -f $GROUND/data/scratch/two/home/.gitconfig alias.evil x",
        sign: Sign::ToldByTheOther("git config alias.evil && say"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change the mode of a file of the user's",
        script: "chmod 640 $GROUND/home/notes.txt && say",
        landlock: Landlock::NotStopped(NOT_ASKED),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change the group of a file of the user's",
        script: "chgrp $(id -g) $GROUND/home/notes.txt && say",
        landlock: Landlock::NotStopped(NOT_ASKED),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change the times of a file of the user's",
        script: "touch -c -d @0 $GROUND/home/notes.txt; [ \"$(stat -c %Y $GROUND/home/notes.txt)\" = 0 ] && say",
        landlock: Landlock::NotStopped(NOT_ASKED),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "put an extended attribute on a file of the user's",
        script: "sys setxattr $GROUND/home/notes.txt user.mxd word 4 0 && say",
        landlock: Landlock::NotStopped(NOT_ASKED),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change the mode of a file of the system",
        script: "chmod --reference=/etc/passwd /etc/passwd && say",
        landlock: Landlock::NotStoppedForRoot(NOT_ASKED),
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "change the times of a file of the system",
        script: "touch -c -r /etc/passwd /etc/passwd && say",
        landlock: Landlock::NotStoppedForRoot(NOT_ASKED),
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "change the mode of a device",
        script: "chmod --reference=/dev/null /dev/null && say",
        landlock: Landlock::NotStoppedForRoot(NOT_ASKED),
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "change the owner of a device",
        script: "chown --reference=/dev/zero /dev/zero && say",
        landlock: Landlock::NotStoppedForRoot(NOT_ASKED),
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "watch what another agent does to its files",
        script: r#"perl -e '
            my $watcher = syscall($ENV{SYS_inotify_init1} + 0, 0);
            my $folder = "$ENV{GROUND}/data/trees/two";
            print "ESCAPED\n" if syscall($ENV{SYS_inotify_add_watch} + 0, $watcher, $folder, 0xfff) >= 0'"#,
        landlock: Landlock::NotStopped(
            "the kernel does not ask Landlock about watching; it tells names, not contents",
        ),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "lie in wait at the user's terminal",
        script: "read -r _ _ _ _ _ session _ < /proc/$$/stat; [ $session = $SESSION ] || [ $session = 0 ] && say",
        outside: Outside::NotTried("every command has a session of its own, without a sandbox, too"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read what is typed at a terminal of the user's",
        script: "exec 3<> $TERMINAL && say",
        ..Attempt::PLAIN
    },
];
