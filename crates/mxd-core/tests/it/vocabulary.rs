//! Every event type and message kind, as one golden line each.

use std::collections::BTreeSet;

use mxd_core::commit::{Commit, EmptyCommit, Seq};
use mxd_core::event::{
    DecodeError, Delta, Durability, Event, EventBody, EventHead, EventKind, VOCABULARY, Version,
    may_shape_state, split_events,
};
use mxd_core::message::{Message, MessageKind};
use mxd_core::state::State;
use mxd_core::time::Millis;

pub(crate) const EVENTS: &str = include_str!("../fixtures/vocabulary.jsonl");
const MESSAGES: &str = include_str!("../fixtures/messages.jsonl");

#[test]
fn every_type_reads_and_writes_the_same_bytes() {
    for line in EVENTS.lines() {
        let head = EventHead::parse(line).unwrap();
        let kind = head.kind().unwrap_or_else(|| panic!("unknown type: {line}"));
        let written = match kind.durability() {
            Durability::Persisted => {
                let event = Event::decode(line).unwrap();
                assert_eq!(event.type_name(), kind.name());
                assert!(event.extra.is_empty(), "left over: {line}");
                event.to_json().unwrap()
            }
            Durability::Ephemeral => Delta::decode(line).unwrap().to_json().unwrap(),
        };
        assert_eq!(written, line);
    }
}

#[test]
fn no_type_is_missing_from_the_golden_file() {
    let seen: BTreeSet<_> =
        EVENTS.lines().filter_map(|line| EventHead::parse(line).unwrap().kind()).collect();
    let missing: Vec<_> = EventKind::ALL.iter().filter(|kind| !seen.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(EVENTS.lines().count(), EventKind::ALL.len());
}

#[test]
fn a_boot_may_skip_just_what_the_state_does_not_look_at() {
    for line in EVENTS.lines() {
        let kind = EventHead::parse(line).unwrap().kind().unwrap();
        assert_eq!(may_shape_state(&format!("[{line}]")), kind.shapes_state(), "{line}");
    }
    let quoted = r#"[{"task":"01K","type":"assistant_text","content":"{\"type\":\"task_created\"}"}]"#;
    assert!(!may_shape_state(quoted), "what stands in a string is not an event");
    let second = r#"[{"task":"01K","type":"thinking","thinking":""},{"task":"01K","type":"message"}]"#;
    assert!(may_shape_state(second));
}

#[test]
fn an_array_of_events_is_split_where_they_end() {
    let events: Vec<&str> = EVENTS.lines().collect();
    assert_eq!(split_events(&format!("[{}]", events.join(","))).unwrap(), events);
    assert_eq!(split_events("[]"), Some(vec![]));
    let tricky = [r#"{"a":"}\"{\\"}"#, r#"{"b":{"c":[{"d":"]"}]}}"#, "{}"];
    assert_eq!(split_events(&format!("[{}]", tricky.join(","))).unwrap(), tricky);
    for broken in
        ["", "{}", "[", "[{]", "[{},]", "[,{}]", "[{}{}]", r#"[{"a":"]"#, "[1]", r#"[{"a":"\]"#, "[{}}]"]
    {
        assert_eq!(split_events(broken), None, "{broken}");
    }
}

#[test]
fn names_and_types_are_one_to_one() {
    for kind in EventKind::ALL {
        assert_eq!(EventKind::from_name(kind.name()), Some(*kind));
    }
    assert_eq!(EventKind::from_name("task_exploded"), None);
}

#[test]
fn every_message_kind_reads_and_writes_the_same_bytes() {
    let mut seen = BTreeSet::new();
    for line in MESSAGES.lines() {
        let message: Message = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), line);
        assert_eq!(serde_json::to_string(&message.kind()).unwrap(), format!("{:?}", message.kind().name()));
        seen.insert(message.kind());
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), MessageKind::KNOWN);
}

#[test]
fn types_that_do_not_shape_the_state_leave_it_alone() {
    // One creation of each task the golden lines are about, so that an event which looks at the state can change it.
    let mut state = State::default();
    for n in 0..4 {
        let parent = if n == 0 { "" } else { r#""parentId":"01JZ0000000000000000000000","# };
        let line = format!(
            r#"{{"task":"01JZ000000000000000000000{n}","type":"task_created","kind":"task","title":"t","description":"",{parent}"position":0,"budgetUsd":50,"editedBy":"user"}}"#
        );
        state.apply(&Event::decode(&line).unwrap(), Millis(1));
    }
    for line in EVENTS.lines() {
        let kind = EventHead::parse(line).unwrap().kind().unwrap();
        if kind.durability() == Durability::Persisted {
            let mut after = state.clone();
            after.apply(&Event::decode(line).unwrap(), Millis(2));
            assert_eq!(after != state, kind.shapes_state(), "{line}");
        }
    }
}

#[test]
fn a_conversation_is_what_the_agent_reads_and_nothing_of_the_tree_or_the_money() {
    let names: Vec<&str> =
        EventKind::ALL.iter().filter(|kind| kind.is_conversation()).map(|kind| kind.name()).collect();
    assert_eq!(
        names,
        [
            "message",
            "messages_consumed",
            "notice_skipped",
            "assistant_text",
            "thinking",
            "model_item",
            "tool_call",
            "tool_result",
            "session_config",
            "compact_started",
            "summarization_request",
            "compact_marker",
            "compacted_resume",
            "cache_break",
            "fork_marker",
            "rewind_marker",
            "agent_interrupted",
            "clarification_requested",
            "clarification_answered",
            "clarification_expired",
            "budget_warning",
        ]
    );
}

#[test]
fn an_ephemeral_event_cannot_come_back_from_a_log() {
    let line = r#"{"task":"01JZ0000000000000000000001","type":"text_delta","content":"a"}"#;
    assert!(matches!(Event::decode(line), Err(DecodeError::Ephemeral { kind: EventKind::TextDelta })));
    let line = r#"{"task":"01JZ0000000000000000000001","type":"turn_started"}"#;
    assert!(matches!(Delta::decode(line), Err(DecodeError::NotADelta { .. })));
}

#[test]
fn what_is_no_event_says_so() {
    for bad in ["", "[]", "{}", r#"{"task":"01JZ0000000000000000000001"}"#, r#"{"task":"x","type":"error"}"#]
    {
        assert!(matches!(Event::decode(bad), Err(DecodeError::Head(_))), "{bad}");
    }
    let bad = r#"{"task":"01JZ0000000000000000000001","type":"task_moved","position":-1}"#;
    let error = Event::decode(bad).unwrap_err().to_string();
    assert!(error.starts_with("a `task_moved` event that this version cannot read"), "{error}");
    for torn in [
        r#"{"task":"01JZ0000000000000000000001","type":"turn_started""#,
        r#"{"task":"01JZ0000000000000000000001","type":"of_later","#,
    ] {
        assert!(Event::decode(torn).is_err(), "{torn}");
    }
}

#[test]
fn the_head_is_found_wherever_it_stands() {
    for text in [
        r#"{"task":"01JZ0000000000000000000001","type":"turn_started","x":[1]}"#,
        r#"{ "type" : "turn_started", "x": {}, "task" : "01jz0000000000000000000001" }"#,
        "{\"task\":\"01JZ0000000000000000000001\",\"type\":\"turn\\u005fstarted\"}",
    ] {
        let head = EventHead::parse(text).unwrap();
        assert_eq!(head.task.to_string(), "01JZ0000000000000000000001");
        assert_eq!(head.kind(), Some(EventKind::TurnStarted), "{text}");
        assert!(matches!(Event::decode(text).unwrap().body, EventBody::TurnStarted(_)));
    }
}

#[test]
fn a_commit_holds_at_least_one_event() {
    assert_eq!(Commit::new(Seq(1), Millis(1), Vec::new()), Err(EmptyCommit));
    assert_eq!(Seq(1).next(), Seq(2));
}

#[test]
fn a_minor_version_is_readable_and_a_major_one_is_not() {
    let Version { major, minor } = VOCABULARY;
    assert!(VOCABULARY.reads(Version { major, minor: minor + 1 }));
    assert!(!VOCABULARY.reads(Version { major: major + 1, minor: 0 }));
}
