//! Files of a worktree: kinds, names, links, sizes, depth, number.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::super::yard::write;
use super::attempts::{Attempt, Kind, Spot};
use super::ground::Ground;

/// Names that mean something to git, to a terminal or to a shell.
const NAMES: &[(&str, &[u8])] = &[
    ("a newline", b"a\nb"),
    ("a tab", b"a\tb"),
    ("an escape sequence", b"\x1b[2J\x1b]0;title\x07"),
    ("bidi characters", "\u{202e}txt.exe".as_bytes()),
    ("zero-width characters", "a\u{200b}b".as_bytes()),
    ("255 bytes", &[b'x'; 255]),
    ("invalid UTF-8", b"\xff\xfe\x80"),
    ("quotes", b"a\"b'c`d"),
    ("an option", b"--upload-pack=touch"),
    ("an option of diff", b"--output=x"),
    ("a magic pathspec", b":(exclude)*"),
    ("a wildcard", b"*"),
    ("git's folder on other systems", b"git~1"),
    ("git's folder in capitals", b".GIT"),
    ("git's folder with an ignored character", ".g\u{200c}it".as_bytes()),
    ("a command", b"$(touch x)"),
    ("a backslash", b"..\\..\\x"),
];

/// Where links lead; `@home` is a folder outside, `@other` another agent's worktree, `@self` the link.
const LINKS: &[(&str, &str)] = &[
    ("the machine's passwords", "/etc/shadow"),
    ("a file outside", "@home/secret"),
    ("a folder outside", "@home/folder"),
    ("another agent's file", "@other/own.txt"),
    ("another agent's worktree", "@other"),
    ("itself", "@self"),
    ("the folder it is in", "."),
    ("the root folder", "/"),
    ("what the process has open", "/proc/self/fd"),
    ("the environment of the process", "/proc/self/environ"),
    ("endless zeros", "/dev/zero"),
    ("a terminal", "/dev/tty"),
    ("nothing", "nowhere"),
    ("a file above", "../../../home/secret"),
];

/// Which names the link has: some of them git or the daemon reads.
const LINK_NAMES: &[&str] =
    &["link", ".gitattributes", ".gitignore", ".gitmodules", ".mxd/memory.md", ".mxd/config.json", ".git"];

/// Modules that are no modules.
const MODULES: &[(&str, &str)] = &[
    ("a command as update", "path = @name\n\turl = .\n\tupdate = \"!@command\"\n"),
    ("an option as address", "path = @name\n\turl = \"--upload-pack=@command\"\n"),
    ("an option as path", "path = \"-evil\"\n\turl = .\n"),
    ("a path outside", "path = ../../home\n\turl = .\n"),
    ("another protocol", "path = @name\n\turl = \"ext::sh -c @command\"\n"),
];

pub(super) fn attempts() -> Vec<Attempt> {
    let new = |name: String| Attempt::new(Kind::Files, name);
    let mut all = Vec::new();
    for (what, bytes) in NAMES {
        all.push(new(format!("a file whose name has {what}")).planted(move |_, spot| {
            fs::create_dir_all(&spot.folder).unwrap();
            write(&spot.folder.join(OsStr::from_bytes(bytes)), "text\n");
        }));
        all.push(new(format!("a folder whose name has {what}")).planted(move |_, spot| {
            let folder = spot.folder.join(OsStr::from_bytes(bytes));
            fs::create_dir_all(&folder).unwrap();
            write(&folder.join("file"), "text\n");
        }));
    }
    for (target, path) in LINKS {
        for name in LINK_NAMES {
            let attempt = new(format!("{name} is a link to {target}"));
            all.push(attempt.planted(move |ground, spot| link(ground, &spot.folder.join(name), path)));
        }
    }
    for (target, path) in LINKS {
        // At the top of the worktree the daemon itself knows these names.
        let attempt = new(format!("the worktree's own {} is a link to {target}", ".gitattributes"));
        all.push(attempt.alone().planted(move |ground, _| {
            link(ground, &ground.worktree.folder.join(".gitattributes"), path);
        }));
    }
    for (what, text) in MODULES {
        let attempt = new(format!("a module with {what}"));
        all.push(attempt.alone().committed(move |ground, spot| module(ground, spot, text)));
    }
    all.extend(kinds());
    all.extend(sizes());
    all
}

fn link(ground: &Ground, path: &Path, target: &str) {
    let target = target
        .replace("@home", &ground.yard.at("home").display().to_string())
        .replace("@other", &ground.other.folder.display().to_string())
        .replace("@self", &path.display().to_string());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(target, path).unwrap();
}

fn module(ground: &Ground, spot: &Spot, text: &str) {
    let text = text.replace("@name", &spot.name).replace("@command", &spot.command);
    let path = ground.worktree.folder.join(".gitmodules");
    write(&path, &format!("[submodule \"{}\"]\n\t{text}", spot.name));
    let entry = format!("160000,{},{}", ground.nested_commit(), spot.name);
    ground.yard.git_args(&ground.worktree.folder, &["update-index", "--add", "--cacheinfo", &entry]);
    ground.nest(&spot.folder);
}

/// Files that are not files.
fn kinds() -> Vec<Attempt> {
    let new = |name: &str| Attempt::new(Kind::Files, name);
    vec![
        new("a pipe").planted(|_, spot| pipe(&spot.folder.join("pipe"))),
        new("a pipe in place of a file of the commit").alone().planted(|ground, _| {
            let path = ground.worktree.folder.join("file.txt");
            fs::remove_file(&path).unwrap();
            pipe(&path);
        }),
        new("pipes that git reads in every folder").alone().planted(|_, spot| {
            pipe(&spot.folder.join(".gitignore"));
            pipe(&spot.folder.join(".gitattributes"));
        }),
        new("a socket").planted(|_, spot| socket(&spot.folder.join("socket"))),
        new("a device").planted(|_, spot| device(&spot.folder.join("device"))),
        new("a folder that nobody may enter").planted(|_, spot| {
            use std::os::unix::fs::PermissionsExt as _;
            write(&spot.folder.join("closed/file"), "text\n");
            fs::set_permissions(spot.folder.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
        }),
        new("a file in place of git's file").alone().planted(|ground, _| {
            write(&ground.worktree.folder.join(".git"), "gitdir: ../../home/folder\n");
        }),
        new("a folder in place of git's file").alone().planted(|ground, spot| {
            fs::remove_file(ground.worktree.folder.join(".git")).unwrap();
            ground.nest(&spot.folder);
            fs::rename(spot.folder.join(".git"), ground.worktree.folder.join(".git")).unwrap();
            let settings = format!("[core]\n\tfsmonitor = \"{}\"\n", spot.command);
            write(&ground.worktree.folder.join(".git/config"), &settings);
        }),
    ]
}

fn sizes() -> Vec<Attempt> {
    let new = |name: &str| Attempt::new(Kind::Files, name).alone();
    vec![
        new("2,000 folders in each other").planted(|_, spot| deep(&spot.folder, 2_000)),
        new("a file of a terabyte that holds nothing").planted(|_, spot| {
            fs::create_dir_all(&spot.folder).unwrap();
            let _too_large = File::create(spot.folder.join("huge")).unwrap().set_len(1 << 40);
        }),
        new("a huge file in place of one of the commit").planted(|ground, _| {
            let path = ground.worktree.folder.join("file.txt");
            let _too_large = File::create(path).unwrap().set_len(1 << 40);
        }),
        new("more files than anybody needs").planted(|_, spot| {
            let count = if std::env::var_os("MXD_CONTENT_ALONE").is_some() { 100_001 } else { 3_000 };
            fs::create_dir_all(&spot.folder).unwrap();
            for number in 0..count {
                File::create(spot.folder.join(number.to_string())).unwrap();
            }
        }),
        new("a rule for names without an end").planted(|_, spot| {
            write(&spot.folder.join(".gitignore"), &"**/".repeat(20_000));
            write(&spot.folder.join("file"), "text\n");
        }),
    ]
}

pub(super) fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

fn socket(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Socket, mode, 0).unwrap();
}

/// Only root can make one; for others there is nothing to try.
fn device(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let (mode, zero) = (rustix::fs::Mode::from_raw_mode(0o666), rustix::fs::makedev(1, 5));
    let _not_root =
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::CharacterDevice, mode, zero);
}

/// Paths have a limit, so each folder is made from the one above it.
fn deep(path: &Path, depth: usize) {
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    fs::create_dir_all(path).unwrap();
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = openat(rustix::fs::CWD, path, flags, Mode::empty()).unwrap();
    for _ in 0..depth {
        mkdirat(&at, "deeper", Mode::from_raw_mode(0o755)).unwrap();
        at = openat(&at, "deeper", flags, Mode::empty()).unwrap();
    }
    let bottom = PathBuf::from("bottom");
    let file = openat(&at, bottom, OFlags::WRONLY | OFlags::CREATE, Mode::from_raw_mode(0o644)).unwrap();
    rustix::io::write(&file, b"text\n").unwrap();
}
