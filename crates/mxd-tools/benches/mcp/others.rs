//! The official clients for Python and TypeScript on the same server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::Went;
use super::agent::SERVER;
use super::python;

const TYPESCRIPT: &str = "@modelcontextprotocol/client@2.4.0";

#[derive(Deserialize)]
struct Report {
    per_second: f64,
    p99_us: f64,
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/mcp").join(name)
}

pub(crate) fn python(calls: usize) -> Went {
    let python = python::python("bench-mcp-python", &here("requirements.txt"));
    went(Command::new(python).arg(here("client.py")).args([SERVER, &calls.to_string()]))
}

pub(crate) fn typescript(calls: usize) -> Went {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench-mcp-typescript");
    if !folder.join("node_modules").is_dir() {
        fs::create_dir_all(&folder).unwrap();
        let install = ["install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund", TYPESCRIPT];
        let remedy = "install Node.js with npm, and check the network";
        python::run(Command::new("npm").args(install).current_dir(&folder), remedy);
    }
    // Modules are looked for beside the program.
    let program = folder.join("client.mjs");
    fs::copy(here("client.mjs"), &program).unwrap();
    went(Command::new("node").arg(program).args([SERVER, &calls.to_string()]))
}

fn went(command: &mut Command) -> Went {
    let told = python::run(command, "the client could not call the server");
    let report: Report = serde_json::from_str(told.trim()).unwrap();
    Went { per_second: report.per_second, p99: report.p99_us }
}
