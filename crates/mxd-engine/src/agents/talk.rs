//! A live conversation: projected from the log once, then appended to.

use mxd_core::commit::Seq;
use mxd_core::event::EventBody;
use mxd_core::event::body::SessionConfig;
use mxd_core::message::Message;
use mxd_core::prompt::{
    Cache, CacheTtl, Head, OutputLimits, Projection, Reasoning, Request, SystemText, ToolSpec, Turn,
};
use mxd_core::time::Millis;
use mxd_llm::{EncodedPrefix, EncodedRequest, LlmError, Wire};
use mxd_store::Log;

use super::desk::Desk;
use crate::conversation::{self, Said};

/// Words of the user that are kept at hand for a summary, and their bytes together.
const MOST_WORDS: usize = 200;

/// A conversation and its bytes.
#[derive(Debug, Default)]
pub(super) struct Talk {
    projection: Projection,
    /// The last commit that is in it.
    through: Seq,
    encoded: Option<Encoded>,
    /// What the user wrote, for the summary.
    pub(super) user: Vec<(Millis, String)>,
    /// Calls whose outcome nobody knows, for the summary.
    pub(super) unknown: Vec<String>,
}

#[derive(Debug)]
struct Encoded {
    generation: u64,
    turns: usize,
    prefix: EncodedPrefix,
}

/// Why a conversation cannot be sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum TalkError {
    #[error("the conversation cannot be read: {0}")]
    Read(#[from] mxd_store::ReadError),
    #[error("the conversation has no beginning: no configuration of its session is in the log")]
    NoConfig,
    #[error("the tools of the session cannot be read: {0}")]
    Tools(#[from] serde_json::Error),
    #[error(transparent)]
    Encode(#[from] LlmError),
}

impl Talk {
    /// Takes in what has become durable. What takes earlier words back makes it read the log again.
    pub(super) fn catch_up(slot: &mut Option<Self>, log: &Log, desk: &Desk) -> Result<(), TalkError> {
        let heard = desk.take_heard();
        let rereads = |(_, _, event): &Said| {
            matches!(
                event.body,
                EventBody::RewindMarker(_)
                    | EventBody::TaskReset(_)
                    | EventBody::ConversationCleared(_)
                    | EventBody::ForkMarker(_)
            )
        };
        match slot {
            Some(talk) if !heard.iter().any(rereads) => talk.take_in(&heard, log),
            Some(_) | None => {
                // Read up to what is durable now; what was heard of it meanwhile is passed over.
                let head = Seq(*log.head().borrow());
                let said = conversation::read(log, desk.task, head)?;
                let mut talk = Self::default();
                talk.take_in(&said, log);
                talk.through = head;
                *slot = Some(talk);
            }
        }
        Ok(())
    }

    fn take_in(&mut self, said: &[Said], log: &Log) {
        let pictures = |blob: &_| conversation::picture(log, blob);
        let known = self.through;
        for (seq, at, event) in said.iter().filter(|(seq, _, _)| *seq > known) {
            self.projection.push(*at, event, &pictures);
            self.remember(*at, &event.body);
            self.through = self.through.max(*seq);
        }
    }

    fn remember(&mut self, at: Millis, body: &EventBody) {
        match body {
            EventBody::Message(posted) => {
                if let Message::User(user) = &posted.body {
                    self.user.push((at, user.content.clone()));
                    if self.user.len() > MOST_WORDS {
                        self.user.remove(0);
                    }
                }
            }
            EventBody::ToolResult(result) if result.is_error && result.content.starts_with("Interrupted") => {
                self.unknown.push(result.tool.clone());
            }
            EventBody::CompactMarker(_) => self.unknown.clear(),
            _ => {}
        }
    }

    pub(super) fn config(&self) -> Result<&SessionConfig, TalkError> {
        self.projection.config().ok_or(TalkError::NoConfig)
    }

    /// The request for the conversation as it is. A turn costs its own bytes, unless the answer has to be shorter than
    /// usual.
    pub(super) fn request(&mut self, wire: Wire, tokens: Option<u64>) -> Result<EncodedRequest, TalkError> {
        let usual = self.config()?.terms.map(|terms| terms.max_output_tokens);
        if let Some(tokens) = tokens.filter(|tokens| usual.is_some_and(|usual| *tokens < usual)) {
            let mut head = head(self.config()?)?;
            shorten(&mut head.limits, tokens);
            let request = Request { head, turns: self.projection.turns().to_vec() };
            return Ok(EncodedRequest::new(wire, &request)?);
        }
        let generation = self.projection.generation();
        let mut encoded = match self.encoded.take().filter(|encoded| encoded.generation == generation) {
            Some(encoded) => encoded,
            None => {
                Encoded { generation, turns: 0, prefix: EncodedPrefix::new(wire, &head(self.config()?)?)? }
            }
        };
        let text_only = is_text_only(self.config()?);
        for turn in self.projection.turns().iter().skip(encoded.turns) {
            match text_only {
                true => encoded.prefix.push(&turn.for_text_only_model())?,
                false => encoded.prefix.push(turn)?,
            }
            encoded.turns += 1;
        }
        Ok(self.encoded.insert(encoded).prefix.request())
    }

    /// What is said so far, for whoever counts: also what the model has not been asked about yet.
    pub(super) fn so_far(&self) -> Result<Request, TalkError> {
        let config = self.config()?;
        let mut turns = self.projection.so_far();
        if is_text_only(config) {
            turns = turns.iter().map(Turn::for_text_only_model).collect();
        }
        Ok(Request { head: head(config)?, turns })
    }
}

/// Whether the model of a session sees no pictures. It is read from the log, so that the bytes of a conversation stay
/// the same after a restart with other settings.
fn is_text_only(config: &SessionConfig) -> bool {
    config.terms.is_some_and(|terms| terms.text_only)
}

/// The frozen start of the requests, as it is in the log.
fn head(config: &SessionConfig) -> Result<Head, TalkError> {
    let tools: Vec<ToolSpec> = serde_json::from_str(config.tools.get())?;
    let ttl = if config.cache_ttl == "1h" { CacheTtl::OneHour } else { CacheTtl::FiveMinutes };
    let most = config.terms.map_or(u64::from(DEFAULT_OUTPUT), |terms| terms.max_output_tokens);
    Ok(Head {
        model: config.model.clone(),
        system: SystemText { stable: config.system_stable.clone(), variable: config.system_variable.clone() },
        tools,
        limits: OutputLimits {
            max_output_tokens: u32::try_from(most).unwrap_or(u32::MAX),
            reasoning: config.reasoning.unwrap_or_default(),
        },
        cache: Cache { ttl, key: None },
    })
}

/// Lets a model write less. Thoughts count as well, so it may think for half of it at most, where that is enough to think.
fn shorten(limits: &mut OutputLimits, tokens: u64) {
    limits.max_output_tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    let most_thought = limits.max_output_tokens / 2;
    limits.reasoning = match limits.reasoning {
        Reasoning::Budget(_) if most_thought < LEAST_THOUGHT => Reasoning::Unset,
        Reasoning::Budget(budget) => Reasoning::Budget(budget.min(most_thought)),
        other @ (Reasoning::Unset | Reasoning::Effort(_)) => other,
    };
}

/// Tokens for thoughts below which providers refuse a request.
const LEAST_THOUGHT: u32 = 1_024;
/// Tokens of an answer when nothing is known about the model.
const DEFAULT_OUTPUT: u32 = 8_192;
