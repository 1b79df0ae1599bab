//! Two projects of one user: the root of one writes to the root of the other, and is answered.

use mxd_core::event::body::RestReason;
use mxd_core::id::{ProjectId, Ulid};
use mxd_engine::agents::{Neighbour, Neighbours};
use serde_json::json;

use super::stage::{Stage, calls, capturing, conversation, expecting, speaks};

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_another_project_arrives_in_its_root_and_is_answered() {
    let ids = [1, 2].map(|number| ProjectId::from(Ulid::from_parts(1, number)));
    let neighbours = Neighbours::default();
    let send = |to: &str, words: &str| {
        calls(&[("send_message_to_project", json!({ "projectId": to, "message": words }))])
    };
    let asking = Stage::set_beside(
        json!([conversation(
            "Title: Root",
            vec![
                calls(&[("list_projects", json!({}))]),
                capturing(send("$kitchen", "Is the soup ready?"), "(?<kitchen>[0-9A-Z]{26}) Kitchen"),
                expecting(
                    calls(&[("yield", json!({}))]),
                    json!({ "tool_results": [{ "contains": "Sent to Kitchen", "is_error": false }] })
                ),
                expecting(
                    speaks("The soup is ready."),
                    json!({ "user_texts": [{ "contains": ["Kitchen", "In five minutes"] }] })
                ),
            ]
        )]),
        (ids[0], neighbours.clone()),
    )
    .await;
    let asked = Stage::set_beside(
        json!([conversation(
            "Title: Root",
            vec![
                expecting(
                    send(&ids[0].to_string(), "In five minutes."),
                    json!({ "user_texts": [{ "contains": ["Hall", "Is the soup ready?"] }] })
                ),
                speaks("Answered."),
            ]
        )]),
        (ids[1], neighbours.clone()),
    )
    .await;
    for (stage, name) in [(&asking, "Hall"), (&asked, "Kitchen")] {
        neighbours.add(Neighbour { name: name.to_owned(), project: stage.project().clone() });
    }
    let root = asking.root();
    asking.say(root, "Ask the kitchen for the soup.").await;
    asking.until_rest(root, &RestReason::EndTurn).await;
    asked.until_rest(asked.root(), &RestReason::EndTurn).await;
    for id in ids {
        neighbours.remove(id);
    }
    asking.end().await;
    asked.end().await;
}
