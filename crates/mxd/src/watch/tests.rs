//! What the keys do and what is then on the screen, without a daemon and without a terminal.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

use super::draw;
use super::keys::{Action, Ask};
use super::model::Model;
use crate::client::{Failure, Happening};

const ROOT: &str = "01M7J0YW4VYY6ZZMP93B9P8KK0";
const CAREFUL: &str = "01M7J0YW4VYY6ZZMP93B9P8KK1";

/// A tree of two, in which these calls of the second and these questions of the first wait.
fn snapshot(calls: &Value, questions: &Value) -> Happening {
    let tasks = json!([
        { "id": ROOT, "title": "repo", "children": [CAREFUL], "status": "pending" },
        { "id": CAREFUL, "title": "Careful", "parentId": ROOT, "status": "pending" },
    ]);
    let needs = json!({ "approvals": calls, "clarifications": questions });
    let snapshot = json!({ "tasks": tasks, "rootId": ROOT, "needs": needs });
    Happening::Snapshot(serde_json::from_value(snapshot).unwrap())
}

fn call(id: &str, args: &Value) -> Value {
    json!({
        "taskId": CAREFUL, "taskTitle": "Careful", "approvalId": id, "tool": "bash", "args": args,
        "argsDigest": format!("digest of {id}"),
    })
}

fn model(calls: &Value, questions: &Value) -> Model {
    let project = json!({ "id": "P", "name": "repo", "path": "/", "rootId": ROOT });
    let mut model = Model::new(&serde_json::from_value(project).unwrap());
    model.hear(&snapshot(calls, questions));
    model
}

fn press(model: &mut Model, code: KeyCode) -> Action {
    model.press(KeyEvent::new(code, KeyModifiers::NONE))
}

fn letters(model: &mut Model, letters: &str) {
    for letter in letters.chars() {
        assert!(matches!(press(model, KeyCode::Char(letter)), Action::Nothing), "{letter}");
    }
}

fn asked(action: Action) -> Ask {
    match action {
        Action::Ask(ask) => *ask,
        other => panic!("nothing is asked: {other:?}"),
    }
}

/// What is on a screen of this size, row by row.
fn screen(model: &mut Model, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw::draw(frame, model)).unwrap();
    let cells = terminal.backend().buffer().content();
    let rows = cells.chunks(width.into()).map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect());
    rows.collect::<Vec<String>>().join("\n")
}

#[test]
fn a_long_call_is_read_to_its_end_before_it_is_allowed() {
    let command = (0..30).map(|n| format!("echo line {n}")).collect::<Vec<_>>().join("\n");
    let mut model = model(&json!([call("A", &json!({ "command": command, "timeout": 5 }))]), &json!([]));
    letters(&mut model, "a");
    assert_eq!(model.chosen.as_deref(), Some(CAREFUL));
    assert!(model.shown.is_none(), "the first key only goes to the task that waits");
    letters(&mut model, "a");
    let seen = screen(&mut model, 60, 12);
    assert!(seen.contains("Allow this call of “Careful”?") && seen.contains("│ echo line 0"), "{seen}");
    assert!(seen.contains("rows below"), "{seen}");
    letters(&mut model, "y");
    assert!(screen(&mut model, 60, 12).contains("not all seen yet"));
    let mut seen = String::new();
    let mut all = screen(&mut model, 60, 12);
    for _ in 0..10 {
        assert!(matches!(press(&mut model, KeyCode::PageDown), Action::Nothing));
        seen = screen(&mut model, 60, 12);
        all.push_str(&seen);
    }
    assert!((0..30).all(|n| all.contains(&format!("│ echo line {n} "))), "{all}");
    assert!(seen.contains("timeout:") && seen.contains("0 rows below"), "{seen}");
    let Ask { path, body, .. } = asked(press(&mut model, KeyCode::Char('y')));
    assert_eq!(path, "/approve");
    assert_eq!((&body["approvalId"], &body["decision"]), (&json!("A"), &json!("once")));
    assert_eq!(body["argsDigest"], "digest of A");
}

#[test]
fn what_had_no_room_was_not_seen() {
    let command = (0..20).map(|n| format!("echo line {n}")).collect::<Vec<_>>().join("\n");
    // Neither on a screen without a row or a column for it, nor on one that became another one on the way.
    for screens in [&[(60, 2)][..], &[(3, 60)], &[(60, 20), (50, 20)]] {
        let mut model = model(&json!([call("A", &json!({ "command": command }))]), &json!([]));
        letters(&mut model, "aa");
        for (width, height) in screens {
            let _seen = screen(&mut model, *width, *height);
            letters(&mut model, "y");
            let _next = press(&mut model, KeyCode::PageDown);
        }
        let _seen = screen(&mut model, 55, 60);
        assert_eq!(asked(press(&mut model, KeyCode::Char('y'))).body["decision"], "once");
    }
}

#[test]
fn a_word_is_about_the_call_that_was_shown() {
    let args = json!({ "command": "true" });
    let mut model = model(&json!([call("A", &args)]), &json!([]));
    letters(&mut model, "aa");
    let _seen = screen(&mut model, 60, 20);
    // Another one comes before it: what is shown stays what is meant.
    model.hear(&snapshot(&json!([call("B", &json!({})), call("A", &args)]), &json!([])));
    assert_eq!(asked(press(&mut model, KeyCode::Char('y'))).body["approvalId"], "A");
    letters(&mut model, "d");
    let seen = screen(&mut model, 60, 20);
    assert!(seen.contains("Deny this call"), "{seen}");
    // It was answered elsewhere: the key is about nothing then.
    model.hear(&snapshot(&json!([call("A", &args)]), &json!([])));
    assert!(screen(&mut model, 60, 20).contains("waits no more"));
    letters(&mut model, "y");
    letters(&mut model, "d");
    let Ask { body, .. } = asked(press(&mut model, KeyCode::Char('y')));
    assert_eq!((&body["approvalId"], &body["decision"]), (&json!("A"), &json!("deny")));
}

#[test]
fn what_nobody_knows_can_only_be_denied() {
    let mut model = model(&json!([call("A", &Value::Null)]), &json!([]));
    letters(&mut model, "aa");
    assert!(screen(&mut model, 60, 20).contains("not known here"));
    letters(&mut model, "yn");
    letters(&mut model, "d");
    assert_eq!(asked(press(&mut model, KeyCode::Char('y'))).body["decision"], "deny");
}

#[test]
fn keys_with_alt_or_control_decide_nothing() {
    let mut model = model(&json!([call("A", &json!({}))]), &json!([]));
    letters(&mut model, "aa");
    let _seen = screen(&mut model, 60, 20);
    for held in [KeyModifiers::CONTROL, KeyModifiers::ALT, KeyModifiers::SUPER] {
        let action = model.press(KeyEvent::new(KeyCode::Char('y'), held));
        assert!(matches!(action, Action::Nothing), "{held}");
        model.paste("y");
    }
    assert!(model.shown.is_some());
    assert!(matches!(press(&mut model, KeyCode::Esc), Action::Nothing));
    let action = model.press(KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL));
    assert!(matches!(action, Action::Nothing));
}

#[test]
fn the_same_words_are_the_same_message_and_others_are_not() {
    let mut model = model(&json!([]), &json!([]));
    let _typing = press(&mut model, KeyCode::Enter);
    letters(&mut model, "one");
    let first = asked(press(&mut model, KeyCode::Enter));
    assert_eq!(first.path, format!("/tasks/{ROOT}/message"));
    // Meanwhile something else is being typed: what comes back waits for its turn.
    let _typing = press(&mut model, KeyCode::Enter);
    letters(&mut model, "two");
    model.answered(first.words, Err(Failure::new("nobody answers")));
    assert!(screen(&mut model, 60, 20).contains("message to “repo” › two▏"));
    assert_eq!(asked(press(&mut model, KeyCode::Enter)).body["content"], "two");
    assert!(screen(&mut model, 60, 20).contains("message to “repo” › one▏"));
    let again = asked(press(&mut model, KeyCode::Enter));
    assert_eq!(again.body, first.body);
    model.answered(again.words, Err(Failure::new("nobody answers")));
    letters(&mut model, "s");
    let changed = asked(press(&mut model, KeyCode::Enter));
    assert_eq!(changed.body["content"], "ones");
    assert_ne!(changed.body["id"], first.body["id"]);
}

#[test]
fn the_way_out_is_always_in_sight() {
    let question =
        json!([{ "taskId": ROOT, "taskTitle": "repo", "clarificationId": "Q", "question": "Why?" }]);
    let mut model = model(&json!([call("A", &json!({}))]), &question);
    for width in 8..120 {
        let seen = screen(&mut model, width, 12);
        assert!(seen.contains("q quit"), "{width}: {seen}");
    }
    assert!(screen(&mut model, 40, 12).contains("a answer"));
    assert!(screen(&mut model, 120, 12).contains("c collapse"));
}

#[test]
fn a_screen_of_any_size_can_be_drawn() {
    let text = "日本語 ".repeat(60);
    let question = json!([{ "taskId": ROOT, "taskTitle": "repo", "clarificationId": "Q", "question": text }]);
    let mut model = model(&json!([call("A", &json!({ "command": text }))]), &question);
    for keys in ["", "a", "日本語日本語日本語日本語"] {
        letters(&mut model, keys);
        for (width, height) in [(1, 1), (2, 3), (5, 2), (9, 4), (40, 6), (200, 60)] {
            let _seen = screen(&mut model, width, height);
        }
    }
    let _left = press(&mut model, KeyCode::Esc);
    let _down = press(&mut model, KeyCode::Down);
    letters(&mut model, "a");
    for (width, height) in [(1, 1), (2, 3), (5, 2), (9, 4), (40, 6), (200, 60)] {
        let _seen = screen(&mut model, width, height);
    }
}

#[test]
fn host_is_shown_before_it_is_allowed() {
    let host = "evil.\u{202e}example.org:8443";
    let need = json!({
        "taskId": CAREFUL, "taskTitle": "Careful", "approvalId": "H", "tool": "network", "host": host,
        "args": { "host": host }, "argsDigest": "host:H",
    });
    let mut model = model(&json!([need]), &json!([]));
    letters(&mut model, "aa");
    let seen = screen(&mut model, 80, 12);
    assert!(seen.contains("Allow “Careful” to reach a host?"), "{seen}");
    assert!(seen.contains("│ evil.\\u{202e}example.org:8443"), "{seen}");
    let ask = asked(press(&mut model, KeyCode::Char('y')));
    assert_eq!((ask.path.as_str(), &ask.body["decision"]), ("/approve", &json!("once")));
    assert_eq!((&ask.body["approvalId"], &ask.body["argsDigest"]), (&json!("H"), &json!("host:H")));
}
