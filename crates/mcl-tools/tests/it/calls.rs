//! Calls of tools.

use serde_json::json;

use crate::stage::Stage;

fn uri(tool: &str) -> String {
    format!("matrix://tool/mcp/stage/{tool}@1.2.3")
}

#[test]
fn a_call_gives_the_result_of_the_tool() {
    let stage = Stage::new();
    stage.run(&["call", "--uri", &uri("echo"), "--args", "{\"text\":\"hello\"}"]).is_golden("call");
    let document = stage.json(&["call", "--uri", &uri("add"), "--args", "{\"a\":1,\"b\":2}"]);
    assert_eq!(document["result"]["structured"]["sum"], 3);
    assert_eq!(document["result"]["is_error"], false);
    let steers = json!({ "text": "a\u{1b}[2J\u{202e}b\r\nc" }).to_string();
    let said = stage.run(&["call", "--uri", &uri("echo"), "--args", &steers]);
    assert_eq!(said.out, "a\\u{1b}[2J\\u{202e}b\nc\n", "a terminal obeys nothing that a tool says");
    let verbose = stage.run(&["call", "-v", "--uri", &uri("echo"), "--args", "{\"text\":\"hello\"}"]);
    assert_eq!(verbose.err, "starting stage …\ncalling mcp:stage:echo …\n");
}

#[test]
fn a_tool_that_fails_has_its_own_code() {
    let stage = Stage::new();
    stage.run(&["call", "--uri", &uri("fail")]).is_golden("call_failed");
    assert_eq!(stage.json(&["call", "--uri", &uri("fail")])["result"]["is_error"], true);
}

#[test]
fn what_the_gate_denies_does_not_run() {
    let stage = Stage::new();
    let put = json!({ "path": "made.txt", "text": "x" }).to_string();
    stage.run(&["call", "--uri", &uri("put"), "--args", &put]).is_golden("call_denied_class");
    assert!(!stage.path("made.txt").exists());
    stage.run(&["call", "--uri", &uri("echo"), "--args", "{\"txt\":1}"]).is_golden("call_denied_arguments");
    stage.run(&["call", "--uri", &uri("nothing")]).is_golden("call_unknown");
    stage.run(&["call", "--uri", &uri("echo"), "--args", "[1]"]).is_golden("call_no_object");
    stage.edit_manifest(|manifest| manifest["allowed_side_effects"] = json!(["read", "write"]));
    let call = stage.run(&["call", "--uri", &uri("put"), "--args", &put]);
    assert_eq!(call.code, 0, "{call:?}");
    assert_eq!(stage.read("made.txt"), "x");
}

#[test]
fn a_call_that_takes_too_long_is_stopped() {
    let stage = Stage::new();
    let said = stage.run(&["call", "--uri", &uri("wait"), "--timeout", "1"]);
    assert_eq!(said.code, 10, "{said:?}");
    stage.edit_manifest(|manifest| manifest["servers"][0]["tools"][3]["timeout_ms"] = json!(300));
    stage.run(&["call", "--uri", &uri("wait")]).is_golden("call_too_long");
}

#[test]
fn a_server_that_dies_during_a_call_is_told() {
    let stage = Stage::new();
    let said = stage.run(&["call", "--uri", &uri("die")]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("the server stage was lost"), "{said:?}");
    assert!(said.err.contains("I cannot go on"), "{said:?}");
}
