//! From the log to the conversation a model is asked with: the same events give the same turns, live and after a restart.
//!
//! A turn is finished when its side has said all it says at once: the user's side when a model call begins, the
//! model's side when it ends. Finished turns never change, so a live session appends and sends nothing twice. The
//! exceptions are written in the log ([`Projection::generation`] tells of them): a summary, one that was given up, a rewind,
//! and another model.

use std::collections::BTreeMap;

use super::text::{self, ForkSide, fork_result};
use super::{
    Block, Image, Opaque, RedactedThinking, ResultPart, Role, Text, Thinking, ToolCall, ToolResult, Turn,
};
use crate::commit::Seq;
use crate::event::body::{self, BlobId, CacheBreakReason, ToolCallId};
use crate::event::{Event, EventBody};
use crate::id::MessageId;
use crate::message::Message;
use crate::time::Millis;

/// Where the bytes of pictures are looked up, in base64.
pub type Pictures<'a> = &'a dyn Fn(&BlobId) -> Option<String>;

/// What stands for an answer that held nothing, was broken off before its first word, or never came.
const NO_ANSWER: &str = "(no answer)";

/// What stands for the user's side when nothing was said and the model is asked again.
const GO_ON: &str = "Go on.";

/// A conversation, built event by event.
#[derive(Debug, Clone, Default)]
pub struct Projection {
    turns: Vec<Turn>,
    generation: u64,
    config: Option<body::SessionConfig>,
    /// What the user's side has said since the model spoke last.
    said: Vec<Block>,
    /// What the model is saying.
    saying: Vec<Block>,
    /// The calls of its last answer, and their results so far.
    calls: Vec<ToolCallId>,
    results: BTreeMap<ToolCallId, ToolResult>,
    /// Messages that nobody has read yet.
    waiting: BTreeMap<MessageId, (Millis, Message)>,
    /// How it was before a summary was begun.
    before_summary: Option<Box<Projection>>,
}

impl Projection {
    /// The finished turns.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The finished turns, and what the user's side has said since.
    pub fn so_far(&self) -> Vec<Turn> {
        let mut whole = self.clone();
        whole.finish_user();
        whole.turns
    }

    /// Changes when finished turns were taken back: then nothing that was made of them holds any more.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The frozen start of the requests.
    pub fn config(&self) -> Option<&body::SessionConfig> {
        self.config.as_ref()
    }

    /// Takes in the next event of the task.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most of the log is not said to the model")]
    pub fn push(&mut self, at: Millis, event: &Event, pictures: Pictures<'_>) {
        match &event.body {
            EventBody::SessionConfig(config) => self.config = Some(config.clone()),
            EventBody::Message(posted) => {
                self.waiting.insert(posted.id, (at, posted.body.clone()));
            }
            EventBody::MessagesConsumed(consumed) => {
                for id in &consumed.message_ids {
                    self.read(*id, pictures);
                }
            }
            EventBody::TurnStarted(_) => self.finish_user(),
            EventBody::AssistantText(said) => self.saying.push(Block::text(said.content.clone())),
            EventBody::Thinking(thought) => self.saying.push(thinking(thought)),
            EventBody::ModelItem(item) => {
                self.saying.push(Block::Opaque(Opaque { wire: item.wire.clone(), json: item.json.clone() }));
            }
            EventBody::ToolCall(call) => self.saying.push(Block::ToolCall(tool_call(call))),
            EventBody::TurnEnded(_) => self.finish_model(),
            EventBody::ToolResult(result) => {
                self.results.insert(result.tool_call_id.clone(), tool_result(result, pictures));
            }
            EventBody::BudgetWarning(warning) => self.say(&warning.warning),
            EventBody::CompactStarted(_) => {
                self.before_summary = None;
                self.before_summary = Some(Box::new(self.clone()));
            }
            EventBody::SummarizationRequest(request) => self.say(&request.instruction),
            EventBody::CompactMarker(_) => self.begin_anew(),
            EventBody::CompactedResume(resume) => self.say(&resume.content),
            EventBody::CacheBreak(broken) if broken.reason == CacheBreakReason::Compaction => {
                self.give_up_summary()
            }
            // The same words for another reader, who has to be told all of them.
            EventBody::CacheBreak(broken) if broken.reason == CacheBreakReason::ModelChanged => {
                self.generation += 1;
            }
            EventBody::ForkMarker(fork) => self.inherit(event, fork),
            _ => {}
        }
    }

    fn say(&mut self, words: &str) {
        if !words.trim().is_empty() {
            self.said.push(Block::text(words));
        }
    }

    fn read(&mut self, id: MessageId, pictures: Pictures<'_>) {
        let Some((at, message)) = self.waiting.remove(&id) else {
            return;
        };
        match &message {
            // These are wishes about the conversation, and no part of it.
            Message::Compact(_) | Message::Interrupt(_) => {}
            Message::User(_)
            | Message::TreeChange(_)
            | Message::TaskComplete(_)
            | Message::TaskMessage(_)
            | Message::ClarifyResponse(_)
            | Message::UserMessageForwarded(_)
            | Message::CrossProject(_)
            | Message::BackgroundComplete(_)
            | Message::WorkContext(_)
            | Message::Notice(_)
            | Message::Unknown(_) => self.say(&text::message(at, &message)),
        }
        if let Message::User(user) = &message {
            let images = user.images.iter().filter_map(|image| picture(image, pictures));
            self.said.extend(images.map(Block::Image));
        }
    }

    /// The model is asked: results in the order of the calls, then everything else in the order in which it came.
    fn finish_user(&mut self) {
        let mut blocks = Vec::new();
        for call in std::mem::take(&mut self.calls) {
            let result = self.results.remove(&call).unwrap_or_else(|| lost(&call));
            blocks.push(Block::ToolResult(result));
        }
        self.results.clear();
        blocks.append(&mut self.said);
        let last = self.turns.last().map(|turn| turn.role);
        match (blocks.is_empty(), last) {
            // The model was asked and said nothing that can be sent back: both sides speak in turn all the same.
            (false, Some(Role::User)) => self.turns.push(Turn::assistant(vec![Block::text(NO_ANSWER)])),
            // It is asked to go on from its own words.
            (true, Some(Role::Assistant)) => blocks.push(Block::text(GO_ON)),
            (_, _) => {}
        }
        if !blocks.is_empty() {
            self.turns.push(Turn::user(blocks));
        }
    }

    /// The model has spoken. What holds neither words nor calls cannot be sent back.
    fn finish_model(&mut self) {
        let blocks = std::mem::take(&mut self.saying);
        let says = |block: &Block| match block {
            Block::Text(text) => !text.text.trim().is_empty(),
            Block::ToolCall(_) => true,
            Block::Thinking(_)
            | Block::RedactedThinking(_)
            | Block::ToolResult(_)
            | Block::Image(_)
            | Block::Opaque(_) => false,
        };
        if !blocks.iter().any(says) {
            return;
        }
        let calls = blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(ToolCallId(call.id.clone())),
            Block::Text(_)
            | Block::Thinking(_)
            | Block::RedactedThinking(_)
            | Block::ToolResult(_)
            | Block::Image(_)
            | Block::Opaque(_) => None,
        });
        self.calls = calls.collect();
        self.turns.push(Turn::assistant(blocks));
    }

    /// The conversation goes on from its summary. What nobody has read yet is still to be read.
    fn begin_anew(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let (generation, config) = (self.generation + 1, self.config.take());
        *self = Self { generation, config, waiting, ..Self::default() };
    }

    /// A summary was asked for and not made: the conversation goes on as if it had not been asked for.
    fn give_up_summary(&mut self) {
        if let Some(before) = self.before_summary.take() {
            let (generation, waiting) = (self.generation + 1, std::mem::take(&mut self.waiting));
            *self = Self { generation, waiting, ..*before };
        }
    }

    /// What came so far is another task's conversation. Its open calls get results that say so.
    fn inherit(&mut self, event: &Event, fork: &body::ForkMarker) {
        self.finish_model();
        let (title, description) = (fork.target_title.as_deref(), fork.target_description.as_deref());
        let heir = fork_result(&ForkSide::Heir {
            task: event.task,
            title: title.unwrap_or_default(),
            description: description.unwrap_or_default(),
        });
        let open: Vec<ToolCallId> =
            self.calls.iter().filter(|call| !self.results.contains_key(*call)).cloned().collect();
        for call in open {
            let content = vec![words(&fork_result(&ForkSide::HeirOfOpenCall))];
            self.results.insert(call.clone(), ToolResult { call_id: call.0, is_error: false, content });
        }
        self.waiting.clear();
        self.before_summary = None;
        self.say(&heir);
    }
}

/// The events of a conversation that count: what was taken back by a rewind is left out, except messages that wait.
pub fn effective(events: Vec<(Seq, Millis, Event)>) -> Vec<(Seq, Millis, Event)> {
    let mut kept: Vec<(Seq, Millis, Event)> = Vec::with_capacity(events.len());
    for (seq, at, event) in events {
        if let EventBody::RewindMarker(rewind) = &event.body {
            let mut taken_back: Vec<MessageId> = Vec::new();
            for (seq, _, event) in &kept {
                if let (true, EventBody::MessagesConsumed(consumed)) = (*seq > rewind.to_seq, &event.body) {
                    taken_back.extend(&consumed.message_ids);
                }
            }
            kept.retain(|(seq, _, event)| {
                let waits =
                    matches!(&event.body, EventBody::Message(posted) if !taken_back.contains(&posted.id));
                *seq <= rewind.to_seq || waits
            });
        } else {
            kept.push((seq, at, event));
        }
    }
    kept
}

fn thinking(thought: &body::Thinking) -> Block {
    if thought.redacted {
        return Block::RedactedThinking(RedactedThinking { data: thought.thinking.clone() });
    }
    Block::Thinking(Thinking { text: thought.thinking.clone(), signature: thought.signature.clone() })
}

fn tool_call(call: &body::ToolCall) -> ToolCall {
    ToolCall {
        id: call.tool_call_id.0.clone(),
        name: call.tool.clone(),
        input: call.input.clone(),
        malformed: call.malformed.clone(),
    }
}

fn tool_result(result: &body::ToolResult, pictures: Pictures<'_>) -> ToolResult {
    let mut content = Vec::new();
    // Providers refuse blank texts, and a result has to say something.
    let said = if result.content.trim().is_empty() { "(no output)" } else { &result.content };
    content.push(words(said));
    let images = result.images.iter().filter_map(|image| picture(image, pictures));
    content.extend(images.map(ResultPart::Image));
    ToolResult { call_id: result.tool_call_id.0.clone(), is_error: result.is_error, content }
}

/// A call whose result was lost with a line of the log.
fn lost(call: &ToolCallId) -> ToolResult {
    let content = vec![words("The result of this call was lost.")];
    ToolResult { call_id: call.0.clone(), is_error: true, content }
}

fn words(text: &str) -> ResultPart {
    ResultPart::Text(Text { text: text.to_owned() })
}

fn picture(image: &body::Image, pictures: Pictures<'_>) -> Option<Image> {
    let data = pictures(&image.blob)?;
    Some(Image { media_type: image.media_type.clone(), data })
}
