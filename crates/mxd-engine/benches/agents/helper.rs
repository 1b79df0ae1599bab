//! The processes that are measured.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use crate::ground::repository::{make_repository, write_settings};
use crate::model::Model;

/// What the kernel counts processor time in, of a second.
const TICKS: f64 = 100.0;

/// A process of this program.
pub(crate) struct Helper {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Helper {
    pub(crate) fn start(words: &[&str]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    pub(crate) fn engine(ground: &Path, work: &[&str]) -> Self {
        Self::start(&[&["engine", ground.to_str().unwrap()], work].concat())
    }

    /// Waits until it says this.
    pub(crate) fn until(&mut self, word: &str) {
        let said = self.lines.by_ref().map(Result::unwrap).any(|line| line == word);
        assert!(said, "the process ended before it said {word:?}");
    }

    /// Megabytes of memory it has now.
    pub(crate) fn megabytes(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
    }

    /// Milliseconds of processor time that it used so far, with everything below it, ended or not.
    pub(crate) fn processor_ms(&self) -> f64 {
        let mut family = vec![self.child.id()];
        let mut ticks = 0.0;
        while let Some(process) = family.pop() {
            family.extend(children(process));
            // One that has ended meanwhile is in what its parent has counted.
            let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { continue };
            let (_, fields) = stat.rsplit_once(')').unwrap();
            ticks += fields
                .split_whitespace()
                .skip(11)
                .take(4)
                .map(|ticks| ticks.parse::<f64>().unwrap())
                .sum::<f64>();
        }
        ticks * 1_000.0 / TICKS
    }

    /// Ends it without a warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Has it end.
    pub(crate) fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

fn children(process: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let lists = threads.flatten().flat_map(|thread| std::fs::read_to_string(thread.path().join("children")));
    lists.flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>()).collect()
}

/// A repository and settings for the engine, with this model. Below the build folder, which is on a real disk where the
/// folder for temporary files may not be.
pub(crate) fn ground(model: &Model) -> TempDir {
    let ground = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    make_repository(&ground.path().join("repo"));
    // What is measured is not what the limits are for.
    let limits = serde_json::json!({ "limits": { "agents": 256, "turns": 100_000, "repeats": 100 } });
    write_settings(ground.path(), &model.url(), limits);
    ground
}
