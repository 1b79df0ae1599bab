//! The MCP Inspector's command line lists and calls all nine tools.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::workshop::{Workshop, run};

/// One question of the Inspector to a server that it starts for it.
fn ask(shop: &Workshop, data: &Path, question: &[&str]) -> Value {
    let mut command: Command = shop.script("@modelcontextprotocol/inspector-cli/build/index.js");
    command.arg(env!("CARGO_BIN_EXE_tachyon")).arg("--mcp").arg("--data").arg(data);
    command.arg("--config").arg(data.join("config.json"));
    let told =
        run(command.arg("--method").args(question), "the Inspector and the server did not come to terms");
    serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"))
}

/// Calls a tool; whether that went well, and its envelope.
fn call(shop: &Workshop, data: &Path, tool: &str, arguments: &[(&str, Value)]) -> (bool, Value) {
    let arguments: Vec<String> = arguments.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut question = vec!["tools/call", "--tool-name", tool];
    question.extend(arguments.iter().flat_map(|argument| ["--tool-arg", argument]));
    let told = ask(shop, data, &question);
    (told["isError"] != true, told["structuredContent"].clone())
}

pub(crate) fn calls_all_tools(shop: &Workshop) {
    let folder = shop.data();
    shop.config(&folder);
    let data = folder.path();
    let listed = ask(shop, data, &["tools/list"]);
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 9, "{listed}");
    let source = "pragma solidity ^0.8.0; contract Nine { function nine() external pure returns (uint256) { return 9; } }";
    let test = format!(
        "{source} contract NineTest {{ function test_nine() external {{ assert(new Nine().nine() == 9); }} }}"
    );
    let done = |tool: &str, arguments: &[(&str, Value)]| {
        let (well, told) = call(shop, data, tool, arguments);
        assert!(well && told["ok"] == true, "{tool}: {told}");
        told["data"].clone()
    };
    let mut called = vec!["tachyon_compile", "tachyon_test"];
    done("tachyon_compile", &[("sources", json!({ "Nine.sol": source }))]);
    let tested = done("tachyon_test", &[("sources", json!({ "Nine.t.sol": test }))]);
    assert_eq!(tested["passed"], 1, "{tested}");
    let order = [("idempotency_key", json!("k")), ("chain_id", json!("dev")), ("contract", json!("Nine"))];
    let address = done("tachyon_deploy", &order)["address"].clone();
    let question = [("to", address.clone()), ("method", json!("nine"))];
    for tool in ["tachyon_simulate", "tachyon_call"] {
        assert_eq!(done(tool, &question)["decoded"][0]["value"], "9");
    }
    assert_eq!(done("tachyon_chain_list", &[])["embedded_block"], 1);
    assert_eq!(done("tachyon_artifact_get", &[("name", json!("Nine"))])["artifact"]["name"], "Nine");
    assert_eq!(done("tachyon_registry_lookup", &order[..2])["address"], address);
    // A node in a private network is refused; that is the tool at work, and an error as clients must get it.
    let node = [("id", json!("mine")), ("rpc_url", json!("http://127.0.0.1:1/")), ("chain_id", json!(5))];
    let (well, told) = call(shop, data, "tachyon_chain_register", &node);
    assert!(
        !well && told["error"]["code"] == "CHAIN_NOT_FOUND" && told["tool"] == "tachyon_chain_register",
        "{told}"
    );
    called.extend([
        "tachyon_simulate",
        "tachyon_deploy",
        "tachyon_call",
        "tachyon_chain_list",
        "tachyon_chain_register",
    ]);
    called.extend(["tachyon_artifact_get", "tachyon_registry_lookup"]);
    assert_eq!(called, names);
}
