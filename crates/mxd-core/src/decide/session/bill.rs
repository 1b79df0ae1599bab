//! What a model call is booked at: what its provider reports, when that can be, and never more than was set aside.

use super::input::Cost;
use super::money;
use super::turn::Turn;
use crate::event::body::{Terms, Usage};
use crate::id::ReservationId;
use crate::money::Usd;
use crate::price;
use crate::state::Reservation;

/// More bytes than this for each token are in no text: long tokens exist, texts of nothing else do not.
const MOST_BYTES_PER_TOKEN: u64 = 16;
/// Bytes of ordinary text per token.
const USUAL_BYTES_PER_TOKEN: u64 = 4;
/// So many bytes may be in few tokens all the same: a short text says nothing about the rate.
const SHORT_TEXT_BYTES: u64 = 4_096;

/// What was reported about one request, and seen of its answer.
pub(super) struct Reported {
    pub(super) usage: Usage,
    pub(super) cost: Cost,
    /// Bytes that the model wrote, as far as they can be read.
    pub(super) written: u64,
}

/// What is booked.
pub(super) struct Bill {
    pub(super) usage: Usage,
    pub(super) cost_usd: Usd,
    /// Whether nobody knows, and this is all that was set aside.
    pub(super) cost_unknown: bool,
    /// What is wrong with what was reported.
    pub(super) fault: Option<String>,
}

impl Bill {
    pub(super) fn settling(&self) -> money::Settling {
        if self.cost_unknown { money::Settling::All } else { money::Settling::Cost(self.cost_usd) }
    }
}

/// The bill of a request of the running model call.
pub(super) fn of_call(turn: &Turn<'_, '_>, reported: &Reported) -> Bill {
    let context = turn.session.context;
    let read = Read { least: context.new.bytes, usual: context.estimate(), most: context.worst() };
    bill(turn.session.terms, money::reserved_for_call(turn), (reported, &read))
}

/// The bill of something that a model wrote for a server.
pub(super) fn of_sampling(turn: &Turn<'_, '_>, id: ReservationId, reported: &Reported) -> Bill {
    let reserved = turn.plan.state.reservations().get(&id).copied();
    // Nobody remembers how much it was to read. What was set aside covers it.
    let read = Read { least: 0, usual: u64::MAX, most: u64::MAX };
    bill(turn.session.terms, reserved, (reported, &read))
}

/// How much the model had to read.
struct Read {
    /// Bytes that nobody had counted before.
    least: u64,
    /// Tokens, as they usually are.
    usual: u64,
    /// Tokens at the very most.
    most: u64,
}

fn bill(terms: Option<Terms>, reserved: Option<Reservation>, (reported, read): (&Reported, &Read)) -> Bill {
    let usage = reported.usage;
    let amount = reserved.map_or(Usd::ZERO, |reserved| reserved.amount);
    let unknown = Bill { usage, cost_usd: amount, cost_unknown: true, fault: None };
    // Without prices nothing was set aside, and nothing can be compared.
    let Some(terms) = terms else {
        return match reported.cost {
            Cost::Unknown => unknown,
            Cost::Known(cost_usd)
            | Cost::Cut { reported: cost_usd, .. }
            | Cost::Impossible { reported: cost_usd, .. } => {
                Bill { usage, cost_usd, cost_unknown: false, fault: None }
            }
        };
    };
    let allowed = reserved.and_then(|reserved| reserved.max_output_tokens);
    let limits = Limits { terms, amount, allowed: allowed.unwrap_or(terms.max_output_tokens) };
    match reported.cost {
        Cost::Unknown => unknown,
        // A request that was never made, or was refused.
        Cost::Known(Usd::ZERO) if usage == Usage::default() && reported.written == 0 => {
            Bill { usage, cost_usd: Usd::ZERO, cost_unknown: false, fault: None }
        }
        Cost::Known(cost_usd) => match fault(reported, cost_usd, (&limits, read)) {
            None => Bill { usage, cost_usd, cost_unknown: false, fault: None },
            Some(fault) => limits.estimated(reported, (cost_usd, fault), read),
        },
        Cost::Impossible { reported: cost_usd, fault } => {
            limits.estimated(reported, (cost_usd, fault.to_owned()), read)
        }
        Cost::Cut { .. } if prompt(&usage) == 0 || !fits(read.least, prompt(&usage)) => unknown,
        Cost::Cut { reported: cost_usd, bytes } => limits.cut(usage, (cost_usd, bytes)),
    }
}

/// What a request was allowed.
struct Limits {
    terms: Terms,
    /// What was set aside for it.
    amount: Usd,
    /// Tokens that its answer may have.
    allowed: u64,
}

impl Limits {
    /// A provider reports at the beginning what was read and at the end what was written. Until then, no tokenizer makes
    /// more of what came than its bytes.
    fn cut(&self, usage: Usage, (cost_usd, bytes): (Usd, u64)) -> Bill {
        let written = usage.output_tokens.max(bytes).min(self.allowed);
        let estimate = price::most(&self.terms, prompt(&usage), written).unwrap_or(Usd::MAX);
        let usage = Usage { output_tokens: usage.output_tokens.min(self.allowed), ..usage };
        let cost_usd = cost_usd.max(estimate).min(self.amount);
        Bill { usage, cost_usd, cost_unknown: false, fault: None }
    }

    /// The larger of what is reported and what is likely, within what was set aside.
    fn estimated(&self, reported: &Reported, (cost_usd, fault): (Usd, String), read: &Read) -> Bill {
        let usage = reported.usage;
        let usual = reported.written.div_ceil(USUAL_BYTES_PER_TOKEN);
        let output_tokens = usage.output_tokens.max(usual).min(self.allowed);
        let can_be_read = (1..=read.most).contains(&prompt(&usage));
        let input_tokens = if can_be_read { read.usual.max(prompt(&usage)) } else { read.usual };
        let estimate = price::most(&self.terms, input_tokens, output_tokens).unwrap_or(Usd::MAX);
        let usage = if can_be_read {
            Usage { output_tokens, ..usage }
        } else {
            let input_tokens = read.usual.min(self.terms.context_window);
            Usage { input_tokens, output_tokens, ..Usage::default() }
        };
        let cost_usd = cost_usd.max(estimate).min(self.amount);
        Bill { usage, cost_usd, cost_unknown: false, fault: Some(fault) }
    }
}

/// Why what a provider reports about a complete answer cannot be.
fn fault(reported: &Reported, cost: Usd, (limits, read): (&Limits, &Read)) -> Option<String> {
    let (usage, written) = (&reported.usage, reported.written);
    let (output, prompt) = (usage.output_tokens, prompt(usage));
    if limits.amount == Usd::ZERO && cost == Usd::ZERO {
        // What costs nothing is nobody's loss.
        None
    } else if output > limits.allowed {
        let allowed = limits.allowed;
        Some(format!("it reports {output} tokens written, and the request allowed {allowed}"))
    } else if prompt == 0 {
        Some("it reports that nothing was read".to_owned())
    } else if !fits(written, output) {
        Some(format!("it reports {output} tokens written, and {written} bytes came"))
    } else if !fits(read.least, prompt) {
        Some(format!("it reports {prompt} tokens read, and {} bytes were new", read.least))
    } else if cost > limits.amount {
        let amount = limits.amount;
        Some(format!("what it reports costs {cost}, and the request could cost {amount} at most"))
    } else {
        None
    }
}

/// Whether so many bytes can be so few tokens.
fn fits(bytes: u64, tokens: u64) -> bool {
    bytes <= SHORT_TEXT_BYTES || bytes <= tokens.saturating_mul(MOST_BYTES_PER_TOKEN)
}

fn prompt(usage: &Usage) -> u64 {
    let parts = [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
    parts.into_iter().fold(0, u64::saturating_add)
}
