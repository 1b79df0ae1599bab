//! A project that is the program which runs it: who is told, and what models see of it.

use std::path::Path;

use mxd_core::decide::{Actor, Op};
use mxd_core::event::body::RestReason;
use mxd_core::id::{Fresh, Ulid};
use mxd_core::message::{Compact, Message};
use mxd_core::prompt::text::{SELF_BOOTSTRAP, SYSTEM};
use serde_json::{Value, json};

use super::stage::{Stage, breaking, calls, capturing, conversation, speaks};
use crate::golden;

/// What the model was sent in front of the conversations: by task and turn, the system texts and the tools.
struct Seen {
    root: Vec<Front>,
    child: Vec<Front>,
}

#[derive(PartialEq)]
struct Front {
    turn: usize,
    system: Value,
    tools: Value,
}

impl Seen {
    fn of(stage: &Stage) -> Self {
        let requests = stage.model.requests();
        let fronts = |conversation: &str| {
            let asked =
                requests.iter().filter(|request| request.conversation.as_deref() == Some(conversation));
            let front = asked.map(|request| {
                let body = request.body.as_ref().unwrap();
                Front {
                    turn: request.turn.unwrap(),
                    system: body["system"].clone(),
                    tools: body["tools"].clone(),
                }
            });
            front.collect()
        };
        Self { root: fronts("#1"), child: fronts("#2") }
    }

    fn text(&self) -> String {
        let each = |name: &'static str, fronts: &[Front]| {
            fronts.iter().map(|front| format!("{name}, request {}\n{}", front.turn, front.text())).collect()
        };
        let lines: [String; 2] = [each("root", &self.root), each("child", &self.child)];
        lines.concat()
    }
}

impl Front {
    fn texts(&self) -> Vec<&str> {
        self.system.as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap()).collect()
    }

    /// A line for each text.
    fn text(&self) -> String {
        let blocks = self.system.as_array().unwrap().iter().zip(self.texts());
        let block = |(block, text): (&Value, &str)| {
            let kept = if block.get("cache_control").is_some() { ", kept by the provider" } else { "" };
            let words = text.split_whitespace().count();
            let what = if text == SYSTEM { "the text for all agents" } else { "a chapter of its own" };
            format!("  {what}, {words} words{kept}\n")
        };
        blocks.map(block).collect()
    }
}

/// A root that has a task done, is summarised, and goes on.
async fn played(settings: Value) -> Seen {
    let stage = Stage::set_with(
        json!([
            conversation(
                "Title: Root",
                vec![
                    calls(&[("create_task", json!({ "title": "Child", "description": "Look." }))]),
                    capturing(
                        calls(&[(
                            "send_message",
                            json!({ "taskId": "$child", "title": "go", "message": "Begin." })
                        )]),
                        "Created the task (?<child>[0-9A-Z]{26})",
                    ),
                    calls(&[("yield", json!({}))]),
                    speaks("It was looked at."),
                    speaks("## Current phase\nIt was looked at."),
                    breaking(speaks("I go on.")),
                ]
            ),
            conversation(
                "Title: Child",
                vec![calls(&[("done", json!({ "status": "passed", "summary": "I looked." }))])]
            ),
        ]),
        settings,
    )
    .await;
    let root = stage.root();
    stage.say(root, "Have somebody look.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let id = Fresh::from_seed(Ulid::from_parts(1, 1)).issue();
    let compact = Op::Report { id, to: root, message: Message::Compact(Compact {}) };
    stage.project().wish(Actor::User, compact).await.unwrap();
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.say(root, "Go on.").await;
    stage.until("the last answer", |state| state.session(root).life().turns == 6).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let seen = Seen::of(&stage);
    stage.end().await;
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn the_root_of_the_program_itself_is_told_so_and_nobody_else_is() {
    let (off, on) = (played(json!({})).await, played(json!({ "selfBootstrap": true })).await);
    assert!(off.root.iter().chain(&off.child).chain(&on.child).all(|front| front.texts() == [SYSTEM]));
    assert!(on.root.iter().all(|front| front.texts() == [SYSTEM, SELF_BOOTSTRAP]), "{}", on.text());
    assert!(off.child == on.child, "children share one beginning, on or off");
    assert!(off.root.iter().zip(&on.root).all(|(off, on)| off.tools == on.tools), "only the text differs");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/journey/own_program.txt");
    let own = on.root[0].texts()[1];
    golden::check(&path, &format!("# Off\n\n{}\n# On\n\n{}\n{own}", off.text(), on.text()));
}
