//! The files a newcomer looks for, and the one test command the README promises.

use super::{Problem, Workspace};

const TEST_COMMAND: &str = "cargo xtask test";

/// Each with what it is for.
const FILES: &[(&str, &str)] = &[
    ("LICENSE", "add the licence text that Cargo.toml names"),
    ("CHANGELOG.md", "write what changes for a user, in the commit that changes it"),
];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let missing = FILES.iter().filter(|(file, _)| !workspace.has(file));
    let mut problems: Vec<_> =
        missing.map(|(file, remedy)| Problem::new(file, 1, "missing", *remedy)).collect();
    match workspace.text("README.md") {
        None => problems.push(Problem::new("README.md", 1, "missing", "say what this is and how to test it")),
        Some(readme) if !readme.lines().any(names_test_command) => {
            let what = format!("the README does not give the test command `{TEST_COMMAND}`");
            let remedy = "put it alone on a line of a code block, or in backticks";
            problems.push(Problem::new("README.md", 1, what, remedy));
        }
        Some(_) => {}
    }
    problems
}

/// The command exactly: alone on its line (a comment may follow) or in backticks.
fn names_test_command(line: &str) -> bool {
    let command = line.split(" #").next().unwrap_or_default().trim();
    command == TEST_COMMAND || line.split('`').skip(1).step_by(2).any(|code| code == TEST_COMMAND)
}

#[cfg(test)]
mod tests {
    use super::super::workspace::example::files;
    use super::*;

    fn found(readme: &str) -> Vec<String> {
        let workspace = files(&[("LICENSE", ""), ("CHANGELOG.md", ""), ("README.md", readme)]);
        check(&workspace).into_iter().map(|problem| problem.file).collect()
    }

    #[test]
    fn missing_files_are_found() {
        let files: Vec<_> = check(&files(&[])).into_iter().map(|problem| problem.file).collect();
        assert_eq!(files, ["LICENSE", "CHANGELOG.md", "README.md"]);
    }

    #[test]
    fn the_readme_gives_exactly_the_test_command() {
        assert_eq!(found("# Matrix\n\n    cargo test\n"), ["README.md"]);
        assert_eq!(found("cargo xtask test --all\n"), ["README.md"]);
        assert_eq!(found("```sh\ncargo xtask test   # everything\n```\n"), [""; 0]);
        assert_eq!(found("Run `cargo xtask test` first.\n"), [""; 0]);
    }
}
