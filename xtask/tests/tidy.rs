//! Runs every tidy rule on this repository, so that `cargo test` holds what the documents promise.

use xtask::tidy::{RULES, Workspace};
use xtask::workspace_root;

#[test]
fn the_repository_keeps_its_rules() {
    let workspace = Workspace::load(workspace_root()).expect("the repository can be read");
    let mut count = 0;
    for (name, rule) in RULES {
        for problem in rule(&workspace) {
            eprintln!("[{name}] {problem}");
            count += 1;
        }
    }
    assert_eq!(count, 0, "{count} problems, listed above");
}

#[test]
fn the_repository_was_really_looked_at() {
    let workspace = Workspace::load(workspace_root()).expect("the repository can be read");
    assert!(workspace.packages().iter().any(|package| package.name == "xtask"));
    assert!(workspace.has("xtask/src/tidy"));
    assert!(workspace.texts("rs").any(|(path, _)| path == "xtask/tests/tidy.rs"));
    assert!(!workspace.has("target"), "build output is not ours to judge");
}
