//! Keys and signatures.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::stage::Stage;

/// A stage with a key and a signed manifest, and who signed.
fn signed() -> (Stage, String) {
    let stage = Stage::new();
    let key = stage.json(&["keygen", "--output", "key"]);
    let signer = key["result"]["signer"].as_str().unwrap().to_owned();
    let said = stage.run(&["sign", "--key", "key"]);
    assert_eq!(said.code, 0, "{said:?}");
    said.is_golden("sign");
    (stage, signer)
}

#[test]
fn a_key_is_made_once_for_its_owner_and_never_shown() {
    let stage = Stage::empty();
    let said = stage.run(&["keygen", "--output", "key"]);
    said.is_golden("keygen");
    let key = stage.read("key");
    assert_eq!(key.trim().len(), 64);
    assert!(!said.out.contains(key.trim()) && !said.err.contains(key.trim()));
    assert_eq!(fs::metadata(stage.path("key")).unwrap().permissions().mode() & 0o777, 0o600);
    stage.run(&["keygen", "--output", "key"]).is_golden("keygen_twice");
    assert_eq!(stage.read("key"), key);
}

#[test]
fn a_signature_vouches_for_exactly_one_manifest() {
    let (stage, signer) = signed();
    assert_eq!(stage.run(&["verify", "--signer", &signer]).code, 0);
    assert_eq!(stage.json(&["verify"])["result"]["signer"], signer);
    stage.edit_manifest(|manifest| manifest["description"] = "Another agent.".into());
    stage.run(&["verify", "--signer", &signer]).is_golden("verify_signed_other");
    assert_eq!(stage.run(&["verify"]).code, 8, "a wrong signature is never ignored");
}

#[test]
fn nothing_is_called_under_a_manifest_with_a_wrong_signature() {
    let (stage, _) = signed();
    let call = ["call", "--uri", "matrix://tool/mcp/stage/echo@1.2.3", "--args", "{\"text\":\"hello\"}"];
    let step = json!({ "tool_ref": "matrix://tool/mcp/stage/echo@1.2.3", "args": { "text": "hello" } });
    let plan = json!({ "v": "plan_tree@1", "root": { "id": "a", "kind": "tool_call", "tool_call": step } });
    stage.write("plan.json", &plan.to_string());
    for command in [call.as_slice(), &["run", "plan.json"]] {
        assert_eq!(stage.run(command).code, 0, "{command:?}");
    }
    stage.edit_manifest(|manifest| manifest["description"] = "Another agent.".into());
    for command in [call.as_slice(), &["run", "plan.json"]] {
        let said = stage.run(command);
        assert_eq!(said.code, 8, "{said:?}");
    }
}

#[test]
fn a_tampered_signature_and_another_signer_are_refused() {
    let (stage, signer) = signed();
    let other = stage.json(&["keygen", "--output", "other"])["result"]["signer"].as_str().unwrap().to_owned();
    stage.run(&["verify", "--signer", &other]).is_golden("verify_other_signer");
    let both = stage.run(&["verify", "--signer", &other, "--signer", &signer]);
    assert_eq!(both.code, 0, "{both:?}");
    let signature = stage.read("agent.json.sig");
    let at = signature.find("\"signature\": \"").unwrap() + 15;
    let digit = if &signature[at..=at] == "0" { "1" } else { "0" };
    let tampered = format!("{}{digit}{}", &signature[..at], &signature[at + 1..]);
    stage.write("agent.json.sig", &tampered);
    stage.run(&["verify", "--signer", &signer]).is_golden("verify_forged");
    stage.write("agent.json.sig", "{}");
    stage.run(&["verify", "--signer", &signer]).is_golden("verify_no_signature_file");
}

#[test]
fn an_unsigned_manifest_is_refused_where_a_signer_is_required() {
    let stage = Stage::new();
    let signer = stage.json(&["keygen", "--output", "key"])["result"]["signer"].as_str().unwrap().to_owned();
    stage.run(&["verify", "--signer", &signer]).is_golden("verify_unsigned");
    stage.run(&["verify", "--signer", "did:web:example.org"]).is_golden("verify_no_signer");
}

#[test]
fn a_key_that_others_can_read_signs_nothing() {
    let stage = Stage::new();
    stage.json(&["keygen", "--output", "key"]);
    fs::set_permissions(stage.path("key"), fs::Permissions::from_mode(0o644)).unwrap();
    stage.run(&["sign", "--key", "key"]).is_golden("sign_open_key");
    fs::set_permissions(stage.path("key"), fs::Permissions::from_mode(0o600)).unwrap();
    stage.write("key", "not a key");
    stage.run(&["sign", "--key", "key"]).is_golden("sign_no_key");
    assert!(!stage.path("agent.json.sig").exists());
}
