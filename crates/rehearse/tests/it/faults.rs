//! What goes wrong on purpose, and what waits.

use serde_json::{Value, json};

use crate::client::{ANTHROPIC, Call, ask, messages, one, rehearsal, says, user};

fn streamed() -> Value {
    let mut body = messages(&json!([user("hi")]));
    body["stream"] = true.into();
    body
}

fn faulty(what: &Value) -> Value {
    json!({ "reply": { "blocks": [{ "text": "at last" }] }, "fault": { "what": what } })
}

#[tokio::test]
async fn a_status_comes_with_its_body_and_the_retry_finds_the_reply() {
    let overloaded = json!({ "status": { "status": 529, "retry_after": "7" } });
    let model = rehearsal(&one(&json!([faulty(&overloaded)])));
    let answer = ask(&model, &streamed()).await;
    assert_eq!(answer.status, 529);
    assert!(answer.headers.contains("retry-after: 7"), "{}", answer.headers);
    assert_eq!(answer.json()["error"], json!({ "type": "overloaded_error", "message": "Overloaded" }));
    assert!(ask(&model, &streamed()).await.text().contains("at last"));
    assert_eq!(model.requests().iter().map(|request| request.turn).collect::<Vec<_>>(), [Some(1), Some(1)]);
    model.finish().unwrap();
}

#[tokio::test]
async fn a_body_of_the_script_is_sent_as_it_is() {
    let gateway = json!({ "status": { "status": 502, "body": "<html>Bad Gateway</html>" } });
    let model = rehearsal(&one(&json!([faulty(&gateway)])));
    let answer = ask(&model, &streamed()).await;
    assert_eq!((answer.status, answer.text().as_str()), (502, "<html>Bad Gateway</html>"));
}

#[tokio::test]
async fn an_error_event_ends_the_stream() {
    let error =
        json!({ "stream_error": { "after_chunks": 3, "kind": "overloaded_error", "message": "Overloaded" } });
    let model = rehearsal(&one(&json!([faulty(&error)])));
    let answer = ask(&model, &streamed()).await;
    assert_eq!(answer.kinds(), ["message_start", "ping", "content_block_start", "error"]);
    assert_eq!(answer.events()[3]["error"], json!({ "type": "overloaded_error", "message": "Overloaded" }));
    assert!(answer.complete);
    // Without streaming there is a status for it.
    let model = rehearsal(&one(&json!([faulty(&error)])));
    assert_eq!(ask(&model, &messages(&json!([user("hi")]))).await.status, 529);
}

#[tokio::test]
async fn a_cut_comes_after_the_chunks_before_it() {
    for chunks in [0, 1, 4] {
        let model = rehearsal(&one(&json!([faulty(&json!({ "cut": { "after_chunks": chunks } }))])));
        let answer = ask(&model, &streamed()).await;
        assert_eq!((answer.chunks.len(), answer.complete), (chunks, false));
        assert!(ask(&model, &streamed()).await.complete);
        model.finish().unwrap();
    }
}

#[tokio::test]
async fn garbage_is_sent_as_it_is() {
    let garbage = json!({ "garbage": { "after_chunks": 2, "text": "data: {\"type\": \n\n\u{0}" } });
    let model = rehearsal(&one(&json!([faulty(&garbage)])));
    let answer = ask(&model, &streamed()).await;
    assert!(answer.text().ends_with("data: {\"type\": \n\n\u{0}") && answer.complete);
    assert_eq!(answer.chunks.len(), 3);
}

#[tokio::test]
async fn a_stall_leaves_the_connection_open_and_may_end_the_turn() {
    let stall = json!({ "fault": { "what": { "stall": { "after_chunks": 1 } }, "ends_turn": true }, "reply": { "blocks": [] } });
    let model = rehearsal(&one(&json!([stall, says("next")])));
    let mut call = Call::send(&model, "POST", "/v1/messages", ANTHROPIC, &streamed().to_string()).await;
    assert_eq!(call.head().await.0, 200);
    assert!(call.chunk().await.unwrap().starts_with(b"event: message_start"));
    // The first call is still open while another is answered.
    assert!(ask(&model, &streamed()).await.text().contains("next"));
    model.finish().unwrap();
}

#[tokio::test]
async fn faults_by_number_repeat_and_use_up_no_turn() {
    let mut script = one(&json!([says("one"), says("two")]));
    script["faults"] = json!([{ "at": 2, "times": 2, "what": { "status": { "status": 429 } } }]);
    let model = rehearsal(&script);
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(ask(&model, &messages(&json!([user("hi")]))).await.status);
    }
    assert_eq!(statuses, [200, 429, 429, 200]);
    model.finish().unwrap();
    let model = rehearsal(&script);
    ask(&model, &messages(&json!([user("hi")]))).await;
    let report = model.finish().unwrap_err();
    assert_eq!(report.left_over.len(), 2, "{report}");
    assert!(report.to_string().contains("the fault of request 2: there were 1"), "{report}");
}

#[tokio::test]
async fn faults_of_a_turn_repeat() {
    let mut turn = faulty(&json!({ "status": { "status": 500 } }));
    turn["fault"]["times"] = 3.into();
    let model = rehearsal(&one(&json!([turn])));
    for status in [500, 500, 500, 200] {
        assert_eq!(ask(&model, &streamed()).await.status, status);
    }
    model.finish().unwrap();
}

#[tokio::test]
async fn a_reply_is_cut_into_chunks_of_any_size() {
    let text = "Grüße aus der Mitte 😀 eines Zeichens";
    let plain = rehearsal(&one(&json!([says(text)])));
    let whole = ask(&plain, &streamed()).await.text();
    for size in [1, 7, 100_000] {
        let mut turn = says(text);
        turn["chunk_bytes"] = size.into();
        let model = rehearsal(&one(&json!([turn])));
        let answer = ask(&model, &streamed()).await;
        assert_eq!(answer.text(), whole);
        assert_eq!(answer.chunks.len(), whole.len().div_ceil(size));
        assert!(answer.chunks.iter().rev().skip(1).all(|chunk| chunk.len() == size));
    }
}

#[tokio::test]
async fn a_gate_holds_the_whole_reply_until_the_test_opens_it() {
    let mut turn = says("through");
    turn["gate"] = json!({ "name": "door" });
    let model = rehearsal(&one(&json!([turn, says("meanwhile")])));
    let mut call = Call::send(&model, "POST", "/v1/messages", ANTHROPIC, &streamed().to_string()).await;
    model.gate_reached("door").await.unwrap();
    assert!(ask(&model, &streamed()).await.text().contains("meanwhile"));
    assert!(call.is_silent());
    model.open_gate("door").unwrap();
    assert!(call.answer().await.text().contains("through"));
    assert_eq!(model.open_gate("window").unwrap_err().to_string(), "the script has no gate `window`");
}

#[tokio::test]
async fn a_gate_in_the_middle_is_opened_over_http() {
    let mut turn = says("through");
    turn["gate"] = json!({ "name": "door", "after_chunks": 2 });
    let model = rehearsal(&one(&json!([turn, says("again")])));
    let mut call = Call::send(&model, "POST", "/v1/messages", ANTHROPIC, &streamed().to_string()).await;
    call.head().await;
    assert!(call.chunk().await.unwrap().starts_with(b"event: message_start"));
    assert!(call.chunk().await.unwrap().starts_with(b"event: ping"));
    model.gate_reached("door").await.unwrap();
    assert!(ask(&model, &streamed()).await.text().contains("again"));
    assert!(call.is_silent());
    let open = |name: &str| format!("/rehearse/gates/{name}");
    assert_eq!(Call::send(&model, "POST", &open("door"), &[], "").await.answer().await.status, 204);
    assert_eq!(Call::send(&model, "POST", &open("window"), &[], "").await.answer().await.status, 404);
    let mut rest = Vec::new();
    while let Some(chunk) = call.chunk().await.filter(|chunk| !chunk.is_empty()) {
        rest.extend(chunk);
    }
    assert!(String::from_utf8(rest).unwrap().contains("message_stop"));
    model.finish().unwrap();
}

#[tokio::test]
async fn delays_pass() {
    let mut turn = says("late");
    turn["delay_ms"] = 1.into();
    turn["chunk_delay_ms"] = 1.into();
    let model = rehearsal(&one(&json!([turn])));
    assert!(ask(&model, &streamed()).await.text().contains("late"));
}
