//! Servers that ask: the user answers, the server is told, and the agent only sees what comes of it.

use mxd_core::decide::{Actor, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::RestReason;
use mxd_core::id::ClarificationId;
use serde_json::{Value, json};

use super::stage::{Stage, conversation, expecting, speaks, write};

/// A stage with a server that asks.
async fn stage(turns: Vec<Value>) -> Stage {
    let asking = |ground: &std::path::Path| {
        let folder = ground.join("server");
        std::fs::create_dir_all(&folder).unwrap();
        write(folder.join("asking.py"), include_str!("asking.py"));
        json!({
            "mcpServers": { "asking": { "command": "python3", "args": [folder.join("asking.py")] } },
            "sandbox": { "read": [folder] },
        })
    };
    Stage::furnished(json!([conversation("Title: Root", turns)]), asking).await
}

fn order() -> Value {
    json!({ "reply": { "blocks": [{ "tool_call": { "name": "mcp__asking__order", "input": {} } }] } })
}

fn result(words: &str) -> Value {
    json!({ "tool_results": [{ "call": "mcp__asking__order", "contains": words, "is_error": false }] })
}

impl Stage {
    /// The question that stands open, when it is another one than before.
    async fn question(&self, before: Option<ClarificationId>) -> ClarificationId {
        let root = self.root();
        let open = |state: &mxd_core::state::State| state.session(root).questions().keys().next().copied();
        self.until("a question", |state| open(state).is_some_and(|id| Some(id) != before)).await;
        self.project().look(open).unwrap()
    }

    async fn reply(&self, id: ClarificationId, answer: &str) {
        let op = SessionOp::AnswerQuestion { id, answer: answer.into() };
        self.project().wish(Actor::User, Op::Session { task: self.root(), op }).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_server_goes_to_the_user_and_the_answer_back() {
    let stage = stage(vec![order(), expecting(speaks("Twelve it is."), result("\"count\": 12"))]).await;
    let root = stage.root();
    stage.say(root, "Order.").await;
    let first = stage.question(None).await;
    let asked = stage.events().into_iter().find_map(|event| match event.body {
        EventBody::ClarificationRequested(asked) => Some(asked),
        _ => None,
    });
    let asked = asked.unwrap();
    assert_eq!(asked.server.as_deref(), Some("asking"));
    assert!(asked.question.contains("How many?") && asked.question.contains("count (integer)"), "{asked:?}");
    stage.reply(first, "a dozen").await;
    let second = stage.question(Some(first)).await;
    stage.reply(second, "12").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let told = stage.story().contains("clarify_response");
    assert!(!told, "the agent did not ask and is not answered");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_can_decline_what_a_server_asks() {
    let stage = stage(vec![order(), expecting(speaks("None, then."), result("decline"))]).await;
    let root = stage.root();
    stage.say(root, "Order.").await;
    let question = stage.question(None).await;
    stage.reply(question, "decline").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_ends_with_the_program_that_asked_it() {
    let unknown = json!({ "tool_results": [{ "call": "mcp__asking__order", "contains": "outcome is unknown", "is_error": true }] });
    let mut stage = stage(vec![order(), expecting(speaks("Let me look."), unknown)]).await;
    let root = stage.root();
    stage.say(root, "Order.").await;
    stage.question(None).await;
    stage.restart().await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert!(stage.project().look(|state| state.session(root).questions().is_empty()));
    stage.end().await;
}
