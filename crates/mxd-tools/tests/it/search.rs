//! `search`: all output modes, what is searched, and what is said when it cannot be.

use std::fs::{self, OpenOptions};

use mxd_tools::builtin::search::{Args, OutputMode, run};
use mxd_tools::outcome::Outcome;
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::ground::{Ground, bad, good, put};

fn search(ground: &Ground, args: &Args) -> Outcome {
    run(args, &ground.scope, &CancellationToken::new())
}

fn args(pattern: &str) -> Args {
    Args { pattern: pattern.to_owned(), ..Args::default() }
}

fn example() -> Ground {
    let ground = Ground::new();
    ground.put("src/a.rs", "fn alpha() {}\nlet x = 1;\nfn beta() {}\n");
    ground.put("src/b.rs", "// nothing\nfn Gamma() {}\n");
    ground.put("notes.md", "fn in a text\n");
    ground
}

#[test]
fn matching_lines_come_with_their_numbers() {
    let ground = example();
    let text = good(&search(&ground, &args(r"^fn \w+\(")));
    assert_eq!(text, "src/a.rs\n1: fn alpha() {}\n3: fn beta() {}\n\nsrc/b.rs\n2: fn Gamma() {}\n");
    let text = good(&search(&ground, &Args { case_insensitive: Some(true), ..args("gamma") }));
    assert_eq!(text, "src/b.rs\n2: fn Gamma() {}\n");
    let text = good(&search(&ground, &Args { context: Some(1), ..args("let") }));
    assert_eq!(text, "src/a.rs\n1- fn alpha() {}\n2: let x = 1;\n3- fn beta() {}\n");
    assert_eq!(
        good(&search(&ground, &args("no such thing"))),
        "no matches in . (hidden, ignored and binary files are not searched)\n"
    );
}

#[test]
fn other_modes_and_places() {
    let ground = example();
    let mode = |output_mode| Args { output_mode: Some(output_mode), ..args("fn") };
    assert_eq!(good(&search(&ground, &mode(OutputMode::FilesWithMatches))), "notes.md\nsrc/a.rs\nsrc/b.rs\n");
    assert_eq!(good(&search(&ground, &mode(OutputMode::Count))), "notes.md: 1\nsrc/a.rs: 2\nsrc/b.rs: 1\n");
    let count = |args: Args| {
        good(&search(&ground, &Args { output_mode: Some(OutputMode::FilesWithMatches), ..args }))
    };
    assert_eq!(count(Args { glob: Some("*.md".to_owned()), ..args("fn") }), "notes.md\n");
    assert_eq!(count(Args { glob: Some("!*.md".to_owned()), ..args("fn") }), "src/a.rs\nsrc/b.rs\n");
    assert_eq!(count(Args { glob: Some("src/a*".to_owned()), ..args("fn") }), "src/a.rs\n");
    assert_eq!(count(Args { excluded_dirs: Some(vec!["src/".to_owned()]), ..args("fn") }), "notes.md\n");
    assert_eq!(count(Args { path: Some("src".to_owned()), ..args("Gamma") }), "src/b.rs\n");
    assert_eq!(count(Args { path: Some("src/b.rs".to_owned()), ..args("Gamma") }), "src/b.rs\n");
    put(&ground.top().join("extra/e.rs"), "fn extra() {}\n");
    let extra = ground.top().join("extra").display().to_string();
    assert_eq!(count(Args { path: Some(extra.clone()), ..args("extra") }), format!("{extra}/e.rs\n"));
}

#[test]
fn gaps_and_contexts_are_shown_once() {
    let ground = Ground::new();
    ground.put("f", "hit\n2\n3\nhit\n5\n6\n7\n8\nhit\n");
    let text = good(&search(&ground, &Args { context: Some(1), ..args("hit") }));
    assert_eq!(text, "f\n1: hit\n2- 2\n3- 3\n4: hit\n5- 5\n--\n8- 8\n9: hit\n");
    let text = good(&search(&ground, &Args { context: Some(1), head_limit: Some(2), ..args("hit") }));
    assert_eq!(
        text,
        "f\n1: hit\n2- 2\n3- 3\n4: hit\n5- 5\n[cut: 2 of 3 matching lines in 1 file shown; narrow the search, or raise \
         head_limit (at most 200)]\n"
    );
}

#[test]
fn expressions_can_match_across_lines() {
    let ground = example();
    let across = Args { multiline: Some(true), ..args(r"alpha[^;]*;\nfn") };
    assert_eq!(
        good(&search(&ground, &across)),
        "src/a.rs\n1: fn alpha() {}\n2: let x = 1;\n3: fn beta() {}\n"
    );
    let told = bad(&search(&ground, &args(r"a\nb")));
    assert!(told.contains("set multiline to match across lines"), "{told}");
}

#[test]
fn an_expression_that_is_none_is_pointed_at() {
    let ground = example();
    assert_eq!(
        bad(&search(&ground, &args("a(b"))),
        "not a regular expression: regex parse error:\n    a(b\n     ^\nerror: unclosed group"
    );
    assert!(bad(&search(&ground, &args(&"a".repeat(20_000)))).contains("at most 10000"));
    assert_eq!(
        bad(&search(&ground, &Args { context: Some(11), ..args("a") })),
        "context may be at most 10, not 11"
    );
    assert_eq!(
        bad(&search(&ground, &Args { head_limit: Some(201), ..args("a") })),
        "head_limit may be at most 200, not 201"
    );
    assert!(
        bad(&search(&ground, &Args { glob: Some("[".to_owned()), ..args("a") })).contains("is not a glob")
    );
    let many = vec!["x".to_owned(); 101];
    assert!(bad(&search(&ground, &Args { excluded_dirs: Some(many), ..args("a") })).contains("at most 100"));
    assert_eq!(
        bad(&search(&ground, &Args { path: Some("srcs".to_owned()), ..args("a") })),
        "srcs does not exist; did you mean src?"
    );
    assert!(bad(&search(&ground, &Args { path: Some("/etc".to_owned()), ..args("a") })).contains("outside"));
}

#[test]
fn only_text_that_is_not_hidden_or_ignored_is_searched() {
    let ground = Ground::below(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    put(&ground.out("f"), "needle outside\n");
    for path in ["plain", ".hidden/f", "ignored/f", ".git/f", "deep/down/f"] {
        ground.put(path, "needle\n");
    }
    ground.put(".gitignore", "ignored\n");
    ground.put("binary", b"needle\0\n");
    ground.put("latin", b"needle caf\xe9\n");
    let wide: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("needle ü\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    ground.put("wide", wide);
    let huge = ground.put("huge", "");
    OpenOptions::new().write(true).open(huge).unwrap().set_len(1 << 30).unwrap();
    ground.link("link", ground.top().join("out"));
    ground.link("link_to_file", ground.out("f"));
    assert_eq!(
        good(&search(&ground, &args("needle"))),
        "deep/down/f\n1: needle\n\nlatin\n1: needle caf\u{fffd}\n\nplain\n1: needle\n\nwide\n1: needle ü\n"
    );
    let in_hidden = Args { glob: Some(".hidden/*".to_owned()), ..args("needle") };
    assert_eq!(good(&search(&ground, &in_hidden)), ".hidden/f\n1: needle\n");
    let binary = Args { path: Some("binary".to_owned()), ..args("needle") };
    assert_eq!(bad(&search(&ground, &binary)), "binary is a binary file and cannot be searched");
}

#[test]
fn long_lines_and_many_matches_are_cut() {
    let ground = Ground::new();
    let long = format!("{}needle{}\n", "é".repeat(1_000), "x".repeat(1_000));
    ground.put("long", &long);
    let text = good(&search(&ground, &args("needle")));
    let expected = format!("long\n1: …{}needle{}… [line cut: 3006 bytes]\n", "é".repeat(50), "x".repeat(294));
    assert_eq!(text, expected);
    fs::remove_file(ground.work("long")).unwrap();
    for file in 0..30 {
        ground.put(&format!("d{}/f{file:02}", file % 7), "needle\n".repeat(5));
    }
    let text = good(&search(&ground, &args("needle")));
    assert_eq!(text.matches(": needle").count(), 50);
    assert!(
        text.ends_with(
            "[cut: 50 of 150 matching lines in 30 files shown; narrow the search, or raise head_limit (at most 200)]\n"
        ),
        "{text}"
    );
    assert_eq!(good(&search(&ground, &args("needle"))), text, "the same every time");
    let few = Args { output_mode: Some(OutputMode::Count), head_limit: Some(2), ..args("needle") };
    assert_eq!(
        good(&search(&ground, &few)),
        "d0/f00: 5\nd0/f07: 5\n[cut: 2 of 30 files shown; narrow the search, or raise head_limit (at most 200)]\n"
    );
}

#[test]
fn a_search_can_be_cancelled() {
    let ground = example();
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    for path in [None, Some("notes.md".to_owned())] {
        let outcome = run(&Args { path, ..args("fn") }, &ground.scope, &cancelled);
        let told = bad(&outcome);
        assert!(told.contains("cancelled"), "{told}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    /// However the threads run, the same results are shown: the first ones in the order of paths and lines.
    #[test]
    fn any_tree_gives_the_first_matches_in_order(
        files in prop::collection::btree_map("[ab]/[ab]{1,2}/[a-f]", prop::collection::vec("[xy]{0,2}", 0..6), 0..12),
        limit in 1_u32..8,
    ) {
        let ground = Ground::new();
        let mut expected = Vec::new();
        for (path, lines) in &files {
            ground.put(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>());
            let matching = lines.iter().enumerate().filter(|(_, line)| line.contains('x'));
            expected.extend(matching.map(|(index, line)| (path.clone(), format!("{}: {line}", index + 1))));
        }
        let total = expected.len();
        expected.truncate(limit as usize);
        let text = good(&search(&ground, &Args { head_limit: Some(limit), ..args("x") }));
        let mut found = Vec::new();
        let mut path = String::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with(['[', 'n'])) {
            match line.contains(": ") {
                true => found.push((path.clone(), line.to_owned())),
                false => path = line.to_owned(),
            }
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(text.contains("[cut: "), total > limit as usize);
    }
}
