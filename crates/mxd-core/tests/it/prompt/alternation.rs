//! Both sides of a conversation speak in turn, whatever models answer: some providers refuse anything else.

use mxd_core::event::body::{
    AssistantText, MessagePosted, MessagesConsumed, StopReason, TurnEnded, TurnPurpose, TurnStarted, Usage,
};
use mxd_core::event::{Event, EventBody};
use mxd_core::id::{MessageId, TaskId, Ulid};
use mxd_core::message::UserMessage;
use mxd_core::money::Usd;
use mxd_core::prompt::{Projection, Role};
use mxd_core::time::Millis;
use proptest::prelude::*;

/// What happens in a conversation.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The user writes, and the model is asked.
    Asked,
    /// The model is asked without a new word: its call failed, or its turn was paused.
    AskedAgain,
    /// It answers with words.
    Answers(&'static str),
    /// Its call ends without a word.
    SaysNothing(&'static str),
}

#[derive(Default)]
struct Conversation {
    projection: Projection,
    messages: u128,
    turns: u64,
}

impl Conversation {
    fn push(&mut self, body: impl Into<EventBody>) {
        let event = Event::new(TaskId::from(Ulid(1)), body);
        self.projection.push(Millis(1), &event, &|_| None);
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Asked => {
                self.messages += 1;
                let id = MessageId::from(Ulid(self.messages));
                let body = UserMessage { content: "words".into(), images: vec![], header: None }.into();
                self.push(MessagePosted { id, body, wake: true });
                self.push(MessagesConsumed { message_ids: vec![id] });
                self.ask();
            }
            Step::AskedAgain => self.ask(),
            Step::Answers(stop) => {
                self.push(AssistantText { content: "an answer".into() });
                self.end(stop);
            }
            Step::SaysNothing(stop) => self.end(stop),
        }
    }

    fn ask(&mut self) {
        self.turns += 1;
        self.push(TurnStarted { turn: self.turns, purpose: TurnPurpose::Work });
    }

    fn end(&mut self, stop: &str) {
        self.push(TurnEnded {
            stop_reason: StopReason::Other(stop.to_owned()),
            model: None,
            usage: Usage::default(),
            cost_usd: Usd::ZERO,
            cost_unknown: false,
            answer_bytes: 0,
            calls: Vec::new(),
        });
    }

    /// The roles of a request that is made now.
    fn roles(&self) -> Vec<Role> {
        self.projection.turns().iter().map(|turn| turn.role).collect()
    }
}

fn step() -> impl Strategy<Value = (Step, Step)> {
    let asked = prop_oneof![Just(Step::Asked), Just(Step::AskedAgain)];
    let answer = prop_oneof![
        Just(Step::Answers("end_turn")),
        Just(Step::Answers("pause_turn")),
        Just(Step::SaysNothing("end_turn")),
        Just(Step::SaysNothing("failing")),
    ];
    (asked, answer)
}

proptest! {
    #[test]
    fn turns_alternate_and_end_with_the_user(steps in prop::collection::vec(step(), 1..30)) {
        let mut conversation = Conversation::default();
        conversation.take(Step::Asked);
        conversation.take(Step::Answers("end_turn"));
        for (asked, answer) in steps {
            conversation.take(asked);
            let roles = conversation.roles();
            prop_assert_eq!(roles.first(), Some(&Role::User));
            prop_assert_eq!(roles.last(), Some(&Role::User));
            prop_assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{:?}", roles);
            conversation.take(answer);
        }
    }

    #[test]
    fn what_was_sent_is_never_changed(steps in prop::collection::vec(step(), 1..30)) {
        let mut conversation = Conversation::default();
        conversation.take(Step::Asked);
        let mut sent = conversation.projection.turns().to_vec();
        for (asked, answer) in steps {
            conversation.take(answer);
            conversation.take(asked);
            let turns = conversation.projection.turns();
            prop_assert_eq!(&turns[..sent.len()], &sent[..]);
            sent = turns.to_vec();
        }
    }
}
