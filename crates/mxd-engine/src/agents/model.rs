//! Asking the model.

use std::sync::PoisonError;

use futures_util::StreamExt;
use mxd_core::decide::{Answer, AnswerItem, Cost, Failure, SessionOp};
use mxd_core::event::body::{StopReason, Thinking, ToolCall, ToolCallId, TurnPurpose};
use mxd_core::event::delta::{TextDelta, ThinkingDelta};
use mxd_core::event::{Delta, DeltaBody};
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::prompt::Block;
use mxd_llm::{Chunk, Class, LlmError, Model, Provider, Usage, cost};
use tokio_util::sync::CancellationToken;

use super::Agents;
use super::talk::{Talk, TalkError};
use crate::config::{AgentModel, Role};

/// What came of an answer so far.
#[derive(Debug, Default)]
struct Heard {
    items: Vec<AnswerItem>,
    /// Text that has come and is not finished: kept when the call is broken off, because the user has read it.
    begun: String,
    usage: Usage,
}

/// What a call costs that was never made.
const NOTHING: Cost = Cost::Known(Usd::ZERO);

impl Heard {
    /// What it cost. A provider that counts nothing has not said so.
    fn price(&self, model: &Model) -> Cost {
        if self.usage == Usage::default() {
            return Cost::Unknown;
        }
        cost(model, &self.usage).map_or(Cost::Unknown, Cost::Known)
    }

    /// The same for a call that failed: one that failed before anything was heard was not answered, and is not billed.
    fn price_of_failure(&self, model: &Model) -> Cost {
        let silent = self.items.is_empty() && self.begun.is_empty() && self.usage == Usage::default();
        if silent { NOTHING } else { self.price(model) }
    }
}

impl Agents {
    pub(super) async fn call_model(
        self,
        (task, turn, purpose): (TaskId, u64, TurnPurpose),
        stop: CancellationToken,
    ) {
        let op = match self.ask(task, (turn, purpose), &stop).await {
            Ok(answer) => SessionOp::Answered(answer),
            Err(failure) => SessionOp::Failed(failure),
        };
        self.report(task, op).await;
    }

    async fn ask(
        &self,
        task: TaskId,
        (turn, purpose): (u64, TurnPurpose),
        stop: &CancellationToken,
    ) -> Result<Answer, Failure> {
        let model = self.model_of(task).map_err(|error| failure(turn, &error, Heard::default(), NOTHING))?;
        let provider =
            self.provider(&model).map_err(|error| failure(turn, &error, Heard::default(), NOTHING))?;
        let desk = self.desk(task);
        let request = {
            let mut talk = desk.talk.lock().await;
            Talk::catch_up(&mut talk, &self.parts().log, &desk)
                .and_then(|()| talk.as_mut().ok_or(TalkError::NoConfig)?.request(model.wire))
                .map_err(|error| failure(turn, &invalid(&error), Heard::default(), NOTHING))?
        };
        let mut stream = provider.stream(request, stop.clone());
        let mut heard = Heard::default();
        let stop_reason = loop {
            match stream.next().await {
                Some(Ok(Chunk::End { stop })) => break StopReason::from(stop),
                Some(Ok(chunk)) => self.hear(task, (purpose, chunk), &mut heard),
                Some(Err(error)) if error.class == Class::Cancelled => {
                    if !heard.begun.trim().is_empty() {
                        heard.items.push(AnswerItem::Text(std::mem::take(&mut heard.begun)));
                    }
                    break StopReason::Cancelled;
                }
                Some(Err(error)) => {
                    let price = heard.price_of_failure(&model.model);
                    return Err(failure(turn, &error, heard, price));
                }
                None => {
                    let error = LlmError::new(Class::Protocol, "the answer ended before it was complete");
                    let price = heard.price_of_failure(&model.model);
                    return Err(failure(turn, &error, heard, price));
                }
            }
        };
        let price = heard.price(&model.model);
        let Heard { items, usage, .. } = heard;
        let refreshed = match purpose {
            TurnPurpose::Work => None,
            TurnPurpose::Summary => self.refresh(task, &desk, &items).await.map(Box::new),
        };
        Ok(Answer { turn, items, stop: stop_reason, usage: usage.into(), cost: price, refreshed })
    }

    fn hear(&self, task: TaskId, (purpose, chunk): (TurnPurpose, Chunk), heard: &mut Heard) {
        match chunk {
            Chunk::TextDelta(content) => {
                heard.begun.push_str(&content);
                if purpose == TurnPurpose::Work {
                    self.show(task, TextDelta { content }.into());
                }
            }
            Chunk::ThinkingDelta(content) => {
                if purpose == TurnPurpose::Work {
                    self.show(task, ThinkingDelta { content }.into());
                }
            }
            Chunk::Item(block) => {
                heard.begun.clear();
                heard.items.extend(item(block));
            }
            Chunk::Usage(usage) => heard.usage = usage,
            // Another attempt begins: what came of this one is void, and so is what the eye has seen of it.
            Chunk::Retrying(_) => *heard = Heard::default(),
            Chunk::End { .. } => {}
        }
    }

    pub(super) fn show(&self, task: TaskId, body: DeltaBody) {
        // Nobody may be watching.
        let _unseen = self.parts().deltas.send(Delta { task, body });
    }

    pub(super) fn model_of(&self, task: TaskId) -> Result<AgentModel, LlmError> {
        let root = self.parts().shown.look(|state| state.tree().root().is_some_and(|root| root.id == task));
        let role = if root { Role::Root } else { Role::Child };
        let model = self.surroundings().config.agent_model(role);
        model.map_err(|error| LlmError::new(Class::Config, format!("{error}. {}", error.hint())))
    }

    /// The connection to a model's provider, shared by all agents that use it.
    pub(super) fn provider(&self, model: &AgentModel) -> Result<Provider, LlmError> {
        let mut providers = self.inner.providers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(provider) = providers.get(&model.group) {
            return Ok(provider.clone());
        }
        let keyring = &self.surroundings().keyring;
        let config = model
            .provider(&|name| keyring.get(name))
            .map_err(|error| LlmError::new(Class::Config, format!("{error}. {}", error.hint())))?;
        let provider = Provider::new(config)?;
        providers.insert(model.group.clone(), provider.clone());
        Ok(provider)
    }

    pub(super) async fn count_tokens(self, task: TaskId) {
        let op = match self.try_count(task).await {
            Ok(tokens) => SessionOp::Counted { tokens },
            Err(error) => SessionOp::NotCounted { message: error.message },
        };
        self.report(task, op).await;
    }

    async fn try_count(&self, task: TaskId) -> Result<u64, LlmError> {
        let model = self.model_of(task)?;
        let provider = self.provider(&model)?;
        let desk = self.desk(task);
        let request = {
            let mut talk = desk.talk.lock().await;
            Talk::catch_up(&mut talk, &self.parts().log, &desk)
                .and_then(|()| talk.as_ref().ok_or(TalkError::NoConfig)?.so_far())
                .map_err(|error| invalid(&error))?
        };
        provider.count_tokens(&request, &CancellationToken::new()).await
    }
}

fn item(block: Block) -> Option<AnswerItem> {
    match block {
        Block::Text(text) => Some(AnswerItem::Text(text.text)),
        Block::Thinking(thought) => {
            let (thinking, signature) = (thought.text, thought.signature);
            Some(AnswerItem::Thinking(Thinking { thinking, signature, provider: None, redacted: false }))
        }
        Block::RedactedThinking(sealed) => Some(AnswerItem::Thinking(Thinking {
            thinking: sealed.data,
            signature: None,
            provider: None,
            redacted: true,
        })),
        Block::ToolCall(call) => Some(AnswerItem::Call(ToolCall {
            tool: call.name,
            tool_call_id: ToolCallId(call.id),
            input: call.input,
            malformed: call.malformed,
        })),
        Block::Opaque(opaque) => Some(AnswerItem::Other { wire: opaque.wire, json: opaque.json }),
        // Models neither answer calls nor send pictures.
        Block::ToolResult(_) | Block::Image(_) => None,
    }
}

fn invalid(error: &TalkError) -> LlmError {
    match error {
        TalkError::Encode(error) => error.clone(),
        other => LlmError::new(Class::Invalid, other.to_string()),
    }
}

fn failure(turn: u64, error: &LlmError, heard: Heard, cost: Cost) -> Failure {
    Failure {
        turn,
        message: error.message.clone(),
        class: format!("{:?}", error.class).to_lowercase(),
        advice: Some(error.hint().to_owned()),
        passing: error.class.rule().retry,
        too_long: error.class == Class::ContextTooLong,
        usage: heard.usage.into(),
        cost,
    }
}
