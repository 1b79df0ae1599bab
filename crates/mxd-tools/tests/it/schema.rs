//! Arguments against schemas, in words.

use std::path::Path;

use mxd_core::tool::ArgProblem;
use mxd_tools::builtin;
use mxd_tools::plane::schema::Schema;
use serde_json::{Value, json};

fn told(schema: &Value, args: &Value) -> Vec<String> {
    let problems = Schema::compile(schema).unwrap().problems(args);
    problems.into_iter().map(|ArgProblem { path, problem }| format!("`{path}` {problem}")).collect()
}

#[test]
fn every_problem_names_its_path_and_what_is_expected() {
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["path"],
        "properties": {
            "path": { "type": "string", "minLength": 1, "maxLength": 5, "pattern": "^[a-z]*$" },
            "mode": { "enum": ["a", "b"] },
            "count": { "type": ["integer", "null"], "minimum": 1, "maximum": 9 },
            "edits": {
                "type": "array",
                "minItems": 1,
                "items": { "type": "object", "required": ["old_string"], "properties": { "a/b": { "const": 1 } } },
            },
        },
    });
    for (args, expected) in [
        (json!({ "path": "a" }), vec![]),
        (json!({}), vec!["`/path` is required"]),
        (json!({ "path": 3 }), vec!["`/path` is a number, expected string"]),
        (
            json!({ "path": "a", "x": 1, "y": 2 }),
            vec!["`/x` is no argument of this tool", "`/y` is no argument of this tool"],
        ),
        (json!({ "path": "" }), vec!["`/path` is shorter than 1 characters"]),
        (json!({ "path": "abcdef" }), vec!["`/path` is longer than 5 characters"]),
        (json!({ "path": "A" }), vec!["`/path` does not match ^[a-z]*$"]),
        (json!({ "path": "a", "mode": "c" }), vec!["`/mode` is not one of [\"a\",\"b\"]"]),
        (json!({ "path": "a", "count": 0 }), vec!["`/count` is less than 1"]),
        (json!({ "path": "a", "count": 10 }), vec!["`/count` is more than 9"]),
        (json!({ "path": "a", "count": "x" }), vec!["`/count` is a string, expected null or integer"]),
        (json!({ "path": "a", "edits": [] }), vec!["`/edits` has fewer than 1 elements"]),
        (
            json!({ "path": "a", "edits": [{}, { "old_string": 1, "a/b": 2 }] }),
            vec!["`/edits/0/old_string` is required", "`/edits/1/a~1b` is not 1"],
        ),
        (json!([]), vec!["`` is an array, expected object"]),
    ] {
        assert_eq!(told(&schema, &args), expected, "{args}");
    }
}

#[test]
fn a_schema_that_is_none_or_reaches_out_is_refused() {
    for schema in [
        json!({ "type": "nonsense" }),
        json!({ "$ref": "https://example.com/schema.json" }),
        json!({ "$ref": "file:///etc/passwd" }),
        json!({ "properties": { "a": { "pattern": "(" } } }),
        // Matching it could take for ever.
        json!({ "properties": { "a": { "pattern": "^(?=a)(a+)+$" } } }),
    ] {
        assert!(Schema::compile(&schema).is_err(), "{schema}");
    }
}

#[test]
fn a_pattern_cannot_make_us_think_for_ever() {
    let schema = json!({ "type": "object", "properties": { "a": { "pattern": "^(a+)+$" } } });
    let problems = told(&schema, &json!({ "a": "a".repeat(50_000) + "!" }));
    assert_eq!(problems, ["`/a` does not match ^(a+)+$"]);
}

#[test]
fn what_models_see_of_the_built_in_tools() {
    let seen: Vec<Value> = builtin::tools()
        .into_iter()
        .map(|tool| {
            Schema::compile(&tool.input_schema).unwrap();
            json!({ "name": tool.name, "description": tool.description, "effect": tool.effect,
                "timeout_ms": tool.timeout_ms, "schema": tool.input_schema })
        })
        .collect();
    let seen = serde_json::to_string_pretty(&seen).unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/builtin_tools.json");
    if std::env::var_os("MXD_UPDATE_GOLDEN").is_some() {
        crate::ground::put(&golden, &seen);
    }
    assert_eq!(seen.trim(), std::fs::read_to_string(golden).unwrap().trim(), "{seen}");
}
