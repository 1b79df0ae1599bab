//! Servers of npm that we did not write, for tests that let our agents use them.
//!
//! They are installed below the target directory, once. Without npm or a way to install them a test fails and says what
//! is missing: a skipped proof is none.
//!
//! Included by the test binaries of several crates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SERVERS: [&str; 4] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
];

/// A folder that has exactly these servers; made when it is missing or has others.
pub(crate) fn servers() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("mcp-servers-npm");
    fs::create_dir_all(&folder).unwrap();
    // Several tests need it, and they run at the same time.
    let turn = fs::File::create(folder.join("turn")).unwrap();
    turn.lock().unwrap();
    let (seal, wanted) = (folder.join("installed"), SERVERS.join("\n"));
    if !fs::read_to_string(&seal).is_ok_and(|installed| installed == wanted) {
        let mut npm = Command::new("npm");
        npm.args(["install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund"]).args(SERVERS);
        let remedy = "install Node.js with npm, and check the network";
        let output = npm.current_dir(&folder).output();
        let output = output.unwrap_or_else(|error| panic!("{npm:?}: {error}\n{remedy}"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{npm:?} failed\n{error}\n{remedy}");
        fs::File::create(&seal)
            .and_then(|mut file| std::io::Write::write_all(&mut file, wanted.as_bytes()))
            .unwrap();
    }
    folder.canonicalize().unwrap()
}

/// What starts one of them.
pub(crate) fn index(folder: &Path, server: &str) -> String {
    let path = folder.join("node_modules/@modelcontextprotocol").join(server).join("dist/index.js");
    path.to_str().unwrap().to_owned()
}
