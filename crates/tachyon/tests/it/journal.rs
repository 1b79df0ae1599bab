//! The files of a tenant: cut, damaged, private.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::program::{Home, lines};

fn deployed() -> (Home, std::path::PathBuf, std::path::PathBuf) {
    let home = Home::new();
    home.keep_artifacts();
    for key in ["a", "b"] {
        home.done("deploy", json!({ "idempotency_key": key, "chain_id": "dev", "contract": "Answer" }));
    }
    let tenant = home.data().join("tenants/local");
    let (registry, chain) = (tenant.join("registry.jsonl"), tenant.join("chain.jsonl"));
    (home, registry, chain)
}

#[test]
fn cut_at_any_byte_of_its_last_line_a_journal_goes_on() {
    let (home, registry, chain) = deployed();
    for path in [registry, chain] {
        let whole = std::fs::read(&path).unwrap();
        let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        for cut in [last, last + 1, last + 20, whole.len() - 2, whole.len() - 1] {
            let file = OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
            (&file).write_all(&whole[..cut]).unwrap();
            let told = home.run(
                "deploy",
                json!({ "idempotency_key": format!("c{cut}"), "chain_id": "dev", "contract": "Answer" }),
            );
            assert_eq!(told["ok"], true, "{cut}: {told}");
            assert!(lines(&path).len() > 1, "{cut}");
            let file = OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
            (&file).write_all(&whole).unwrap();
            // The other journal now knows more; that is what the next round begins with.
        }
    }
}

#[test]
fn a_damaged_line_stops_everything_that_could_cost_money() {
    let (home, registry, _) = deployed();
    let mut text = std::fs::read_to_string(&registry).unwrap();
    let at = text.find("\"nonce\":0").unwrap();
    text.replace_range(at..at + 9, "\"nonce\":7");
    OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(&registry)
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let told = home.refused(
        "deploy",
        json!({ "idempotency_key": "c", "chain_id": "dev", "contract": "Answer" }),
        "INTERNAL_ERROR",
    );
    assert!(told["message"].as_str().unwrap().contains("damaged in line 5"), "{told}");
}

#[test]
fn an_altered_artifact_is_not_deployed() {
    let (home, ..) = deployed();
    let folder = home.data().join("tenants/local/artifacts");
    for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        OpenOptions::new().append(true).open(entry.path()).unwrap().write_all(b" ").unwrap();
    }
    let told = home.refused(
        "deploy",
        json!({ "idempotency_key": "z", "chain_id": "dev", "contract": "Answer" }),
        "INTERNAL_ERROR",
    );
    assert!(told["message"].as_str().unwrap().contains("altered"), "{told}");
}

#[test]
fn files_are_private_and_tenants_see_nothing_of_each_other() {
    let home = Home::new();
    home.done("call", json!({ "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "value": "1" }));
    let tenant = home.data().join("tenants/local");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&tenant), 0o700);
    for name in ["chain.jsonl", "registry.jsonl"] {
        assert_eq!(mode(&tenant.join(name)), 0o600);
    }
    let other = home.command().args(["--tenant", "other", "run", "chain_list"]).output().unwrap();
    let other: serde_json::Value = serde_json::from_slice(&other.stdout).unwrap();
    assert_eq!(other["data"]["embedded_block"], 0);
    assert_eq!(home.done("chain_list", json!({}))["embedded_block"], 1);
    let escape = home.command().args(["--tenant", "../x", "run", "chain_list"]).output().unwrap();
    assert_eq!(escape.status.code(), Some(1));
}
