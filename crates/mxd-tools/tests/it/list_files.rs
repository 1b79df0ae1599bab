//! `list_files`: what is listed, what is left out, and in which order.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use mxd_tools::builtin::list_files::{Args, run};
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::ground::{Ground, bad, good, put};

fn list(ground: &Ground, pattern: &str, path: &str) -> String {
    let args = Args { pattern: Some(pattern.to_owned()), path: Some(path.to_owned()) };
    good(&run(&args, &ground.scope, &CancellationToken::new()))
}

fn refused(ground: &Ground, pattern: &str, path: &str) -> String {
    let args = Args { pattern: Some(pattern.to_owned()), path: Some(path.to_owned()) };
    bad(&run(&args, &ground.scope, &CancellationToken::new()))
}

fn example() -> Ground {
    let ground = Ground::new();
    for path in
        ["src/main.rs", "src/deep/lib.rs", "src/deep/data.json", "README.md", ".env", ".github/ci.yml"]
    {
        ground.put(path, "x\n");
    }
    ground.put(".git/config", "x\n");
    ground
}

#[test]
fn everything_that_is_not_hidden_is_listed_in_order() {
    let ground = example();
    let all = good(&run(&Args::default(), &ground.scope, &CancellationToken::new()));
    assert_eq!(all, "README.md\nsrc/\nsrc/deep/\nsrc/deep/data.json\nsrc/deep/lib.rs\nsrc/main.rs\n");
    assert_eq!(list(&ground, "*.rs", "."), "src/deep/lib.rs\nsrc/main.rs\n");
    assert_eq!(list(&ground, "src/*.rs", "."), "src/main.rs\n");
    assert_eq!(list(&ground, "**/*.{rs,json}", "src/deep"), "src/deep/data.json\nsrc/deep/lib.rs\n");
    assert_eq!(list(&ground, "deep/*.rs", "src"), "src/deep/lib.rs\n");
    assert_eq!(
        list(&ground, "*.py", "."),
        "no files fit *.py in . (hidden and ignored files are not looked at)\n"
    );
}

#[test]
fn hidden_files_are_listed_when_they_are_named() {
    let ground = example();
    assert_eq!(list(&ground, ".env*", "."), ".env\n");
    assert_eq!(list(&ground, ".github/**", "."), ".github/ci.yml\n");
    assert_eq!(list(&ground, "*", ".github"), ".github/ci.yml\n");
    assert_eq!(
        list(&ground, ".git/*", "."),
        "no files fit .git/* in . (hidden and ignored files are not looked at)\n"
    );
}

#[test]
fn ignored_files_are_left_out_as_git_does() {
    let ground = Ground::new();
    for path in
        ["a.log", "keep.log", "target/x", "sub/target/x", "sub/b.log", "sub/only/c", "sub/d.tmp", "e.tmp"]
    {
        ground.put(path, "");
    }
    ground.put(".gitignore", "*.log\n!keep.log\n/target/\n# remark\n\n");
    ground.put("sub/.gitignore", "!b.log\nonly/*\n");
    ground.put("sub/.ignore", "d.tmp\n");
    assert_eq!(
        list(&ground, "*", "."),
        "e.tmp\nkeep.log\nsub/\nsub/b.log\nsub/only/\nsub/target/\nsub/target/x\n"
    );
    // The rules of the folders above hold below, too.
    ground.put("sub/deep/f.log", "");
    assert_eq!(
        list(&ground, "*", "sub/deep"),
        "no files fit * in sub/deep (hidden and ignored files are not looked at)\n"
    );
    assert_eq!(list(&ground, "*", "target"), "target/x\n", "what was named is looked at");
}

#[test]
fn links_are_listed_and_not_followed() {
    let ground = Ground::new();
    put(&ground.out("secret"), "");
    ground.put("real/f", "");
    ground.link("out", ground.top().join("out"));
    ground.link("alias", "real");
    assert_eq!(list(&ground, "*", "."), "alias\nout\nreal/\nreal/f\n");
    assert_eq!(list(&ground, "*", "alias"), "real/f\n", "a link that stays inside can be named");
    assert!(refused(&ground, "*", "out").contains("the link out -> "));
    assert!(list(&ground, "../out/*", ".").starts_with("no files fit"));
}

#[test]
fn a_long_list_is_cut_and_says_so() {
    let ground = Ground::new();
    for index in 0..1_234 {
        let folder = ground.work(&format!("d{:02}", index % 40));
        fs::create_dir_all(&folder).unwrap();
        File::create(folder.join(format!("f{index:04}"))).unwrap();
    }
    let text = list(&ground, "f*", ".");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 501);
    assert_eq!((lines[0], lines[1]), ("d00/f0000", "d00/f0040"));
    assert!(lines[..500].is_sorted());
    assert_eq!(lines[500], "[cut: 734 more fit; narrow the pattern or the path]");
    assert_eq!(list(&ground, "f*", "."), text, "the same every time");
}

#[test]
fn what_cannot_be_listed_is_said() {
    let ground = example();
    assert_eq!(refused(&ground, "*", "README.md"), "README.md is a file, not a folder; read_file shows it");
    assert_eq!(refused(&ground, "*", "srcs"), "srcs does not exist; did you mean src?");
    assert_eq!(
        refused(&ground, "[", "."),
        "the pattern \"[\" is not a glob: unclosed character class; missing ']'"
    );
    assert!(refused(&ground, "*", "..").contains("is outside of the worktree"));
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    assert_eq!(bad(&run(&Args::default(), &ground.scope, &cancelled)), "listing was cancelled");
}

#[test]
fn names_that_are_not_text_are_shown_as_well_as_can_be() {
    let ground = Ground::new();
    File::create(ground.work("").join(OsStr::from_bytes(b"caf\xe9"))).unwrap();
    assert_eq!(list(&ground, "*", "."), "caf\u{fffd}\n");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn any_rules_leave_out_what_git_leaves_out(
        files in prop::collection::btree_set("([ab]/){0,3}[abc]\\.[xy]", 1..14),
        rules in prop::collection::btree_map(
            "([ab]/){0,2}",
            prop::collection::vec("!?/?(a|b|\\*|\\*\\*|[ab]/[abc]|\\*\\.x|a/\\*|\\*\\*/b|a/\\*\\*)/?", 1..4),
            0..4,
        ),
    ) {
        let ground = Ground::new();
        for path in &files {
            ground.put(path, "");
        }
        for (folder, lines) in &rules {
            ground.put(&format!("{folder}.gitignore"), lines.join("\n"));
        }
        let git = |args: &[&str]| {
            let mut command = Command::new("git");
            command.args(["-c", "core.excludesFile=/dev/null"]).args(args).current_dir(ground.work(""));
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        git(&["init", "--quiet", "--template="]);
        let expected = git(&["ls-files", "--others", "--exclude-standard"]);
        let expected: BTreeSet<&str> = expected.lines().filter(|path| !path.ends_with(".gitignore")).collect();
        let found = list(&ground, "*.{x,y}", ".");
        let found: BTreeSet<&str> = found.lines().filter(|line| !line.starts_with("no files")).collect();
        prop_assert_eq!(found, expected);
    }
}
