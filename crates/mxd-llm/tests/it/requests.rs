//! Every conversation on every wire.

use mxd_llm::{EncodedRequest, Wire};
use serde_json::Value;

use crate::fixtures::{conversations, folder, golden};

fn body(wire: Wire, name: &str) -> Result<Value, String> {
    let (_, request) = conversations().into_iter().find(|(found, _)| found == name).unwrap();
    let encoded = EncodedRequest::new(wire, &request).map_err(|error| error.to_string())?;
    Ok(serde_json::from_slice(&encoded.body).unwrap())
}

#[test]
fn every_conversation_on_every_wire_is_as_it_was() {
    for (name, request) in conversations() {
        for wire in Wire::ALL {
            let actual = match EncodedRequest::new(wire, &request) {
                Ok(encoded) => {
                    serde_json::from_slice::<Value>(&encoded.body).unwrap();
                    String::from_utf8(encoded.body.to_vec()).unwrap()
                }
                Err(error) => format!("{:?}: {error}", error.class),
            };
            golden(&folder("requests").join(format!("{name}.{wire}.json")), &format!("{actual}\n"));
        }
    }
}

#[test]
fn anthropic_gets_marks_on_tools_system_and_the_last_user_turns() {
    let body = body(Wire::Anthropic, "tools").unwrap();
    let five = serde_json::json!({"type": "ephemeral", "ttl": "5m"});
    assert_eq!(body["tools"][0].get("cache_control"), None);
    assert_eq!(body["tools"][1]["cache_control"], five);
    assert_eq!(body["system"][0]["cache_control"], five);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[4]["content"][0]["cache_control"], five);
    assert_eq!(messages[2]["content"][2]["cache_control"], five, "{}", messages[2]);
    let marks = serde_json::to_string(&body).unwrap().matches("cache_control").count();
    assert_eq!(marks, 4, "the service takes four");
    let hour = super::requests::body(Wire::Anthropic, "system").unwrap();
    assert_eq!(hour["messages"][0]["content"][0]["cache_control"]["ttl"], "1h");
}

#[test]
fn tool_results_lead_their_turn() {
    let anthropic = body(Wire::Anthropic, "tools").unwrap();
    let kinds: Vec<_> = anthropic["messages"][2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].clone())
        .collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "text"]);
    let chat = body(Wire::Chat, "tools").unwrap();
    let roles: Vec<_> =
        chat["messages"].as_array().unwrap().iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user", "assistant", "user"]);
}

#[test]
fn nothing_the_services_refuse_goes_out() {
    for (name, _) in conversations() {
        let Ok(body) = body(Wire::Anthropic, &name) else { continue };
        for message in body["messages"].as_array().unwrap() {
            let blocks = message["content"].as_array().unwrap();
            assert!(!blocks.is_empty(), "{name}");
            for block in blocks {
                let blank = block["type"] == "text" && block["text"].as_str().unwrap().trim().is_empty();
                assert!(!blank, "{name}: {message}");
            }
            let last = blocks.last().unwrap()["type"].as_str().unwrap();
            assert!(!last.ends_with("thinking"), "{name}: {message}");
        }
    }
}

#[test]
fn items_of_a_wire_go_back_to_it_alone_and_unchanged() {
    let item = r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAAA/b+="}"#;
    let (_, request) = conversations().into_iter().find(|(name, _)| name == "foreign").unwrap();
    for wire in Wire::ALL {
        let body = EncodedRequest::new(wire, &request).unwrap().body;
        let text = std::str::from_utf8(&body).unwrap();
        assert_eq!(text.contains(item), wire == Wire::Responses, "{wire}");
        assert!(!text.contains("secret"), "{wire}");
        assert_eq!(text.contains("Unsigned thought."), wire == Wire::Chat, "{wire}");
    }
}

#[test]
fn reasoning_that_nothing_follows_does_not_go_out() {
    let body = body(Wire::Responses, "interrupted").unwrap();
    assert!(!body.to_string().contains("rs_9"), "{body}");
}
