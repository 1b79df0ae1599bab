//! The demo under a tracer: which paths of agents' worktrees are touched by processes that are in no sandbox.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// What the daemon itself may touch there. It goes from folder to folder by descriptors and follows no link: the files that
/// agents name to their file tools, the project's memory, and, before an agent was there, what makes the worktree.
const KNOWN: &[(&str, &[&str])] = &[
    ("mxd", &["openat", "openat2", "newfstatat", "statx", "readlinkat", "renameat"]),
    ("git worktree add", &["newfstatat", "openat", "mkdir", "unlink"]),
];

/// One process, or one of its threads.
#[derive(Debug, Clone, Default)]
struct Process {
    /// What it is: the program, and the first words that it was told.
    name: String,
    /// Whether it is, or comes from, a supervisor of the sandbox.
    is_confined: bool,
}

/// What was written down about one system call.
struct Record<'a> {
    process: &'a str,
    call: &'a str,
    text: String,
}

#[test]
fn nothing_outside_of_a_sandbox_reads_what_agents_wrote_but_what_is_known() {
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("strace is not installed: nothing is traced");
        return;
    }
    let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (folder, trace) = (ground.path().join("demo"), ground.path().join("trace"));
    let ended = Command::new("strace")
        .args(["-f", "-qq", "-y", "--decode-pids=pidns", "-s", "300", "-e", "signal=none"])
        .args(["-e", "trace=%file,%process,openat2", "-o"])
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_mxd"))
        .args(["demo", "--json", "--no-open", "--pace", "quick", "--folder"])
        .arg(&folder)
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let text = std::fs::read(&trace).unwrap();
    let text = String::from_utf8_lossy(&text);
    let touched = touched(&text, &folder.join("tally/.worktrees"));
    assert!(touched.confined > 100, "agents' files were looked at in sandboxes: {}", touched.confined);
    let unknown: Vec<_> = touched.outside.into_iter().filter(|found| !is_known(found)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

fn is_known((process, call, _): &(String, String, String)) -> bool {
    KNOWN.iter().any(|(name, calls)| process.starts_with(name) && calls.contains(&call.as_str()))
}

#[derive(Default)]
struct Touched {
    /// By whom, how, and which path.
    outside: BTreeSet<(String, String, String)>,
    /// How often, in sandboxes.
    confined: usize,
}

/// Who touched something strictly below a worktree.
fn touched(text: &str, worktrees: &Path) -> Touched {
    let prefix = format!("{}/", worktrees.display());
    let records = records(text);
    let parents = parents(&records);
    let mut processes = BTreeMap::new();
    let mut touched = Touched::default();
    for Record { process, call, text } in &records {
        let mut now = known(process, &parents, &mut processes);
        if *call == "execve" && text.ends_with("= 0") {
            let words: Vec<&str> = quoted(text.split('[').nth(1).unwrap_or_default());
            let program = words.first().map_or("", |path| path.rsplit('/').next().unwrap_or(path));
            let told = words.iter().skip(1).filter(|word| !word.starts_with("--")).take(2);
            now.name = told.fold(program.to_owned(), |name, word| format!("{name} {word}"));
            now.is_confined |= words.contains(&"__sandbox");
            processes.insert((*process).to_owned(), now);
            continue;
        }
        let about = text.rsplit_once(" = ").map_or(text.as_str(), |(about, _)| about);
        // Of these the second text is the answer, such as a file that a process listed in `/proc` has open.
        let count = if call.starts_with("readlink") { 1 } else { usize::MAX };
        for path in paths(about).into_iter().take(count) {
            let below = path.strip_prefix(&prefix).and_then(|rest| rest.split_once('/'));
            let Some((_, below)) = below.filter(|(_, below)| !below.is_empty() && *call != "execve") else {
                continue;
            };
            if now.is_confined {
                touched.confined += 1;
            } else {
                touched.outside.insert((now.name.clone(), (*call).to_owned(), below.to_owned()));
            }
        }
    }
    touched
}

/// The calls of a trace, each with its two halves joined, in the order in which they began.
fn records(text: &str) -> Vec<Record<'_>> {
    let mut records: Vec<Record<'_>> = Vec::new();
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    for line in text.lines() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(end) = rest.strip_prefix("<... ") {
            let end = end.split_once('>').map_or("", |(_, end)| end);
            if let Some(record) = open.remove(process).and_then(|at| records.get_mut(at)) {
                record.text.push_str(end);
            }
            continue;
        }
        let Some((call, _)) = rest.split_once('(') else { continue };
        let begin = rest.strip_suffix("<unfinished ...>");
        if begin.is_some() {
            open.insert(process, records.len());
        }
        records.push(Record { process, call, text: begin.unwrap_or(rest).to_owned() });
    }
    records
}

/// Who started whom. Inside of a sandbox processes have other numbers, which the tracer translates.
fn parents(records: &[Record<'_>]) -> BTreeMap<String, String> {
    let started = records.iter().filter(|record| ["clone", "clone3", "fork", "vfork"].contains(&record.call));
    let pair = |record: &Record<'_>| {
        let answer = record.text.rsplit_once(" = ")?.1;
        let number = match answer.split_once("/* ") {
            Some((_, translated)) => translated.split(' ').next()?,
            None => answer.trim(),
        };
        number.parse::<u32>().ok()?;
        Some((number.to_owned(), record.process.to_owned()))
    };
    started.filter_map(pair).collect()
}

fn known(process: &str, parents: &BTreeMap<String, String>, all: &mut BTreeMap<String, Process>) -> Process {
    if let Some(known) = all.get(process) {
        return known.clone();
    }
    let inherited = parents.get(process).map(|parent| known(parent, parents, all)).unwrap_or_default();
    all.insert(process.to_owned(), inherited.clone());
    inherited
}

/// The paths of a call; those that begin at an open folder with that folder before them.
fn paths(about: &str) -> Vec<String> {
    let folder =
        about.split_once("</").and_then(|(_, rest)| rest.split_once('>')).map(|(path, _)| format!("/{path}"));
    let full = |path: &str| match &folder {
        Some(folder) if !path.starts_with('/') => format!("{folder}/{path}"),
        _ => path.to_owned(),
    };
    quoted(about).into_iter().map(full).collect()
}

fn quoted(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

#[test]
fn reader_of_traces_knows_who_is_in_a_sandbox() {
    let trace = "10 execve(\"/bin/mxd\", [\"/bin/mxd\", \"serve\"], 0x1 /* 2 vars */) = 0\n\
                 10 clone(flags=SIGCHLD) = 11\n\
                 11 execve(\"/proc/self/exe\", [\"/proc/self/exe\", \"__sandbox\", \"inner\"], 0x1) = 0\n\
                 11 clone(flags=SIGCHLD) = 2 /* 12 in strace's PID NS */\n\
                 12 openat(AT_FDCWD</w/1>, \"/w/1/a\", O_RDONLY) = 3\n\
                 10 clone(flags=SIGCHLD <unfinished ...>\n\
                 13 execve(\"/bin/git\", [\"git\", \"--no-pager\", \"status\"], 0x1) = 0\n\
                 10 <... clone resumed>) = 13\n\
                 13 openat(5</w/1>, \"b\", O_RDONLY) = 3\n\
                 13 newfstatat(AT_FDCWD</w/1>, \"/w/1\", 0x1, 0) = 0\n";
    let touched = touched(trace, Path::new("/w"));
    assert_eq!(touched.confined, 1);
    let expected = ("git status".to_owned(), "openat".to_owned(), "b".to_owned());
    assert_eq!(touched.outside.into_iter().collect::<Vec<_>>(), [expected]);
}
