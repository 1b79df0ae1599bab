//! Orchestrator tools: what models see, what is accepted, and what they are told otherwise.

use std::fmt::Write as _;
use std::path::Path;

use mxd_core::decide::DescriptionEdit;
use mxd_core::event::EventKind;
use mxd_core::event::body::DoneStatus;
use mxd_core::money::Usd;
use mxd_core::tool::limits;
use mxd_core::tool::orchestrator::{
    Comeback, Company, LogKind, NewStatus, Orchestrator, OrchestratorError, TreeFormat, listings,
};
use mxd_core::tool::{SideEffect, ToolName};
use mxd_core::tree::Status;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::golden;

const TASK: &str = "01KMAB1234ABCDEF";

fn parse(name: &str, args: &Value) -> Result<Orchestrator, OrchestratorError> {
    Orchestrator::parse(name, &args.to_string())
}

fn refused(name: &str, args: &Value) -> String {
    parse(name, args).unwrap_err().for_model()
}

/// The least each tool takes.
fn least(name: &str) -> Value {
    match name {
        "get_tree" | "yield" | "list_projects" => json!({}),
        "get_task" | "delete_task" | "reset_task" | "close_task" | "merge_task" => json!({ "taskId": TASK }),
        "search_tasks" => json!({ "query": "parser" }),
        "search_logs" => json!({ "taskId": TASK, "query": "error.*E0" }),
        "create_task" => json!({ "title": "Parse", "description": "Because." }),
        "update_task" => json!({ "taskId": TASK, "title": "Parse well" }),
        "reorder_tasks" => json!({ "nodeId": TASK, "children": [TASK] }),
        "fork_task_context" => json!({ "sourceTaskId": TASK, "targetTaskId": TASK }),
        "create_folder" => json!({ "parentId": TASK, "title": "Ideas" }),
        "rename_folder" => json!({ "folderId": TASK, "title": "Ideas" }),
        "delete_folder" => json!({ "folderId": TASK }),
        "send_message" => json!({ "taskId": TASK, "title": "Start", "message": "Go." }),
        "clarify" => json!({ "question": "Which?\nThis or that." }),
        "done" => json!({ "status": "passed", "summary": "It parses." }),
        "send_message_to_project" => json!({ "projectId": TASK, "message": "Hello." }),
        other => panic!("no example for {other}"),
    }
}

#[test]
fn models_see_what_the_golden_file_says() {
    let mut text = String::new();
    for listing in listings() {
        let schema = serde_json::to_string_pretty(&listing.input_schema).unwrap();
        writeln!(
            text,
            "# {} ({})\n\n{}\n\n{schema}\n",
            listing.name,
            listing.effect.name(),
            listing.description
        )
        .unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/orchestrator.txt");
    golden::check(&path, &text);
}

#[test]
fn every_tool_takes_its_least_and_knows_its_name() {
    let listed: Vec<&str> = listings().iter().map(|listing| listing.name).collect();
    assert_eq!(listed, Orchestrator::NAMES);
    for name in Orchestrator::NAMES {
        assert_eq!(parse(name, &least(name)).unwrap().name(), *name);
    }
}

#[test]
fn every_tool_can_be_registered() {
    for listing in listings() {
        let name: Result<ToolName, _> = listing.name.parse();
        assert!(name.is_ok(), "{}", listing.name);
        assert!(listing.description.len() <= limits::DESCRIPTION_BYTES, "{}", listing.name);
        assert!(listing.input_schema.to_string().len() <= limits::SCHEMA_BYTES, "{}", listing.name);
        assert_eq!(listing.input_schema["type"], "object", "{}", listing.name);
        assert_eq!(listing.input_schema["additionalProperties"], false, "{}", listing.name);
    }
}

#[test]
fn schema_and_reader_agree_on_every_argument() {
    for listing in listings() {
        let validator = jsonschema::validator_for(&listing.input_schema).unwrap();
        let good = least(listing.name);
        assert!(validator.is_valid(&good), "{}", listing.name);
        for wrong in [json!(7.5), json!([[]]), json!({ "deep": 1 })] {
            let properties = listing.input_schema["properties"].as_object().cloned().unwrap_or_default();
            for property in properties.keys() {
                let mut bad = good.clone();
                bad[property] = wrong.clone();
                let fits = validator.is_valid(&bad);
                assert_eq!(parse(listing.name, &bad).is_ok(), fits, "{}: {bad}", listing.name);
            }
        }
        for missing in listing.input_schema["required"].as_array().cloned().unwrap_or_default() {
            let mut bad = good.clone();
            bad.as_object_mut().unwrap().remove(missing.as_str().unwrap());
            assert!(parse(listing.name, &bad).is_err(), "{} without {missing}", listing.name);
        }
        let mut bad = good;
        bad["surplus"] = json!(1);
        assert!(!validator.is_valid(&bad));
        assert!(refused(listing.name, &bad).contains("unknown field `surplus`"), "{}", listing.name);
    }
}

#[test]
fn a_wrong_call_is_told_what_is_wrong_where_and_what_to_do() {
    assert_eq!(
        refused("create_task", &json!({ "title": 3, "description": "" })),
        "the arguments of create_task do not fit: `title` has an invalid type: integer `3`, expected a string. \
         Nothing was done. Correct the arguments and call it again."
    );
    assert_eq!(
        refused("done", &json!({ "status": "passed" })),
        "the arguments of done do not fit: missing field `summary`. Nothing was done. Correct the arguments and \
         call it again."
    );
    assert!(
        refused("done", &json!({ "status": "verify", "summary": "x" }))
            .contains("`status` has an unknown variant")
    );
    assert!(
        refused("reorder_tasks", &json!({ "nodeId": TASK, "children": [TASK, 4] })).contains("`children[1]`")
    );
    assert_eq!(
        refused("create_tusk", &json!({})),
        "there is no tool `create_tusk` on the server mxd. Call one of the tools you were given, by its exact name."
    );
    assert!(Orchestrator::parse("yield", "[]").unwrap_err().for_model().contains("cannot be read"));
    assert!(Orchestrator::parse("yield", "").unwrap_err().for_model().contains("cannot be read"));
    let twice = r#"{"taskId":"01KMAB1234ABCDEF","taskId":"01KMAB1234ABCDEG"}"#;
    assert!(Orchestrator::parse("close_task", twice).unwrap_err().for_model().contains("twice"));
}

#[test]
fn what_a_wrong_call_says_is_short_and_visible() {
    let long = format!("a\u{202e}{}", "x".repeat(100_000));
    for args in [json!({ &long: 1 }), json!({ "status": &long, "summary": "" })] {
        let said = refused("done", &args);
        assert!(said.len() < 2_000 && !said.contains('\u{202e}'), "{said}");
    }
}

#[test]
fn an_update_says_one_thing_about_each_field() {
    let update = |fields: Value| {
        let mut args = json!({ "taskId": TASK });
        args.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        parse("update_task", &args)
    };
    let refused = |fields: Value| update(fields).unwrap_err().to_string();
    assert!(refused(json!({})).contains("nothing to change"));
    assert!(
        refused(json!({ "description": "a", "old_description": "b", "new_description": "c" }))
            .contains("together")
    );
    assert!(refused(json!({ "old_description": "b" })).contains("`new_description` is missing"));
    assert!(refused(json!({ "new_description": "b" })).contains("`old_description` is missing"));
    assert!(refused(json!({ "draft": true, "status": "pending" })).contains("together"));
    assert!(refused(json!({ "status": "in_progress" })).contains("unknown variant"));

    let Ok(Orchestrator::UpdateTask(one)) = update(json!({ "old_description": "b", "new_description": "c" }))
    else {
        panic!("a passage can be replaced")
    };
    let edit = DescriptionEdit::Replace { old: "b".to_owned(), new: "c".to_owned() };
    assert_eq!((one.description_edit(), one.new_status()), (Some(edit), None));
    let Ok(Orchestrator::UpdateTask(two)) =
        update(json!({ "description": "", "draft": false, "addBudgetUsd": 0.5 }))
    else {
        panic!("a description can be emptied")
    };
    assert_eq!(two.description_edit(), Some(DescriptionEdit::Whole(String::new())));
    assert_eq!((two.new_status(), two.add_budget_usd), (Some(Status::Pending), Usd::from_cents(50)));
    for (word, status) in [(NewStatus::Draft, Status::Draft), (NewStatus::Closed, Status::Closed)] {
        assert_eq!(Status::from(word), status);
    }
}

#[test]
fn all_of_a_new_task_is_read() {
    let args = json!({
        "title": "Parse", "description": "Because.", "parentId": TASK, "draft": true, "checks": ["cargo test"],
        "after": [TASK], "budgetUsd": 1.25, "color": "red", "persistent": "continue",
    });
    let Ok(Orchestrator::CreateTask(task)) = parse("create_task", &args) else { panic!("it is complete") };
    assert_eq!(
        (task.parent_id.unwrap().as_str(), task.draft, task.checks),
        (TASK, true, vec!["cargo test".to_owned()])
    );
    assert_eq!((task.budget_usd, task.persistent), (Usd::from_cents(125), Some(Comeback::Continue)));
    let with = |field: &str, value: Value| {
        let mut args = least("create_task");
        args[field] = value;
        refused("create_task", &args)
    };
    assert!(with("budgetUsd", json!(-1)).contains("an amount of dollars"));
    assert!(with("checks", json!([" "])).contains("empty command"));
    assert!(with("checks", json!(vec!["true"; 17])).contains("17 items, more than 16"));
    assert!(with("description", json!("x".repeat(32 * 1024 + 1))).contains("more than 32768"));
    assert!(with("after", json!(vec![TASK; 33])).contains("33 items, more than 32"));
}

#[test]
fn questions_to_the_log_are_bounded() {
    let args = json!({ "taskId": TASK, "query": "x", "kinds": ["tool_call"], "case_insensitive": true, "context": 2 });
    let Ok(Orchestrator::SearchLogs(search)) = parse("search_logs", &args) else { panic!("it is complete") };
    assert_eq!((search.kinds, search.context, search.limit), (vec![LogKind::ToolCall], 2, 20));
    assert!(
        refused("search_logs", &json!({ "taskId": TASK, "query": "x", "limit": 101 }))
            .contains("from 1 to 100")
    );
    assert!(
        refused("search_logs", &json!({ "taskId": TASK, "query": "x", "context": 6 }))
            .contains("from 0 to 5")
    );
    assert!(refused("search_tasks", &json!({ "query": "x", "limit": 0 })).contains("from 1 to 100"));
    assert!(refused("search_tasks", &json!({ "query": "x".repeat(1_001) })).contains("more than 1000"));
    for kind in [
        LogKind::Message,
        LogKind::AssistantText,
        LogKind::ToolCall,
        LogKind::ToolResult,
        LogKind::CompactMarker,
    ] {
        assert!(EventKind::from_name(kind.event_name()).is_some(), "{kind:?}");
    }
}

#[test]
fn waiting_ending_and_forking_are_done_alone() {
    for name in Orchestrator::NAMES {
        let expected = match *name {
            "yield" => Company::Idle,
            "done" | "fork_task_context" => Company::Refused,
            _ => Company::Any,
        };
        assert_eq!(parse(name, &least(name)).unwrap().company(), expected, "{name}");
    }
    let Ok(Orchestrator::Done(done)) = parse("done", &least("done")) else { panic!("it is complete") };
    assert_eq!(done.status, DoneStatus::Passed);
    let Ok(Orchestrator::GetTree(tree)) = parse("get_tree", &json!({})) else { panic!("nothing is needed") };
    assert_eq!(tree.format, TreeFormat::Tree);
}

#[test]
fn an_agent_that_may_only_read_can_look_talk_and_end() {
    let reads: Vec<&str> =
        listings().iter().filter(|tool| tool.effect == SideEffect::Read).map(|tool| tool.name).collect();
    for name in ["get_tree", "send_message", "clarify", "yield", "done"] {
        assert!(reads.contains(&name), "{name}");
    }
    for name in ["create_task", "merge_task", "delete_task"] {
        assert!(!reads.contains(&name), "{name}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_call_or_a_readable_error(index in 0..Orchestrator::NAMES.len(), args in ".{0,200}") {
        if let Err(error) = Orchestrator::parse(Orchestrator::NAMES[index], &args) {
            prop_assert!(error.for_model().ends_with('.'));
        }
    }
}
