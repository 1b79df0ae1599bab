//! Seccomp: system calls that no tool of an agent needs, and that have let others out of their sandbox.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter, sock_filter,
};

use super::super::level::Level;
use super::super::policy::Network;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused with "operation not permitted".
const NEVER: &[i64] = &[
    // Changing what is mounted where, and entering other namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Keyrings are shared by all processes of a user.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Large parts of the kernel with a history.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Files by their number, past every path.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // The machine itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
];

#[cfg(target_arch = "x86_64")]
const NEVER_HERE: &[i64] = &[libc::SYS_iopl, libc::SYS_ioperm];
#[cfg(not(target_arch = "x86_64"))]
const NEVER_HERE: &[i64] = &[];

/// `clone` may not make namespaces. (`clone3` hides its flags, so it is told to be missing, and libraries fall back.)
const NAMESPACE_FLAGS: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The lower bits of the type of a socket; the others are flags.
const SOCKET_TYPE: u64 = 0xf;

/// Filters what this process and all it will start may ask of the kernel.
pub(super) fn filter(level: Level, network: &Network) -> Result<(), String> {
    install(&foreign_numbers())?;
    install(&compile([(libc::SYS_clone3, vec![])].into(), libc::ENOSYS)?)?;
    let mut rules: Rules = NEVER.iter().chain(NEVER_HERE).map(|&call| (call, vec![])).collect();
    let forbidden = NAMESPACE_FLAGS.iter().map(|&flag| any_bit(0, flag.cast_unsigned().into()));
    rules.insert(libc::SYS_clone, forbidden.collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_ioctl, vec![equals(1, libc::TIOCSTI)?, equals(1, libc::TIOCLINUX)?]);
    rules.insert(libc::SYS_socket, sockets(level, network)?);
    if level < Level::Full {
        // The limits of another process: Landlock is not asked, and the daemon has the same user.
        rules.insert(libc::SYS_prlimit64, vec![rule(vec![differs(0, 0)?])?]);
    }
    install(&compile(rules, libc::EPERM)?)
}

/// Which sockets are refused. A network namespace does not hold families such as vsock, and Landlock no datagrams.
fn sockets(level: Level, network: &Network) -> Result<Vec<SeccompRule>, String> {
    let allowed: &[i32] = match (level, network) {
        (Level::Full, _) => &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        (_, Network::None) => &[],
        (_, Network::Proxy { .. } | Network::Open) => &[libc::AF_INET, libc::AF_INET6],
    };
    let others = allowed.iter().map(|&family| differs(0, family)).collect::<Result<Vec<_>, _>>()?;
    let mut rules = match others.is_empty() {
        true => vec![],
        false => vec![rule(others)?],
    };
    if level < Level::Full && !allowed.is_empty() {
        let stream = u64::from(libc::SOCK_STREAM.cast_unsigned());
        let kinds = (0..=SOCKET_TYPE).filter(|&kind| kind != stream);
        for kind in kinds {
            rules.push(rule(vec![condition(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), kind)?])?);
        }
    }
    Ok(rules)
}

/// On x86-64, a second set of numbers reaches the same calls past the first. No program of today uses it.
fn foreign_numbers() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32: u32 = 0x4000_0000;
    const REFUSE: u32 = 0x0005_0000 | libc::ENOSYS.cast_unsigned();
    const ALLOW: u32 = 0x7fff_0000;
    vec![
        sock_filter { code: LOAD_NUMBER, jt: 0, jf: 0, k: 0 },
        sock_filter { code: AT_LEAST, jt: 0, jf: 1, k: X32 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: REFUSE },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW },
    ]
}

fn compile(rules: Rules, errno: i32) -> Result<BpfProgram, String> {
    let failed = |error: seccompiler::BackendError| format!("compiling the filter of system calls: {error}");
    let machine = std::env::consts::ARCH.try_into().map_err(failed)?;
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, machine)
        .and_then(TryInto::try_into)
        .map_err(failed)
}

fn install(program: &BpfProgram) -> Result<(), String> {
    apply_filter(program).map_err(|error| format!("filtering system calls: {error}"))
}

fn any_bit(argument: u8, bit: u64) -> Result<SeccompRule, String> {
    rule(vec![condition(argument, SeccompCmpOp::MaskedEq(bit), bit)?])
}

fn equals(argument: u8, value: libc::c_ulong) -> Result<SeccompRule, String> {
    rule(vec![condition(argument, SeccompCmpOp::Eq, value)?])
}

fn differs(argument: u8, value: i32) -> Result<SeccompCondition, String> {
    condition(argument, SeccompCmpOp::Ne, value.cast_unsigned().into())
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        .map_err(|error| format!("a filter: {error}"))
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|error| format!("a filter: {error}"))
}
