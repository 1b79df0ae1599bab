//! Verified copies: what was verified is what runs.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use mxd_core::manifest::Placeholders;
use mxd_core::tool::Digest;
use mxd_tools::package::{Assurance, PackageError, Store};

use super::ground::{Ground, write};

const WORDS: &[&str] = &["./server", "x"];

fn ground() -> (Ground, Digest) {
    let ground = Ground::new();
    ground.program("near/server", "#!/bin/sh\necho \"the true one: $1\"\n");
    let digest = ground.digest(WORDS);
    (ground, digest)
}

fn said(program: &str, args: &[String]) -> String {
    let output = Command::new(program).args(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_was_verified_runs_whatever_becomes_of_the_original() {
    let (ground, digest) = ground();
    let run = ground.prepare(WORDS, ("1.0.0", digest)).unwrap();
    assert_eq!(run.assurance, Assurance::Verified(digest));
    assert!(run.program.starts_with(&*ground.path("store").to_string_lossy()), "{}", run.program);
    ground.program("near/server", "#!/bin/sh\necho another one\n");
    assert_eq!(said(&run.program, &run.args), "the true one: x\n");
    let refused = ground.prepare(WORDS, ("1.0.0", digest)).unwrap_err();
    assert!(matches!(refused, PackageError::OtherDigest { declared, .. } if declared == digest), "{refused}");
}

#[test]
fn a_copy_cannot_be_changed_and_a_damaged_one_is_made_anew() {
    let (ground, digest) = ground();
    let run = ground.prepare(WORDS, ("1.0.0", digest)).unwrap();
    let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&run.program), 0o555);
    let folder = ground.path("store").join(digest.to_string());
    assert_eq!(mode(&folder.to_string_lossy()), 0o555);
    assert_eq!(mode(&ground.path("store").to_string_lossy()), 0o700);
    fs::set_permissions(&run.program, fs::Permissions::from_mode(0o755)).unwrap();
    write(run.program.as_ref(), b"#!/bin/sh\necho poisoned\n", true);
    let again = ground.prepare(WORDS, ("1.0.0", digest)).unwrap();
    assert_eq!(again, run);
    assert_eq!(said(&again.program, &again.args), "the true one: x\n");
    let left: Vec<_> = fs::read_dir(ground.path("store")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "nothing is left behind: {left:?}");
}

#[test]
fn placeholders_run_for_development_only() {
    let (mut ground, digest) = ground();
    let zeros: Digest = "0".repeat(64).parse().unwrap();
    let refused = ground.prepare(WORDS, ("1.0.0", zeros)).unwrap_err();
    assert!(matches!(refused, PackageError::Placeholder { .. }), "{refused}");
    ground.packages.placeholders = Placeholders::Allow;
    let run = ground.prepare(WORDS, ("1.0.0", zeros)).unwrap();
    assert_eq!(run.assurance, Assurance::Placeholder(digest));
}

#[test]
fn a_version_that_differs_is_refused() {
    let ground = Ground::new();
    ground.program("bin/node", "#!/bin/sh\n");
    ground.npm("near/node_modules/a", ("a", "1.0.0"), &[]);
    let digest = ground.digest(&["npx", "a@1.0.0"]);
    for words in [&["npx", "a@1.0.0"][..], &["node", "node_modules/a/index.js"]] {
        let refused = ground.prepare(words, ("1.0.1", digest)).unwrap_err();
        assert!(matches!(refused, PackageError::OtherVersion { .. }), "{words:?}: {refused}");
        assert!(ground.prepare(words, ("1.0.0", digest)).is_ok(), "{words:?}");
    }
}

#[test]
fn companions_are_started_only_from_beside() {
    let (ground, digest) = ground();
    ground.program("bin/tachyon", "#!/bin/sh\n");
    let missing = ground.prepare(&["tachyon", "--mcp"], ("0.1.0", digest)).unwrap_err();
    assert!(matches!(missing, PackageError::NoProgram { .. }), "{missing}");
    ground.program("beside/tachyon", "#!/bin/sh\n");
    let run = ground.prepare(&["tachyon", "--mcp"], ("0.1.0", digest)).unwrap();
    assert_eq!((run.assurance, run.args.as_slice()), (Assurance::Companion, &["--mcp".to_owned()][..]));
    assert_eq!(run.program, ground.path("beside/tachyon").to_string_lossy());
}

#[test]
fn a_store_of_somebody_else_is_refused() {
    let ground = Ground::new();
    fs::create_dir(ground.path("open")).unwrap();
    fs::set_permissions(ground.path("open"), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(Store::open(&ground.path("open")), Err(PackageError::Store { .. })));
    symlink(ground.path("store"), ground.path("link")).unwrap();
    assert!(matches!(Store::open(&ground.path("link")), Err(PackageError::Store { .. })));
}

#[test]
fn many_that_prepare_at_once_share_one_copy() {
    let (ground, digest) = ground();
    std::thread::scope(|scope| {
        for _thread in 0..8 {
            scope.spawn(|| assert!(ground.prepare(WORDS, ("1.0.0", digest)).is_ok()));
        }
    });
    assert_eq!(fs::read_dir(ground.path("store")).unwrap().count(), 1);
}
