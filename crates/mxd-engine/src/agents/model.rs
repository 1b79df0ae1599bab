//! Asking the model.

use std::sync::PoisonError;

use futures_util::StreamExt;
use mxd_core::decide::{Answer, AnswerItem, Cost, FailedAttempt, Failure, SessionOp};
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

/// Where the reading of an answer has come to.
pub(super) enum Pause {
    /// A request failed, and another one follows as soon as it is paid for.
    Retrying(LlmError),
    /// It is over.
    Ended(Result<StopReason, LlmError>),
}

/// A model call that is to be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) task: TaskId,
    /// Which one of its task.
    pub(super) turn: u64,
    pub(super) purpose: TurnPurpose,
    /// Tokens that the answer may have, as far as they are paid for.
    pub(super) max_output_tokens: Option<u64>,
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
            Chunk::ThinkingDelta(_) | Chunk::Retrying(_) | Chunk::End { .. } => {}
        }
    }

    /// Bytes of what the model wrote.
    pub(super) fn written(&self) -> u64 {
        let bytes = self.items.iter().map(AnswerItem::bytes).fold(0, usize::saturating_add);
        u64::try_from(bytes).unwrap_or(u64::MAX)
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

    /// What a complete answer cost. A provider that counts nothing has not said so.
    fn price(&self, model: &Model) -> Cost {
        if self.usage == Usage::default() {
            return Cost::Unknown;
        }
        match (cost(model, &self.usage), self.usage.fault) {
            (reported, Some(fault)) => Cost::Impossible { reported: reported.unwrap_or(Usd::MAX), fault },
            (Some(cost), None) => Cost::Known(cost),
            // More than any call can cost.
            (None, None) => {
                Cost::Impossible { reported: Usd::MAX, fault: "it reports more than can be paid" }
            }
        }
    }

    /// What a request cost that failed or was broken off. One that was not answered is not billed.
    pub(super) fn price_of_failure(&self, model: &Model, error: &LlmError) -> Cost {
        let reported = cost(model, &self.usage).unwrap_or(Usd::MAX);
        error.answered_bytes.map_or(NOTHING, |bytes| Cost::Cut { reported, bytes })
    }
}

/// A model that is being heard out.
pub(super) struct Hearing<'a> {
    stream: ChunkStream,
    model: &'a Model,
    /// What came of the present request.
    pub(super) heard: Heard,
    /// What the request cost whose end was heard last.
    pub(super) cost: Cost,
}

impl<'a> Hearing<'a> {
    pub(super) fn new(stream: ChunkStream, model: &'a Model) -> Self {
        Self { stream, model, heard: Heard::default(), cost: NOTHING }
    }

    /// Hears the model until a request has ended. When it was broken off, what it has said so far counts.
    pub(super) async fn go_on(&mut self, mut watch: impl FnMut(&Chunk)) -> Pause {
        loop {
            match self.stream.next().await {
                Some(Ok(Chunk::End { stop, model })) => {
                    self.heard.model = model;
                    self.cost = self.heard.price(self.model);
                    return Pause::Ended(Ok(StopReason::from(stop)));
                }
                Some(Ok(Chunk::Retrying(retrying))) => {
                    self.cost = self.heard.price_of_failure(self.model, &retrying.error);
                    return Pause::Retrying(retrying.error);
                }
                Some(Ok(chunk)) => {
                    watch(&chunk);
                    self.heard.take(chunk);
                }
                Some(Err(error)) => return self.failed(error),
                None => {
                    let error = LlmError::new(Class::Protocol, "the answer ended before it was complete");
                    return self.failed(error);
                }
            }
        }
    }

    fn failed(&mut self, error: LlmError) -> Pause {
        self.cost = self.heard.price_of_failure(self.model, &error);
        if error.class != Class::Cancelled {
            return Pause::Ended(Err(error));
        }
        if !self.heard.begun.trim().is_empty() {
            self.heard.items.push(AnswerItem::Text(std::mem::take(&mut self.heard.begun)));
        }
        Pause::Ended(Ok(StopReason::Cancelled))
    }

    /// Another request follows: what came of the last one is void, and so is what the eye has seen of it.
    pub(super) fn begin_again(&mut self) {
        self.heard = Heard::default();
    }
}

impl Agents {
    pub(super) async fn call_model(self, call: Call, stop: CancellationToken) {
        let (task, turn) = (call.task, call.turn);
        let unsent = |error: LlmError| failure(turn, &error, (Usage::default(), NOTHING));
        let op = match self.address(task).await {
            Err(error) => SessionOp::Failed(unsent(error)),
            Ok(Addressed::Refitted(config)) => SessionOp::Refitted { turn, config },
            Ok(Addressed::To(model)) => match self.ask((call, &model), &stop).await {
                Ok(Some(answer)) => SessionOp::Answered(answer),
                // The call ended before its next request: whatever follows was decided then.
                Ok(None) => return,
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

    /// Asks the model. No answer when the call was ended because its next request could not be paid.
    async fn ask(
        &self,
        (Call { task, turn, purpose, max_output_tokens }, model): (Call, &AgentModel),
        stop: &CancellationToken,
    ) -> Result<Option<Answer>, Failure> {
        let unsent = |error: &LlmError| failure(turn, error, (Usage::default(), NOTHING));
        let provider = self.provider(model).map_err(|error| unsent(&error))?;
        let desk = self.desk(task);
        let request = {
            let mut talk = desk.talk.lock().await;
            let talk = talk.as_mut().ok_or(TalkError::NoConfig);
            let request = talk.and_then(|talk| talk.request(model.wire, max_output_tokens));
            request.map_err(|error| unsent(&invalid(&error)))?
        };
        let mut hearing = Hearing::new(provider.stream(request, stop.clone()), &model.model);
        let ended = loop {
            match hearing.go_on(|chunk| self.let_watch(task, (purpose, chunk))).await {
                Pause::Ended(ended) => break ended,
                Pause::Retrying(error) => {
                    let (usage, cost) = (hearing.heard.usage().into(), hearing.cost);
                    let (message, class) = (error.message.clone(), class_name(error.class));
                    let failed = FailedAttempt { turn, message, class, usage, cost };
                    if !self.may_ask_again(task, failed).await {
                        return Ok(None);
                    }
                    hearing.begin_again();
                }
            }
        };
        let Hearing { heard, cost, .. } = hearing;
        let stop = ended.map_err(|error| failure(turn, &error, (heard.usage, cost)))?;
        let Heard { items, usage, model: named, .. } = heard;
        let refreshed = match purpose {
            TurnPurpose::Work => None,
            TurnPurpose::Summary => self.refresh(task, &desk, (&items, cost)).await.map(Box::new),
        };
        Ok(Some(Answer { turn, items, stop, model: named, usage: usage.into(), cost, refreshed }))
    }

    /// Has a request that failed paid, and money set aside for the next one. Nothing is sent before that is durable.
    async fn may_ask_again(&self, task: TaskId, failed: FailedAttempt) -> bool {
        let turn = failed.turn;
        let decided = self.decided(task, SessionOp::AttemptFailed(failed)).await.is_ok();
        let asking = self.parts().shown.look(|state| state.session(task).asking());
        decided && asking.is_some_and(|asking| asking.turn == turn)
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

/// What kind of failure it is, in a word for the log.
fn class_name(class: Class) -> String {
    format!("{class:?}").to_lowercase()
}

fn failure(turn: u64, error: &LlmError, (usage, cost): (Usage, Cost)) -> Failure {
    Failure {
        turn,
        message: error.message.clone(),
        class: class_name(error.class),
        advice: Some(error.hint().to_owned()),
        passing: error.class.rule().retry,
        too_long: error.class == Class::ContextTooLong,
        usage: usage.into(),
        cost,
    }
}
