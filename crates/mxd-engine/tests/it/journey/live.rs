//! What can be seen while it happens.

use mxd_core::event::DeltaBody;
use mxd_core::event::body::RestReason;
use serde_json::json;

use super::stage::{Stage, calls, conversation, expecting, speaks, write};

#[tokio::test(flavor = "multi_thread")]
async fn the_output_of_a_command_is_shown_while_it_runs() {
    let command = "echo begun; until [ -e go ]; do read -t 0.05 < /dev/zero; done; echo over";
    let stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            calls(&[("bash", json!({ "command": command }))]),
            expecting(speaks("Seen."), json!({ "tool_results": [{ "contains": ["begun", "over"] }] })),
        ]
    )]))
    .await;
    let root = stage.root();
    let mut deltas = stage.project().deltas();
    stage.say(root, "Begin.").await;
    let mut shown = String::new();
    while !shown.contains("begun") {
        if let DeltaBody::ToolOutput(output) = deltas.recv().await.unwrap().body {
            let call = stage.project().look(|state| state.session(root).calls()[0].id.clone());
            assert_eq!(output.tool_call_id, call, "the command runs while its output is shown");
            shown.push_str(&output.content);
        }
    }
    assert!(!shown.contains("over"), "{shown}");
    write(stage.view().join("go"), "");
    stage.until_rest(root, &RestReason::EndTurn).await;
    while !shown.contains("over") {
        if let DeltaBody::ToolOutput(output) = deltas.recv().await.unwrap().body {
            shown.push_str(&output.content);
        }
    }
    assert_eq!(shown, "begun\nover\n");
    stage.end().await;
}
