//! What a call costs.

use mxd_core::money::Usd;

use crate::chunk::Usage;
use crate::models::{Model, Prices};

const TOKENS_PER_PRICE: u128 = 1_000_000;

/// The price of this usage. Rounded up to a millionth of a dollar, once, so that sums never understate; `None`
/// when it exceeds what [`Usd`] holds.
pub fn cost(model: &Model, usage: &Usage) -> Option<Usd> {
    let prices = prices_for(model, usage);
    let reasoning = usage.reasoning.min(usage.output);
    let parts = [
        (usage.input, prices.input),
        (usage.cache_read, prices.cache_read),
        (usage.cache_write_5m, prices.cache_write_5m),
        (usage.cache_write_1h, prices.cache_write_1h),
        (usage.output - reasoning, prices.output),
        (reasoning, prices.reasoning.unwrap_or(prices.output)),
    ];
    let total: u128 =
        parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(price.micros())).sum();
    let micros = total.div_ceil(TOKENS_PER_PRICE);
    Usd::from_micros(u64::try_from(micros).ok()?)
}

/// Long prompts have prices of their own at some models, for the whole request.
fn prices_for<'a>(model: &'a Model, usage: &Usage) -> &'a Prices {
    match &model.long_context {
        Some(long) if usage.prompt() > long.above_tokens => &long.prices,
        Some(_) | None => &model.prices,
    }
}
