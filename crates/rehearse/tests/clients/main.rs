//! Clients that we did not write hold conversations with the scripted model on all three wires.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]

#[path = "../../../../testing/python.rs"]
mod python;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use python::{python, run};

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

/// `rehearse serve` with the base URL of every wire, by name.
fn serve() -> (Child, Vec<(String, String)>) {
    let mut serve = Command::new(env!("CARGO_BIN_EXE_rehearse"));
    serve.arg("serve").arg(here().join("script.json"));
    let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let told = lines.take_while(|line| line != "ready");
    let urls = told.map(|line| line.split_once(' ').map(|(wire, url)| (wire.into(), url.into())).unwrap());
    let urls = urls.collect();
    (child, urls)
}

#[test]
fn official_clients_converse_on_all_three_wires() {
    let python = python("clients-venv", &here().join("requirements.txt"));
    let (server, urls) = serve();
    let wires: Vec<&str> = urls.iter().map(|(wire, _)| wire.as_str()).collect();
    assert_eq!(wires, ["anthropic", "responses", "chat"]);
    let mut converse = Command::new(python);
    converse.arg(here().join("converse.py")).args(urls.iter().map(|(_, url)| url));
    for proxy in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        converse.env_remove(proxy);
    }
    let told = run(&mut converse, "the conversation did not go as tests/clients/converse.py says");
    assert_eq!(told, "three wires, three conversations\n");
    run(Command::new("kill").args(["-INT", &server.id().to_string()]), "the server is gone");
    let output = server.wait_with_output().unwrap();
    // Two requests were wrong on purpose; everything else kept every rule, and no turn is left.
    let report = String::from_utf8(output.stderr).unwrap();
    let wrong: Vec<&str> = report.lines().skip(1).filter_map(|line| line.split(['[', ']']).nth(1)).collect();
    assert_eq!(wrong, ["empty-text", "first-message", "orphan-result"], "{report}");
    assert_eq!((report.lines().count(), output.status.code()), (4, Some(1)), "{report}");
}
