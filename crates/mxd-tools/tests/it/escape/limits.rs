//! Using more than one's share.

use mxd_tools::sandbox::Limits;

use super::attempt::{Attempt, Family, Full, Landlock, Outside, Sign};

pub(super) const FAMILY: Family =
    Family { name: "More than its share", limits: small, attempts: ATTEMPTS, ..Family::PLAIN };

const AT_EVERY_LEVEL: Outside = Outside::NotTried("the limits hold without a sandbox, too");

const NOT_EVERY_ROOT: Outside = Outside::NotTried("root itself is not allowed to in many containers");

const FOR_EACH: &str = "without control groups, a limit holds for each process, not for all together";

fn small() -> Limits {
    Limits {
        memory_bytes: 256 << 20,
        processes: 64,
        file_bytes: 1 << 20,
        cpu_seconds: 1,
        open_files: 64,
        ..Limits::default()
    }
}

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "start more processes than allowed",
        script: "perl -e 'for (1 .. 200) { my $child = fork; exit unless defined $child; if (!$child) { sleep 60; exit } } \
                 print \"ESCAPED\\n\"'",
        landlock: Landlock::NotStoppedWithoutGroups(FOR_EACH),
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "set off a fork bomb and outlast it",
        script: "exec 9> bomb; flock 9; perl -e 'for (1 .. 7) { defined fork or last } sleep 60' &
                 perl -e 'for (1 .. 7) { defined fork or last }'; true",
        sign: Sign::Seen(|scene| scene.is_held("bomb")),
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "take more memory than allowed",
        script: "perl -e 'my $size = 400 << 20; my $memory = \"a\" x $size; print \"ESCAPED\\n\"'",
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "take more memory than allowed in many processes",
        script: MANY_HOGS,
        full: Full::NotStoppedWithoutGroups(FOR_EACH),
        landlock: Landlock::NotStoppedWithoutGroups(FOR_EACH),
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "write a larger file than allowed",
        script: "head -c 2000000 /dev/zero > large",
        sign: Sign::Seen(|scene| scene.at("data/trees/one/large").metadata().unwrap().len() > 1 << 20),
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "make a larger file than allowed without writing it",
        script: "truncate -s 2000000 sparse && say",
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "compute longer than allowed",
        script: "perl -e '1 while (times)[0] < 3; print \"ESCAPED\\n\"'",
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "compute longer than allowed, deaf to the signal",
        script: "perl -e '$SIG{XCPU} = \"IGNORE\"; 1 while (times)[0] < 3; print \"ESCAPED\\n\"'",
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "open more files than allowed",
        script: "perl -e 'for (1 .. 200) { open my $file, \"<\", \"README\" or exit; push @all, $file } print \"ESCAPED\\n\"'",
        outside: AT_EVERY_LEVEL,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "raise the limit of memory",
        script: "ulimit -d unlimited && say",
        outside: NOT_EVERY_ROOT,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "raise the limit of files",
        script: "ulimit -Hn 4000 && say",
        outside: NOT_EVERY_ROOT,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "raise the limit of processor time",
        script: "ulimit -t unlimited && say",
        outside: NOT_EVERY_ROOT,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "raise the limit of file size",
        script: "ulimit -f unlimited && say",
        outside: NOT_EVERY_ROOT,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "allow itself core dumps",
        script: "ulimit -c unlimited && say",
        outside: NOT_EVERY_ROOT,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "leave its control groups",
        script: "for group in /sys/fs/cgroup /sys/fs/cgroup/*; do (exec 3>> $group/cgroup.procs) && say; done",
        ..Attempt::OF_ROOT
    },
];

/// Each stays below the limit; together they are above it. They answer once they are full, and again when all are: who was
/// killed to make room for another does not.
const MANY_HOGS: &str = r#"perl -e '
    pipe my $go_read, my $go_write;
    pipe my $full_read, my $full_write;
    pipe my $alive_read, my $alive_write;
    for (1 .. 10) {
        next if fork;
        close $go_write;
        my $size = 50 << 20;
        my $memory = "a" x $size;
        syswrite $full_write, "x"; close $full_write;
        sysread $go_read, my $none, 1;
        syswrite $alive_write, "x"; close $alive_write; close STDOUT;
        sleep 60;
        exit;
    }
    close $full_write; close $alive_write;
    1 while sysread $full_read, my $one, 1;
    close $go_write;
    my $alive = 0;
    $alive++ while sysread $alive_read, my $one, 1;
    print "ESCAPED\n" if $alive == 10'"#;
