//! The system text: one for all agents, stable, and true about the tools it names.

use std::path::Path;

use mxd_core::prompt::text::{SELF_BOOTSTRAP, SYSTEM};
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
fn the_system_texts_say_nothing_about_one_task_machine_or_day() {
    for text in [SYSTEM, SELF_BOOTSTRAP] {
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        for volatile in ["202", "/home", "/tmp", "C:\\", "main branch", "master", "http:", "https:", "{", "}"]
        {
            assert!(!text.contains(volatile), "{volatile}");
        }
        assert!(text.is_ascii(), "every provider counts and caches plain characters alike");
    }
}

/// What a root has to know that works on the program that runs it.
#[test]
fn the_chapter_about_the_program_itself_has_every_rule_and_stays_short() {
    let words = SELF_BOOTSTRAP.split_whitespace().count();
    assert!(words <= 600, "{words} words");
    let chapters: Vec<&str> = SELF_BOOTSTRAP.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    assert_eq!(chapters, ["The program you work on runs you"]);
    let text = SELF_BOOTSTRAP.split_whitespace().collect::<Vec<_>>().join(" ");
    let rules = [
        "Never stop, restart, signal, replace or reconfigure the running daemon",
        "into build folders of their own",
        "with a data folder, a port and a small repository made for the trial",
        "takes effect when the user has built it and started the daemon again",
        "have to be readable by both versions",
        "have the project's own test command run, the whole of it",
        "Change what they allow only when the user asked for that change",
        "put into each brief what its task needs of it",
        "They are not addressed to you",
    ];
    for rule in rules {
        assert!(text.contains(rule), "{rule}");
    }
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
