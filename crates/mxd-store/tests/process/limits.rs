//! What the system forbids: a second owner, a directory of somebody else, a file that may not grow.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use mxd_store::{Log, OpenError, Options};

/// A helper that appends when it is told to.
struct Appender {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Appender {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, orders, answers }
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn append(&mut self, text: &str) -> String {
        writeln!(self.orders, "{text}").unwrap();
        self.answer()
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn appender(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("append").arg(dir);
    command
}

pub(crate) fn lock() {
    let dir = tempfile::tempdir().unwrap();
    let mut owner = Appender::start(appender(&std::env::current_exe().unwrap(), dir.path()));
    assert_eq!(owner.answer(), "opened");
    let error = Log::open(dir.path(), Options::default(), &mut ()).unwrap_err();
    let told = error.to_string();
    assert!(matches!(error, OpenError::Locked { .. }), "{told}");
    assert!(told.contains(&format!("pid {}", owner.child.id())), "{told}");
    owner.child.kill().unwrap();
    owner.child.wait().unwrap();
    // The dead owner's lock file stands; its pid may be anybody's by now, for instance ours.
    assert!(std::fs::read_to_string(dir.path().join("lock")).unwrap().starts_with("pid "));
    std::fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(dir.path().join("lock"))
        .unwrap()
        .write_all(format!("pid {}", std::process::id()).as_bytes())
        .unwrap();
    Log::open(dir.path(), Options::default(), &mut ()).unwrap();
}

pub(crate) fn read_only() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("data");
    std::fs::create_dir(&root).unwrap();
    let mut command = appender(&copy_of_this_program(dir.path()), &root);
    if rustix::process::geteuid().is_root() {
        // Nothing is forbidden to root, so the helper is somebody else.
        command.uid(65_534).gid(65_534);
    }
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&root, PermissionsExt::from_mode(0o555)).unwrap();
    let mut helper = Appender::start(command);
    let told = helper.answer();
    assert!(told.contains("cannot write to") && told.contains(root.to_str().unwrap()), "{told}");
    assert!(told.contains("make the directory writable"), "{told}");
    assert_eq!(std::fs::read_dir(&root).unwrap().count(), 0, "nothing was made there");
    std::fs::set_permissions(&root, PermissionsExt::from_mode(0o755)).unwrap();
}

/// The build folder may be closed to other users.
fn copy_of_this_program(dir: &Path) -> PathBuf {
    let copy = dir.join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o755)).unwrap();
    copy
}

/// A limit on the size of files makes the kernel cut a write short, as a full disk does.
pub(crate) fn write_limit() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new("bash");
    command
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -S -f 3; exec \"$@\"")
        .arg("limited")
        .arg(std::env::current_exe().unwrap())
        .args(["append".as_ref(), dir.path().as_os_str()]);
    let mut helper = Appender::start(command);
    assert_eq!(helper.answer(), "opened");
    let text = "x".repeat(700);
    let mut acknowledged = 0;
    let refused = (0..20).find_map(|_| match helper.append(&text) {
        answer if answer.starts_with("ok ") => {
            acknowledged += 1;
            None
        }
        answer => Some(answer),
    });
    let refused = refused.expect("three blocks of 1024 bytes are full soon");
    assert!(refused.contains("no space left") && refused.contains("free some space"), "{refused}");
    assert!(acknowledged > 0);
    assert_eq!(helper.append("short"), format!("ok {}", acknowledged + 1), "a shorter one still fits");
    let lifted = Command::new("prlimit")
        .arg("--pid")
        .arg(helper.child.id().to_string())
        .arg("--fsize=unlimited")
        .status();
    assert!(lifted.unwrap().success());
    assert_eq!(helper.append(&text), format!("ok {}", acknowledged + 2), "appending goes on by itself");
    drop(helper);
    let log = Log::open(dir.path(), Options::default(), &mut ()).unwrap();
    assert_eq!(*log.head().borrow(), acknowledged + 2);
    assert_eq!((log.report().torn.as_ref(), log.report().damages.len()), (None, 0));
}

/// A system that gives no threads: whoever calls does the work.
pub(crate) fn without_threads() {
    let dir = tempfile::tempdir().unwrap();
    let run = |stack: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        // No thread can have a stack of this size, so none is started.
        command.arg("threadless").arg(dir.path()).env("RUST_MIN_STACK", stack);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let without = run("900000000000000");
    assert!(without.ends_with(" of 12"), "{without}");
    let with = run("2000000");
    assert!(with.ends_with(" of 24"), "{with}");
}
