//! `read_file`: windows, encodings, pictures, and whatever else lies around in folders.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::num::{NonZeroU32, NonZeroU64};

use mxd_tools::builtin::read_file::{Args, run};
use mxd_tools::outcome::{Outcome, Part};

use crate::ground::{Ground, bad, good};

fn read(ground: &Ground, path: &str) -> Outcome {
    run(&Args { path: path.to_owned(), offset: None, limit: None }, &ground.scope)
}

fn window(ground: &Ground, path: &str, offset: u64, limit: u32) -> Outcome {
    let args = Args { path: path.to_owned(), offset: NonZeroU64::new(offset), limit: NonZeroU32::new(limit) };
    run(&args, &ground.scope)
}

fn utf16(text: &str, mark: [u8; 2], pair: fn(u16) -> [u8; 2]) -> Vec<u8> {
    mark.into_iter().chain(text.encode_utf16().flat_map(pair)).collect()
}

#[test]
fn text_comes_with_line_numbers() {
    let ground = Ground::new();
    ground.put("a.txt", "one\n\ttwo\n\nfour\n");
    assert_eq!(good(&read(&ground, "a.txt")), "     1\tone\n     2\t\ttwo\n     3\t\n     4\tfour\n");
}

#[test]
fn windows_say_where_to_read_on() {
    let ground = Ground::new();
    let text: String = (1..=3_000).map(|number| format!("line {number}\n")).collect();
    ground.put("long.txt", text);
    assert_eq!(
        good(&window(&ground, "long.txt", 10, 2)),
        "    10\tline 10\n    11\tline 11\n[more lines follow; read on with offset 12]\n"
    );
    assert_eq!(
        good(&window(&ground, "long.txt", 2999, 9)),
        "  2999\tline 2999\n  3000\tline 3000\n[end of the file, 3000 lines]\n"
    );
    let all = good(&read(&ground, "long.txt"));
    assert!(all.ends_with("  2000\tline 2000\n[more lines follow; read on with offset 2001]\n"), "{all:.80}");
    assert_eq!(
        bad(&window(&ground, "long.txt", 3001, 1)),
        "long.txt has only 3000 lines; offset 3001 is beyond its end"
    );
}

#[test]
fn encodings_are_decoded_and_named() {
    let ground = Ground::new();
    ground.put("mark", b"\xef\xbb\xbfhello\n");
    ground.put("little", utf16("grüße 🦀\r\nzwei", [0xff, 0xfe], u16::to_le_bytes));
    ground.put("big", utf16("grüße\n", [0xfe, 0xff], u16::to_be_bytes));
    ground.put("broken", b"caf\xe9\n");
    ground.put("crlf", "a\r\nb\r\n");
    ground.put("open", "a");
    let shown = |path| good(&read(&ground, path));
    assert_eq!(shown("mark"), "     1\thello\n[UTF-8 with a byte order mark]\n");
    assert_eq!(
        shown("little"),
        "     1\tgrüße 🦀\n     2\tzwei\n[UTF-16 LE; CRLF line ends; no line end after the last line]\n"
    );
    assert_eq!(shown("big"), "     1\tgrüße\n[UTF-16 BE]\n");
    assert_eq!(
        shown("broken"),
        "     1\tcaf\u{fffd}\n[not valid UTF-8: \u{fffd} stands for bytes that are not text]\n"
    );
    assert_eq!(shown("crlf"), "     1\ta\n     2\tb\n[CRLF line ends]\n");
    assert_eq!(shown("open"), "     1\ta\n[no line end after the last line]\n");
}

#[test]
fn pictures_are_known_by_their_bytes() {
    let ground = Ground::new();
    ground.put("photo.txt", b"\x89PNG\r\n\x1a\nrest");
    let outcome = read(&ground, "photo.txt");
    assert!(!outcome.is_error);
    assert_eq!(
        outcome.parts,
        [
            Part::Text("[photo.txt: image/png, 12 bytes]".to_owned()),
            Part::Image { media_type: "image/png".to_owned(), data: "iVBORw0KGgpyZXN0".to_owned() }
        ]
    );
    ground.put("fake.png", "only words\n");
    assert_eq!(good(&read(&ground, "fake.png")), "     1\tonly words\n");
    let mut large = b"\xff\xd8\xff".to_vec();
    large.resize(4_000_000, 0);
    ground.put("large.jpg", large);
    assert_eq!(
        bad(&read(&ground, "large.jpg")),
        "large.jpg is a picture of 4000000 bytes; at most 3750000 can be shown: make it smaller first"
    );
    let mut fits = b"GIF89a".to_vec();
    fits.resize(2_000_000, 0);
    ground.put("fits.gif", fits);
    assert_eq!(good(&read(&ground, "fits.gif")), "[fits.gif: image/gif, 2000000 bytes](image/gif)");
}

#[test]
fn what_cannot_be_shown_is_described() {
    let ground = Ground::new();
    ground.put("empty", "");
    ground.put("program", b"\x7fELF\x02\0\0");
    ground.put("data", b"a\0b");
    fs::create_dir(ground.work("folder")).unwrap();
    assert_eq!(good(&read(&ground, "empty")), "[empty is empty]\n");
    assert_eq!(
        bad(&read(&ground, "program")),
        "program is a binary file (a program or library, ELF, 7 bytes); it cannot be shown as text"
    );
    assert_eq!(
        bad(&read(&ground, "data")),
        "data is a binary file (of an unknown kind, 3 bytes); it cannot be shown as text"
    );
    assert_eq!(bad(&read(&ground, "folder")), "folder is a folder; list_files shows what is in it");
    assert_eq!(bad(&read(&ground, ".")), ". is a folder; list_files shows what is in it");
}

#[test]
fn a_missing_file_names_its_neighbours() {
    let ground = Ground::new();
    for name in ["README.md", "main.rs", "mains.rs", "other.toml"] {
        ground.put(&format!("src/{name}"), "");
    }
    assert_eq!(
        bad(&read(&ground, "src/readme.md")),
        "src/readme.md does not exist; did you mean src/README.md?"
    );
    assert_eq!(
        bad(&read(&ground, "src/main.r")),
        "src/main.r does not exist; did you mean src/main.rs or src/mains.rs?"
    );
    assert_eq!(
        bad(&read(&ground, "src/zzzzzz")),
        "src/zzzzzz does not exist; list_files shows what is there"
    );
    assert_eq!(
        bad(&read(&ground, "lib/deep/main.rs")),
        "lib/deep/main.rs does not exist; there is no folder lib"
    );
}

#[test]
fn a_gigabyte_is_read_where_it_is_asked_for() {
    // On disk, where a hole takes no space.
    let ground = Ground::below(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    let path = ground.put("huge.log", "x\n".repeat(8 * 1024));
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(1 << 30)).unwrap();
    file.write_all(b"\nthe end\n").unwrap();
    assert_eq!(
        good(&window(&ground, "huge.log", 1, 1)),
        "     1\tx\n[more lines follow; read on with offset 2]\n"
    );
    assert_eq!(
        good(&window(&ground, "huge.log", 8194, 5)),
        "  8194\tthe end\n[end of the file, 8194 lines]\n"
    );
    let zeros = ground.put("zeros", "");
    OpenOptions::new().write(true).open(zeros).unwrap().set_len(1 << 30).unwrap();
    assert_eq!(
        bad(&read(&ground, "zeros")),
        "zeros is a binary file (of an unknown kind, 1073741824 bytes); it cannot be shown as text"
    );
}

#[test]
fn arguments_are_what_the_schema_says() {
    let parsed = |json: &str| serde_json::from_str::<Args>(json);
    assert!(parsed(r#"{"path":"a","offset":1,"limit":2}"#).is_ok());
    assert!(parsed(r#"{"path":"a","offset":0}"#).is_err());
    assert!(parsed(r#"{"path":"a","lines":0}"#).is_err());
    let schema = serde_json::to_value(schemars::schema_for!(Args)).unwrap();
    assert_eq!(schema["required"], serde_json::json!(["path"]));
    assert_eq!(schema["additionalProperties"], serde_json::json!(false));
    assert_eq!(schema["properties"]["path"]["description"], "The file, relative to the worktree.");
}
