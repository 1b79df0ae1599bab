//! The table of system calls that an agent's commands may use, in groups that each say why.
//!
//! It was made from what the usual tools were seen to use (cargo and rustc, npm and node, python and pytest, go, java and
//! maven, gcc and make, git, gdb, strace, bash and the programs of a Linux system), completed by the calls that do the same
//! in another form, so that another version of a C library works as well. What is not here gets "function not
//! implemented", which makes programs fall back to something older; what `refused` names gets "operation not permitted".

use nix::libc;

/// Calls that are allowed for one reason.
pub(super) struct Group {
    /// Why they are allowed.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the reason is for whoever reads the table; a test asks for it")
    )]
    pub(super) why: &'static str,
    /// Their numbers on this processor.
    pub(super) calls: &'static [i64],
}

/// All groups.
pub(super) const GROUPS: &[Group] = &[
    Group {
        why: "open files and folders: Landlock and the view decide which",
        calls: &[
            libc::SYS_openat,
            libc::SYS_openat2,
            libc::SYS_close,
            libc::SYS_close_range,
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_readv,
            libc::SYS_writev,
            libc::SYS_pread64,
            libc::SYS_pwrite64,
            libc::SYS_preadv,
            libc::SYS_pwritev,
            libc::SYS_preadv2,
            libc::SYS_pwritev2,
            libc::SYS_lseek,
            libc::SYS_dup,
            libc::SYS_dup3,
            libc::SYS_fcntl,
            libc::SYS_flock,
            libc::SYS_fsync,
            libc::SYS_fdatasync,
            libc::SYS_sync,
            libc::SYS_syncfs,
            libc::SYS_readahead,
            libc::SYS_fadvise64,
            libc::SYS_sendfile,
            libc::SYS_copy_file_range,
            libc::SYS_splice,
            libc::SYS_tee,
            libc::SYS_getdents64,
        ],
    },
    Group {
        why: "look at and change names, sizes, modes, times and attributes: Landlock, the view and the owner decide which",
        calls: &[
            libc::SYS_statx,
            libc::SYS_newfstatat,
            libc::SYS_fstat,
            libc::SYS_statfs,
            libc::SYS_fstatfs,
            libc::SYS_faccessat,
            libc::SYS_faccessat2,
            libc::SYS_readlinkat,
            libc::SYS_getcwd,
            libc::SYS_chdir,
            libc::SYS_fchdir,
            libc::SYS_mkdirat,
            libc::SYS_mknodat,
            libc::SYS_unlinkat,
            libc::SYS_renameat2,
            libc::SYS_linkat,
            libc::SYS_symlinkat,
            libc::SYS_truncate,
            libc::SYS_ftruncate,
            libc::SYS_fallocate,
            libc::SYS_fchmod,
            libc::SYS_fchmodat,
            libc::SYS_fchown,
            libc::SYS_fchownat,
            libc::SYS_utimensat,
            libc::SYS_umask,
            libc::SYS_setxattr,
            libc::SYS_lsetxattr,
            libc::SYS_fsetxattr,
            libc::SYS_getxattr,
            libc::SYS_lgetxattr,
            libc::SYS_fgetxattr,
            libc::SYS_listxattr,
            libc::SYS_llistxattr,
            libc::SYS_flistxattr,
            libc::SYS_removexattr,
            libc::SYS_lremovexattr,
            libc::SYS_fremovexattr,
        ],
    },
    Group {
        why: "a process's own memory",
        calls: &[
            libc::SYS_brk,
            libc::SYS_mmap,
            libc::SYS_munmap,
            libc::SYS_mremap,
            libc::SYS_mprotect,
            libc::SYS_msync,
            libc::SYS_mincore,
            libc::SYS_madvise,
            libc::SYS_mlock,
            libc::SYS_mlock2,
            libc::SYS_munlock,
            libc::SYS_mlockall,
            libc::SYS_munlockall,
            libc::SYS_membarrier,
            libc::SYS_memfd_create,
            libc::SYS_pkey_alloc,
            libc::SYS_pkey_free,
            libc::SYS_pkey_mprotect,
            libc::SYS_mseal,
        ],
    },
    Group {
        why: "start processes and threads and wait for them; `refused` keeps `clone` from making namespaces",
        calls: &[
            libc::SYS_clone,
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_exit,
            libc::SYS_exit_group,
            libc::SYS_wait4,
            libc::SYS_waitid,
            libc::SYS_set_tid_address,
            libc::SYS_set_robust_list,
            libc::SYS_get_robust_list,
            libc::SYS_rseq,
            libc::SYS_futex,
            libc::SYS_futex_waitv,
            libc::SYS_gettid,
            libc::SYS_getpid,
            libc::SYS_getppid,
            libc::SYS_getpgid,
            libc::SYS_setpgid,
            libc::SYS_getsid,
            libc::SYS_setsid,
            libc::SYS_prctl,
        ],
    },
    Group {
        why: "signals: the process namespace and Landlock decide to whom",
        calls: &[
            libc::SYS_kill,
            libc::SYS_tkill,
            libc::SYS_tgkill,
            libc::SYS_pidfd_open,
            libc::SYS_pidfd_send_signal,
            libc::SYS_rt_sigaction,
            libc::SYS_rt_sigprocmask,
            libc::SYS_rt_sigpending,
            libc::SYS_rt_sigtimedwait,
            libc::SYS_rt_sigqueueinfo,
            libc::SYS_rt_tgsigqueueinfo,
            libc::SYS_rt_sigsuspend,
            libc::SYS_rt_sigreturn,
            libc::SYS_sigaltstack,
            libc::SYS_restart_syscall,
            libc::SYS_signalfd4,
        ],
    },
    Group {
        why: "users and privileges: there are none to be gained, and programs ask at every start",
        calls: &[
            libc::SYS_getuid,
            libc::SYS_geteuid,
            libc::SYS_getgid,
            libc::SYS_getegid,
            libc::SYS_getresuid,
            libc::SYS_getresgid,
            libc::SYS_getgroups,
            libc::SYS_setuid,
            libc::SYS_setgid,
            libc::SYS_setreuid,
            libc::SYS_setregid,
            libc::SYS_setresuid,
            libc::SYS_setresgid,
            libc::SYS_setfsuid,
            libc::SYS_setfsgid,
            libc::SYS_setgroups,
            libc::SYS_capget,
            libc::SYS_capset,
        ],
    },
    Group {
        why: "limits, scheduling and the machine's size, for thread pools, `nice` and `taskset`",
        calls: &[
            libc::SYS_prlimit64,
            libc::SYS_getrusage,
            libc::SYS_times,
            libc::SYS_sysinfo,
            libc::SYS_uname,
            libc::SYS_getcpu,
            libc::SYS_getpriority,
            libc::SYS_setpriority,
            libc::SYS_ioprio_get,
            libc::SYS_ioprio_set,
            libc::SYS_sched_yield,
            libc::SYS_sched_getaffinity,
            libc::SYS_sched_setaffinity,
            libc::SYS_sched_getparam,
            libc::SYS_sched_setparam,
            libc::SYS_sched_getscheduler,
            libc::SYS_sched_setscheduler,
            libc::SYS_sched_getattr,
            libc::SYS_sched_setattr,
            libc::SYS_sched_get_priority_max,
            libc::SYS_sched_get_priority_min,
            libc::SYS_sched_rr_get_interval,
        ],
    },
    Group {
        why: "clocks, timers and random numbers",
        calls: &[
            libc::SYS_clock_gettime,
            libc::SYS_clock_getres,
            libc::SYS_clock_nanosleep,
            libc::SYS_gettimeofday,
            libc::SYS_nanosleep,
            libc::SYS_getitimer,
            libc::SYS_setitimer,
            libc::SYS_timer_create,
            libc::SYS_timer_settime,
            libc::SYS_timer_gettime,
            libc::SYS_timer_getoverrun,
            libc::SYS_timer_delete,
            libc::SYS_timerfd_create,
            libc::SYS_timerfd_settime,
            libc::SYS_timerfd_gettime,
            libc::SYS_getrandom,
        ],
    },
    Group {
        why: "wait for many things at once; names that change in watched folders, for development servers",
        calls: &[
            libc::SYS_ppoll,
            libc::SYS_pselect6,
            libc::SYS_epoll_create1,
            libc::SYS_epoll_ctl,
            libc::SYS_epoll_pwait,
            libc::SYS_epoll_pwait2,
            libc::SYS_eventfd2,
            libc::SYS_pipe2,
            libc::SYS_inotify_init1,
            libc::SYS_inotify_add_watch,
            libc::SYS_inotify_rm_watch,
        ],
    },
    Group {
        why: "sockets; `refused` says which families",
        calls: &[
            libc::SYS_socket,
            libc::SYS_socketpair,
            libc::SYS_bind,
            libc::SYS_listen,
            libc::SYS_accept,
            libc::SYS_accept4,
            libc::SYS_connect,
            libc::SYS_shutdown,
            libc::SYS_getsockname,
            libc::SYS_getpeername,
            libc::SYS_getsockopt,
            libc::SYS_setsockopt,
            libc::SYS_sendto,
            libc::SYS_sendmsg,
            libc::SYS_sendmmsg,
            libc::SYS_recvfrom,
            libc::SYS_recvmsg,
            libc::SYS_recvmmsg,
        ],
    },
    Group {
        why: "shared memory, semaphores and queues, for databases that tests start; the top level has its own of each",
        calls: &[
            libc::SYS_shmget,
            libc::SYS_shmat,
            libc::SYS_shmdt,
            libc::SYS_shmctl,
            libc::SYS_semget,
            libc::SYS_semop,
            libc::SYS_semtimedop,
            libc::SYS_semctl,
            libc::SYS_msgget,
            libc::SYS_msgsnd,
            libc::SYS_msgrcv,
            libc::SYS_msgctl,
            libc::SYS_mq_open,
            libc::SYS_mq_unlink,
            libc::SYS_mq_timedsend,
            libc::SYS_mq_timedreceive,
            libc::SYS_mq_notify,
            libc::SYS_mq_getsetattr,
            libc::SYS_io_setup,
            libc::SYS_io_destroy,
            libc::SYS_io_submit,
            libc::SYS_io_getevents,
            libc::SYS_io_cancel,
        ],
    },
    Group {
        why: "debuggers: the process namespace and Landlock keep them to processes of the same command",
        calls: &[libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev],
    },
    Group {
        why: "sandboxes inside of this one: these calls only ever take away",
        calls: &[
            libc::SYS_seccomp,
            libc::SYS_landlock_create_ruleset,
            libc::SYS_landlock_add_rule,
            libc::SYS_landlock_restrict_self,
        ],
    },
    Group {
        why: "allowed in part: `refused` says which commands to terminals and which personalities are not",
        calls: &[libc::SYS_ioctl, libc::SYS_personality],
    },
    Group { why: "newer forms of calls that stand above", calls: NEWER },
    Group { why: "older forms of calls that stand above", calls: OLDER },
];

/// Numbers that our C bindings do not name on every processor. From 424 on they are the same on all.
const NEWER: &[i64] = &[
    452, // fchmodat2
    453, // map_shadow_stack
    454, // futex_wake
    455, // futex_wait
    456, // futex_requeue
    463, // setxattrat
    464, // getxattrat
    465, // listxattrat
    466, // removexattrat
];

#[cfg(target_arch = "x86_64")]
const OLDER: &[i64] = &[
    libc::SYS_open,
    libc::SYS_creat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_mknod,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_getdents,
    libc::SYS_sync_file_range,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_signalfd,
    libc::SYS_inotify_init,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_getpgrp,
    libc::SYS_pause,
    libc::SYS_alarm,
    libc::SYS_time,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
    // Where a thread keeps its own variables.
    libc::SYS_arch_prctl,
    333, // io_pgetevents
];

#[cfg(target_arch = "aarch64")]
const OLDER: &[i64] = &[
    38,  // renameat
    84,  // sync_file_range
    163, // getrlimit
    164, // setrlimit
    292, // io_pgetevents
];

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OLDER: &[i64] = &[];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::GROUPS;

    #[test]
    fn every_group_says_why_and_no_call_stands_twice() {
        let mut seen = BTreeSet::new();
        for group in GROUPS {
            assert!(!group.why.is_empty());
            for call in group.calls {
                assert!(seen.insert(call), "{call} stands twice");
            }
        }
        assert!(seen.len() < 300, "{}", seen.len());
    }
}
