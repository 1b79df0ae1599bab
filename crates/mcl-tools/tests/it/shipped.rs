//! The manifests in `agents/`, with their packages installed from the lock files beside them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use mxd_core::manifest::{AgentManifest, LockFile, Placeholders, compare};
use mxd_core::tool::SideEffect;
use serde_json::Value;
use tempfile::TempDir;

use crate::python;

const AGENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../agents");
const NAMES: [&str; 3] = ["default", "forge", "neo"];

fn manifest(name: &str) -> AgentManifest {
    let bytes = fs::read(Path::new(AGENTS).join(format!("{name}.json"))).unwrap();
    AgentManifest::parse(&bytes, Placeholders::Refuse).unwrap_or_else(|problems| panic!("{name}: {problems}"))
}

#[test]
fn every_shipped_manifest_is_well_formed_and_real() {
    let files = fs::read_dir(AGENTS).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let others = ["package.json", "package-lock.json", "requirements.txt", "node_modules", ".venv"];
    let is_manifest = |name: &String| !name.ends_with(".lock.json") && !others.contains(&name.as_str());
    let mut found: Vec<String> = files.filter(is_manifest).collect();
    found.sort();
    assert_eq!(found, NAMES.map(|name| format!("{name}.json")));
    for name in NAMES {
        let manifest = manifest(name);
        assert_eq!(manifest.agent.name(), name);
        assert!(manifest.placeholders().is_empty(), "{name}");
        let lock = fs::read(Path::new(AGENTS).join(format!("{name}.lock.json"))).unwrap();
        let lock = LockFile::parse(&lock).unwrap_or_else(|problems| panic!("{name}: {problems}"));
        for server in manifest.servers.iter().filter(|server| server.name.as_str() != "mxd") {
            let locked = &lock.servers[&server.name];
            let definitions = locked.tools.values().map(|tool| tool.definition.clone()).collect();
            let discovered = mxd_core::manifest::Discovered { tools: definitions, unreadable: Vec::new() };
            let report = compare(server, Some(locked), &discovered);
            assert!(report.is_acceptable(), "{name}: {report:?}");
        }
    }
}

#[test]
fn neo_neither_writes_nor_runs_and_forge_reaches_nobody() {
    let allows = |name: &str| manifest(name).allowed.iter().collect::<Vec<_>>();
    assert_eq!(allows("neo"), [SideEffect::Read, SideEffect::Network]);
    assert_eq!(allows("forge"), [SideEffect::Read, SideEffect::Write, SideEffect::Shell]);
    for (name, effects) in [("neo", allows("neo")), ("forge", allows("forge"))] {
        for server in &manifest(name).servers {
            let outside = server.declared().iter().find(|tool| !effects.contains(&tool.effect));
            assert!(outside.is_none(), "{name} lists what it may not use: {outside:?}");
        }
    }
}

/// A copy of `agents/` under the target folder with everything installed. Made when it is missing or was made from others.
fn installed() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("mcl-agents");
        fs::create_dir_all(&folder).unwrap();
        let seal = folder.join("installed");
        let files = ["package.json", "package-lock.json", "requirements.txt"];
        let wanted: Vec<u8> =
            files.iter().flat_map(|name| fs::read(Path::new(AGENTS).join(name)).unwrap()).collect();
        if fs::read(&seal).is_ok_and(|installed| installed == wanted) {
            return folder;
        }
        for name in files {
            fs::copy(Path::new(AGENTS).join(name), folder.join(name)).unwrap();
        }
        let npm = "install Node.js 20 or newer with npm, and check the network";
        python::run(
            Command::new("npm").args(["ci", "--ignore-scripts", "--silent"]).current_dir(&folder),
            npm,
        );
        let python = python::python("mcl-agents-python", &folder.join("requirements.txt"));
        let _none_yet = fs::remove_file(folder.join(".venv"));
        symlink(python.parent().and_then(Path::parent).unwrap(), folder.join(".venv")).unwrap();
        fs::write(seal, wanted).unwrap();
        folder
    })
}

/// The program of the EVM toolbox, beside ours, where it is looked for. A test run of the whole workspace has built it.
fn build_companion() {
    let ours = Path::new(env!("CARGO_BIN_EXE_mcl-tools"));
    if ours.with_file_name("tachyon").exists() {
        return;
    }
    let target = ours.parent().and_then(Path::parent).unwrap();
    let remedy = "`cargo build --bin tachyon` has to work";
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "tachyon", "--bin", "tachyon", "--target-dir"]).arg(target);
    if ours.parent().is_some_and(|folder| folder.ends_with("release")) {
        build.arg("--release");
    }
    python::run(build.current_dir(AGENTS), remedy);
}

/// Whether compiled parts of distributions are those of the digests that are shipped.
fn is_reference_platform(folder: &Path) -> bool {
    let question = "import platform, sys; print(sys.implementation.cache_tag, platform.machine(), platform.libc_ver()[0])";
    let answer = python::run(Command::new(folder.join(".venv/bin/python")).args(["-c", question]), "");
    answer.trim() == "cpython-311 x86_64 glibc"
}

fn mcl_tools(folder: &Path, worktree: &Path, arguments: &[&str]) -> (i32, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_mcl-tools"))
        .args(arguments)
        .args(["--json", "--connect-timeout", "300", "--worktree"])
        .arg(worktree)
        .current_dir(folder)
        .env("MXD_PACKAGES", folder.join("store"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let document = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.status.code().unwrap(), document)
}

/// Real packages, real digests, real servers. On another platform the digests of compiled parts are written anew first.
#[test]
fn every_shipped_manifest_verifies_live() {
    build_companion();
    let folder = installed();
    let worktree = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let copy = TempDir::new_in(folder).unwrap();
    for name in NAMES {
        for file in [format!("{name}.json"), format!("{name}.lock.json")] {
            fs::copy(Path::new(AGENTS).join(&file), copy.path().join(&file)).unwrap();
        }
        let path = copy.path().join(format!("{name}.json"));
        let path = path.to_string_lossy();
        if !is_reference_platform(folder) {
            mcl_tools(folder, worktree.path(), &["digest", "--update", "-m", &path]);
            mcl_tools(folder, worktree.path(), &["lock", "--accept", "-m", &path]);
        }
        let (code, document) = mcl_tools(folder, worktree.path(), &["verify", "--live", "-m", &path]);
        assert_eq!(code, 0, "{name}: {:#}", document["problems"]);
    }
    let path = copy.path().join("default.json").to_string_lossy().into_owned();
    let call = |uri: &str, args: &str| {
        mcl_tools(folder, worktree.path(), &["call", "-m", &path, "--uri", uri, "--args", args])
    };
    let (code, wrote) =
        call("matrix://tool/mcp/fs/write_file@2026.8.31", "{\"path\":\"a.txt\",\"content\":\"hello\"}");
    assert_eq!(code, 0, "{wrote:#}");
    assert_eq!(fs::read_to_string(worktree.path().join("a.txt")).unwrap(), "hello");
    let (code, time) = call("matrix://tool/mcp/time/get_current_time@2026.10.19", "{\"timezone\":\"UTC\"}");
    assert_eq!(code, 0, "{time:#}");
    let (code, denied) = call("matrix://tool/mcp/tachyon/tachyon_deploy@0.1.0", "{}");
    assert_eq!(code, 9, "default does not act on chains: {denied:#}");
}
