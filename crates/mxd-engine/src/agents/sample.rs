//! Servers that have the model of a task write for them: it reads their words and nothing of the task.

use std::sync::{Arc, Weak};

use mxd_core::decide::{Refusal as Refused, Sample, Sampled, SessionOp};
use mxd_core::event::body::{SessionConfig, StopReason};
use mxd_core::id::{ReservationId, TaskId};
use mxd_core::prompt::{Block, Cache, Head, OutputLimits, Reasoning, Request, Role, SystemText, Turn};
use mxd_core::session::Load;
use mxd_llm::{EncodedRequest, LlmError, Provider};
use mxd_tools::mcp::{Answerer, Question, Refusal};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Agents;
use super::model::{Heard, Hearing, Pause};
use super::talk::{Talk, TalkError};
use crate::clock;
use crate::config::AgentModel;
use crate::project::WishError;

/// Messages of one request.
const MESSAGES: usize = 64;
/// Bytes of them together, with the system text.
const BYTES: usize = 128 << 10;
/// Tokens that a model writes at most, whatever the server wishes for.
const TOKENS: u64 = 4_096;
/// Bytes that stand for what providers put around each message.
const AROUND: usize = 256;
/// Texts that end an answer.
const STOPS: usize = 16;

impl Agents {
    /// Somebody who has the model of a task write for its servers. It does not keep the project open.
    pub(super) fn sampler(&self, task: TaskId) -> Answerer {
        let inner = Arc::downgrade(&self.inner);
        Arc::new(move |question| {
            let inner = Weak::clone(&inner);
            Box::pin(async move { Self::still_open(&inner)?.sample(task, &question).await })
        })
    }

    /// Has the model write. When nobody waits for it any more, it is broken off, and paid all the same.
    async fn sample(&self, task: TaskId, question: &Question) -> Result<Value, Refusal> {
        let wanted = Wanted::of(&question.params)?;
        let desk = self.desks().get(&task).cloned();
        let desk = desk.ok_or_else(|| Refusal("no agent is at work on the task".to_owned()))?;
        // Taken before anything is decided: an interruption that is decided later reaches it.
        let stop = desk.tools_stop().child_token();
        let _nobody_waits = stop.clone().drop_guard();
        let (tell, told) = oneshot::channel();
        let (agents, server) = (self.clone(), question.server.to_string());
        self.spawn(async move {
            let written = agents.write(task, (server, wanted), stop).await;
            // Whoever asked may be gone.
            let _gone = tell.send(written);
        });
        told.await.map_err(|_| Refusal("the project is closed".to_owned()))?
    }

    async fn write(
        &self,
        task: TaskId,
        (server, wanted): (String, Wanted),
        stop: CancellationToken,
    ) -> Result<Value, Refusal> {
        let Prepared { model, provider, request, name, max_tokens } = self
            .prepare(task, &wanted)
            .await
            .map_err(|why| Refusal(format!("no model can be asked: {why}")))?;
        let load = Load::text(wanted.bytes);
        let mut hearing = Hearing::new(provider.stream(request, stop), &model.model);
        // Every request has money of its own, also one that is made again.
        let (ended, stopped) = loop {
            let id: ReservationId = clock::fresh(clock::now()).issue();
            let sample = Sample { id, server: server.clone(), load, max_tokens };
            self.decided(task, SessionOp::Sample(sample)).await.map_err(refusal)?;
            let pause = hearing.go_on(|_| {}).await;
            let stop = match &pause {
                Pause::Ended(Ok(stopped)) => stopped.clone(),
                Pause::Ended(Err(_)) | Pause::Retrying(_) => Sampled::failed(),
            };
            let (usage, written) = (hearing.heard.usage().into(), hearing.heard.written());
            let sampled = Sampled { id, stop: stop.clone(), usage, cost: hearing.cost, written };
            self.decided(task, SessionOp::Sampled(sampled)).await.map_err(refusal)?;
            match pause {
                Pause::Ended(ended) => break (ended, stop),
                Pause::Retrying(_) => hearing.begin_again(),
            }
        };
        let heard = hearing.heard;
        match ended {
            Err(error) => Err(Refusal(format!("the model did not answer: {}", error.message))),
            Ok(StopReason::Cancelled) => Err(Refusal("it was broken off".to_owned())),
            Ok(StopReason::Refusal) => Err(Refusal("the model would not answer".to_owned())),
            Ok(_) => Ok(wanted.answer((&name, &stopped), &heard)),
        }
    }

    /// Everything that can fail before anything is set aside.
    async fn prepare(&self, task: TaskId, wanted: &Wanted) -> Result<Prepared, String> {
        let words = |error: LlmError| error.message;
        let desk = self.desk(task);
        let config = {
            let mut talk = desk.talk.lock().await;
            Talk::catch_up(&mut talk, &self.parts().log, &desk)
                .and_then(|()| talk.as_ref().ok_or(TalkError::NoConfig)?.config().cloned())
                .map_err(|error| error.to_string())?
        };
        let other = "the settings have another model by now, and the conversation has not been told yet";
        let model = self.held_with(task, &config).ok_or(other)?;
        let provider = self.provider(&model).map_err(words)?;
        let most = config.terms.map_or(TOKENS, |terms| terms.max_output_tokens);
        let max_tokens = wanted.max_tokens.min(TOKENS).min(most);
        let request =
            Request { head: head(&config, &wanted.system, max_tokens), turns: wanted.turns.clone() };
        let request = EncodedRequest::new(model.wire, &request).map_err(words)?;
        Ok(Prepared { model, provider, request, name: config.model, max_tokens })
    }
}

struct Prepared {
    model: AgentModel,
    provider: Provider,
    request: EncodedRequest,
    /// The model, as it is called.
    name: String,
    max_tokens: u64,
}

/// The start of a request that has nothing of the task in it: no tools, no instructions, no thoughts.
fn head(config: &SessionConfig, system: &str, max_tokens: u64) -> Head {
    Head {
        model: config.model.clone(),
        system: SystemText { stable: system.to_owned(), variable: String::new() },
        tools: Vec::new(),
        limits: OutputLimits {
            max_output_tokens: u32::try_from(max_tokens).unwrap_or(u32::MAX),
            reasoning: Reasoning::Unset,
        },
        cache: Cache::default(),
    }
}

/// Why the project does not let it happen, as the server reads it.
fn refusal(error: WishError) -> Refusal {
    Refusal(match error {
        WishError::Refused(Refused::NotEnoughMoney { left, wanted, .. }) => {
            format!("the budget does not hold it: it may cost {wanted}, and {left} is left")
        }
        WishError::Refused(Refused::PriceUnknown { .. }) => {
            "there is a budget, and what the model costs is not known".to_owned()
        }
        WishError::Refused(Refused::UsedUp { .. }) => "the task has used its tokens".to_owned(),
        WishError::Refused(Refused::TooManySamplings { limit, .. }) => {
            format!(
                "the model has written {limit} times for servers since it was asked, and that is the limit"
            )
        }
        WishError::Refused(Refused::Late { .. }) => "no call of a tool waits for it".to_owned(),
        other => other.to_string(),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    messages: Vec<Message>,
    #[serde(default)]
    system_prompt: String,
    max_tokens: u64,
    #[serde(default)]
    include_context: Option<String>,
    #[serde(default)]
    stop_sequences: Vec<String>,
    #[serde(default)]
    tools: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Message {
    role: Role,
    content: Content,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    One(Part),
    Several(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

/// What a server wants written.
#[derive(Debug)]
struct Wanted {
    system: String,
    turns: Vec<Turn>,
    max_tokens: u64,
    stops: Vec<String>,
    /// What the model reads at most.
    bytes: usize,
}

impl Wanted {
    fn of(params: &Value) -> Result<Self, Refusal> {
        let no = |why: String| Err(Refusal(why));
        let mut params: Params = Deserialize::deserialize(params)
            .map_err(|error| Refusal(format!("the request cannot be read: {error}")))?;
        if params.include_context.as_deref().is_some_and(|context| context != "none") {
            return no("nothing of the conversation is given to servers: leave includeContext out".to_owned());
        }
        if params.tools.as_ref().is_some_and(|tools| !tools.is_empty()) {
            return no("the model writes for servers without tools".to_owned());
        }
        if params.max_tokens == 0 {
            return no("maxTokens is 0, and nothing fits into that".to_owned());
        }
        if params.messages.is_empty() || params.messages.len() > MESSAGES {
            return no(format!("a request has between one and {MESSAGES} messages"));
        }
        if params.stop_sequences.len() > STOPS || params.stop_sequences.iter().any(String::is_empty) {
            return no(format!("a request has at most {STOPS} stop sequences, none of them empty"));
        }
        let mut bytes = params.system_prompt.len() + AROUND;
        let mut turns: Vec<Turn> = Vec::new();
        for Message { role, content } in std::mem::take(&mut params.messages) {
            let parts = match content {
                Content::One(part) => vec![part],
                Content::Several(parts) => parts,
            };
            for Part { kind, text } in parts {
                if kind != "text" || text.trim().is_empty() {
                    return no("the model reads texts of servers, no empty ones and nothing else".to_owned());
                }
                bytes += text.len() + AROUND;
                match turns.last_mut().filter(|turn| turn.role == role) {
                    Some(turn) => turn.blocks.push(Block::text(text)),
                    None => turns.push(Turn { role, blocks: vec![Block::text(text)] }),
                }
            }
            if bytes > BYTES {
                return no(format!("a request has at most {BYTES} bytes"));
            }
        }
        let ends = [turns.first(), turns.last()];
        if ends.iter().any(|turn| turn.is_none_or(|turn| turn.role != Role::User)) {
            return no("the first and the last message have to be the user's".to_owned());
        }
        let Params { system_prompt: system, max_tokens, stop_sequences: stops, .. } = params;
        Ok(Self { system, turns, max_tokens, stops, bytes })
    }

    /// What the server is told.
    fn answer(&self, (model, stopped): (&str, &StopReason), heard: &Heard) -> Value {
        let mut text = heard.words();
        let cut = self.stops.iter().filter_map(|stop| text.find(stop.as_str())).min();
        let stop_reason = match (cut, stopped) {
            (Some(at), _) => {
                text.truncate(at);
                "stopSequence"
            }
            (None, StopReason::MaxTokens) => "maxTokens",
            (None, _) => "endTurn",
        };
        json!({
            "role": "assistant",
            "content": { "type": "text", "text": text },
            "model": model,
            "stopReason": stop_reason,
        })
    }
}
