//! Values through the ABI and back.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Answers to questions, one line each.
pub(crate) fn abi(direction: &str, questions: &[Value]) -> Vec<Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tachyon"))
        .args(["abi", direction])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text: String = questions.iter().map(|question| format!("{question}\n")).collect();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn values_come_back_as_they_went() {
    let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let least = "-57896044618658097711785492504343953926634992332820282019728792003956564819968";
    let nested = json!({
        "name": "t", "type": "tuple[2][]",
        "components": [{ "name": "a", "type": "uint8[]" }, { "name": "b", "type": "string" }],
    });
    let cases = [
        (json!(["uint256", "int256", "bool"]), json!([most, least, true])),
        (
            json!(["address", "bytes", "bytes3", "string"]),
            json!(["0x00000000000000000000000000000000000000AA", "0x", "0x010203", "ü"]),
        ),
        (json!(["uint8[2][]"]), json!([[["1", "2"], ["3", "4"]]])),
        (json!([nested]), json!([[[{ "a": ["1"], "b": "x" }, { "a": [], "b": "" }]]])),
        (json!(["(uint256,(bool,bytes1))"]), json!([["1", [false, "0xff"]]])),
        (json!(["function"]), json!([format!("0x{}", "ab".repeat(24))])),
    ];
    for (types, values) in cases {
        let encoded = abi("encode", &[json!({ "types": types, "values": values })]);
        let decoded = abi("decode", &[json!({ "types": types, "data": encoded[0]["data"] })]);
        assert_eq!(decoded[0]["values"], values, "{encoded:?}");
    }
}

#[test]
fn what_does_not_fit_its_type_is_refused_with_its_place() {
    for (types, values, place) in [
        (json!(["uint8"]), json!([256]), "argument 0"),
        (json!(["uint8[]"]), json!([[1, 300]]), "[1]"),
        (json!(["(uint8,bool)"]), json!([[1, "maybe"]]), ".1"),
        (json!(["bytes4"]), json!(["0x010203"]), "exactly 4"),
        (json!(["bytes"]), json!(["0x123"]), "hexadecimal"),
        (json!(["address"]), json!(["0x5FbDB2315678afecb367f032d93F642f64180aa4"]), "checksum"),
        (json!(["uint8[2]"]), json!([[1]]), "exactly 2"),
        (json!(["uint256"]), json!([]), "expected"),
        (json!(["int8"]), json!(["128"]), "int8"),
    ] {
        let told = abi("encode", &[json!({ "types": types, "values": values })]);
        let message = told[0]["error"].as_str().unwrap_or_else(|| panic!("{types} {values} {told:?}"));
        assert!(message.contains(place), "{message}");
    }
    let told = abi("decode", &[json!({ "types": ["string"], "data": "0x00" })]);
    assert!(told[0]["error"].is_string());
}
