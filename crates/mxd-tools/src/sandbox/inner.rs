//! The last stage of a command: lock the door, start it, and end what it leaves behind.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getpid, set_child_subreaper, set_dumpable_behavior,
    set_parent_process_death_signal, setsid, wait,
};

use super::hush::Nowhere;
use super::level::Level;
use super::orphans::end_descendants;
use super::wire::{self, Job, NOT_STARTED_BY_US, Order, Report, Usage};
use super::{doors, view};

/// Its argument.
pub(super) const STAGE: &str = "inner";

/// Starts our own binary again, as this stage: the first process of its namespace, if it has one.
pub(super) fn start(control: &UnixStream, by: &str, [stdout, stderr]: [Stdio; 2]) -> Result<Child, String> {
    let socket = control.try_clone().map_err(|error| format!("copying the socket: {error}"))?;
    Command::new("/proc/self/exe")
        .args(std::env::args_os().skip(1).take_while(|argument| argument != by))
        .arg(STAGE)
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(socket)))
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .map_err(|error| format!("starting the last stage: {error}"))
}

/// Runs until the command has ended and nothing of it is left.
pub(super) fn run() -> ExitCode {
    let Ok(control) = wire::control() else { return ExitCode::from(NOT_STARTED_BY_US) };
    let (order, _tether): (Order, _) = match wire::receive(&control) {
        Ok(Some(received)) => received,
        Ok(None) | Err(_) => return ExitCode::from(NOT_STARTED_BY_US),
    };
    match Nowhere::open().and_then(|nowhere| Ok((nowhere, lock_in(&order)?))) {
        Ok((nowhere, missing)) => work(&control, (order.level, missing), &nowhere),
        Err(what) => wire::report(&control, &Report::SetUpFailed { what }),
    }
    ExitCode::SUCCESS
}

/// Waits for the command behind the locked door. When none comes, none was needed.
fn work(control: &UnixStream, (level, missing): (Level, Vec<String>), nowhere: &Nowhere) {
    match wire::receive(control) {
        Ok(Some((job, mut with))) => {
            wire::report(control, &Report::Taken);
            supervise(control, (level, &job, with.pop()), nowhere, missing);
        }
        Ok(None) => {}
        Err(error) => {
            let what = format!("reading what to run: {error}");
            wire::report(control, &Report::SetUpFailed { what });
        }
    }
}

fn lock_in(order: &Order) -> Result<Vec<String>, String> {
    // Should whoever started this one be killed, it goes too.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("tying the stages together: {error}"))?;
    // What the command leaves behind becomes a child of this process, and can be ended by it.
    set_child_subreaper(Some(Pid::INIT)).map_err(|error| format!("adopting orphans: {error}"))?;
    // In the daemon's session the command could take over the user's terminal.
    setsid().map_err(|error| format!("leaving the session: {error}"))?;
    if order.level == Level::Full {
        // Whoever is not the first of its namespace is in somebody else's, whose view this would change.
        if getpid() != Pid::INIT {
            return Err("the last stage was not started by an anchor".to_owned());
        }
        view::show_own_processes()?;
    }
    if order.level > Level::Off {
        // Whoever may look into this process could take its socket, or change the program file it was started from.
        set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .map_err(|error| format!("closing the supervisor: {error}"))?;
    }
    doors::lock(order.level, &order.policy)
}

fn supervise(
    control: &UnixStream,
    (level, job, stdin): (Level, &Job, Option<OwnedFd>),
    nowhere: &Nowhere,
    missing: Vec<String>,
) {
    let (started, command_runs) = mpsc::sync_channel(1);
    if let Err(error) = watch_the_daemon(control, command_runs) {
        let what = format!("watching the daemon: {error}");
        return wire::report(control, &Report::SetUpFailed { what });
    }
    let child = match in_a_thread(|| start_job(level, job, stdin)) {
        Ok(child) => child,
        Err(report) => return wire::report(control, &report),
    };
    nowhere.hush();
    wire::report(control, &Report::Started { missing });
    let _watcher_lives = started.send(());
    let status = reap_until(child.id());
    end_descendants();
    if let Some(status) = status {
        let report = Report::Ended { code: status.code(), signal: status.signal(), usage: usage() };
        wire::report(control, &report);
    }
}

/// Watches whether the daemon goes away, from the moment on at which the command runs. The thread is made before: the command
/// could take all that may be had.
fn watch_the_daemon(control: &UnixStream, command_runs: mpsc::Receiver<()>) -> io::Result<()> {
    let socket = control.try_clone()?;
    let watch = move || {
        if command_runs.recv().is_ok() {
            end_with_the_daemon(socket);
        }
    };
    thread::Builder::new().spawn(watch).map(drop)
}

/// Another command of the agent may have taken all threads, which is no reason to panic.
fn in_a_thread<T: Send>(work: impl FnOnce() -> Result<T, Report> + Send) -> Result<T, Report> {
    let failed = |why: String| Report::SetUpFailed { what: format!("a thread for the command: {why}") };
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, work);
        let thread = thread.map_err(|error| failed(error.to_string()))?;
        thread.join().unwrap_or_else(|_panicked| Err(failed("it panicked".to_owned())))
    })
}

/// Starts the command, one fence further in than this process, whom it could end otherwise. What a thread gives up, it
/// gives up alone, so this has a thread of its own.
fn start_job(level: Level, job: &Job, stdin: Option<OwnedFd>) -> Result<Child, Report> {
    if level > Level::Off {
        doors::fence_off().map_err(|what| Report::SetUpFailed { what })?;
    }
    Command::new(&job.program)
        .args(&job.args)
        .current_dir(&job.cwd)
        .env_clear()
        .envs(job.env.iter().map(|(name, value)| (name, value)))
        .stdin(stdin.map_or_else(Stdio::null, Stdio::from))
        .spawn()
        .map_err(|error| Report::ExecFailed { why: error.to_string() })
}

fn usage() -> Usage {
    let Ok(used) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Usage::default() };
    let milliseconds = |time: TimeVal| time.num_milliseconds().max(0).cast_unsigned();
    Usage {
        cpu_ms: milliseconds(used.user_time()) + milliseconds(used.system_time()),
        peak_bytes: used.max_rss().max(0).cast_unsigned() * 1024,
    }
}

/// Waits for the daemon to close the socket, and ends everything then: nobody would hear how it ends.
fn end_with_the_daemon(mut socket: UnixStream) {
    let mut nothing = [0; 1];
    while matches!(socket.read(&mut nothing), Ok(1..)) {}
    end_descendants();
}

/// Collects every process that ends, until the one that matters does.
fn reap_until(command: u32) -> Option<ExitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get().cast_unsigned() == command => {
                return Some(ExitStatus::from_raw(status.as_raw()));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_none_left) => return None,
        }
    }
}
