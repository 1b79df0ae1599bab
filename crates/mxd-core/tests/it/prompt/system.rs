//! The system text: one for all agents, stable, and true about the tools it names.

use std::path::Path;

use mxd_core::prompt::text::SYSTEM;
use mxd_core::tool::Digest;
use mxd_core::tool::orchestrator::Orchestrator;

use crate::golden;

/// A changed system text breaks every provider's cache and every agent's habits, so it changes on purpose only.
#[test]
fn the_system_text_changes_only_on_purpose() {
    let words = SYSTEM.split_whitespace().count();
    let print = format!("{}\n{words} words\n", Digest::of(SYSTEM.as_bytes()));
    golden::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/system.txt"), &print);
    assert!(words <= 2_500, "{words} words");
}

#[test]
fn the_system_text_says_nothing_about_one_task_machine_or_day() {
    assert!(!SYSTEM.chars().any(|c| c.is_control() && c != '\n'));
    for volatile in ["202", "/home", "/tmp", "C:\\", "main branch", "master", "http:", "https:", "{", "}"] {
        assert!(!SYSTEM.contains(volatile), "{volatile}");
    }
    assert!(SYSTEM.is_ascii(), "every provider counts and caches plain characters alike");
}

#[test]
fn every_tool_the_system_text_names_exists() {
    let named = SYSTEM
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| code.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
    let fields = ["after", "passed", "failed", "clean", "checkout"];
    let named: Vec<&str> = named.filter(|name| !fields.contains(name)).collect();
    assert!(named.contains(&"done"), "{named:?}");
    for name in named {
        assert!(Orchestrator::NAMES.contains(&name), "{name}");
    }
}

#[test]
fn every_subject_that_agents_need_has_its_chapter() {
    let chapters: Vec<&str> = SYSTEM.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    let expected = [
        "Who is who",
        "Doing the work",
        "Git",
        "Debugging",
        "Commands and limits",
        "When to split, and how",
        "Being done",
        "Asking and telling",
        "Memory",
    ];
    assert_eq!(chapters, expected);
}
