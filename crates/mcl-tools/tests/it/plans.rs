//! Plans.

use serde_json::{Value, json};

use crate::stage::Stage;

fn tool(id: &str, name: &str, args: Value) -> Value {
    let uri = format!("matrix://tool/mcp/stage/{name}@1.2.3");
    json!({ "id": id, "kind": "tool_call", "tool_call": { "tool_ref": uri, "args": args } })
}

fn group(id: &str, kind: &str, children: &[Value]) -> Value {
    json!({ "id": id, "kind": kind, "children": children })
}

fn write(stage: &Stage, root: &Value) {
    stage.write(
        "plan.json",
        &serde_json::to_string_pretty(&json!({ "v": "plan_tree@1", "root": root })).unwrap(),
    );
}

fn state(document: &Value, id: &str) -> String {
    let nodes = document["result"]["nodes"].as_array().unwrap();
    nodes.iter().find(|node| node["id"] == id).unwrap()["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_plan_runs_in_order_and_refers_to_earlier_outputs() {
    let stage = Stage::new();
    let gate = json!({ "id": "sure", "kind": "gate", "gate": { "question": "Go on?" } });
    let both = group(
        "both",
        "parallel",
        &[
            tool("double", "add", json!({ "a": "${sum.outputs.sum}", "b": "{{sum.outputs.sum}}" })),
            tool("said", "echo", json!({ "text": "the sum is ${sum} of {{sum.outputs.of}}" })),
        ],
    );
    let last = tool("last", "echo", json!({ "text": "${said.text}; ${double}; ${sure}; \\${said}" }));
    write(
        &stage,
        &group("all", "sequential", &[tool("sum", "add", json!({ "a": 1, "b": 2 })), gate, both, last]),
    );
    stage.run(&["run", "plan.json", "--gate-policy", "approve"]).is_golden("run");
    let document = stage.json(&["run", "plan.json", "--gate-policy", "approve"]);
    let text = &document["result"]["nodes"][6]["result"]["content"][0]["text"];
    assert_eq!(*text, "the sum is 3 of [1,2]; 6; yes; ${said}");
}

#[test]
fn the_first_failure_ends_a_plan() {
    let stage = Stage::new();
    let hello = json!({ "text": "hello" });
    let [one, bad, never] =
        [tool("one", "echo", hello.clone()), tool("bad", "fail", json!({})), tool("never", "echo", hello)];
    write(&stage, &group("all", "sequential", &[one.clone(), bad.clone(), never.clone()]));
    stage.run(&["run", "plan.json"]).is_golden("run_failed");
    // The first child is begun first, so it is running when the other one fails.
    let both = group("both", "parallel", &[tool("long", "wait", json!({})), bad]);
    write(&stage, &group("all", "sequential", &[one, both, never]));
    let document = stage.json(&["run", "plan.json"]);
    assert_eq!(document["exit"], 3);
    let states = ["one", "bad", "long", "never", "both", "all"].map(|id| state(&document, id));
    assert_eq!(states, ["done", "failed", "stopped", "skipped", "failed", "failed"]);
}

#[test]
fn a_gate_that_nobody_answers_stops_a_plan() {
    let stage = Stage::new();
    let gate = json!({ "id": "sure", "kind": "gate", "gate": { "question": "Go on?" } });
    write(&stage, &group("all", "sequential", &[gate, tool("never", "echo", json!({ "text": "x" }))]));
    stage.run(&["run", "plan.json"]).is_golden("run_gate");
    assert_eq!(state(&stage.json(&["run", "plan.json", "--gate-policy", "deny"]), "never"), "skipped");
}

#[test]
fn everything_that_is_wrong_with_a_plan_is_told_before_anything_runs() {
    let stage = Stage::new();
    let odd = json!({ "id": "one", "kind": "tool_call", "tool_call": { "tool_ref": "x", "retries": 3, "timeout_ms": 0 } });
    let model = json!({ "id": "think", "kind": "step", "step": {} });
    let root = group(
        "one",
        "parallel",
        &[
            odd,
            model,
            tool("a", "echo", json!({ "text": "${b}" })),
            tool("b", "echo", json!({ "text": "${nobody.else}" })),
            group("empty", "sequential", &[]),
        ],
    );
    let plan = json!({ "v": "plan_tree@2", "hash": "00", "root": root });
    stage.write("plan.json", &serde_json::to_string_pretty(&plan).unwrap());
    stage.run(&["run", "plan.json"]).is_golden("run_wrong_form");
    write(
        &stage,
        &group(
            "all",
            "sequential",
            &[
                tool("later", "echo", json!({ "text": "${after} ${all}" })),
                tool("after", "echo", json!({ "text": "x" })),
            ],
        ),
    );
    stage.run(&["run", "plan.json"]).is_golden("run_wrong_references");
    let mut classed = tool("classed", "echo", json!({ "text": "x" }));
    classed["tool_call"]["side_effect_class"] = json!("write");
    write(
        &stage,
        &group(
            "all",
            "sequential",
            &[
                tool("unknown", "nothing", json!({})),
                tool("denied", "put", json!({ "path": "x", "text": "x" })),
                classed,
            ],
        ),
    );
    stage.run(&["run", "plan.json"]).is_golden("run_wrong_tools");
    stage.write("plan.json", "{");
    stage.run(&["run", "plan.json"]).is_golden("run_no_json");
    stage.run(&["run", "nothing.json"]).is_golden("run_no_file");
}

#[test]
fn wrong_arguments_of_a_later_step_keep_a_plan_from_starting() {
    let stage = Stage::new();
    let said = tool("said", "echo", json!({ "text": "x" }));
    let wrong = [
        tool("missing", "echo", json!({})),
        tool("kind", "add", json!({ "a": "one", "b": "${said}" })),
        tool("unknown", "echo", json!({ "text": "${said}", "loud": true })),
    ];
    let fine = tool("fine", "add", json!({ "a": "${said.outputs.n}", "b": 1 }));
    let [missing, kind, unknown] = wrong;
    write(&stage, &group("all", "sequential", &[said, fine, missing, kind, unknown]));
    stage.run(&["run", "plan.json"]).is_golden("run_wrong_arguments");
    let document = stage.json(&["run", "plan.json"]);
    assert_eq!((&document["exit"], &document["result"]), (&json!(9), &Value::Null), "nothing was run");
}

#[test]
fn a_reference_to_what_is_not_in_an_output_fails_its_node() {
    let stage = Stage::new();
    write(
        &stage,
        &group(
            "all",
            "sequential",
            &[
                tool("sum", "add", json!({ "a": 1, "b": 2 })),
                tool("bad", "echo", json!({ "text": "${sum.outputs.total}" })),
            ],
        ),
    );
    stage.run(&["run", "plan.json"]).is_golden("run_no_field");
}

#[test]
fn a_node_can_be_given_less_time() {
    let stage = Stage::new();
    let mut node = tool("slow", "wait", json!({}));
    node["tool_call"]["timeout_ms"] = json!(200);
    write(&stage, &node);
    assert_eq!(stage.run(&["run", "plan.json"]).code, 10);
}
