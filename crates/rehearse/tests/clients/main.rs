//! Clients that we did not write hold conversations with the scripted model on all three wires.
//!
//! The official Python packages are installed into a virtual environment under the target directory, once. Without
//! python3 or without a way to install the packages this test fails and says what is missing: a skipped proof is none.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

fn run(command: &mut Command, remedy: &str) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}\n{remedy}"));
    let told = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed\n{told}{error}\n{remedy}");
    told.into_owned()
}

/// The Python of an environment that has exactly these packages; made when it is missing or has others.
fn python() -> PathBuf {
    let wanted = fs::read(here().join("requirements.txt")).unwrap();
    let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("clients-venv");
    let python = environment.join("bin/python");
    // Written last, so that an installation that was cut off is not taken for a whole one.
    let seal = environment.join("requirements.installed");
    if fs::read(&seal).is_ok_and(|installed| installed == wanted) {
        return python;
    }
    let venv = "install python3 with its venv module (on Debian: apt install python3-venv)";
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment), venv);
    let pip =
        "the packages of tests/clients/requirements.txt must be installable with pip: check the network";
    let requirements = here().join("requirements.txt");
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    run(Command::new(&python).args(install).arg(requirements), pip);
    fs::copy(here().join("requirements.txt"), seal).unwrap();
    python
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
    let python = python();
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
