//! The OpenAPI document: the one that is checked in is the one that is served.

use std::path::Path;

use serde_json::{Value, json};

use crate::stage::Stage;

fn checked_in() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json")
}

#[test]
fn the_document_that_is_checked_in_is_up_to_date() {
    let now = format!("{:#}\n", mxd_server::openapi());
    if std::env::var_os("MXD_BLESS").is_some() {
        crate::stage::write(checked_in(), &now);
    }
    let there = std::fs::read_to_string(checked_in()).unwrap_or_default();
    assert!(
        there == now,
        "docs/openapi.json is outdated: run this test once with MXD_BLESS=1 and look at the change"
    );
}

#[test]
fn everything_the_document_refers_to_is_there() {
    let document = mxd_server::openapi();
    let mut references = Vec::new();
    collect(&document, &mut references);
    assert!(references.len() > 50, "{}", references.len());
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let mut ids: Vec<&str> = Vec::new();
    for operations in document["paths"].as_object().unwrap().values() {
        ids.extend(
            operations
                .as_object()
                .unwrap()
                .values()
                .map(|operation| operation["operationId"].as_str().unwrap()),
        );
    }
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "every operation has an id of its own");
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(reference) if name == "$ref" => found.push(reference.clone()),
                    other => collect(other, found),
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, found)),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_daemon_serves_the_document() {
    let stage = Stage::set(json!([])).await;
    assert_eq!(stage.get("/openapi.json").await, (200, mxd_server::openapi()));
    stage.end().await;
}
