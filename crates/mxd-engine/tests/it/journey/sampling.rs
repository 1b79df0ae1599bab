//! Servers that have the model write for them: only where their entry says so, paid from the budget, and never twice.

use mxd_core::decide::{Actor, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{RestReason, SamplingEnded, StopReason, TurnEnded};
use mxd_core::money::Usd;
use mxd_core::show;
use serde_json::{Value, json};

use super::stage::{Stage, conversation, expecting, gated, speaks, write};

/// What is in the entry of the server besides its command, and what it is started with.
#[derive(Default)]
struct Entry {
    sampling: Option<bool>,
    argument: &'static str,
}

const MAY: Entry = Entry { sampling: Some(true), argument: "" };

async fn stage(entry: Entry, conversations: Vec<Value>) -> Stage {
    let writer = |ground: &std::path::Path| {
        let folder = ground.join("server");
        std::fs::create_dir_all(&folder).unwrap();
        write(folder.join("sampling.py"), include_str!("sampling.py"));
        let mut server =
            json!({ "command": "python3", "args": [folder.join("sampling.py"), entry.argument] });
        if let Some(sampling) = entry.sampling {
            server["sampling"] = sampling.into();
        }
        json!({ "mcpServers": { "writer": server }, "sandbox": { "read": [folder] } })
    };
    Stage::furnished(json!(conversations), writer).await
}

/// The agent calls the server, which wants this written.
fn asks(params: &Value) -> Value {
    let input = json!({ "params": params });
    json!({ "reply": { "blocks": [{ "tool_call": { "name": "mcp__writer__ask", "input": input } }] } })
}

/// What a server wants.
fn poem() -> Value {
    json!({
        "messages": [{ "role": "user", "content": { "type": "text", "text": "Write a poem." } }],
        "systemPrompt": "You are a poet.",
        "maxTokens": 300,
    })
}

fn told(words: &str) -> Value {
    json!({ "tool_results": [{ "call": "mcp__writer__ask", "contains": words, "is_error": false }] })
}

/// The agent's conversation: it calls, and is told this.
fn agent(params: &Value, words: &str) -> Value {
    conversation("Title: Root", vec![asks(params), expecting(speaks("So it is."), told(words))])
}

fn poet(turn: Value) -> Value {
    let alone = json!({
        "system": { "contains": "You are a poet." },
        "user_texts": [{ "contains": "Write a poem." }],
        "user_text_count": 1,
        "lacks_tools": ["mcp__mxd__bash", "mcp__writer__ask"],
    });
    conversation("Write a poem.", vec![expecting(turn, alone)])
}

impl Stage {
    fn samplings(&self) -> Vec<SamplingEnded> {
        let ended = |event: mxd_core::event::Event| match event.body {
            EventBody::SamplingEnded(ended) => Some(ended),
            _ => None,
        };
        self.events().into_iter().filter_map(ended).collect()
    }

    /// What the calls of tools came to.
    fn results(&self) -> Vec<String> {
        let result = |event: mxd_core::event::Event| match event.body {
            EventBody::ToolResult(result) => Some(result.content),
            _ => None,
        };
        self.events().into_iter().filter_map(result).collect()
    }

    fn turns_ended(&self) -> Vec<TurnEnded> {
        let ended = |event: mxd_core::event::Event| match event.body {
            EventBody::TurnEnded(ended) => Some(ended),
            _ => None,
        };
        self.events().into_iter().filter_map(ended).collect()
    }

    /// What the root task has cost.
    fn cost(&self) -> Usd {
        let root = self.root();
        self.project().look(|state| state.tree().get(root).and_then(|node| node.task()).unwrap().cost_usd)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_writes_for_a_server_that_may_have_it() {
    for argument in ["", "modern"] {
        let conversations = vec![agent(&poem(), r#""role": "assistant""#), poet(speaks("Roses are red."))];
        let stage = stage(Entry { argument, ..MAY }, conversations).await;
        let root = stage.root();
        stage.say(root, "Begin.").await;
        stage.until_rest(root, &RestReason::EndTurn).await;
        let [told] = &stage.results()[..] else { panic!("{}", stage.story()) };
        assert!(told.contains("Roses are red.") && told.contains("endTurn"), "{told}");
        assert!(told.contains(r#""sampling""#), "it is told that it may: {told}");
        let [ended] = &stage.samplings()[..] else { panic!("{}", stage.story()) };
        assert_eq!((ended.server.as_str(), &ended.stop_reason), ("writer", &StopReason::EndTurn));
        assert!(ended.cost_usd > Usd::ZERO && !ended.cost_unknown, "{ended:?}");
        let turns = stage.turns_ended().iter().fold(0, |sum, turn| sum + turn.cost_usd.micros());
        assert_eq!(stage.cost().micros(), turns + ended.cost_usd.micros(), "it is among what the task cost");
        let line = show::line(&EventBody::SamplingEnded(ended.clone())).unwrap();
        assert!(
            line.starts_with("the model wrote ") && line.contains(" for the server writer, for $0."),
            "{line}"
        );
        assert!(stage.project().look(|state| state.reservations().is_empty()));
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_model_writes_for_a_server_unless_its_entry_says_so() {
    for sampling in [None, Some(false)] {
        let entry = Entry { sampling, ..Entry::default() };
        let stage = stage(entry, vec![agent(&poem(), "no model writes for this server")]).await;
        let root = stage.root();
        stage.say(root, "Begin.").await;
        stage.until_rest(root, &RestReason::EndTurn).await;
        let results = stage.results();
        assert!(!results.iter().any(|told| told.contains(r#""sampling""#)), "nor is it told: {results:?}");
        assert_eq!(stage.samplings(), []);
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_the_task_is_given_and_no_tools() {
    let cases = [
        (json!({ "includeContext": "thisServer" }), "leave includeContext out"),
        (json!({ "tools": [{ "name": "x", "inputSchema": {} }] }), "without tools"),
        (json!({ "maxTokens": 0 }), "maxTokens is 0"),
        (json!({ "messages": [] }), "between one and"),
        (
            json!({ "messages": [{ "role": "assistant", "content": { "type": "text", "text": "Go on" } }] }),
            "the user's",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": { "type": "image", "data": "", "mimeType": "image/png" } }] }),
            "reads texts",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": [{ "type": "text", "text": "x".repeat(200_000) }] }] }),
            "bytes",
        ),
        (json!({ "messages": "Write a poem." }), "cannot be read"),
        (json!({ "stopSequences": [""] }), "stop sequences"),
    ];
    let mut turns: Vec<Value> = Vec::new();
    let mut before = None;
    for (change, words) in &cases {
        let mut params = poem();
        params.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let turn = asks(&params);
        turns.push(match before.replace(*words) {
            Some(words) => expecting(turn, told(words)),
            None => turn,
        });
    }
    turns.push(expecting(speaks("Never."), told(before.unwrap())));
    let stage = stage(MAY, vec![conversation("Title: Root", turns)]).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert_eq!(stage.samplings(), [], "nothing was asked of the model and nothing paid");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_does_not_hold_it_is_said() {
    let mut params = poem();
    params["messages"][0]["content"]["text"] =
        format!("Write a poem.{}", " and a long one".repeat(7_000)).into();
    params["maxTokens"] = 4_096.into();
    // What the turn is said to have used leaves less than that costs.
    let mut dear = asks(&params);
    dear["reply"]["usage"] = json!({ "input_tokens": 100_000, "output_tokens": 32_000 });
    let stage = stage(MAY, vec![conversation("Title: Root", vec![dear])]).await;
    let root = stage.root();
    let budget = Usd::from_micros(800_000).unwrap();
    let grant = SessionOp::Grant { amount: budget };
    stage.project().wish(Actor::User, Op::Session { task: root, op: grant }).await.unwrap();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::Spent).await;
    let results = stage.results();
    assert!(
        matches!(&results[..], [one] if one.contains("the budget does not hold it: it may cost $0.")),
        "{results:?}"
    );
    assert_eq!(stage.samplings(), []);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_being_written_when_the_program_ended_is_paid_once_and_not_written_again() {
    let unknown = json!({ "tool_results": [{ "call": "mcp__writer__ask", "contains": "outcome is unknown", "is_error": true }] });
    let mut stage = stage(
        MAY,
        vec![
            conversation("Title: Root", vec![asks(&poem()), expecting(speaks("Let me look."), unknown)]),
            poet(gated(speaks("Roses are red, violets are blue."), "half")),
        ],
    )
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.model.gate_reached("half").await.unwrap();
    let set_aside = stage.project().look(|state| state.reservations().values().next().unwrap().amount);
    stage.restart().await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.model.open_gate("half").unwrap();
    let [ended] = &stage.samplings()[..] else { panic!("{}", stage.story()) };
    assert!(ended.cost_unknown && ended.cost_usd == set_aside, "{ended:?}");
    let asked =
        stage.model.requests().iter().filter(|one| one.shape_text().contains("Write a poem.")).count();
    assert_eq!(asked, 1, "the model is not asked again by itself");
    stage.restart().await;
    assert_eq!(stage.samplings().len(), 1, "nor is it paid again");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_broken_off_breaks_off_what_is_written_for_it() {
    for argument in ["", "modern"] {
        let stage = stage(
            Entry { argument, ..MAY },
            vec![
                conversation("Title: Root", vec![asks(&poem())]),
                poet(gated(speaks("Roses are red, violets are blue."), "half")),
            ],
        )
        .await;
        let root = stage.root();
        stage.say(root, "Begin.").await;
        stage.model.gate_reached("half").await.unwrap();
        stage
            .project()
            .wish(Actor::User, Op::Session { task: root, op: SessionOp::Interrupt })
            .await
            .unwrap();
        stage.until_rest(root, &RestReason::Interrupted).await;
        stage.until("an end of the writing", |state| state.session(root).samplings().is_empty()).await;
        stage.model.open_gate("half").unwrap();
        let [ended] = &stage.samplings()[..] else { panic!("{}", stage.story()) };
        assert_eq!(ended.stop_reason, StopReason::Cancelled);
        assert!(ended.cost_usd > Usd::ZERO, "what was written is paid: {ended:?}");
        assert!(stage.project().look(|state| state.reservations().is_empty()));
        stage.end().await;
    }
}
