//! The protocol on standard input and output.

use serde_json::json;

use crate::program::Home;

const NAMES: [&str; 9] = [
    "tachyon_compile",
    "tachyon_test",
    "tachyon_simulate",
    "tachyon_deploy",
    "tachyon_call",
    "tachyon_chain_list",
    "tachyon_chain_register",
    "tachyon_artifact_get",
    "tachyon_registry_lookup",
];

/// Schemas let everything through, so that every client gets the engine's own words about what is wrong.
#[test]
fn the_engine_names_a_field_that_it_does_not_know() {
    let home = Home::new();
    let mut mcp = home.mcp();
    for name in NAMES {
        let told = mcp.ask("tools/call", json!({ "name": name, "arguments": { "no_such_field": 1 } }));
        assert_eq!(told["result"]["isError"], true, "{told}");
        let text = told["result"]["content"][0]["text"].as_str().unwrap();
        let told: serde_json::Value = serde_json::from_str(text).unwrap();
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains("unknown field `no_such_field`"), "{name}: {message}");
    }
    let create2 = json!({ "salt": format!("0x{}", "00".repeat(32)), "no_such_field": 1 });
    let arguments = json!({ "contract": "C", "idempotency_key": "k", "create2": create2 });
    let told = mcp.ask("tools/call", json!({ "name": "tachyon_deploy", "arguments": arguments }));
    let text = told["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("unknown field `no_such_field`"), "{text}");
    assert!(mcp.close().success());
}

#[test]
fn the_nine_tools_are_listed_with_schemas_and_the_selftest_agrees() {
    let home = Home::new();
    let mut mcp = home.mcp();
    let told = mcp.ask("tools/list", json!({}));
    let tools = told["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, NAMES);
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], true, "{tool}");
        assert!(!tool["inputSchema"].to_string().contains("\"additionalProperties\":false"), "{tool}");
        assert_eq!(tool["outputSchema"]["required"], json!(["ok"]), "{tool}");
        assert!(tool["description"].as_str().unwrap().len() > 20);
    }
    assert_eq!(mcp.ask("ping", json!({}))["result"], json!({}));
    assert!(mcp.close().success());
    let selftest = home.command().arg("--selftest").output().unwrap();
    assert!(selftest.status.success(), "{selftest:?}");
    assert!(selftest.stdout.is_empty());
}

#[test]
fn the_selftest_finds_a_manifest_that_drifted() {
    let home = Home::new();
    let folder = home.path("agents");
    std::fs::create_dir(&folder).unwrap();
    let check = |tools: &[&str]| {
        let tools: Vec<_> = tools.iter().map(|name| json!({ "name": name })).collect();
        let manifest =
            json!({ "servers": [{ "alias": "fs", "tools": [] }, { "alias": "tachyon", "tools": tools }] });
        let file = std::fs::File::create(folder.join("default.json")).unwrap();
        serde_json::to_writer(file, &manifest).unwrap();
        let all = home.command().arg("--selftest").arg("--agents").arg(&folder).status().unwrap().success();
        let file = folder.join("default.json");
        let one = home.command().arg("--selftest").arg("--manifest").arg(file).status().unwrap().success();
        assert_eq!(all, one);
        all
    };
    assert!(check(&NAMES));
    assert!(!check(&NAMES[1..]));
    assert!(!check(&[NAMES.as_slice(), &["tachyon_extra"]].concat()));
    for text in ["{", "{}", r#"{"servers":[]}"#] {
        let mut file = std::fs::File::create(folder.join("default.json")).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        for place in
            [["--agents", "agents"], ["--manifest", "agents/default.json"], ["--manifest", "no-such-file"]]
        {
            assert!(
                !home.command().arg("--selftest").args(place).status().unwrap().success(),
                "{text} {place:?}"
            );
        }
    }
}

#[test]
fn the_selftest_agrees_with_the_manifests_that_are_shipped() {
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../agents");
    let selftest = Home::new().command().args(["--selftest", "--agents", shipped]).output().unwrap();
    assert!(selftest.status.success(), "{}", String::from_utf8_lossy(&selftest.stderr));
}

#[test]
fn a_failure_is_an_error_with_its_envelope_and_names_the_tool() {
    let mut mcp = Home::new().mcp();
    let told = mcp.ask("tools/call", json!({ "name": "tachyon_simulate", "arguments": { "value": "x" } }));
    let result = &told["result"];
    assert_eq!(result["isError"], true, "{told}");
    let text: serde_json::Value =
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["ok"], false);
    assert_eq!(text["tool"], "tachyon_simulate");
    assert_eq!(text["error"]["code"], "INVALID_REQUEST");
    assert_eq!(text["error"]["retry"], false);
    assert_eq!(text, result["structuredContent"]);
    let told = mcp.ask("tools/call", json!({ "name": "tachyon_nothing", "arguments": {} }));
    assert!(told["result"]["isError"] == true || told["error"].is_object(), "{told}");
    assert_eq!(mcp.ask("no/such/method", json!({}))["error"]["code"], -32601);
}

#[test]
fn what_cannot_be_read_is_answered_and_the_conversation_goes_on() {
    let mut mcp = Home::new().mcp();
    for (line, code, id) in [
        ("{", -32700, json!(null)),
        ("[]", -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":5}}"#, -32602, json!(77)),
    ] {
        mcp.say(line);
        let told = mcp.hear().unwrap();
        assert_eq!((&told["error"]["code"], &told["id"]), (&json!(code), &id), "{line}: {told}");
    }
    mcp.say("");
    // Longer than any message may be, with the id where the Python SDK writes it, and where the TypeScript one does.
    let filling = "x".repeat(33 << 20);
    mcp.say(&format!(r#"{{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{{"name":"{filling}"}}}}"#));
    let told = mcp.hear().unwrap();
    assert_eq!((&told["error"]["code"], &told["id"]), (&json!(-32600), &json!(78)));
    mcp.say(&format!(r#"{{"method":"tools/call","params":{{"name":"{filling}"}},"jsonrpc":"2.0","id":79}}"#));
    assert_eq!(mcp.hear().unwrap()["id"], 79);
    // Two megabytes are fine.
    let sources =
        json!({ "name": "tachyon_compile", "arguments": { "sources": { "../A.sol": "x".repeat(2 << 20) } } });
    assert_eq!(
        mcp.ask("tools/call", sources)["result"]["structuredContent"]["error"]["code"],
        "INVALID_REQUEST"
    );
    assert_eq!(mcp.ask("ping", json!({}))["result"], json!({}));
    assert!(mcp.close().success());
}

#[test]
fn calls_run_at_the_same_time_with_progress_and_all_are_answered_after_the_client_closed() {
    let home = Home::new();
    let mut mcp = home.mcp();
    let payment = json!({ "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "value": "1" });
    let ids: Vec<u64> = (0..20).map(|_| mcp.begin("tachyon_call", &payment)).collect();
    let (mut answered, mut progress) = (0, 0);
    while answered < ids.len() {
        let message = mcp.hear().unwrap();
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["progressToken"], "p");
            progress += 1;
        } else {
            assert_eq!(message["result"]["isError"], false, "{message}");
            answered += 1;
        }
    }
    assert!(progress >= 5 * ids.len(), "{progress}");
    assert!(mcp.close().success());
    // Said in one breath, and gone: the answers still come.
    let mut command = home.command();
    let mut child = command
        .arg("--mcp")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "it", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "tachyon_call", "arguments": payment } }),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("2024-11-05"), "an old client gets its old protocol: {told}");
    assert!(told.lines().any(|line| line.contains("\"id\":2") && line.contains("\"sent\\\":true")), "{told}");
}

#[test]
fn a_cancelled_call_is_not_answered_and_others_are() {
    let node = crate::node::Node::start();
    node.ledger.lock().unwrap().holding = true;
    let home = crate::money::home(&node);
    let mut mcp = home.mcp();
    let slow = mcp.begin("tachyon_deploy", &crate::money::deploy("cancelled"));
    // The transaction has left when its receipt is waited for.
    while !mcp.hear().unwrap()["params"]["message"].as_str().unwrap().starts_with("waiting for the receipt") {
    }
    mcp.say(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": slow } })
            .to_string(),
    );
    let ping = mcp.request("ping", json!({}));
    let told = mcp.hear().unwrap();
    assert_eq!(told["id"], ping, "{told}");
    assert!(mcp.close().success());
    node.ledger.lock().unwrap().release();
    assert_eq!(home.done("deploy", crate::money::deploy("cancelled"))["existing"], true);
    assert_eq!(node.mined(), 1);
}

#[test]
fn what_was_asked_is_answered_although_the_client_says_no_more() {
    let node = crate::node::Node::start();
    node.ledger.lock().unwrap().holding = true;
    let home = crate::money::home(&node);
    let mut mcp = home.mcp();
    let id = mcp.begin("tachyon_deploy", &crate::money::deploy("k"));
    while !mcp.hear().unwrap()["params"]["message"].as_str().unwrap().starts_with("waiting for the receipt") {
    }
    mcp.fall_silent();
    node.ledger.lock().unwrap().release();
    assert_eq!(mcp.answer(id)["result"]["isError"], false);
    assert!(mcp.close().success());
}
