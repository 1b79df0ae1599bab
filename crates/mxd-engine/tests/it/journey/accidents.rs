//! Accidents from outside: two programs at once, a damaged record, a folder that disappears.

use std::time::Duration;

use mxd_core::event::body::RestReason;
use mxd_core::id::{ProjectId, Ulid};
use mxd_core::tree::Status;
use mxd_engine::agents::Neighbours;
use mxd_engine::project::{OpenError, Project};
use mxd_tools::tether::{Earlier, Tether};
use serde_json::json;

use super::stage::{Stage, calls, capturing, conversation, expecting, gated, speaks};
use crate::ground::opening;

#[tokio::test(flavor = "multi_thread")]
async fn of_two_programs_on_one_project_the_second_is_refused_and_the_first_goes_on() {
    let stage = Stage::set(json!([conversation("Title: Root", vec![speaks("Here.")])])).await;
    let ground = stage.ground.path();
    let (tether, earlier) = Tether::take(&ground.join("data/living"), Duration::ZERO).unwrap();
    assert_eq!(earlier, Earlier::Living);
    let beside = (ProjectId::from(Ulid::from_parts(1, 1)), Neighbours::default());
    let again = opening(ground, beside, tether).await;
    let refused = Project::open(again).await.unwrap_err();
    assert!(matches!(refused, OpenError::Log(_)), "{refused}");
    let root = stage.root();
    stage.say(root, "Are you there?").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_damaged_record_stops_nobody() {
    let mut stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            speaks("One."),
            speaks("Two."),
            expecting(speaks("Three."), json!({ "user_texts": [{ "contains": "Again" }] }))
        ]
    )]))
    .await;
    let root = stage.root();
    for (turns, words) in [(1, "Begin."), (2, "Go on.")] {
        stage.say(root, words).await;
        stage
            .until("a turn", |state| {
                state.session(root).life().turns == turns && !state.session(root).is_busy()
            })
            .await;
    }
    stage.model.declare_break("#1");
    // A word of the first answer, in the middle of the log.
    stage.restart_with(|text| text.replacen("\"content\":\"One.\"", "\"content\":\"Onf.\"", 1)).await;
    assert_eq!(stage.project().log().report().damages.len(), 1);
    stage.say(root, "Again.").await;
    stage
        .until("a third turn", |state| {
            state.session(root).life().turns == 3 && !state.session(root).is_busy()
        })
        .await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_whose_folder_disappears_is_told_and_the_others_go_on() {
    let stage = Stage::set(json!([
        conversation(
            "Title: Root",
            vec![
                calls(&[("create_task", json!({ "title": "Work", "description": "Work." }))]),
                capturing(
                    calls(&[(
                        "send_message",
                        json!({ "taskId": "$child", "title": "go", "message": "Begin." })
                    )]),
                    "Created the task (?<child>[0-9A-Z]{26})",
                ),
                calls(&[("yield", json!({}))]),
                expecting(
                    calls(&[("done", json!({ "status": "passed", "summary": "Over." }))]),
                    json!({ "user_texts": [{ "contains": "It is gone" }] })
                ),
            ]
        ),
        conversation(
            "Title: Work",
            vec![
                calls(&[("bash", json!({ "command": "echo here" }))]),
                gated(calls(&[("bash", json!({ "command": "echo still here" }))]), "gone"),
                expecting(
                    calls(&[("done", json!({ "status": "failed", "summary": "It is gone." }))]),
                    json!({ "tool_results": [{ "call": "mcp__mxd__bash", "is_error": true }] })
                ),
            ]
        ),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have it made.").await;
    stage.model.gate_reached("gone").await.unwrap();
    let child = stage.task("Work");
    let folder =
        stage.project().look(|state| state.tree().get(child).unwrap().task().unwrap().worktree_path.clone());
    std::fs::remove_dir_all(folder.unwrap()).unwrap();
    stage.model.open_gate("gone").unwrap();
    stage.until_status(root, Status::Passed).await;
    stage.end().await;
}
