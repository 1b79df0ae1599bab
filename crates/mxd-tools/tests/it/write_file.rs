//! `write_file`: new files, replaced files, and those that should stay as they are.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use mxd_tools::builtin::read_file;
use mxd_tools::builtin::write_file::{Args, run};
use mxd_tools::outcome::Outcome;

use crate::ground::{Ground, bad, good};

fn write(ground: &Ground, path: &str, content: &str) -> Outcome {
    run(&Args { path: path.to_owned(), content: content.to_owned() }, &ground.scope)
}

fn read(ground: &Ground, path: &str) -> String {
    let args = read_file::Args { path: path.to_owned(), offset: None, limit: None };
    good(&read_file::run(&args, &ground.scope))
}

#[test]
fn files_are_created_with_their_folders_and_replaced() {
    let ground = Ground::new();
    assert_eq!(good(&write(&ground, "a/b/c.txt", "one\ntwo")), "created a/b/c.txt (2 lines, 7 bytes)");
    assert_eq!(good(&write(&ground, "./a/b/c.txt", "one\n")), "replaced a/b/c.txt (1 line, 4 bytes)");
    assert_eq!(ground.content("a/b/c.txt"), b"one\n");
    assert_eq!(ground.names("a/b"), ["c.txt"], "nothing is left lying around");
    assert_eq!(good(&write(&ground, "empty", "")), "created empty (0 lines, 0 bytes)");
}

#[test]
fn the_mode_stays_and_other_names_keep_the_old_content() {
    let ground = Ground::new();
    let script = ground.put("run.sh", "#!/bin/sh\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o751)).unwrap();
    fs::hard_link(&script, ground.out("other-name")).unwrap();
    good(&write(&ground, "run.sh", "#!/bin/bash\n"));
    assert_eq!(fs::metadata(&script).unwrap().mode() & 0o7777, 0o751);
    assert_eq!(fs::read(ground.out("other-name")).unwrap(), b"#!/bin/sh\n");
}

#[test]
fn a_link_inside_is_written_through_and_stays_a_link() {
    let ground = Ground::new();
    ground.put("real", "old");
    ground.link("link", "real");
    assert_eq!(good(&write(&ground, "link", "new")), "replaced real (1 line, 3 bytes)");
    assert!(fs::symlink_metadata(ground.work("link")).unwrap().is_symlink());
    assert_eq!(ground.content("real"), b"new");
}

#[test]
fn what_is_no_place_for_a_file_is_refused() {
    let ground = Ground::new();
    ground.put("file", "keep");
    fs::create_dir(ground.work("folder")).unwrap();
    let locked = ground.put("locked", "keep");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(bad(&write(&ground, "folder", "x")), "folder is a folder; list_files shows what is in it");
    assert_eq!(bad(&write(&ground, "new/", "x")), "new/ ends with a slash; give the name of a file");
    assert_eq!(bad(&write(&ground, "file/below", "x")), "file/below cannot be: file is not a folder");
    assert_eq!(
        bad(&write(&ground, "locked", "x")),
        "locked is read-only (mode 0444); if it should change, make it writable with chmod first"
    );
    assert_eq!(
        bad(&write(&ground, "large", &"x".repeat(10_485_761))),
        "the content has 10485761 bytes; at most 10485760 can be written: write it in parts with bash"
    );
    assert!(bad(&write(&ground, &"n".repeat(300), "x")).contains("File name too long"));
    assert_eq!(ground.names(""), ["file", "folder", "locked"]);
    assert_eq!((ground.content("file"), ground.content("locked")), (b"keep".to_vec(), b"keep".to_vec()));
}

#[test]
fn what_somebody_else_changed_is_refused_once() {
    let ground = Ground::new();
    ground.put("a", "first\n");
    read(&ground, "a");
    ground.put("a", "by somebody else\n");
    assert_eq!(
        bad(&write(&ground, "a", "mine\n")),
        "a was changed by somebody else since you last read it, and writing would undo that. Nothing was \
         written. Read it again; if you then still want to replace it, write it again"
    );
    assert_eq!(ground.content("a"), b"by somebody else\n");
    good(&write(&ground, "a", "mine\n"));
    good(&write(&ground, "a", "mine again\n"));
    // The same content with another time is no change.
    ground.put("a", "mine again\n");
    good(&write(&ground, "a", "and again\n"));
    // Reading is seeing.
    ground.put("a", "by somebody else\n");
    read(&ground, "a");
    good(&write(&ground, "a", "mine\n"));
    // Another agent has seen nothing.
    ground.put("a", "by somebody else\n");
    let mut other = ground.scope.clone();
    other.files = ground.scope.files.of_another_agent();
    good(&run(&Args { path: "a".to_owned(), content: "theirs\n".to_owned() }, &other));
}
