//! The official conformance suite of MCP, against our server and our client, for the revisions we speak.
//!
//! What does not apply to us is in `not-applicable.json` with the reason. A failure that is not listed there fails the
//! test, and so does a listed one that no longer fails. The suite tests over HTTP only; what goes over pipes is tested
//! elsewhere.
//!
//! The program is its own helper: the suite starts it as a client, with the name of a scenario in the environment.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "counts and complaints are for who reads the results"
)]

mod client;
mod fixture;
#[path = "../../../../testing/node.rs"]
mod node;
mod verdict;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use node::Packages;
use verdict::{Role, Verdict};

fn main() -> ExitCode {
    match std::env::var("MCP_CONFORMANCE_SCENARIO") {
        Ok(scenario) => client::drive(&scenario),
        Err(_) => libtest_mimic::run(&Arguments::from_args(), tests()).exit_code(),
    }
}

fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| {
        Trial::test(name, move || {
            run();
            Ok::<(), Failed>(())
        })
    };
    vec![
        test("server_with_a_handshake", || server("2025-11-25")),
        test("server_without_state", || server("2026-07-28")),
        test("client_with_a_handshake", || client("2025-11-25")),
        test("client_without_state", || client("2026-07-28")),
    ]
}

/// All that a revision asks of a server.
fn server(revision: &str) {
    let served = fixture::serve();
    let (mut suite, results) = suite("server", revision);
    suite.args(["--url", &served.url]);
    Verdict::of(&mut suite, &results).check(Role::Server, revision);
}

/// All that a revision asks of a client.
fn client(revision: &str) {
    let (mut suite, results) = suite("client", revision);
    suite.arg("--command").arg(std::env::current_exe().unwrap());
    Verdict::of(&mut suite, &results).check(Role::Client, revision);
}

fn suite(role: &str, revision: &str) -> (Command, PathBuf) {
    let packages = Packages::of("node-conformance", include_str!("package.json"));
    let results = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("conformance-{role}-{revision}"));
    let _none = std::fs::remove_dir_all(&results);
    let mut command = packages.node();
    command.arg(packages.path("@modelcontextprotocol/conformance/dist/index.js"));
    command.args([role, "--requirements", revision, "--output-dir"]).arg(&results);
    (command, results)
}
