//! System calls that no tool of an agent needs: whatever is not in the table of what is allowed.
//!
//! A script tells of success when the kernel has looked at the arguments at all: neither "operation not permitted" nor
//! "function not implemented".

use mxd_tools::sandbox::Mode;
use nix::libc;

use super::attempt::{Attempt, Family, Outside};
use crate::farm::Farm;

/// Libraries fall back to older calls on the first answer, and take the second for what it is.
#[tokio::test]
async fn unknown_calls_are_not_implemented_and_known_dangers_not_permitted() {
    for mode in [Mode::Full, Mode::Landlock] {
        let farm = Farm::new(mode).await;
        let hut = farm.hut(&farm.agent("one"));
        let not_implemented = [9_999, libc::SYS_clone3, libc::SYS_kcmp, libc::SYS_process_madvise];
        let not_permitted = [libc::SYS_mount, libc::SYS_unshare, libc::SYS_bpf, libc::SYS_io_uring_setup];
        let expected = [(not_implemented, libc::ENOSYS), (not_permitted, libc::EPERM)];
        for (calls, error) in expected {
            for call in calls {
                let ask = format!("perl -e 'syscall {call}, 0, 0, 0, 0, 0; print $! + 0'");
                assert_eq!(
                    hut.run(&ask).await.ok(),
                    error.to_string(),
                    "level {}, call {call}",
                    farm.level()
                );
            }
        }
    }
}

pub(super) const FAMILY: Family =
    Family { name: "Unusual system calls", attempts: ATTEMPTS, ..Family::PLAIN };

const NOT_EVERYWHERE: Outside = Outside::NotTried("not every kernel has it");

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "watch files with the interface that ordinary users have",
        script: "sys fanotify_init $((0x200)) 0 && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "hide memory from the kernel",
        script: "sys memfd_secret 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change the table of memory segments",
        script: "sys modify_ldt 0 0 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "make all readable memory executable",
        script: "sys personality $((0x0400000)) && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "put memory at the address zero",
        script: "sys personality $((0x0100000)) && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "take on the ways of another system",
        script: "sys personality $((0x0001 | 0x4000000)) && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "compare the open files of two processes",
        script: "sys kcmp $$ $$ 0 0 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "take an open file of its own through a handle",
        script: r#"perl -e '
            my $handle = syscall($ENV{SYS_pidfd_open} + 0, $$ + 0, 0);
            print "ESCAPED\n" if $handle >= 0 && syscall($ENV{SYS_pidfd_getfd} + 0, $handle, 0, 0) >= 0'"#,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "give advice about the memory of a process",
        script: "sys process_madvise -1 0 0 0 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "take the memory of a dying process",
        script: "sys process_mrelease -1 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "move the memory of a process to another node",
        script: "sys move_pages 0 0 0 0 0 0; answered && say; sys migrate_pages 0 0 0 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "set the memory policy of the machine's nodes",
        script: "sys mbind 0 0 0 0 0 0; answered && say; sys set_mempolicy 0 0 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "give pages of memory to a pipe",
        script: "sys vmsplice -1 0 0 0; answered && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "rearrange the pages of a mapping",
        script: "sys remap_file_pages 0 0 0 0 0; answered && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "ask which parts of a file are in memory",
        script: "SYS_cachestat=451 sys cachestat -1 0 0 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "list the mounts with the newest interface",
        script: "SYS_statmount=457 sys statmount 0 0 0 0; answered && say
                 SYS_listmount=458 sys listmount 0 0 0 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "ask the security modules about itself",
        script: "SYS_lsm=459 sys lsm 0 0 0 0; answered && say; SYS_lsm=461 sys lsm 0 0 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "ask for the quota of a file system",
        script: "sys quotactl_fd -1 0 0 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change the attributes of a file with the newest interface",
        script: "SYS_file_setattr=469 sys file_setattr -1 0 0 0 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "watch for file events without having asked",
        script: "sys fanotify_mark -1 0 0 0 0; answered && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt { name: "list the sockets of the machine", script: "netlink 4 && say", ..Attempt::PLAIN },
    Attempt {
        name: "talk to the packet filter",
        script: "netlink 12 && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "talk to the transport encryption of the kernel",
        script: "netlink 6 && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "talk to the audit system",
        script: "netlink 9 && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt { name: "hear of devices that come and go", script: "netlink 15 && say", ..Attempt::PLAIN },
    Attempt {
        name: "talk to any part of the kernel that listens",
        script: "netlink 16 && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "open a socket of a rare protocol of the internet",
        script: r#"perl -MSocket -e 'for ([2, 1, 132], [2, 5, 132], [2, 6, 33], [2, 2, 136], [2, 1, 262], [10, 1, 132], [10, 1, 262]) {
            print "ESCAPED\n" if socket my $socket, $$_[0], $$_[1], $$_[2] }'"#,
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
];
