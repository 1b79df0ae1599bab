//! The farm with everything on it that could be reached: secrets, servers, a process of the user's, another agent.

use std::fs::{self, File};
use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use mxd_tools::sandbox::{Level, Limits, Mode};
use nix::libc;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use tokio::io::AsyncReadExt;
use tokio::sync::oneshot;

use super::attempt::{Attempt, Daemon, Family, Sign};
use super::keys;
use crate::farm::{Farm, Hut, SECRET, git};

/// Functions for all scripts: `say` claims success, `sys` asks the kernel directly and ends with its error number, after
/// which `answered` says whether the kernel has looked at the arguments; `netlink` opens a socket of that protocol.
const PRELUDE: &str = r#"
    say() { echo ESCAPED; }
    sys() { perl -e '
        my $call = shift;
        my @args = map { /^-?\d+$/ ? $_ + 0 : $_ } @ARGV;
        exit(syscall($ENV{"SYS_$call"} + 0, @args) == -1 ? $! + 0 : 0);' -- "$@"; }
    answered() { case $? in 1|38) return 1;; esac; }
    netlink() { perl -e 'exit !socket my $socket, 16, 3, shift' "$1"; }
"#;

/// A line of its own in the output claims success.
const CLAIM: &str = "ESCAPED";

/// How long the daemon may take to prepare an agent. Only a daemon that was made to hang reaches it.
const PATIENCE: Duration = Duration::from_secs(10);

const CALLS: &[(&str, libc::c_long)] = &[
    ("acct", libc::SYS_acct),
    ("add_key", libc::SYS_add_key),
    ("bpf", libc::SYS_bpf),
    ("chroot", libc::SYS_chroot),
    ("clone", libc::SYS_clone),
    ("clone3", libc::SYS_clone3),
    ("fanotify_init", libc::SYS_fanotify_init),
    ("fanotify_mark", libc::SYS_fanotify_mark),
    ("fsopen", libc::SYS_fsopen),
    ("init_module", libc::SYS_init_module),
    ("inotify_add_watch", libc::SYS_inotify_add_watch),
    ("inotify_init1", libc::SYS_inotify_init1),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("ioctl", libc::SYS_ioctl),
    ("kcmp", libc::SYS_kcmp),
    ("keyctl", libc::SYS_keyctl),
    ("mbind", libc::SYS_mbind),
    ("memfd_secret", libc::SYS_memfd_secret),
    ("migrate_pages", libc::SYS_migrate_pages),
    ("modify_ldt", MODIFY_LDT),
    ("mount", libc::SYS_mount),
    ("move_pages", libc::SYS_move_pages),
    ("mq_open", libc::SYS_mq_open),
    ("mq_unlink", libc::SYS_mq_unlink),
    ("name_to_handle_at", libc::SYS_name_to_handle_at),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("open_tree", libc::SYS_open_tree),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("personality", libc::SYS_personality),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pidfd_send_signal", libc::SYS_pidfd_send_signal),
    ("pivot_root", libc::SYS_pivot_root),
    ("process_madvise", libc::SYS_process_madvise),
    ("process_mrelease", libc::SYS_process_mrelease),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("ptrace", libc::SYS_ptrace),
    ("quotactl_fd", libc::SYS_quotactl_fd),
    ("reboot", libc::SYS_reboot),
    ("remap_file_pages", libc::SYS_remap_file_pages),
    ("request_key", libc::SYS_request_key),
    ("set_mempolicy", libc::SYS_set_mempolicy),
    ("sethostname", libc::SYS_sethostname),
    ("setns", libc::SYS_setns),
    ("setxattr", libc::SYS_setxattr),
    ("swapon", libc::SYS_swapon),
    ("syslog", libc::SYS_syslog),
    ("tgkill", libc::SYS_tgkill),
    ("umount2", libc::SYS_umount2),
    ("unshare", libc::SYS_unshare),
    ("userfaultfd", libc::SYS_userfaultfd),
    ("vmsplice", libc::SYS_vmsplice),
];

#[cfg(target_arch = "x86_64")]
const MODIFY_LDT: libc::c_long = libc::SYS_modify_ldt;
/// A number that no kernel knows: other processors have no such call.
#[cfg(not(target_arch = "x86_64"))]
const MODIFY_LDT: libc::c_long = 0xffff;

/// Where one family is tried.
pub(super) struct Scene {
    pub(super) farm: Farm,
    family: &'static Family,
    env: Vec<(String, String)>,
    one: Hut,
    two: Hut,
    victim: Child,
    /// A terminal of the user's stays as long as this end is open.
    _terminal: OwnedFd,
    /// A file that whoever started the daemon left open, for every process it starts.
    _left_open: File,
    /// Where `main` stood.
    pub(super) main: String,
    /// An object of the user's that nothing names.
    pub(super) precious: String,
}

impl Scene {
    /// Builds everything, and lets agent `two` prepare.
    pub(super) async fn set(mode: Mode, family: &'static Family) -> Self {
        let farm = Farm::new(mode).await;
        for path in ["data/trees/two/secret", "data/scratch/two/tmp/secret", "repo/uncommitted"] {
            farm.write(path, SECRET);
        }
        for path in ["home/.cargo/bin/tool", "home/.cargo/registry/crate"] {
            farm.write(path, "clean\n");
        }
        farm.write("home/.cargo/config.toml", "# clean\n");
        keys::lay_out(&farm);
        std::os::unix::fs::symlink(SECRET, farm.at("home/link")).unwrap();
        git(&farm.at("repo"), "config extensions.worktreeConfig true");
        farm.write("precious", "precious\n");
        let precious = git(&farm.at("repo"), "hash-object -w ../precious").trim().to_owned();
        let main = git(&farm.at("repo"), "rev-parse main").trim().to_owned();
        let victim = victim(&farm);
        let (terminal, terminal_path) = terminal();
        let mut env = variables(&farm, &victim, &precious);
        env.push(("TERMINAL".to_owned(), terminal_path));
        let left_open = File::open(farm.at("home/notes.txt")).unwrap();
        fcntl_setfd(&left_open, FdFlags::empty()).unwrap();
        env.push(("LEFT_OPEN".to_owned(), left_open.as_raw_fd().to_string()));
        let (one, two) = (hut(&farm, "one", family, &env), hut(&farm, "two", family, &env));
        let scene = Self {
            farm,
            family,
            env,
            one,
            two,
            victim,
            _terminal: terminal,
            _left_open: left_open,
            main,
            precious,
        };
        if !family.prepare.is_empty() {
            run(&scene.two, family.prepare).await;
        }
        scene
    }

    /// Tries one attempt. Whether it succeeded, and what was printed.
    pub(super) async fn play(&mut self, attempt: &Attempt) -> (bool, String) {
        let (text, mut shown) = run(&self.one, attempt.script).await;
        if self.family.daemon == Daemon::StartsTheAgentAnew {
            match self.start_anew().await {
                Some(text) => shown += &text,
                None => return (true, format!("{shown}\nthe daemon hangs")),
            }
        }
        let succeeded = match attempt.sign {
            Sign::Told => claims(&text),
            Sign::Seen(trace) => trace(self),
            Sign::ToldByTheOther(script) => {
                let (told, told_shown) = run(&self.two, script).await;
                shown += &told_shown;
                claims(&told)
            }
        };
        (succeeded, shown)
    }

    /// Prepares agent `one` once more and runs a command. `None` when that does not come to an end.
    async fn start_anew(&mut self) -> Option<String> {
        let agent = self.farm.agent("one");
        let level = self.farm.level();
        let (done, settled) = oneshot::channel();
        // A thread that is not waited for: should it hang, the test still ends.
        thread::spawn(move || done.send(agent.settle(level).is_ok()));
        tokio::time::timeout(PATIENCE, settled).await.ok()?.unwrap();
        self.one = hut(&self.farm, "one", self.family, &self.env);
        let command = self.one.command("true");
        let started = tokio::time::timeout(PATIENCE, self.one.cell.spawn(command)).await.ok()?;
        match started {
            Ok(mut child) => child.wait().await.ok().map(|exit| format!("\n{:?}", exit.end)),
            // It cannot start any more: the agent has only harmed itself.
            Err(error) => Some(format!("\n{error}")),
        }
    }

    pub(super) fn level(&self) -> Level {
        self.farm.level()
    }

    /// Whether limits hold for all processes of an agent together.
    pub(super) fn limits_hold_together(&self) -> bool {
        self.one.cell.shortfalls().is_empty()
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.farm.at(path)
    }

    pub(super) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_default()
    }

    /// What git says, of the repository as the user sees it; nothing when it fails.
    pub(super) fn git(&self, arguments: &str) -> String {
        let output = Command::new("git")
            .args(arguments.split(' '))
            .current_dir(self.at("repo"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        if output.status.success() {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        } else {
            String::new()
        }
    }

    /// Whether somebody holds a lock on a file of agent `one`.
    pub(super) fn is_held(&self, path: &str) -> bool {
        let file = File::open(self.at("data/trees/one").join(path)).unwrap();
        matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock))
    }

    /// Clears away what would stay on the machine.
    pub(super) fn strike(mut self) {
        let clean = format!("{PRELUDE}{}", self.family.clean);
        let mut cleaner = Command::new("/bin/bash");
        cleaner.args(["-c", &clean]).envs(self.env.iter().map(|(name, value)| (name, value)));
        cleaner.output().unwrap();
        let _gone_already = self.victim.kill();
        self.victim.wait().unwrap();
    }
}

/// Runs a script: what it printed, and the same with how it ended.
async fn run(hut: &Hut, script: &str) -> (String, String) {
    let mut child = match hut.cell.spawn(hut.command(&format!("{PRELUDE}{script}"))).await {
        Ok(child) => child,
        Err(error) => return (String::new(), format!("{error}\n")),
    };
    let mut bytes = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut bytes).await.unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let shown = match child.wait().await {
        Ok(exit) => format!("{text}{:?}\n", exit.end),
        Err(error) => format!("{text}{error}\n"),
    };
    (text, shown)
}

fn claims(text: &str) -> bool {
    text.contains(SECRET) || text.lines().any(|line| line == CLAIM)
}

fn hut(farm: &Farm, name: &str, family: &Family, env: &[(String, String)]) -> Hut {
    let limits: Limits = (family.limits)();
    let mut agent = farm.agent(name);
    agent.limits = limits;
    let mut hut = farm.hut(&agent);
    hut.env.extend_from_slice(env);
    hut
}

/// A process of the user's, with a secret in its arguments, its environment, its open file and its folder.
fn victim(farm: &Farm) -> Child {
    Command::new("/bin/bash")
        .args(["-c", "exec 3< \"$0\"; read", farm.at("home/notes.txt").to_str().unwrap(), SECRET])
        .env("CANARY", SECRET)
        .current_dir(farm.at("data/log"))
        .stdin(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap()
}

fn terminal() -> (OwnedFd, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    unlockpt(&ours).unwrap();
    let path = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    (ours, path)
}

/// Our session, as the kernel tells it to a script: zero where its leader is outside our process namespace,
/// a number that the typed call cannot hold.
fn session() -> String {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name before it may hold spaces and brackets: count from its last bracket.
    let after_name = stat.rsplit_once(')').unwrap().1;
    after_name.split_whitespace().nth(3).unwrap().to_owned()
}

/// What the scripts know: it is no secret where things are.
fn variables(farm: &Farm, victim: &Child, precious: &str) -> Vec<(String, String)> {
    let ground = farm.ground.path().to_str().unwrap();
    let mut env: Vec<(String, String)> = [
        ("GROUND", ground.to_owned()),
        ("COMMON", format!("{ground}/repo/.git")),
        ("VICTIM", victim.id().to_string()),
        ("DAEMON", std::process::id().to_string()),
        ("SESSION", session()),
        ("TCP_PORT", serve_tcp().to_string()),
        ("UDP_PORT", serve_udp().to_string()),
        ("ABSTRACT", serve_abstract(ground)),
        ("PRECIOUS", precious.to_owned()),
        // One of its own for each scene: what is not stopped meets the others.
        ("KEY", victim.id().to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    serve_path(farm);
    env.extend(CALLS.iter().map(|(name, number)| (format!("SYS_{name}"), number.to_string())));
    env
}

fn serve_tcp() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || listener.incoming().flatten().for_each(|mut caller| tell(&mut caller)));
    port
}

fn serve_udp() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut question = [0; 512];
        while let Ok((_, caller)) = socket.recv_from(&mut question) {
            let _gone = socket.send_to(SECRET.as_bytes(), caller);
        }
    });
    port
}

fn serve_abstract(ground: &str) -> String {
    let name = format!("{ground}/abstract");
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    thread::spawn(move || listener.incoming().flatten().for_each(|mut caller| tell(&mut caller)));
    name
}

fn serve_path(farm: &Farm) {
    let listener = UnixListener::bind(farm.at("data/daemon.sock")).unwrap();
    thread::spawn(move || listener.incoming().flatten().for_each(|mut caller| tell(&mut caller)));
}

fn tell(caller: &mut impl Write) {
    let _gone = caller.write_all(SECRET.as_bytes());
}
