//! One call: attempts, waits between them, and the reading of the answer.
//!
//! Nothing runs in the background. The stream does its work while it is polled; dropping it drops the
//! connection, and every wait ends when the token is cancelled.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use tokio_util::sync::CancellationToken;

use crate::breaker::Permit;
use crate::chunk::{Chunk, Retrying};
use crate::decoder::{Hints, ResponseDecoder, protocol};
use crate::error::{Class, LlmError};
use crate::http::Reply;
use crate::prefix::EncodedRequest;
use crate::provider::{ChunkStream, Inner};

pub(crate) fn stream(
    provider: Arc<Inner>,
    request: EncodedRequest,
    cancel: CancellationToken,
) -> ChunkStream {
    let call = Call { provider, request, cancel, attempt: 0, ready: VecDeque::new(), phase: Phase::Ask };
    Box::pin(stream::unfold(call, |mut call| async move { call.next().await.map(|chunk| (chunk, call)) }))
}

/// Waits for something, unless the token is cancelled first.
pub(crate) async fn or_cancelled<T>(
    cancel: &CancellationToken,
    wait: impl Future<Output = T>,
) -> Result<T, LlmError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(LlmError::cancelled()),
        done = wait => Ok(done),
    }
}

struct Call {
    provider: Arc<Inner>,
    request: EncodedRequest,
    cancel: CancellationToken,
    attempt: u32,
    /// Chunks that nobody has taken yet.
    ready: VecDeque<Chunk>,
    phase: Phase,
}

enum Phase {
    Ask,
    Wait(Duration),
    Read(Box<Reading>),
    Failed(LlmError),
    Done,
}

struct Reading {
    reply: Reply,
    decoder: ResponseDecoder,
    permit: Permit,
}

impl Call {
    async fn next(&mut self) -> Option<Result<Chunk, LlmError>> {
        loop {
            if self.cancel.is_cancelled() && !self.is_over() {
                let cancelled = self.cancelled();
                return Some(Err(self.give_up(cancelled)));
            }
            if let Some(chunk) = self.ready.pop_front() {
                return Some(Ok(chunk));
            }
            match self.step().await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) if self.ready.is_empty() || error.class == Class::Cancelled => {
                    return Some(Err(self.give_up(error)));
                }
                // What came before the failure is given out first: it tells what the attempt has used.
                Err(error) => self.phase = Phase::Failed(error),
            }
        }
    }

    /// What a call is broken off with between two steps: an answer that is being read is cut.
    fn cancelled(&self) -> LlmError {
        match &self.phase {
            Phase::Read(reading) => LlmError::cancelled().after(reading.decoder.written()),
            Phase::Ask | Phase::Wait(_) | Phase::Failed(_) | Phase::Done => LlmError::cancelled(),
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Done)
    }

    fn give_up(&mut self, error: LlmError) -> LlmError {
        self.phase = Phase::Done;
        self.ready.clear();
        self.provider.scrubbed(error)
    }

    /// One wait further; false when the call is over.
    async fn step(&mut self) -> Result<bool, LlmError> {
        match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Done => return Ok(false),
            Phase::Failed(error) => return Err(error),
            Phase::Wait(delay) => {
                or_cancelled(&self.cancel, tokio::time::sleep(delay)).await?;
                self.phase = Phase::Ask;
            }
            Phase::Ask => self.ask().await?,
            Phase::Read(reading) => self.read(reading).await?,
        }
        Ok(true)
    }

    async fn ask(&mut self) -> Result<(), LlmError> {
        self.attempt += 1;
        let ask = self.provider.question(&self.request)?;
        let permit = match self.provider.config.breaker.admit() {
            Ok(permit) => permit,
            Err(error) => return self.failed(error),
        };
        let sent = or_cancelled(&self.cancel, self.provider.http.send(ask)).await;
        // Whether the provider had begun when it was broken off, nobody knows.
        match sent.map_err(|cancelled| cancelled.after(0))? {
            Ok(reply) if reply.content_type().starts_with("application/json") => {
                permit.failed(Class::Protocol);
                let why = "the server did not stream its answer, though it was asked to";
                self.failed(protocol(why).after(0))
            }
            Ok(reply) => {
                let hints = Hints { salt: self.salt(), ttl: self.request.ttl };
                let decoder = ResponseDecoder::new(self.request.wire, hints);
                self.phase = Phase::Read(Box::new(Reading { reply, decoder, permit }));
                Ok(())
            }
            Err(error) => {
                permit.failed(error.class);
                self.failed(error)
            }
        }
    }

    async fn read(&mut self, mut reading: Box<Reading>) -> Result<(), LlmError> {
        let mut chunks = Vec::new();
        let piece = or_cancelled(&self.cancel, reading.reply.chunk()).await;
        let piece = piece.map_err(|cancelled| cancelled.after(reading.decoder.written()))?;
        let taken = match piece {
            Ok(Some(bytes)) => reading.decoder.push(&bytes, &mut chunks),
            Ok(None) => reading.decoder.finish(&mut chunks),
            Err(error) => Err(error),
        };
        self.ready.extend(chunks);
        match taken {
            Ok(()) if reading.decoder.is_complete() => reading.permit.completed(),
            Ok(()) => {
                reading.permit.answered();
                self.phase = Phase::Read(reading);
            }
            Err(error) => {
                reading.permit.failed(error.class);
                let error = if is_refusal(&error, &reading.decoder) {
                    error
                } else {
                    error.after(reading.decoder.written())
                };
                return self.failed(error);
            }
        }
        Ok(())
    }

    /// After a failed attempt: another one, or the end.
    fn failed(&mut self, error: LlmError) -> Result<(), LlmError> {
        let config = &self.provider.config;
        let Some(delay) = config.backoff.delay(self.attempt, &error, (config.roll)()) else {
            return Err(error);
        };
        let error = self.provider.scrubbed(error);
        self.ready.push_back(Chunk::Retrying(Retrying { attempt: self.attempt, delay, error }));
        self.phase = Phase::Wait(delay);
        Ok(())
    }

    fn salt(&self) -> u64 {
        ((self.provider.config.roll)().clamp(0.0, 1.0).to_bits() >> 4) ^ u64::from(self.attempt)
    }
}

/// Whether the provider answered with nothing but an error of its own. Everything else that ends a stream cuts an answer.
fn is_refusal(error: &LlmError, decoder: &ResponseDecoder) -> bool {
    let is_cut = matches!(error.class, Class::Network | Class::Timeout | Class::Protocol);
    !is_cut && !decoder.has_begun()
}
