//! Providers that cut their answers or report what cannot be: nobody gets more than the budget, and what they did is shown.

use mxd_core::decide::{Actor, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{RestReason, TurnEnded};
use mxd_core::money::Usd;
use mxd_core::show;
use serde_json::{Value, json};

use super::stage::{Stage, conversation, speaks};

/// Ten dollars for a million tokens, whatever happens to them.
fn model(max_output_tokens: u64) -> Value {
    json!({
        "models": [{
            "name": "dear", "vendor": "anthropic", "contextWindow": 100_000, "maxOutputTokens": max_output_tokens,
            "thinking": "none", "images": false,
            "prices": { "input": 10, "output": 10, "cacheRead": 10, "cacheWrite5m": 10, "cacheWrite1h": 10 }
        }],
        "model": "dear", "childModel": "dear"
    })
}

fn used(mut turn: Value, (input, output): (u64, u64)) -> Value {
    turn["reply"]["usage"] = json!({ "input_tokens": input, "output_tokens": output });
    turn
}

/// The same turn, whose first answers end in the middle.
fn cut(mut turn: Value, times: u64) -> Value {
    turn["fault"] = json!({ "what": { "cut": { "after_chunks": 3 } }, "times": times });
    turn
}

/// A story whose root has so much money, in cents.
async fn with(turns: Vec<Value>, (max_output_tokens, cents): (u64, u64)) -> Stage {
    let stage = Stage::set_with(json!([conversation("Title: Root", turns)]), model(max_output_tokens)).await;
    let (task, amount) = (stage.root(), Usd::from_cents(cents).unwrap());
    let op = SessionOp::Grant { amount };
    stage.project().wish(Actor::User, Op::Session { task, op }).await.unwrap();
    stage.say(task, "Begin.").await;
    stage
}

fn spent(stage: &Stage) -> Usd {
    let root = stage.root();
    stage.project().look(|state| state.tree().get(root).unwrap().task().unwrap().spent_usd)
}

fn ended_turns(stage: &Stage) -> Vec<TurnEnded> {
    let events = stage.events();
    let ended = events.into_iter().filter_map(|event| match event.body {
        EventBody::TurnEnded(ended) => Some(ended),
        _ => None,
    });
    ended.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_cut_are_paid_and_not_asked_for_beyond_the_budget() {
    // Every request is billed 25 cents for what was read; the provider cuts each answer after it began.
    let turn = cut(used(speaks("I am about to say something."), (25_000, 100)), 4);
    let stage = with(vec![turn], (1_000, 100)).await;
    let root = stage.root();
    stage
        .until("an end", |state| {
            let rest = state.session(root).rest();
            rest == Some(&RestReason::Spent) || rest == Some(&RestReason::EndTurn)
        })
        .await;
    let requests = u64::try_from(stage.model.requests().len()).unwrap();
    assert!(requests * 250_000 <= 1_000_000, "{requests} requests at 25 cents each\n{}", stage.story());
    assert!(spent(&stage).micros() >= requests * 250_000, "{}\n{}", spent(&stage), stage.story());
    assert!(requests >= 2, "it is tried again as long as there is money\n{}", stage.story());
    stage.project().close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_that_cannot_be_is_not_believed_and_is_shown() {
    let long = "word ".repeat(20_000);
    for (turn, least) in [
        // More than the request allowed.
        (used(speaks("Little."), (20_000, 50_000_000)), 0),
        // A hundred thousand bytes as one token.
        (used(speaks(&long), (20_000, 1)), 8_000),
    ] {
        let stage = with(vec![turn], (1_000, 100)).await;
        let root = stage.root();
        stage.until_rest(root, &RestReason::EndTurn).await;
        let [ended] = &ended_turns(&stage)[..] else { panic!("{}", stage.story()) };
        assert!(spent(&stage) <= Usd::from_cents(100).unwrap(), "{}", spent(&stage));
        assert!(ended.cost_usd.micros() >= 200_000 + least, "{ended:?}");
        assert!(ended.usage.output_tokens <= 1_000 && ended.usage_fault.is_some(), "{ended:?}");
        let standing = stage.project().look(|state| show::standing(state, root).unwrap());
        assert!(standing.why.contains("usage that cannot be"), "{standing:?}");
        stage.end().await;
    }
}

/// The most tokens that each request allowed.
fn allowed(stage: &Stage) -> Vec<u64> {
    let requests = stage.model.requests();
    requests.iter().map(|request| request.body.as_ref().unwrap()["max_tokens"].as_u64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_budget_is_used_for_short_answers_and_the_reason_for_a_stop_names_amounts() {
    let turns = vec![speaks("I can still say this.")];
    // A whole answer costs 32 cents, and what is to be read some 38 at the most.
    let stage = with(turns, (32_000, 50)).await;
    let root = stage.root();
    stage.until_rest(root, &RestReason::EndTurn).await;
    let [tokens] = allowed(&stage)[..] else { panic!("{:?}", allowed(&stage)) };
    assert!((1_024..20_000).contains(&tokens), "{tokens}");
    stage.end().await;

    let stage = with(vec![speaks("Now I can.")], (32_000, 2)).await;
    let root = stage.root();
    // What was written to it waits until it can be read.
    stage.until("a stop", |state| state.session(root).rest() == Some(&RestReason::Spent)).await;
    assert_eq!(allowed(&stage), [] as [u64; 0], "no request can be paid");
    let why = stage.project().look(|state| show::standing(state, root).unwrap().why);
    assert!(why.contains("may cost up to $") && why.contains("$0.02 is left"), "{why}");
    let op = SessionOp::Grant { amount: Usd::from_cents(200).unwrap() };
    stage.project().wish(Actor::User, Op::Session { task: root, op }).await.unwrap();
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert_eq!(allowed(&stage), [32_000]);
    stage.end().await;
}
