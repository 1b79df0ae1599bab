//! Tools as servers offer them: cleaned before a model sees them, and flagged.

use mxd_core::raw::RawJson;
use mxd_core::tool::{
    Annotations, CleanText, PinState, Quoted, SideEffect, ToolDef, ToolDefError, ToolFacts, ToolOffer,
    is_hidden, limits,
};
use proptest::prelude::*;
use serde_json::Value;

use super::any::id;

fn offer<'a>(description: &'a str, schema: &'a RawJson) -> ToolOffer<'a> {
    let facts = ToolFacts {
        id: id("mcp:fs:read.file"),
        pin: PinState::Held("1.0.0".parse().unwrap()),
        effect: Some(SideEffect::Read),
    };
    ToolOffer {
        facts,
        title: "Read",
        description,
        input_schema: schema,
        output_schema: None,
        timeout_ms: 1000,
        annotations: Annotations::default(),
    }
}

fn def(description: &str, schema: &str) -> ToolDef {
    ToolDef::from_offer(offer(description, &RawJson::parse(schema).unwrap())).unwrap()
}

#[test]
fn what_nobody_sees_is_taken_out_and_counted() {
    let hidden = "a\u{200b}b\u{202e}c\u{2066}d\u{e0041}e\u{feff}f\u{fe0f}g\u{ad}h\u{2028}i";
    let clean = CleanText::clean(&format!("{hidden}\u{1b}[2J\u{7f}\r\nx\ty"), 1000);
    assert_eq!(clean.text(), "abcdefghi[2J\nx\ty");
    assert_eq!((clean.flags().hidden, clean.flags().control, clean.flags().cut_bytes), (8, 2, 0));
    let plain = CleanText::clean("Grüße, 世界!\n", 1000);
    assert!(plain.flags().is_clean() && plain.text() == "Grüße, 世界!\n");
    let cut = CleanText::clean("aäa", 2);
    assert_eq!(
        (cut.text(), cut.flags().cut_bytes),
        ("a", 3),
        "no character is cut in two, and none comes after"
    );
}

#[test]
fn what_is_quoted_is_short_and_on_one_line() {
    assert_eq!(Quoted::of("a\nb\u{1b}c\u{200b}").to_string(), "a\\nb\\u{1b}c\\u{200b}");
    assert_eq!(Quoted::of(&"x".repeat(500)).to_string().chars().count(), limits::QUOTE_CHARS + 1);
}

#[test]
fn a_model_sees_a_tool_by_its_wire_name_with_clean_texts() {
    let schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"description\":\"x\u{200b}y\"},\
                  \"description\":{\"type\":\"string\",\"enum\":[\"q\u{200d}r\"],\"default\":{\"title\":\"s\u{200b}t\"}}}}";
    let tool = def("Reads\u{e0049} a file", schema);
    let spec = tool.spec();
    assert!(spec.name.starts_with("mcp__fs__read_file_"), "{}", spec.name);
    assert_eq!(spec.description, "Reads a file");
    let shown: Value = serde_json::from_str(spec.schema.get()).unwrap();
    assert_eq!(shown["properties"]["a"]["description"], "xy");
    assert_eq!(shown["properties"]["description"]["enum"][0], "q\u{200d}r", "a value means what it is");
    assert_eq!(shown["properties"]["description"]["default"]["title"], "s\u{200b}t");
    assert_eq!(tool.flags().hidden, 4);
    assert_eq!(tool.input.given().get(), schema, "arguments are checked against what the server gave");
}

#[test]
fn a_clean_schema_stays_byte_for_byte() {
    let schema = r#"{ "type":"object", "properties":{"n":{"minimum":1.50}},"title":"T" }"#;
    let tool = def("", schema);
    assert_eq!(tool.spec().schema.get(), schema);
    assert!(tool.flags().is_clean());
}

#[test]
fn a_schema_of_something_else_is_refused() {
    for bad in ["true", "{}", r#"{"type":"string"}"#, r#"{"type":["object"]}"#, "[]"] {
        let refused = ToolDef::from_offer(offer("", &RawJson::parse(bad).unwrap())).unwrap_err();
        assert!(matches!(refused, ToolDefError::SchemaOfNoObject { which: "input", .. }), "{bad}");
    }
    let long = format!(r#"{{"type":"object","title":"{}"}}"#, "x".repeat(limits::SCHEMA_BYTES));
    let refused = ToolDef::from_offer(offer("", &RawJson::parse(&long).unwrap())).unwrap_err();
    assert!(matches!(refused, ToolDefError::SchemaTooLong { .. }));
    let (good, bad) = (RawJson::parse(r#"{"type":"object"}"#).unwrap(), RawJson::parse("7").unwrap());
    let refused =
        ToolDef::from_offer(ToolOffer { output_schema: Some(&bad), ..offer("", &good) }).unwrap_err();
    assert!(matches!(refused, ToolDefError::SchemaOfNoObject { which: "output", .. }));
    let tool = def(&"x".repeat(limits::DESCRIPTION_BYTES + 7), r#"{"type":"object"}"#);
    assert_eq!((tool.description.text().len(), tool.flags().cut_bytes), (limits::DESCRIPTION_BYTES, 7));
}

proptest! {
    #[test]
    fn cleaning_keeps_what_is_seen_and_is_done_once(
        text in "[\\PC\\x00-\\x1f\u{200b}\u{e0041}\u{202e}]{0,40}",
        limit in 0usize..60,
    ) {
        let clean = CleanText::clean(&text, limit);
        prop_assert!(clean.text().len() <= limit);
        let is_seen = |c: char| !is_hidden(c) && (!c.is_control() || matches!(c, '\n' | '\t'));
        prop_assert!(clean.text().chars().all(is_seen));
        let again = CleanText::clean(clean.text(), limit);
        prop_assert!(again.flags().is_clean() && again.text() == clean.text());
        let quoted = Quoted::of(&text).to_string();
        prop_assert!(quoted.chars().all(|c| !c.is_control() && !is_hidden(c)));
    }
}
