//! Processes of others: looking into them, signalling them, and taking over the one that supervises.

use super::attempt::{Attempt, Family, Landlock, Outside};

pub(super) const FAMILY: Family = Family { name: "Processes of others", attempts: ATTEMPTS, ..Family::PLAIN };

const ALL_ARE_SEEN: &str = "all processes stand in `/proc` without process numbers of one's own";
const SCHEDULING: &str = "the kernel does not ask Landlock about scheduling";

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "see that a process of the user's runs",
        script: "[ -d /proc/$VICTIM ] && say",
        landlock: Landlock::NotStopped(ALL_ARE_SEEN),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the arguments of a process",
        script: "cat /proc/$VICTIM/cmdline",
        landlock: Landlock::NotStopped(ALL_ARE_SEEN),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the environment of a process",
        script: "cat /proc/$VICTIM/environ",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the environment of the daemon",
        script: "grep -qz ^PATH= /proc/$DAEMON/environ && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read through the root folder of a process",
        script: "cat /proc/$VICTIM/root$GROUND/home/notes.txt",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read through the current folder of a process",
        script: "cat /proc/$VICTIM/cwd/000001.jsonl",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read through an open file of a process",
        script: "cat /proc/$VICTIM/fd/3",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "see which files the daemon has open",
        script: "readlink /proc/$DAEMON/fd/0 && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read where the memory of a process is",
        script: "grep -q . /proc/$VICTIM/maps && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "open the memory of a process",
        script: "exec 3<> /proc/$VICTIM/mem && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "open the memory of the daemon",
        script: "exec 3<> /proc/$DAEMON/mem && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the memory of a process with a system call",
        script: READ_MEMORY,
        ..Attempt::PLAIN
    },
    Attempt {
        // Seizing does not stop it, and is over when the attempt is.
        name: "trace a process",
        script: "sys ptrace $((0x4206)) $VICTIM 0 0 && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "trace the daemon",
        script: "sys ptrace $((0x4206)) $DAEMON 0 0 && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "trace the supervisor",
        script: "sys ptrace $((0x4206)) $PPID 0 0 && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "open the memory of the supervisor",
        script: "exec 3<> /proc/$PPID/mem && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "take the supervisor's socket to the daemon",
        script: TAKE_SUPERVISORS_SOCKET,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "see which files the supervisor has open",
        script: "readlink /proc/$PPID/fd/0 && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change the mode of the supervisor's program",
        script: "chmod --reference=/proc/$PPID/exe /proc/$PPID/exe && say",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "look through the supervisor's root folder",
        script: "ls /proc/$PPID/root/ && say",
        ..Attempt::PLAIN
    },
    Attempt { name: "signal the supervisor", script: "kill -s 0 $PPID && say", ..Attempt::PLAIN },
    Attempt {
        name: "take an open file of a process",
        script: r#"perl -e '
            my $process = syscall($ENV{SYS_pidfd_open} + 0, $ENV{VICTIM} + 0, 0);
            print "ESCAPED\n" if $process >= 0 && syscall($ENV{SYS_pidfd_getfd} + 0, $process, 3, 0) >= 0'"#,
        ..Attempt::PLAIN
    },
    Attempt { name: "signal a process", script: "kill -s 0 $VICTIM && say", ..Attempt::PLAIN },
    Attempt { name: "signal the daemon", script: "kill -s 0 $DAEMON && say", ..Attempt::PLAIN },
    Attempt { name: "signal a group of processes", script: "kill -s 0 -- -$VICTIM && say", ..Attempt::PLAIN },
    Attempt {
        name: "signal a single thread",
        script: "sys tgkill $VICTIM $VICTIM 0 && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "signal a process by a handle",
        script: r#"perl -e '
            my $process = syscall($ENV{SYS_pidfd_open} + 0, $ENV{VICTIM} + 0, 0);
            print "ESCAPED\n" if $process >= 0 && !syscall($ENV{SYS_pidfd_send_signal} + 0, $process, 0, 0, 0)'"#,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "lower the limits of a process",
        script: "prlimit --pid $VICTIM --core=0:0 && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "slow a process down",
        script: "renice -n 5 -p $VICTIM && say",
        landlock: Landlock::NotStoppedForUsers(SCHEDULING),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "bind a process to one processor",
        script: "taskset -p 1 $VICTIM && say",
        landlock: Landlock::NotStoppedForUsers(SCHEDULING),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "offer a process to the memory killer",
        script: "exec 3> /proc/$VICTIM/oom_score_adj && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "use a file that the daemon was started with",
        script: "cat <&$LEFT_OPEN",
        outside: Outside::NotTried("supervisors close it without a sandbox, too"),
        ..Attempt::PLAIN
    },
];

/// Permitted, the kernel complains about the address; refused, about the permission.
const READ_MEMORY: &str = r#"perl -e '
    my $buffer = "x" x 8;
    my $here = pack("p Q", $buffer, 8);
    my $there = pack("Q Q", 4096, 8);
    my $read = syscall($ENV{SYS_process_vm_readv} + 0, $ENV{VICTIM} + 0, $here, 1, $there, 1, 0);
    print "ESCAPED\n" if $read >= 0 || $! == 14'"#;

const TAKE_SUPERVISORS_SOCKET: &str = r#"SUPERVISOR=$PPID perl -e '
    my $process = syscall($ENV{SYS_pidfd_open} + 0, $ENV{SUPERVISOR} + 0, 0);
    print "ESCAPED\n" if $process >= 0 && syscall($ENV{SYS_pidfd_getfd} + 0, $process, 0, 0) >= 0'"#;
