//! Programs are started by their owners alone: whoever starts one elsewhere would sooner or later start git over files that an
//! agent wrote, outside of the sandbox.

use super::tokens::{PathUse, paths};
use super::{Problem, Workspace};

/// The crates that a daemon is made of.
const CRATES: &[&str] = &["mxd-core", "mxd-engine", "mxd-llm", "mxd-server", "mxd-store", "mxd-tools"];

/// Who may start programs, and what for.
const OWNERS: &[(&str, &str)] = &[
    ("crates/mxd-engine/src/git/run.rs", "git over the user's repository"),
    ("crates/mxd-tools/src/sandbox/launch.rs", "supervisors of sandboxes"),
    ("crates/mxd-tools/src/sandbox/inner.rs", "what runs in a sandbox"),
    ("crates/mxd-tools/src/package/find.rs", "the Python that says where its packages are"),
    ("crates/mxd-tools/src/bin/mxd_odd_server/kinds.rs", "a server that misbehaves, for tests"),
];

const REMEDY: &str = "over files of agents: `Repository::inspect` or `git_in_sandbox`; for agents: a cell of `mxd_tools::sandbox`";

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let is_of_the_daemon =
        |path: &str| CRATES.iter().any(|name| path.starts_with(&format!("crates/{name}/src/")));
    let is_owner = |path: &str| OWNERS.iter().any(|(owner, _)| path == *owner);
    let sources = workspace.texts("rs").filter(|(path, _)| is_of_the_daemon(path) && !is_owner(path));
    sources.flat_map(|(path, source)| check_source(path, source)).collect()
}

fn check_source(file: &str, source: &str) -> Vec<Problem> {
    let paths = match paths(source) {
        Ok(paths) => paths,
        Err(error) => return vec![Problem::new(file, 1, format!("not Rust: {error}"), "make it compile")],
    };
    let problem = |path: &PathUse| {
        let what = format!("`{}` starts programs, which only their owners do", path.segments.join("::"));
        Problem::new(file, path.line, what, REMEDY)
    };
    paths.iter().filter(|path| starts_programs(path)).map(problem).collect()
}

/// `process::Command`, however it is reached, and everything of a module that has it.
fn starts_programs(path: &PathUse) -> bool {
    let pairs = path.segments.windows(2);
    let named = |pair: &[String]| pair[0] == "process" && (pair[1] == "Command" || pair[1] == "*");
    pairs.into_iter().any(named) || path.segments.iter().any(|part| part == "posix_spawn" || part == "execve")
}

#[cfg(test)]
mod tests {
    use super::super::workspace::example::files;
    use super::*;

    fn found(path: &str, source: &str) -> usize {
        check(&files(&[(path, source)])).len()
    }

    #[test]
    fn command_is_seen_wherever_it_comes_from() {
        for source in [
            "use std::process::Command;",
            "use tokio::process::{Child, Command};",
            "use std::process; fn f() { process::Command::new(p); }",
            "fn f() { std::process::Command::new(p); }",
            "use std::process::*;",
            "use tokio::process::Command as Start;",
            "fn f() { libc::execve(a, b, c); }",
        ] {
            assert_eq!(found("crates/mxd-engine/src/agents/merge.rs", source), 1, "{source}");
            assert_eq!(found("crates/mxd-engine/src/git/run.rs", source), 0, "{source}");
        }
    }

    #[test]
    fn other_commands_and_other_crates_are_left_alone() {
        assert_eq!(found("crates/mxd-engine/src/agents/merge.rs", "use mxd_tools::sandbox::Command;"), 0);
        assert_eq!(found("crates/mxd-engine/src/agents/merge.rs", "use std::process::ExitStatus;"), 0);
        assert_eq!(found("crates/mxd/src/page.rs", "use tokio::process::Command;"), 0);
        assert_eq!(found("crates/mxd-engine/tests/it/git/yard.rs", "use std::process::Command;"), 0);
    }
}
