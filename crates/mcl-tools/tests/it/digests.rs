//! `digest`: of commands, of paths, and of manifests.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::stage::{Stage, ZEROS};

#[test]
fn digests_of_a_manifest_are_told_and_written() {
    let stage = Stage::empty();
    stage.install_server();
    stage.write_manifest(&stage.manifest(ZEROS));
    stage.run(&["digest"]).is_golden("digest_placeholder");
    let before = stage.read("agent.json");
    stage.run(&["digest", "--update"]).is_golden("digest_update");
    let after = stage.read("agent.json");
    let changed = before.lines().zip(after.lines()).filter(|(was, now)| was != now).count();
    assert_eq!(changed, 1, "nothing but the digest is written");
    stage.run(&["digest"]).is_golden("digest_same");
    stage.run(&["digest", "--update"]).is_golden("digest_update_again");
    assert_eq!(stage.read("agent.json"), after);
    stage.write("server/more.py", "x = 1\n");
    stage.run(&["digest"]).is_golden("digest_other");
    assert_eq!(stage.json(&["digest"])["result"]["servers"][0]["same"], false);
}

#[test]
fn the_digest_of_a_command_is_that_of_the_manifest() {
    let stage = Stage::new();
    let manifest = stage.read("agent.json");
    let said = stage.run(&["digest", "--", "python3", "server/server.py"]);
    said.is_golden("digest_command");
    let digest = said.out.split('\t').next().unwrap();
    assert!(manifest.contains(digest), "{said:?}");
    let of_folder = stage.run(&["digest", "--path", "server"]);
    assert_eq!(of_folder.out.split('\t').next(), Some(digest), "{of_folder:?}");
}

#[test]
fn a_program_is_one_file() {
    let stage = Stage::empty();
    stage.write("tool", "#!/bin/sh\n");
    fs::set_permissions(stage.path("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    let document = stage.json(&["digest", "--path", "tool"]);
    assert_eq!((&document["result"]["kind"], &document["result"]["files"]), (&json!("program"), &json!(1)));
}

#[test]
fn what_cannot_be_told_or_found_is_said() {
    let stage = Stage::empty();
    for (name, words) in [
        ("digest_unpinned", &["npx", "-y", "some-server"][..]),
        ("digest_not_installed", &["npx", "-y", "some-server@1.2.3"]),
        ("digest_no_distribution", &["uvx", "some-server==1.2.3"]),
        ("digest_no_script", &["python3", "none.py"]),
        ("digest_shell", &["sh", "-c", "true"]),
    ] {
        stage.run(&[&["digest", "--"], words].concat()).is_golden(name);
    }
}

#[test]
fn a_signature_is_said_to_be_about_another_manifest() {
    let stage = Stage::new();
    assert_eq!(stage.run(&["keygen", "--output", "key"]).code, 0);
    assert_eq!(stage.run(&["sign", "--key", "key"]).code, 0);
    stage.write("server/more.py", "x = 1\n");
    let said = stage.run(&["digest", "--update"]);
    assert!(said.code == 0 && said.err.contains("its signature is about another one"), "{said:?}");
    assert_eq!(stage.run(&["verify"]).code, 8);
}

#[test]
fn packages_that_nobody_started_for_long_are_removed() {
    let stage = Stage::new();
    assert_eq!(stage.run(&["verify", "--live"]).code, 0);
    let copies = || std::fs::read_dir(stage.path("packages")).unwrap().count();
    assert_eq!(copies(), 1);
    let said = stage.bare(&["prune"]);
    assert!(said.code == 0 && said.out.starts_with("0 packages"), "{said:?}");
    let said = stage.bare(&["prune", "--unused", "0", "--dry-run"]);
    assert!(said.code == 0 && said.out.contains("1 packages") && copies() == 1, "{said:?}");
    let said = stage.bare(&["prune", "--unused", "0", "--json"]);
    assert!(said.code == 0 && said.out.contains("\"removed\"") && copies() == 0, "{said:?}");
    assert_eq!(stage.run(&["verify", "--live"]).code, 0, "it is made again");
}
