//! The embedded chain: what it returns, how it refuses, and that it stays.

use serde_json::{Value, json};

use crate::artifacts::creation;
use crate::program::Home;

/// A contract that reverts with these bytes: copies them from behind its code.
fn reverting(data: &[u8]) -> String {
    // PUSH1 size PUSH1 10 PUSH1 0 CODECOPY ... REVERT
    let size = u8::try_from(data.len()).unwrap();
    let head = [0x60, size, 0x60, 12, 0x60, 0, 0x39, 0x60, size, 0x60, 0, 0xfd];
    creation(&[head.as_slice(), data].concat())
}

fn created(home: &Home, code: &str) -> Value {
    home.run("simulate", json!({ "data": format!("0x{code}") }))
}

#[test]
fn contracts_stay_and_answer_and_unknown_bytes_are_still_there() {
    let home = Home::new();
    home.keep_artifacts();
    let told =
        home.done("deploy", json!({ "idempotency_key": "k", "chain_id": "dev", "contract": "Answer" }));
    let to = &told["address"];
    for _ in 0..2 {
        let told = home.done("call", json!({ "to": to, "method": "answer" }));
        assert_eq!(told["decoded"][0]["value"], "42");
        assert_eq!(told["sent"], false, "a function that only reads costs nothing");
    }
    let told = home.done("call", json!({ "to": to, "method": "poke", "args": ["0xff"], "value": "7" }));
    assert_eq!((&told["sent"], &told["receipt"]["succeeded"]), (&json!(true), &json!(true)));
    let told =
        home.done("call", json!({ "to": to, "method": "answer() returns (int8)", "simulate_only": true }));
    assert_eq!(told["decoded"][0]["value"], "42");
    let told = home.done("simulate", json!({ "to": to, "data": "0x01020304", "trace": true }));
    assert_eq!(told["trace"]["type"], "CALL");
    assert_eq!(told["result"].as_str().unwrap().len(), 66);
    home.refused("call", json!({ "to": to, "method": "missing" }), "INVALID_REQUEST");
    home.refused("simulate", json!({ "to": to, "block": 0 }), "INVALID_REQUEST");
    home.refused("simulate", json!({ "to": to, "value": "1000000000000000000000000" }), "SIMULATE_FAILED");
    home.refused("simulate", json!({ "to": to, "tpyo": 1 }), "INVALID_REQUEST");
}

#[test]
fn reverts_are_told_in_words() {
    let home = Home::new();
    let refuse = |data: &str, abi: Value| {
        // Deployed through the deterministic deployer's address would be another way; a creation that reverts tells the same.
        let code = reverting(&hex::decode(data).unwrap());
        let (_, runtime) = code.split_at(24);
        let mut request = json!({ "data": format!("0x{runtime}") });
        if !abi.is_null() {
            request["abi"] = abi;
        }
        home.refused("simulate", request.clone(), "SIMULATE_FAILED");
        home.run("simulate", request)["data"]["revert"].clone()
    };
    let reason = "08c379a00000000000000000000000000000000000000000000000000000000000000020\
                  0000000000000000000000000000000000000000000000000000000000000002686900000000\
                  00000000000000000000000000000000000000000000000000000000"
        .replace(' ', "");
    let told = refuse(&reason, Value::Null);
    assert_eq!((&told["kind"], &told["reason"]), (&json!("reason"), &json!("hi")));
    let panic = format!("4e487b71{:064x}", 0x11);
    assert_eq!(refuse(&panic, Value::Null)["reason"], "panic 0x11: arithmetic overflow or underflow");
    let abi = json!([{ "type": "error", "name": "TooBig", "inputs": [{ "name": "x", "type": "uint256" }] }]);
    let selector = hex::encode(&alloy_primitives::keccak256("TooBig(uint256)")[..4]);
    let custom = format!("{selector}{:064x}", 1001);
    let told = refuse(&custom, abi);
    assert_eq!((&told["kind"], &told["args"][0]["value"]), (&json!("custom"), &json!("1001")));
    assert_eq!(refuse(&custom, Value::Null)["kind"], "unknown");
    assert_eq!(refuse("", Value::Null)["kind"], "empty");
    // INVALID, and a loop without end: JUMPDEST PUSH1 0 JUMP.
    for code in ["fe", "5b600056"] {
        let told = created(&home, code);
        assert_eq!(told["data"]["revert"]["kind"], "halt", "{told}");
    }
}

#[test]
fn a_contract_by_code_and_salt_is_where_it_should_be_and_only_once() {
    let home = Home::new();
    home.keep_artifacts();
    let request = |key: &str| {
        let salt = format!("0x{}", "07".repeat(32));
        json!({ "idempotency_key": key, "chain_id": "dev", "contract": "Answer", "create2": { "salt": salt } })
    };
    let first = home.done("deploy", request("a"));
    assert_eq!(first["existing"], false);
    let code = hex::decode(creation(&crate::artifacts::ANSWER)).unwrap();
    let deployer: alloy_primitives::Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C".parse().unwrap();
    let address = deployer.create2_from_code([7; 32], code);
    assert_eq!(first["address"], address.to_checksum(None));
    let second = home.done("deploy", request("b"));
    assert_eq!((&second["existing"], second.get("tx_hash")), (&json!(true), None));
    let elsewhere = json!({ "salt": format!("0x{}", "07".repeat(32)), "deployer": "0x00000000000000000000000000000000000000aa" });
    let mut request = request("c");
    request["create2"] = elsewhere;
    home.refused("deploy", request, "DEPLOY_FAILED");
}
