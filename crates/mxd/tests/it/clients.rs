//! Clients that we did not write drive `mxd mcp`: the SDKs for Python and TypeScript, and the Inspector.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::node::Packages;
use crate::python;

const MXD: &str = env!("CARGO_BIN_EXE_mxd");

fn folder() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn packages() -> Packages {
    Packages::of("node-clients", include_str!("clients.json"))
}

#[test]
fn the_python_sdk_works_with_it_in_both_eras() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let python: PathBuf = python::python("python-mcp-clients", &here.join("clients.txt"));
    for mode in ["legacy", "auto"] {
        let folder = folder();
        let mut client = Command::new(&python);
        client.arg(here.join("client.py")).args([mode, MXD, "mcp"]).current_dir(folder.path());
        let told = python::run(&mut client, mode);
        assert!(told.ends_with("all is well\n"), "{mode}: {told}");
    }
}

#[test]
fn the_typescript_sdk_works_with_it_in_both_eras() {
    let packages = packages();
    for mode in ["legacy", "auto", "2026-07-28"] {
        let folder = folder();
        let mut client = packages.node();
        // Its packages are looked for where it is started.
        client.current_dir(packages.path("..")).args([
            "--input-type=module",
            "--eval",
            include_str!("client.mjs"),
        ]);
        let told = python::run(client.args([mode, MXD]).arg(folder.path()), mode);
        assert!(told.ends_with("all is well\n"), "{mode}: {told}");
    }
}

/// The Inspector starts the server anew for every question.
#[test]
fn the_inspector_works_with_it_and_finds_nothing_wrong_with_the_schemas() {
    let (packages, folder) = (packages(), folder());
    let ask = |words: &[&str]| -> Output {
        let mut inspector = packages.node();
        inspector.arg(packages.path("@modelcontextprotocol/inspector/clients/launcher/build/index.js"));
        inspector.args(["--cli", MXD, "mcp"]).args(words).current_dir(folder.path()).output().unwrap()
    };
    let answer = |words: &[&str]| -> Value {
        let output = ask(words);
        let told = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        serde_json::from_str(&told).unwrap_or_else(|error| panic!("{words:?}: {error}: {told}{complaint}"))
    };
    let listed = ask(&["--method", "tools/list", "--strict"]);
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let call = |tool: &str, args: &str| {
        answer(&["--method", "tools/call", "--tool-name", tool, "--tool-args-json", args])
    };
    let written = call("write_file", r#"{"path":"note.txt","content":"one\ntwo\n"}"#);
    assert_ne!(written["isError"], true, "{written}");
    assert!(call("read_file", r#"{"path":"note.txt"}"#).to_string().contains("two"));
    assert!(call("search", r#"{"pattern":"tw."}"#).to_string().contains("note.txt"));
    assert!(call("bash", r#"{"command":"cat note.txt"}"#).to_string().contains("one"));
    let modern = ["--protocol-era", "modern", "--method", "tools/call", "--tool-name", "bash"];
    let modern = answer(&[&modern[..], &["--tool-arg", "command=cat note.txt"]].concat());
    assert!(modern.to_string().contains("two"), "{modern}");
    let failed =
        ask(&["--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=nowhere.txt"]);
    let told =
        String::from_utf8_lossy(&failed.stdout).into_owned() + &String::from_utf8_lossy(&failed.stderr);
    assert!(told.contains("nowhere.txt"), "{told}");
}
