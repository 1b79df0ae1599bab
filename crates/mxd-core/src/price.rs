//! What a model call may cost, before it is made.

use crate::event::body::Terms;
use crate::id::TaskId;
use crate::money::Usd;
use crate::session::Load;
use crate::state::State;

/// Prices are of so many tokens.
const TOKENS_PER_PRICE: u128 = 1_000_000;

/// Tokens of the shortest answer that is still of use: a few sentences, or one call of a tool with its arguments. A call
/// is not made when even that cannot be paid.
pub const SHORTEST_USEFUL_OUTPUT: u64 = 1_024;

/// What reading and writing so many tokens costs at most; none above [`Usd::MAX`].
pub(crate) fn most(terms: &Terms, read: u64, written: u64) -> Option<Usd> {
    let total = micros_times_tokens(read.min(terms.context_window), terms.input_usd)
        + micros_times_tokens(written, terms.output_usd);
    Usd::from_micros(u64::try_from(total.div_ceil(TOKENS_PER_PRICE)).ok()?)
}

fn micros_times_tokens(tokens: u64, usd: Usd) -> u128 {
    u128::from(tokens) * u128::from(usd.micros())
}

/// How a call fits into what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// With an answer as long as the model can write.
    Whole(Allowance),
    /// With a shorter one.
    Shortened(Allowance),
    /// Not at all: it would cost so much with the shortest useful answer.
    None(Usd),
}

/// What a call may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// What it may cost at most.
    pub(crate) amount: Usd,
    /// Tokens that its answer may have, when the prices are known.
    pub(crate) max_output_tokens: Option<u64>,
}

/// Fits a call that reads so many tokens into what is left.
pub(crate) fn fit(terms: &Terms, read: u64, left: Usd) -> Fit {
    let amount = |written: u64| most(terms, read, written).unwrap_or(Usd::MAX);
    let allowance = |written: u64| Allowance { amount: amount(written), max_output_tokens: Some(written) };
    let whole = allowance(terms.max_output_tokens);
    if whole.amount <= left {
        return Fit::Whole(whole);
    }
    let shortest = SHORTEST_USEFUL_OUTPUT.min(terms.max_output_tokens);
    if amount(shortest) > left {
        return Fit::None(amount(shortest));
    }
    let reading = micros_times_tokens(read.min(terms.context_window), terms.input_usd);
    let for_writing = (u128::from(left.micros()) * TOKENS_PER_PRICE).saturating_sub(reading);
    // A model that writes for nothing has no shortened answer: the whole one costs no more than the shortest.
    let tokens = for_writing / u128::from(terms.output_usd.micros()).max(1);
    let tokens = u64::try_from(tokens).unwrap_or(u64::MAX).clamp(shortest, terms.max_output_tokens);
    Fit::Shortened(allowance(tokens))
}

/// What the next model call of a task may cost, and what there is for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextCall {
    /// With an answer as long as the model can write.
    pub most: Usd,
    /// With the shortest answer that is of use: below this, no call is made.
    pub least: Usd,
    /// What is left in the budget that pays for it.
    pub left: Usd,
}

impl NextCall {
    /// What is missing before a call can be made at all.
    pub fn missing(&self) -> Option<Usd> {
        self.least.checked_sub(self.left).filter(|missing| *missing > Usd::ZERO)
    }
}

/// What the next model call of a task may cost, with all that waits for it to be read; none when nobody set a limit or
/// the prices are not known, because nothing was sent to its model yet.
pub fn next_call(state: &State, task: TaskId) -> Option<NextCall> {
    let owner = state.budget_owner(task)?;
    let session = state.session(task);
    let (terms, mut context) = (session.terms()?, session.context());
    context.add(state.inbox(task).pending().fold(Load::NONE, |load, message| load.and(message.load())));
    let read = context.worst();
    Some(NextCall {
        most: most(&terms, read, terms.max_output_tokens)?,
        least: most(&terms, read, SHORTEST_USEFUL_OUTPUT.min(terms.max_output_tokens))?,
        left: state.remaining(owner.id)?,
    })
}

/// What a task can do with the money that there is for it now, as the rest of a sentence that begins with its title.
pub fn what_money_allows(state: &State, task: TaskId) -> String {
    if state.session(task).asking().is_some() {
        return "goes on with more money".to_owned();
    }
    let left = state.budget_owner(task).and_then(|owner| state.remaining(owner.id));
    match (next_call(state, task), left) {
        (Some(next), _) => match next.missing() {
            Some(missing) => format!(
                "has {} left, and its next model call may cost up to {}: grant at least {missing} more",
                next.left, next.least
            ),
            None if next.most > next.left => format!(
                "has {} left, which pays for a short answer; a whole one may cost up to {}",
                next.left, next.most
            ),
            None => format!("has {} left, which pays for its next model call", next.left),
        },
        (None, Some(left)) => format!("has {left} left"),
        (None, None) => "has no limit".to_owned(),
    }
}
