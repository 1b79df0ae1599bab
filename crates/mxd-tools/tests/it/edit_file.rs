//! `edit_file`: exact replacements, helpful refusals, and nothing lost.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use mxd_tools::builtin::edit_file::{Args, Edit, run};
use mxd_tools::builtin::read_file;
use mxd_tools::outcome::Outcome;
use mxd_tools::scope::Scope;
use proptest::prelude::*;

use crate::ground::{Ground, bad, good};

fn one(path: &str, old: &str, new: &str) -> Args {
    Args {
        path: path.to_owned(),
        old_string: Some(old.to_owned()),
        new_string: Some(new.to_owned()),
        ..Args::default()
    }
}

fn all(path: &str, old: &str, new: &str) -> Args {
    Args { replace_all: Some(true), ..one(path, old, new) }
}

fn several(path: &str, edits: &[(&str, &str)]) -> Args {
    let edit = |(old, new): &(&str, &str)| Edit {
        old_string: (*old).to_owned(),
        new_string: (*new).to_owned(),
        replace_all: false,
    };
    Args { path: path.to_owned(), edits: Some(edits.iter().map(edit).collect()), ..Args::default() }
}

fn edit(ground: &Ground, args: &Args) -> Outcome {
    run(args, &ground.scope)
}

fn read(scope: &Scope, path: &str) {
    good(&read_file::run(&read_file::Args { path: path.to_owned(), offset: None, limit: None }, scope));
}

#[test]
fn an_edit_shows_what_became_of_it() {
    let ground = Ground::new();
    ground.put("src/a.rs", "1\n2\n3\nold\n5\n6\n7\n");
    assert_eq!(
        good(&edit(&ground, &one("src/a.rs", "old", "new\nlines"))),
        "edited src/a.rs (1 replacement)\n     2\t2\n     3\t3\n     4\tnew\n     5\tlines\n     6\t5\n     7\t6\n"
    );
    assert_eq!(ground.content("src/a.rs"), b"1\n2\n3\nnew\nlines\n5\n6\n7\n");
    assert_eq!(
        good(&edit(&ground, &all("src/a.rs", "\n", "\n\n"))).lines().next(),
        Some("edited src/a.rs (8 replacements)")
    );
    assert_eq!(ground.names("src"), ["a.rs"]);
}

#[test]
fn several_edits_are_one() {
    let ground = Ground::new();
    ground.put("a", "one two three\n");
    assert_eq!(
        good(&edit(&ground, &several("a", &[("one", "1"), ("1 two", "12"), ("three", "3")]))),
        "edited a (3 replacements)\n     1\t12 3\n"
    );
    let told = bad(&edit(&ground, &several("a", &[("12", "x"), ("missing", "y")])));
    assert_eq!(
        told,
        "edit 2 of 2: old_string is not in a; nothing was changed. Nothing in the file is like it; read the file again"
    );
    assert_eq!(ground.content("a"), b"12 3\n");
}

#[test]
fn what_does_not_fit_is_refused_with_a_hint() {
    let ground = Ground::new();
    ground.put("a", "fn f() {\n\tx = 1;\n}\nx = 2\nx = 2\n");
    let told = |args: &Args| bad(&edit(&ground, args));
    assert_eq!(
        told(&one("a", "    x = 1;", "y")),
        "old_string is not in a; nothing was changed. The text at line 2 differs only in white space:\n  line 2 is \
         \"\\tx = 1;\"\n  you wrote \"    x = 1;\""
    );
    assert_eq!(
        told(&one("a", "x = 2", "y")),
        "old_string is 2 times in a, at lines 4, 5; nothing was changed. Give more of the text around it so that it \
         fits once, or set replace_all"
    );
    assert_eq!(
        told(&one("a", "     2\t\tx = 1;", "y")),
        "old_string is not in a; nothing was changed. It seems to contain the line numbers of read_file; leave out \
         the numbers and the tabs after them"
    );
    assert_eq!(
        told(&one("a", "", "y")),
        "old_string is empty; to create a file or replace all of it, use write_file"
    );
    assert_eq!(
        told(&one("a", "x", "x")),
        "old_string and new_string are the same; there is nothing to change"
    );
    let form = "give either old_string and new_string, or edits, and not both";
    assert_eq!(told(&Args { path: "a".to_owned(), ..Args::default() }), form);
    assert_eq!(told(&Args { edits: Some(Vec::new()), path: "a".to_owned(), ..Args::default() }), form);
    assert_eq!(told(&Args { old_string: Some("x".to_owned()), ..several("a", &[("x", "y")]) }), form);
    assert_eq!(told(&Args { new_string: None, ..one("a", "x", "") }), form);
    let many = vec![("x", "y"); 101];
    assert_eq!(told(&several("a", &many)), "101 edits are given; at most 100 are possible in one call");
    assert_eq!(ground.content("a"), b"fn f() {\n\tx = 1;\n}\nx = 2\nx = 2\n");
}

#[test]
fn what_is_no_text_file_is_refused() {
    let ground = Ground::below(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    ground.put("binary", b"a\0b");
    ground.put("odd", b"\xff\xfea\0b");
    fs::create_dir(ground.work("folder")).unwrap();
    let huge = ground.put("huge", "");
    OpenOptions::new().write(true).open(huge).unwrap().set_len(1 << 30).unwrap();
    let locked = ground.put("locked", "a");
    fs::set_permissions(locked, fs::Permissions::from_mode(0o444)).unwrap();
    let told = |path: &str| bad(&edit(&ground, &one(path, "a", "b")));
    assert_eq!(told("binary"), "binary cannot be edited: it is a binary file (of an unknown kind)");
    assert_eq!(told("odd"), "odd cannot be edited: it is not valid UTF-16");
    assert_eq!(told("folder"), "folder is a folder; list_files shows what is in it");
    assert_eq!(told("hug"), "hug does not exist; did you mean huge?");
    assert_eq!(told("no/such"), "no/such does not exist; there is no folder no");
    assert_eq!(
        told("huge"),
        "huge has 1073741824 bytes, more than the 16777216 that can be edited; use bash (sed, head, tail)"
    );
    assert!(told("locked").contains("read-only (mode 0444)"));
    assert_eq!(ground.names(""), ["binary", "folder", "huge", "locked", "odd"], "no folder was made");
}

#[test]
fn line_ends_marks_and_encodings_stay() {
    let ground = Ground::new();
    ground.put("crlf", "a\r\nb\r\nc");
    let told = good(&edit(&ground, &one("crlf", "a\nb", "A\nB\nB")));
    assert_eq!(
        told,
        "edited crlf (1 replacement)\n     1\tA\n     2\tB\n     3\tB\n     4\tc\n[the file has CRLF line ends; yours were \
         converted]\n"
    );
    assert_eq!(ground.content("crlf"), b"A\r\nB\r\nB\r\nc");
    ground.put("mixed", "a\r\nb\nc\r\n");
    good(&edit(&ground, &one("mixed", "b\nc", "x\ny")));
    assert_eq!(ground.content("mixed"), b"a\r\nx\ny\r\n");
    good(&edit(&ground, &one("mixed", "a\nx", "p\nq")));
    assert_eq!(ground.content("mixed"), b"p\r\nq\ny\r\n");
    ground.put("mark", b"\xef\xbb\xbfa\n");
    good(&edit(&ground, &one("mark", "a", "b")));
    assert_eq!(ground.content("mark"), b"\xef\xbb\xbfb\n");
    ground.put("latin", b"caf\xe9 a\n");
    good(&edit(&ground, &one("latin", "a\n", "b\n")));
    assert_eq!(ground.content("latin"), b"caf\xe9 b\n");
    for (mark, pair) in
        [([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xfe, 0xff], u16::to_be_bytes)]
    {
        let encoded =
            |text: &str| -> Vec<u8> { mark.into_iter().chain(text.encode_utf16().flat_map(pair)).collect() };
        ground.put("wide", encoded("grüße 🦀\r\n"));
        good(&edit(&ground, &one("wide", "🦀\n", "🐙\n")));
        assert_eq!(ground.content("wide"), encoded("grüße 🐙\r\n"));
    }
}

#[test]
fn the_mode_stays_and_other_names_keep_the_old_content() {
    let ground = Ground::new();
    let script = ground.put("run.sh", "old\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    fs::hard_link(&script, ground.out("other-name")).unwrap();
    good(&edit(&ground, &one("run.sh", "old", "new")));
    assert_eq!(fs::metadata(&script).unwrap().mode() & 0o7777, 0o755);
    assert_eq!(fs::read(ground.out("other-name")).unwrap(), b"old\n");
}

#[test]
fn a_change_by_somebody_else_is_said() {
    let ground = Ground::new();
    ground.put("a", "one\ntwo\n");
    read(&ground.scope, "a");
    let told = good(&edit(&ground, &one("a", "one", "1")));
    assert!(!told.contains("somebody else"), "{told}");
    ground.put("a", "1\ntwo\nthree\n");
    let told = good(&edit(&ground, &one("a", "two", "2")));
    assert!(
        told.ends_with("[the file had been changed by somebody else since you last read it]\n"),
        "{told}"
    );
    let told = good(&edit(&ground, &one("a", "three", "3")));
    assert!(!told.contains("somebody else"), "{told}");
}

#[test]
fn edits_of_one_file_at_once_are_all_there() {
    const AGENTS: usize = 8;
    const EDITS: usize = 40;
    let ground = Ground::new();
    let start: String = (0..AGENTS).map(|agent| format!("agent {agent}: 0.\n")).collect();
    ground.put("shared.txt", start);
    ground.link("alias.txt", "shared.txt");
    std::thread::scope(|threads| {
        for agent in 0..AGENTS {
            let mut scope = ground.scope.clone();
            scope.files = ground.scope.files.of_another_agent();
            threads.spawn(move || {
                for count in 0..EDITS {
                    let path = if count % 2 == 0 { "shared.txt" } else { "alias.txt" };
                    let (old, new) =
                        (format!("agent {agent}: {count}."), format!("agent {agent}: {}.", count + 1));
                    good(&run(&one(path, &old, &new), &scope));
                }
            });
        }
    });
    let expected: String = (0..AGENTS).map(|agent| format!("agent {agent}: {EDITS}.\n")).collect();
    assert_eq!(String::from_utf8(ground.content("shared.txt")).unwrap(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_edit_does_what_replacing_in_a_string_does(
        text in "[ab\n]{0,30}",
        edits in prop::collection::vec(("[ab\n]{1,3}", "[abX\n]{0,4}", any::<bool>()), 1..4),
    ) {
        let ground = Ground::new();
        ground.put("f", &text);
        let mut expected = Some(text.clone());
        for (old, new, replace_all) in &edits {
            expected = expected.filter(|_| old != new).and_then(|text| match text.matches(old.as_str()).count() {
                0 => None,
                1 => Some(text.replace(old.as_str(), new)),
                _ => replace_all.then(|| text.replace(old.as_str(), new)),
            });
        }
        let edits = edits.into_iter().map(|(old_string, new_string, replace_all)| Edit { old_string, new_string, replace_all });
        let args = Args { path: "f".to_owned(), edits: Some(edits.collect()), ..Args::default() };
        let outcome = edit(&ground, &args);
        prop_assert_eq!(outcome.is_error, expected.is_none(), "{:?}", outcome);
        prop_assert_eq!(String::from_utf8(ground.content("f")).unwrap(), expected.unwrap_or(text));
    }
}
