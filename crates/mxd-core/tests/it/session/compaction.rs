//! Conversations that grow too long are summarised and go on.

use mxd_core::decide::{Actor, Effect, Failure, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{RestReason, StopReason, Terms, TurnPurpose, Usage};
use mxd_core::id::TaskId;
use mxd_core::message::{Compact, Message};

use super::script::{answer, failure, run, summary, text, tool, yields};
use super::stage::{Outcome, Stage};
use crate::world::message_id;

/// The user wants a summary.
fn wish(stage: &mut Stage, task: TaskId, n: u64) -> Outcome {
    stage.user(Op::Report { id: message_id(n), to: task, message: Message::from(Compact {}) })
}

/// The model answers and says that its window is that full.
fn fills(stage: &mut Stage, task: TaskId, tokens: u64) -> Outcome {
    let (turn, _) = stage.asked(task);
    let mut answer = answer(turn, vec![run("a")], StopReason::ToolUse);
    answer.usage = Usage { cache_read_tokens: tokens, ..Usage::default() };
    stage.session(task, SessionOp::Answered(answer))
}

fn purpose(stage: &Stage, task: TaskId) -> Option<TurnPurpose> {
    stage.state.session(task).asking().map(|asking| asking.purpose)
}

/// A root whose window is nearly full, in the middle of its work, with a summary asked for.
fn full(stage: &mut Stage) -> TaskId {
    let root = stage.root();
    stage.begin(root);
    fills(stage, root, 166_001);
    stage.returns(root, "a", "fine");
    assert_eq!(purpose(stage, root), Some(TurnPurpose::Summary));
    root
}

#[test]
fn a_window_is_summarised_when_it_is_nearly_full_and_not_before() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    // 17 parts in a hundred stay free; the result is a token of its own.
    fills(&mut stage, root, 165_998);
    stage.returns(root, "a", "fine");
    assert_eq!(purpose(&stage, root), Some(TurnPurpose::Work));
    full(&mut Stage::new());
}

#[test]
fn the_conversation_goes_on_from_its_summary() {
    let mut stage = Stage::new();
    let root = full(&mut stage);
    let outcome = stage.summarises(root, "what was");
    let names = outcome.names();
    for name in ["compact_marker", "cache_break", "session_config", "compacted_resume"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let json = outcome.events.iter().map(|event| event.to_json().unwrap()).collect::<String>();
    assert!(json.contains(r#""checkpoint":"what was""#), "{json}");
    assert!(json.contains(r#""content":"rules\n\nwhat was\n\nmemory""#), "{json}");
    assert_eq!(purpose(&stage, root), Some(TurnPurpose::Work), "it was in the middle of its work");
    assert!(stage.state.session(root).context().estimate() < 1_000);
}

#[test]
fn who_rested_rests_afterwards() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![yields("y")]);
    wish(&mut stage, root, 1);
    assert_eq!(stage.open(root), [] as [&str; 0], "the yield is answered first");
    stage.summarises(root, "what was");
    assert_eq!((stage.is_asking(root), stage.rest(root)), (false, Some(&RestReason::EndTurn)));
}

#[test]
fn messages_that_come_during_a_summary_are_read_after_it() {
    for resting in [true, false] {
        let mut stage = Stage::new();
        let root = stage.root();
        stage.begin(root);
        if resting {
            stage.ends_turn(root);
            wish(&mut stage, root, 1);
        } else {
            wish(&mut stage, root, 1);
            stage.calls(root, vec![run("a")]);
            stage.returns(root, "a", "fine");
        }
        stage.say(root, "by the way");
        assert_eq!(stage.state.inbox(root).len(), 1);
        stage.summarises(root, "what was");
        assert_eq!(purpose(&stage, root), Some(TurnPurpose::Work));
        assert!(stage.state.inbox(root).is_empty());
    }
}

#[test]
fn a_wish_for_a_summary_of_a_summary_asks_nobody() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.ends_turn(root);
    wish(&mut stage, root, 1);
    stage.summarises(root, "what was");
    let outcome = wish(&mut stage, root, 2);
    assert_eq!(outcome.effects, []);
    assert!(stage.state.inbox(root).is_empty(), "and it does not wait for ever");
}

#[test]
fn a_crash_in_the_middle_asks_for_the_summary_again() {
    let mut stage = Stage::new();
    let root = full(&mut stage);
    stage.crash();
    stage.summarises(root, "what was");
    assert_eq!(purpose(&stage, root), Some(TurnPurpose::Work));
}

#[test]
fn a_summary_that_fails_is_asked_for_again_and_then_the_work_goes_on() {
    let mut stage = Stage::new();
    let root = full(&mut stage);
    let (turn, _) = stage.asked(root);
    stage.session(root, SessionOp::Answered(summary(turn, " ", None)));
    assert_eq!(stage.rest(root), Some(&RestReason::Failed), "an empty summary is none");
    stage.session(root, SessionOp::Retry { turn });
    stage.summarises(root, "what was");
    assert_eq!(purpose(&stage, root), Some(TurnPurpose::Work));
}

#[test]
fn a_summary_that_somebody_at_rest_wanted_and_that_fails_makes_nobody_work() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.ends_turn(root);
    wish(&mut stage, root, 1);
    stage.fails(root);
    stage.session(root, SessionOp::Retry { turn: 2 });
    stage.summarises(root, "what was");
    assert_eq!(stage.rest(root), Some(&RestReason::EndTurn));
    assert!(!stage.is_asking(root));
}

#[test]
fn a_request_that_is_too_long_is_made_again_from_a_summary() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.ends_turn(root);
    stage.say(root, "a very long text");
    let (turn, _) = stage.asked(root);
    let mut failure = failure(turn);
    (failure.too_long, failure.passing) = (true, false);
    stage.session(root, SessionOp::Failed(failure));
    stage.summarises(root, "what was");
    assert_eq!(purpose(&stage, root), Some(TurnPurpose::Work), "the message has no answer yet");
}

#[test]
fn an_interrupted_summary_is_not_part_of_the_conversation() {
    let mut stage = Stage::new();
    let root = full(&mut stage);
    stage.steer(root, SessionOp::Interrupt);
    let outcome = stage.answer(root, vec![text("what")], StopReason::Cancelled);
    assert!(!outcome.has("assistant_text") && !outcome.has("compact_marker"), "{:?}", outcome.names());
    assert_eq!(stage.rest(root), Some(&RestReason::Interrupted));
    stage.say(root, "go on");
    assert_eq!(purpose(&stage, root), Some(TurnPurpose::Summary), "it is as full as before");
}

/// A root at a model that counts, with so many tokens known and so many bytes since then.
fn nearly(stage: &mut Stage, tokens: u64, bytes: usize) -> (TaskId, Outcome) {
    stage.terms = stage.terms.map(|terms| Terms { counts_tokens: true, ..terms });
    let root = stage.root();
    stage.begin(root);
    fills(stage, root, tokens);
    let outcome = stage.returns(root, "a", &"x".repeat(bytes));
    (root, outcome)
}

#[test]
fn close_to_the_limit_the_provider_counts_and_its_count_decides() {
    for (tokens, expected) in [(166_000, TurnPurpose::Work), (166_001, TurnPurpose::Summary)] {
        let mut stage = Stage::new();
        let (root, outcome) = nearly(&mut stage, 150_000, 40_000);
        assert_eq!(outcome.effects, [Effect::CountTokens { task: root }], "10,000 tokens more, by estimate");
        assert!(!stage.is_asking(root) && stage.state.session(root).is_busy());
        let outcome = stage.session(root, SessionOp::Counted { tokens });
        assert!(outcome.has("context_counted"));
        assert_eq!(purpose(&stage, root), Some(expected), "{tokens}");
        assert_eq!(stage.refused(root, SessionOp::Counted { tokens }), "late");
    }
}

#[test]
fn nobody_counts_what_is_certain() {
    let certain = [
        (100_000, 40_000, TurnPurpose::Work),
        (150_000, 0, TurnPurpose::Work),
        (166_001, 40_000, TurnPurpose::Summary),
        (150_000, 400_000, TurnPurpose::Summary),
    ];
    for (tokens, bytes, expected) in certain {
        let mut stage = Stage::new();
        let (root, outcome) = nearly(&mut stage, tokens, bytes);
        assert!(!outcome.has("count_requested"), "{tokens} and {bytes}");
        assert_eq!(purpose(&stage, root), Some(expected), "{tokens} and {bytes}");
    }
}

#[test]
fn a_count_that_fails_is_told_and_the_estimate_decides() {
    for (bytes, expected) in [(40_000, TurnPurpose::Work), (80_000, TurnPurpose::Summary)] {
        let mut stage = Stage::new();
        let (root, _) = nearly(&mut stage, 150_000, bytes);
        let outcome = stage.session(root, SessionOp::NotCounted { message: "no such endpoint".into() });
        let told = outcome.of(root).any(|body| match body {
            EventBody::Error(error) => error.message.ends_with("no such endpoint"),
            _ => false,
        });
        assert!(told, "{outcome:?}");
        assert_eq!(purpose(&stage, root), Some(expected), "{bytes}");
    }
}

#[test]
fn what_is_unread_counts_as_if_it_were_read() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    fills(&mut stage, root, 100_000);
    stage.say(root, &"x".repeat(250_000));
    stage.say(root, &"x".repeat(250_000));
    stage.returns(root, "a", "fine");
    assert_eq!(purpose(&stage, root), Some(TurnPurpose::Summary));
}

#[test]
fn a_count_is_asked_for_again_after_a_start_and_not_awaited_by_who_was_broken_off() {
    let mut stage = Stage::new();
    let (root, _) = nearly(&mut stage, 150_000, 40_000);
    assert_eq!(stage.crash().effects, [Effect::CountTokens { task: root }]);
    stage.steer(root, SessionOp::Interrupt);
    assert_eq!(stage.rest(root), Some(&RestReason::Interrupted));
    assert_eq!(stage.refused(root, SessionOp::Counted { tokens: 1 }), "late");
    stage.say(root, "go on");
    stage.steer(root, SessionOp::Stop { reason: None });
    assert_eq!(stage.refused(root, SessionOp::Counted { tokens: 1 }), "late");
    assert_eq!(stage.crash().effects, []);
    let by_agent = Op::Session { task: root, op: SessionOp::Counted { tokens: 1 } };
    assert_eq!(stage.refuse(Actor::Agent(root), by_agent).code(), "user_only");
}

#[test]
fn a_summary_that_failed_is_not_part_of_the_conversation() {
    let mut stage = Stage::new();
    let root = full(&mut stage);
    let outcome = stage.fails(root);
    assert!(outcome.has("cache_break"), "what asked for it is taken back: {:?}", outcome.names());
}

/// Answers that say the window is exceeded, with a summary after each, until the agent rests; how many requests were made.
fn overflow(stage: &mut Stage, task: TaskId) -> u32 {
    let mut requests = 0;
    while stage.is_asking(task) {
        requests += 1;
        assert!(requests < 50, "it goes on for ever");
        match purpose(stage, task) {
            Some(TurnPurpose::Summary) => stage.summarises(task, "what was"),
            Some(TurnPurpose::Work) | None => {
                stage.answer(task, vec![text("I was")], StopReason::Other(EXCEEDED.to_owned()))
            }
        };
    }
    requests
}

const EXCEEDED: &str = "model_context_window_exceeded";

#[test]
fn a_window_that_stays_exceeded_after_summaries_stops_the_agent_and_that_is_told() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let most = stage.limits.summaries_in_vain;
    assert_eq!(overflow(&mut stage, task), 2 * most + 1, "so many summaries, and the answers around them");
    assert_eq!(stage.rest(task), Some(&RestReason::Failed));
    let root = stage.root();
    let told = stage.commits.iter().flat_map(|commit| commit.events()).any(|event| match &event.body {
        EventBody::Message(posted) if event.task == root => format!("{posted:?}").contains("window"),
        _ => false,
    });
    assert!(told, "the task above is told");
    stage.say(task, "try again");
    assert_eq!(overflow(&mut stage, task), 1, "it is tried once more, without another summary");
}

#[test]
fn a_turn_that_gets_somewhere_allows_summaries_again() {
    let mut stage = Stage::new();
    let task = stage.worker();
    for n in 0..4 * stage.limits.summaries_in_vain {
        stage.answer(task, Vec::new(), StopReason::Other(EXCEEDED.to_owned()));
        stage.summarises(task, "what was");
        let call = format!("c{n}");
        stage.calls(task, vec![tool(&call, "bash", &format!(r#"{{"command":"step {n}"}}"#))]);
        stage.returns(task, &call, "fine");
        assert!(stage.is_asking(task), "round {n}");
    }
}

#[test]
fn a_conversation_that_is_too_long_right_after_its_summary_is_told_above() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let (turn, _) = stage.asked(task);
    let outcome =
        stage.session(task, SessionOp::Failed(Failure { too_long: true, passing: false, ..failure(turn) }));
    assert_eq!(stage.rest(task), Some(&RestReason::Failed));
    assert_eq!(outcome.of(stage.root()).count(), 1, "nothing can be summarised, so somebody has to help");
}
