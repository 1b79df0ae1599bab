//! Asking the model.

use std::sync::PoisonError;

use futures_util::StreamExt;
use mxd_core::decide::{Answer, AnswerItem, Cost, Failure, SessionOp};
use mxd_core::event::body::{SessionConfig, StopReason, Thinking, ToolCall, ToolCallId, TurnPurpose};
use mxd_core::event::delta::{TextDelta, ThinkingDelta};
use mxd_core::event::{Delta, DeltaBody};
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::prompt::Block;
use mxd_llm::{Chunk, ChunkStream, Class, LlmError, Model, Provider, Usage, cost};
use tokio_util::sync::CancellationToken;

use super::Agents;
use super::launch::terms;
use super::talk::{Talk, TalkError};
use crate::config::{AgentModel, Role};

/// What came of an answer so far.
#[derive(Debug, Default)]
pub(super) struct Heard {
    items: Vec<AnswerItem>,
    /// Text that has come and is not finished: kept when the call is broken off, because the user has read it.
    begun: String,
    usage: Usage,
    /// Which model says it, as its server calls it.
    model: Option<String>,
}

/// What a call costs that was never made.
const NOTHING: Cost = Cost::Known(Usd::ZERO);

impl Heard {
    fn take(&mut self, chunk: Chunk) {
        match chunk {
            Chunk::TextDelta(content) => self.begun.push_str(&content),
            Chunk::Item(block) => {
                self.begun.clear();
                self.items.extend(item(block));
            }
            Chunk::Usage(usage) => self.usage = usage,
            // Another attempt begins: what came of this one is void, and so is what the eye has seen of it.
            Chunk::Retrying(_) => *self = Self::default(),
            Chunk::ThinkingDelta(_) | Chunk::End { .. } => {}
        }
    }

    /// What it used.
    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// The words of it, without thoughts.
    pub(super) fn words(&self) -> String {
        let words = self.items.iter().filter_map(|item| match item {
            AnswerItem::Text(text) => Some(text.as_str()),
            AnswerItem::Thinking(_) | AnswerItem::Other { .. } | AnswerItem::Call(_) => None,
        });
        words.collect()
    }

    /// What it cost. A provider that counts nothing has not said so.
    pub(super) fn price(&self, model: &Model) -> Cost {
        if self.usage == Usage::default() {
            return Cost::Unknown;
        }
        cost(model, &self.usage).map_or(Cost::Unknown, Cost::Known)
    }

    /// The same for a call that failed: one that failed before anything was heard was not answered, and is not billed.
    pub(super) fn price_of_failure(&self, model: &Model) -> Cost {
        let silent = self.items.is_empty() && self.begun.is_empty() && self.usage == Usage::default();
        if silent { NOTHING } else { self.price(model) }
    }
}

/// Hears a model out, or until it is broken off: then what it has said so far counts.
pub(super) async fn hear_out(
    mut stream: ChunkStream,
    mut watch: impl FnMut(&Chunk),
) -> (Heard, Result<StopReason, LlmError>) {
    let mut heard = Heard::default();
    let ended = loop {
        match stream.next().await {
            Some(Ok(Chunk::End { stop, model })) => {
                heard.model = model;
                break Ok(StopReason::from(stop));
            }
            Some(Ok(chunk)) => {
                watch(&chunk);
                heard.take(chunk);
            }
            Some(Err(error)) if error.class == Class::Cancelled => {
                if !heard.begun.trim().is_empty() {
                    heard.items.push(AnswerItem::Text(std::mem::take(&mut heard.begun)));
                }
                break Ok(StopReason::Cancelled);
            }
            Some(Err(error)) => break Err(error),
            None => {
                break Err(LlmError::new(Class::Protocol, "the answer ended before it was complete"));
            }
        }
    };
    (heard, ended)
}

impl Agents {
    pub(super) async fn call_model(
        self,
        (task, turn, purpose): (TaskId, u64, TurnPurpose),
        stop: CancellationToken,
    ) {
        let unsent = |error: LlmError| failure(turn, &error, Heard::default(), NOTHING);
        let op = match self.address(task).await {
            Err(error) => SessionOp::Failed(unsent(error)),
            Ok(Addressed::Refitted(config)) => SessionOp::Refitted { turn, config },
            Ok(Addressed::To(model)) => match self.ask(task, (turn, purpose, &model), &stop).await {
                Ok(answer) => SessionOp::Answered(answer),
                Err(failure) => SessionOp::Failed(failure),
            },
        };
        self.report(task, op).await;
    }

    /// Whom the conversation of a task is to be sent to: the model it is held with, as long as that is one of the settings.
    async fn address(&self, task: TaskId) -> Result<Addressed, LlmError> {
        let desk = self.desk(task);
        let held = {
            let mut talk = desk.talk.lock().await;
            Talk::catch_up(&mut talk, &self.parts().log, &desk)
                .and_then(|()| talk.as_ref().ok_or(TalkError::NoConfig)?.config().cloned())
                .map_err(|error| invalid(&error))?
        };
        if let Some(model) = self.held_with(task, &held) {
            return Ok(Addressed::To(model));
        }
        let model = self.model_of(task)?;
        let config = |message| LlmError::new(Class::Config, message);
        let toolbox = self.toolbox(&desk).await.map_err(|error| config(error.to_string()))?;
        self.session_config(task, &model, &toolbox).map(Addressed::Refitted).map_err(config)
    }

    /// The model that a conversation is held with, unless the settings have another one by now. Who was forked from the
    /// root goes on with the root's, as long as there is no other reason to tell everything anew.
    pub(super) fn held_with(&self, task: TaskId, held: &SessionConfig) -> Option<AgentModel> {
        let is_fork = self.parts().shown.look(|state| !state.session(task).lineage().is_empty());
        let others = if is_fork { &[Role::Root, Role::Child][..] } else { &[] };
        let roles = [self.role(task)].into_iter().chain(others.iter().copied());
        let mut models = roles.filter_map(|role| self.surroundings().config.agent_model(role).ok());
        models.find(|model| is_same(held, model))
    }

    async fn ask(
        &self,
        task: TaskId,
        (turn, purpose, model): (u64, TurnPurpose, &AgentModel),
        stop: &CancellationToken,
    ) -> Result<Answer, Failure> {
        let unsent = |error: &LlmError| failure(turn, error, Heard::default(), NOTHING);
        let provider = self.provider(model).map_err(|error| unsent(&error))?;
        let desk = self.desk(task);
        let request = {
            let mut talk = desk.talk.lock().await;
            let talk = talk.as_mut().ok_or(TalkError::NoConfig);
            talk.and_then(|talk| talk.request(model.wire)).map_err(|error| unsent(&invalid(&error)))?
        };
        let stream = provider.stream(request, stop.clone());
        let (heard, ended) = hear_out(stream, |chunk| self.let_watch(task, (purpose, chunk))).await;
        let stop = match ended {
            Ok(stop) => stop,
            Err(error) => {
                let price = heard.price_of_failure(&model.model);
                return Err(failure(turn, &error, heard, price));
            }
        };
        let price = heard.price(&model.model);
        let Heard { items, usage, model: named, .. } = heard;
        let refreshed = match purpose {
            TurnPurpose::Work => None,
            TurnPurpose::Summary => self.refresh(task, &desk, (&items, price)).await.map(Box::new),
        };
        Ok(Answer { turn, items, stop, model: named, usage: usage.into(), cost: price, refreshed })
    }

    /// Shows what comes of an answer while it comes. Nobody reads half a summary.
    fn let_watch(&self, task: TaskId, (purpose, chunk): (TurnPurpose, &Chunk)) {
        match (purpose, chunk) {
            (TurnPurpose::Work, Chunk::TextDelta(content)) => {
                self.show(task, TextDelta { content: content.clone() }.into());
            }
            (TurnPurpose::Work, Chunk::ThinkingDelta(content)) => {
                self.show(task, ThinkingDelta { content: content.clone() }.into());
            }
            (TurnPurpose::Work | TurnPurpose::Summary, _) => {}
        }
    }

    pub(super) fn show(&self, task: TaskId, body: DeltaBody) {
        // Nobody may be watching.
        let _unseen = self.parts().deltas.send(Delta { task, body });
    }

    pub(super) fn role(&self, task: TaskId) -> Role {
        let root = self.parts().shown.look(|state| state.tree().root().is_some_and(|root| root.id == task));
        if root { Role::Root } else { Role::Child }
    }

    pub(super) fn model_of(&self, task: TaskId) -> Result<AgentModel, LlmError> {
        let model = self.surroundings().config.agent_model(self.role(task));
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
        let counted = self.try_count(task).await;
        let op = counted.unwrap_or_else(|error| SessionOp::NotCounted { message: error.message });
        self.report(task, op).await;
    }

    async fn try_count(&self, task: TaskId) -> Result<SessionOp, LlmError> {
        let model = match self.address(task).await? {
            Addressed::To(model) => model,
            Addressed::Refitted(config) => {
                let turn = self.parts().shown.look(|state| state.session(task).life().turns);
                return Ok(SessionOp::Refitted { turn, config });
            }
        };
        let provider = self.provider(&model)?;
        let desk = self.desk(task);
        let request = {
            let talk = desk.talk.lock().await;
            let talk = talk.as_ref().ok_or(TalkError::NoConfig);
            talk.and_then(Talk::so_far).map_err(|error| invalid(&error))?
        };
        let tokens = provider.count_tokens(&request, &CancellationToken::new()).await?;
        Ok(SessionOp::Counted { tokens })
    }
}

/// Whom a conversation is sent to.
enum Addressed {
    /// This model.
    To(AgentModel),
    /// Another one than so far: the conversation begins anew with this.
    Refitted(SessionConfig),
}

/// Whether a conversation that began like this is one with this model, at its prices.
fn is_same(held: &SessionConfig, model: &AgentModel) -> bool {
    let same = held.model == model.model.name && held.provider == model.wire.to_string();
    same && held.terms == Some(terms(&model.model))
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
