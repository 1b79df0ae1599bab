//! Seccomp: which system calls the commands of an agent may use.
//!
//! Two filters hold. The first lets through what `allowed` names. The second refuses, of what the first lets through, some
//! arguments, and answers calls with a history by "operation not permitted", because programs that try them take that for
//! what it is. Where both refuse, the kernel gives the answer of the one that was installed last.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

use super::super::level::Level;
use super::super::policy::Network;
use super::allowed::GROUPS;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused with "operation not permitted". None of them is in the table of what is allowed.
const REFUSED: &[i64] = &[
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
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // Files of other processes, and files by their number, past every path.
    libc::SYS_pidfd_getfd,
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
const REFUSED_HERE: &[i64] = &[libc::SYS_iopl, libc::SYS_ioperm];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];

/// `clone` may not make namespaces. (`clone3` hides its flags in memory, where a filter cannot look. It is not allowed, and
/// "function not implemented" makes libraries use `clone`.)
const NAMESPACE_FLAGS: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// What a process may tell the kernel about itself. Others weaken the protection of its memory, or reach old code.
const PERSONALITIES: &[u32] = &[
    // What every process has.
    0,
    // The question which one it has.
    0xffff_ffff,
    // Memory at the same addresses each time: debuggers.
    0x0004_0000,
    // A 32-bit machine, and an old version of the kernel: builds for others.
    0x0000_0008,
    0x0002_0000,
    0x0002_0008,
];

/// What sockets of the internet may speak: whatever is usual, and ICMP, TCP, UDP and ICMPv6 by name. Others have the kernel
/// load code that hardly anybody uses.
const INTERNET_PROTOCOLS: &[i32] = &[0, 1, 6, 17, 58];

/// The one protocol of netlink: it lists network devices and addresses, which development servers, Node.js and Go ask for.
const NETLINK_ROUTE: i32 = 0;

/// The lower bits of the type of a socket; the others are flags.
const SOCKET_TYPE: u64 = 0xf;

/// Filters what this process and all it will start may ask of the kernel.
pub(super) fn filter(level: Level, network: &Network) -> Result<(), String> {
    install(&allow(allowed())?)?;
    install(&refuse(refused(level, network)?)?)
}

fn allowed() -> Rules {
    GROUPS.iter().flat_map(|group| group.calls).map(|&call| (call, vec![])).collect()
}

fn refused(level: Level, network: &Network) -> Result<Rules, String> {
    let mut rules: Rules = REFUSED.iter().chain(REFUSED_HERE).map(|&call| (call, vec![])).collect();
    let namespaces = NAMESPACE_FLAGS.iter().map(|&flag| any_bit(0, flag.cast_unsigned().into()));
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_ioctl, vec![equals(1, libc::TIOCSTI)?, equals(1, libc::TIOCLINUX)?]);
    let others = PERSONALITIES.iter().map(|&known| condition(0, SeccompCmpOp::Ne, known.into()));
    rules.insert(libc::SYS_personality, vec![rule(others.collect::<Result<_, _>>()?)?]);
    rules.insert(libc::SYS_socket, sockets(level, network)?);
    if level < Level::Full {
        // The limits of another process: Landlock is not asked, and the daemon has the same user.
        rules.insert(libc::SYS_prlimit64, vec![rule(vec![differs(0, 0)?])?]);
    }
    Ok(rules)
}

/// Which sockets are refused. A network namespace does not hold families such as vsock, and Landlock no datagrams.
fn sockets(level: Level, network: &Network) -> Result<Vec<SeccompRule>, String> {
    let families: &[i32] = match (level, network) {
        (Level::Full, _) => &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        (_, Network::None) => &[],
        (_, Network::Proxy { .. } | Network::Open) => &[libc::AF_INET, libc::AF_INET6],
    };
    if families.is_empty() {
        return Ok(vec![]);
    }
    let others = families.iter().map(|&family| differs(0, family)).collect::<Result<Vec<_>, _>>()?;
    let mut rules = vec![rule(others)?];
    for family in [libc::AF_INET, libc::AF_INET6] {
        rules.push(protocols_except(family, INTERNET_PROTOCOLS)?);
    }
    rules.push(protocols_except(libc::AF_NETLINK, &[NETLINK_ROUTE])?);
    if level < Level::Full {
        let stream = u64::from(libc::SOCK_STREAM.cast_unsigned());
        let kinds = (0..=SOCKET_TYPE).filter(|&kind| kind != stream);
        for kind in kinds {
            rules.push(rule(vec![condition(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), kind)?])?);
        }
    }
    Ok(rules)
}

/// Matches sockets of a family that speak none of these protocols.
fn protocols_except(family: i32, protocols: &[i32]) -> Result<SeccompRule, String> {
    let this_family = condition(0, SeccompCmpOp::Eq, family.cast_unsigned().into());
    let others = protocols.iter().map(|&protocol| differs(2, protocol));
    rule(std::iter::once(this_family).chain(others).collect::<Result<_, _>>()?)
}

/// Lets through what the rules match. Numbers of another set, which reach the same calls on x86-64, match nothing.
fn allow(rules: Rules) -> Result<BpfProgram, String> {
    compile(rules, SeccompAction::Errno(libc::ENOSYS.cast_unsigned()), SeccompAction::Allow)
}

/// Refuses what the rules match.
fn refuse(rules: Rules) -> Result<BpfProgram, String> {
    compile(rules, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM.cast_unsigned()))
}

fn compile(rules: Rules, otherwise: SeccompAction, matched: SeccompAction) -> Result<BpfProgram, String> {
    let failed = |error: seccompiler::BackendError| format!("compiling the filter of system calls: {error}");
    let machine = std::env::consts::ARCH.try_into().map_err(failed)?;
    SeccompFilter::new(rules, otherwise, matched, machine).and_then(TryInto::try_into).map_err(failed)
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

#[cfg(test)]
mod tests {
    use super::{REFUSED, REFUSED_HERE, allowed};

    #[test]
    fn what_is_always_refused_is_not_in_the_table_of_what_is_allowed() {
        let allowed = allowed();
        for call in REFUSED.iter().chain(REFUSED_HERE) {
            assert!(!allowed.contains_key(call), "{call}");
        }
    }
}
