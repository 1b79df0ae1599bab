//! What the program says about a manifest without starting anything.

use serde_json::json;

use crate::stage::{Stage, ZEROS};

#[test]
fn a_manifest_is_verified_and_listed() {
    let stage = Stage::new();
    stage.run(&["verify"]).is_golden("verify");
    stage.run(&["list-servers"]).is_golden("list_servers");
    stage.run(&["list-tools"]).is_golden("list_tools");
    stage.run(&["describe-tool", "--uri", "matrix://tool/mcp/stage/echo@1.2.3"]).is_golden("describe_tool");
    stage
        .run(&["describe-tool", "--uri", "matrix://tool/mcp/stage/put@1.2.3"])
        .is_golden("describe_tool_denied");
    let described = stage.json(&["describe-tool", "--uri", "matrix://tool/mcp/stage/echo@1.2.3"]);
    assert_eq!(described["result"]["side_effect_class"], "read");
    assert_eq!(stage.json(&["list-tools"])["result"].as_array().unwrap().len(), 7);
    assert_eq!(stage.json(&["list-servers"])["result"][0]["digest_state"], "real");
    assert_eq!(stage.json(&["verify"])["result"]["agent"], "matrix://agent/stage");
}

#[test]
fn a_file_that_is_not_there_or_is_none_is_told() {
    let stage = Stage::empty();
    stage.run(&["verify"]).is_golden("verify_no_file");
    stage.write("agent.json", "{\"schema_version\": 1,\n \"agent\": }\n");
    stage.run(&["verify"]).is_golden("verify_no_json");
    let document = stage.json(&["verify"]);
    assert_eq!(document["problems"][0]["code"], "invalid");
    assert_eq!(document["problems"][0]["line"], 2);
    assert_eq!(document["result"], json!(null));
}

#[test]
fn all_problems_of_a_manifest_are_told_at_once() {
    let stage = Stage::empty();
    let mut manifest = stage.manifest(ZEROS);
    manifest["agnet"] = json!("x");
    manifest["servers"][0]["env"] = json!(["TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"]);
    manifest["servers"][0]["tools"][1]["side_effect_class"] = json!("harmless");
    manifest["servers"][0]["transport"] = json!("stdio");
    stage.write_manifest(&manifest);
    let said = stage.run(&["verify"]);
    assert!(!said.err.contains("ghp_0123"), "{said:?}");
    said.is_golden("verify_many_problems");
    assert_eq!(stage.json(&["verify"])["problems"].as_array().unwrap().len(), 4);
}

#[test]
fn a_placeholder_needs_the_flag_and_is_shown_everywhere() {
    let stage = Stage::empty();
    stage.install_server();
    stage.write_manifest(&stage.manifest(ZEROS));
    let refused = stage.run(&["verify"]);
    assert_eq!(refused.code, 7);
    refused.is_golden("placeholder_refused");
    stage.run(&["verify", "--allow-placeholders"]).is_golden("placeholder_allowed");
    stage.run(&["list-servers", "--allow-placeholders"]).is_golden("placeholder_listed");
    let uri = "matrix://tool/mcp/stage/echo@1.2.3";
    stage.run(&["describe-tool", "--allow-placeholders", "--uri", uri]).is_golden("placeholder_described");
    for command in
        [&["list-tools"][..], &["call", "--uri", uri], &["sign", "--key", "none"], &["lock"], &["diff"]]
    {
        assert_eq!(stage.run(command).code, 7, "{command:?}");
    }
    let document = stage.json(&["list-servers", "--allow-placeholders"]);
    assert_eq!(document["result"][0]["digest_state"], "placeholder");
    assert!(document["warnings"][0]["message"].as_str().unwrap().contains("placeholder"));
}

#[test]
fn tools_that_are_not_meant_are_denied() {
    let stage = Stage::new();
    let say = |uri: &str| stage.run(&["describe-tool", "--uri", uri]);
    assert_eq!(say("matrix://tool/mcp/stage/echo").code, 2);
    say("matrix://tool/mcp/stage/echo").is_golden("uri_unpinned");
    say("matrix://tool/mcp/stage/nothing@1.2.3").is_golden("uri_unknown");
    say("matrix://tool/mcp/stage/echo@1.2.4").is_golden("uri_other_pin");
    say("http://example.org").is_golden("uri_none");
    let manifest = stage.read("agent.json");
    let digest = manifest.split("\"package_digest\": \"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(say(&format!("matrix://tool/mcp/stage/echo@{digest}")).code, 0);
}

#[test]
fn native_tools_are_listed_and_never_called() {
    let stage = Stage::new();
    let digest = "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    stage.edit_manifest(|manifest| {
        let native =
            json!({ "namespace": "registry", "name": "lookup", "version": "1.0.0", "digest": digest });
        manifest["native_tools"] = json!([native]);
    });
    let uri = "matrix://tool/registry/lookup@1.0.0";
    assert!(stage.run(&["list-tools"]).out.contains(uri));
    stage.run(&["describe-tool", "--uri", uri]).is_golden("describe_native");
    stage.run(&["call", "--uri", uri]).is_golden("call_native");
}

#[test]
fn wrong_usage_is_told_in_the_form_that_was_asked_for() {
    let stage = Stage::empty();
    let said = stage.bare(&["frobnicate"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    let document: serde_json::Value =
        serde_json::from_str(&stage.bare(&["frobnicate", "--json"]).out).unwrap();
    assert_eq!((&document["exit"], &document["problems"][0]["code"]), (&json!(2), &json!("usage")));
    let help = stage.bare(&["--help"]);
    assert_eq!(help.code, 0);
    help.is_golden("help");
    let page = include_str!("../../../../docs/manifests.md");
    let table = help.out.lines().skip_while(|line| !line.starts_with("Exit codes")).skip(1);
    for line in table.filter(|line| !line.is_empty()) {
        let (code, meaning) = line.trim().split_once("  ").unwrap();
        assert!(page.contains(&format!("| {code} | {meaning} |")), "docs/manifests.md lacks the code {line}");
    }
}

#[test]
fn there_is_no_colour_without_a_terminal() {
    let stage = Stage::empty();
    stage.write_manifest(&stage.manifest(ZEROS));
    let said = stage.run(&["list-servers", "--allow-placeholders"]);
    assert!(!said.out.contains('\u{1b}') && !said.err.contains('\u{1b}'), "{said:?}");
    let document = stage.run(&["list-servers", "--allow-placeholders", "--json"]);
    assert!(!document.out.contains('\u{1b}') && !document.out.contains("\\u001b"), "{document:?}");
}
