//! What is billed when requests begin alike.

use rehearse::Rehearsal;
use serde_json::{Value, json};

use crate::client::{ANTHROPIC, Answer, Call, ask, assistant, messages, one, rehearsal, says};

/// A model that says one word, as often as it is asked.
fn model() -> Rehearsal {
    let conversation = |id: &str| json!({ "id": id, "turns": [says("a"), says("b"), says("c"), says("d")] });
    rehearsal(&json!({ "caches": true, "conversations": [conversation("one"), conversation("two")] }))
}

/// About a thousand tokens and a half, all of this letter.
fn long(letter: &str) -> String {
    letter.repeat(6_000)
}

fn marked(text: &str) -> Value {
    json!({ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } })
}

fn plain(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn said(blocks: &Value) -> Value {
    json!({ "role": "user", "content": blocks })
}

/// Asks in one of the two conversations.
async fn of(model: &Rehearsal, name: &str, mut body: Value, system: &Value) -> Answer {
    body["system"] = system.clone();
    body["metadata"] = json!({ "user_id": name });
    ask(model, &body).await
}

/// Read from the cache, written to it, and neither.
fn billed(answer: &Answer) -> (u64, u64, u64) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let usage = &answer.json()["usage"];
    let number = |name: &str| usage[name].as_u64().unwrap();
    (number("cache_read_input_tokens"), number("cache_creation_input_tokens"), number("input_tokens"))
}

async fn counted(model: &Rehearsal, body: &Value) -> u64 {
    let path = "/v1/messages/count_tokens";
    let answer = Call::send(model, "POST", path, ANTHROPIC, &body.to_string()).await.answer().await;
    answer.json()["input_tokens"].as_u64().unwrap()
}

#[tokio::test]
async fn what_was_marked_is_read_again_and_what_comes_behind_it_is_written() {
    let model = model();
    let system = json!([marked(&long("s"))]);
    let first = messages(&json!([said(&json!([marked(&long("u"))]))]));
    let (read, written, rest) = billed(&of(&model, "one", first.clone(), &system).await);
    assert_eq!(read, 0);
    assert!((3_000..3_100).contains(&written), "{written}");
    let mut whole = first.clone();
    whole["system"] = system.clone();
    assert_eq!(read + written + rest, counted(&model, &whole).await, "every token is billed once");

    // The mark moves on; the service finds what it has a few blocks before it.
    let turns = [
        said(&json!([plain(&long("u"))])),
        assistant(&json!([plain("a")])),
        said(&json!([marked(&long("v"))])),
    ];
    let second = billed(&of(&model, "one", messages(&json!(turns)), &system).await);
    assert_eq!(second.0, written, "all that was written is read");
    assert!((1_500..1_600).contains(&second.1), "{second:?}");
}

#[tokio::test]
async fn another_conversation_reads_what_it_begins_alike_and_another_model_nothing() {
    let model = model();
    let system = json!([marked(&long("s"))]);
    let question = |text: &str| messages(&json!([said(&json!([marked(&long(text))]))]));
    let first = billed(&of(&model, "one", question("u"), &system).await);
    let second = billed(&of(&model, "two", question("v"), &system).await);
    assert_eq!(first.0, 0);
    assert!((1_500..1_520).contains(&second.0), "the system text alone: {second:?}");
    let mut other = question("v");
    other["model"] = "n".into();
    assert_eq!(billed(&of(&model, "two", other, &system).await).0, 0);
}

#[tokio::test]
async fn one_other_byte_in_front_and_nothing_is_read() {
    let model = model();
    let question = messages(&json!([said(&json!([marked(&long("u"))]))]));
    billed(&of(&model, "one", question.clone(), &json!([marked(&long("s"))])).await);
    let changed = json!([marked(&format!("{}.", long("s")))]);
    assert_eq!(billed(&of(&model, "two", question, &changed).await).0, 0);
}

#[tokio::test]
async fn nothing_is_kept_without_a_mark_or_of_a_short_text() {
    let model = model();
    let (short, long) = (json!([marked("short")]), json!([plain(&long("s"))]));
    for (name, system) in [("one", short), ("two", long)] {
        for _again in 0..2 {
            let question = messages(&json!([said(&json!([plain("u")]))]));
            let billed = billed(&of(&model, name, question, &system).await);
            assert_eq!((billed.0, billed.1), (0, 0), "{name}");
        }
    }
}

#[tokio::test]
async fn a_mark_finds_what_is_twenty_blocks_before_it_and_not_further() {
    for (between, found) in [(19, true), (20, false)] {
        let model = model();
        let mut blocks = vec![marked(&long("u"))];
        let first = messages(&json!([said(&json!(blocks))]));
        let written = billed(&of(&model, "one", first, &json!([plain("s")])).await).1;
        blocks[0] = plain(&long("u"));
        blocks.extend((0..between).map(|_| plain("x")));
        blocks.push(marked("end"));
        let second = messages(&json!([said(&json!(blocks))]));
        let read = billed(&of(&model, "two", second, &json!([plain("s")])).await).0;
        assert_eq!(read, if found { written } else { 0 }, "{between} blocks between");
    }
}

#[tokio::test]
async fn what_is_kept_for_an_hour_is_told_apart() {
    let model = model();
    let mark = json!({ "type": "ephemeral", "ttl": "1h" });
    let system = json!([{ "type": "text", "text": long("s"), "cache_control": mark }]);
    let question = messages(&json!([said(&json!([marked(&long("u"))]))]));
    let answer = of(&model, "one", question, &system).await;
    let kept = &answer.json()["usage"]["cache_creation"];
    assert!(kept["ephemeral_1h_input_tokens"].as_u64().unwrap() >= 1_500, "{kept}");
    assert!(kept["ephemeral_5m_input_tokens"].as_u64().unwrap() >= 1_500, "{kept}");
}

#[tokio::test]
async fn without_it_every_token_is_billed_as_new() {
    let model = rehearsal(&one(&json!([says("a"), says("b")])));
    let question = messages(&json!([said(&json!([marked(&long("u"))]))]));
    for _again in 0..2 {
        let (read, written, rest) = billed(&ask(&model, &question).await);
        assert_eq!((read, written), (0, 0));
        assert!(rest > 1_500);
    }
}

#[tokio::test]
async fn the_same_answer_again_costs_the_same_again() {
    let script = json!({ "caches": true, "resumes": true, "conversations": [{ "turns": [says("a")] }] });
    let model = rehearsal(&script);
    let question = messages(&json!([said(&json!([marked(&long("u"))]))]));
    let answer = ask(&model, &question).await.text();
    assert_eq!(ask(&model, &question).await.text(), answer);
}

/// Asks on a wire of OpenAI: the tokens that were cached, and all.
async fn cached(model: &Rehearsal, path: &str, body: &Value) -> (u64, u64) {
    let headers = &[("authorization", "Bearer k")];
    let answer = Call::send(model, "POST", path, headers, &body.to_string()).await.answer().await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let usage = &answer.json()["usage"];
    let of = |details: &str, all: &str| (usage[details]["cached_tokens"].as_u64(), usage[all].as_u64());
    let (cached, all) = match of("prompt_tokens_details", "prompt_tokens") {
        (Some(cached), Some(all)) => (cached, all),
        _ => {
            let (cached, all) = of("input_tokens_details", "input_tokens");
            (cached.unwrap(), all.unwrap())
        }
    };
    (cached, all)
}

#[tokio::test]
async fn the_wires_of_openai_read_what_is_the_same_in_steps() {
    let chat = |text: String| {
        let system = json!({ "role": "system", "content": long("s") });
        json!({ "model": "m", "messages": [system, { "role": "user", "content": text }] })
    };
    let responses = |text: String| {
        let input = json!([{ "role": "user", "content": text }]);
        json!({ "model": "m", "instructions": long("s"), "input": input, "store": false })
    };
    let wires: [(&str, &dyn Fn(String) -> Value); 2] =
        [("/v1/chat/completions", &chat), ("/v1/responses", &responses)];
    for (path, body) in wires {
        let model = rehearsal(&json!({
            "caches": true,
            "conversations": [
                { "first_message": { "contains": "u" }, "turns": [says("a"), says("b")] },
                { "first_message": { "contains": "v" }, "turns": [says("a")] },
            ],
        }));
        assert_eq!(cached(&model, path, &body(long("u"))).await.0, 0, "{path}");
        let (again, all) = cached(&model, path, &body(long("u"))).await;
        assert!(again % 128 == 0 && all - again < 128, "{path}: {again} of {all}");
        let (alike, _) = cached(&model, path, &body(long("v"))).await;
        assert!(alike % 128 == 0 && (1_408..1_664).contains(&alike), "{path}: {alike}");
    }
}
