//! Tests that need cheatcodes our runner lacks: judged by forge where it is installed, by nobody where it is not.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::workshop::{Workshop, here, write};

/// What the test verb says about the contracts for this, by test: who judged it, how it ended, and why.
fn judged(shop: &Workshop, forge: &str, port: u16) -> BTreeMap<String, (String, String, String)> {
    let data = shop.data();
    let path = shop.config(&data);
    let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    config["forge"] = forge.into();
    write(&path, &config.to_string());
    let source = std::fs::read_to_string(here().join("contracts/Handover.t.sol")).unwrap();
    let request = json!({ "sources": { "test/Handover.t.sol": source.replace("65535", &port.to_string()) } });
    let mut command = Command::new(env!("CARGO_BIN_EXE_tachyon"));
    command.arg("--data").arg(data.path()).arg("--config").arg(&path).args(["run", "test", "-"]);
    command.env("SECRET_OF_THE_SERVER", "do-not-tell");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), request.to_string().as_bytes()).unwrap();
    let told: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert!(!told.to_string().contains("do-not-tell"), "{told}");
    let cases = told["data"]["suites"][0]["cases"].as_array().unwrap_or_else(|| panic!("{told:#}")).clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |case: &Value| {
        (text(&case["name"]), (text(&case["runner"]), text(&case["status"]), text(&case["reason"])))
    };
    cases.iter().map(one).collect()
}

pub(crate) fn unsupported_tests_go_to_forge(shop: &Workshop) {
    // Whoever reaches the network reaches this.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let told = judged(shop, &shop.program("forge").to_string_lossy(), port);
    let said: Vec<(&str, &str, &str)> = told
        .iter()
        .map(|(name, (runner, status, _))| (name.as_str(), runner.as_str(), status.as_str()))
        .collect();
    let expected = [
        ("testFuzz_is_handed_over(uint256)", "forge", "passed"),
        ("test_environment()", "builtin", "unsupported"),
        ("test_environment_behind_another()", "forge", "unsupported"),
        ("test_fails_there()", "forge", "failed"),
        ("test_file_behind_another()", "forge", "unsupported"),
        ("test_network_behind_another()", "forge", "unsupported"),
        ("test_passes_here()", "builtin", "passed"),
        ("test_passes_there()", "forge", "passed"),
    ];
    // Where forge was not allowed either, the built-in runner's word stands.
    let expected = expected.map(|(name, runner, status)| match status {
        "unsupported" => (name, "builtin", status),
        _ => (name, runner, status),
    });
    assert_eq!(said, expected, "{told:#?}");
    assert!(told["test_fails_there()"].2.contains("abc != abd"), "{told:#?}");
    assert!(told["test_environment()"].2.contains("outside"), "{told:#?}");
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "something reached the network");

    let told = judged(shop, "/no/such/program", port);
    let unsupported =
        told.values().filter(|(runner, status, _)| runner == "builtin" && status == "unsupported");
    assert_eq!(unsupported.count(), 7, "{told:#?}");
    assert!(told["test_passes_there()"].2.contains("toLowercase"), "{told:#?}");
}
