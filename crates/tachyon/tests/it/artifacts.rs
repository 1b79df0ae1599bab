//! Contracts written in machine code, so that most tests need no compiler.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Creation code around code: copies it to memory and returns it.
pub(crate) fn creation(code: &[u8]) -> String {
    // PUSH2 size DUP1 PUSH1 12 PUSH1 0 CODECOPY PUSH1 0 RETURN
    let size = u16::try_from(code.len()).unwrap().to_be_bytes();
    let head = [0x61, size[0], size[1], 0x80, 0x60, 0x0c, 0x60, 0, 0x39, 0x60, 0, 0xf3];
    hex::encode([head.as_slice(), code].concat())
}

/// A contract that returns 42 to everybody: PUSH1 42 PUSH1 0 MSTORE PUSH1 32 PUSH1 0 RETURN.
pub(crate) const ANSWER: [u8; 10] = [0x60, 42, 0x60, 0, 0x52, 0x60, 32, 0x60, 0, 0xf3];

/// Refuses everything: PUSH1 0 DUP1 REVERT.
const REFUSES: [u8; 4] = [0x60, 0, 0x80, 0xfd];

fn artifact(name: &str, bytecode: &str, abi: Value) -> Value {
    json!({
        "name": name,
        "path": format!("src/{name}.sol"),
        "abi": abi,
        "bytecode": format!("0x{bytecode}"),
        "deployedBytecode": "0x",
        "compiler": {
            "kind": "by hand", "version": "0", "sha256": "", "optimizer": { "enabled": false, "runs": 0 }, "via_ir": false,
        },
        "sources": "",
    })
}

fn all() -> Vec<Value> {
    let view = json!([{
        "type": "function", "name": "answer", "inputs": [], "stateMutability": "view",
        "outputs": [{ "name": "", "type": "uint256" }],
    }, {
        "type": "function", "name": "poke", "inputs": [{ "name": "x", "type": "uint256" }],
        "stateMutability": "payable", "outputs": [],
    }]);
    let taking = json!([{
        "type": "constructor", "stateMutability": "payable", "inputs": [{ "name": "x", "type": "uint8" }],
    }]);
    vec![
        artifact("Answer", &creation(&ANSWER), view),
        artifact("Taking", &creation(&ANSWER), taking),
        artifact("Refusing", &hex::encode(REFUSES), json!([])),
        artifact("Abstract", "", json!([])),
    ]
}

/// Writes artifacts and their entries the way the registry keeps them.
pub(crate) fn keep(tenant: &Path) {
    std::fs::create_dir_all(tenant.join("artifacts")).unwrap();
    let mut journal = String::new();
    for artifact in all() {
        let bytes = artifact.to_string();
        let digest = hex::encode(Sha256::digest(&bytes));
        let path = tenant.join("artifacts").join(format!("{digest}.json"));
        File::create(path).unwrap().write_all(bytes.as_bytes()).unwrap();
        let record = json!({
            "type": "artifact", "artifact_id": format!("sha256:{digest}"), "project_id": "byhand",
            "name": artifact["name"], "path": artifact["path"],
        });
        let crc = format!("{:08x}", crc32fast::hash(record.to_string().as_bytes()));
        journal.push_str(&format!("{{\"crc\":\"{crc}\",\"record\":{record}}}\n"));
    }
    File::create(tenant.join("registry.jsonl")).unwrap().write_all(journal.as_bytes()).unwrap();
}
