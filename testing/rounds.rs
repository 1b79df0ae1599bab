//! How long a random test runs: a fixed small number of rounds in the suite, under chaos minutes of fresh ones or a
//! number that was asked for.
//!
//! Included by the test binaries of several crates.

use std::time::{Duration, Instant};

/// The rounds of a random test, each with its own seed.
pub(crate) fn seeds(in_suite: u64) -> Box<dyn Iterator<Item = u64> + Send> {
    let first: u64 = number("MXD_CHAOS_SEED").unwrap_or(1);
    let seed = move |round: u64| first.wrapping_add(round);
    match (number("MXD_CHAOS_ROUNDS"), number::<f64>("MXD_CHAOS_MINUTES")) {
        (Some(rounds), _) => Box::new((0..rounds).map(seed)),
        (None, None) => Box::new((0..in_suite).map(seed)),
        (None, Some(minutes)) => {
            let end = now() + Duration::from_secs_f64(60.0 * minutes);
            Box::new((0..).map(seed).take_while(move |_| now() < end))
        }
    }
}

/// A size that chaos multiplies.
pub(crate) fn size(in_suite: usize, in_chaos: usize) -> usize {
    let asked = ["MXD_CHAOS_MINUTES", "MXD_CHAOS_ROUNDS"];
    if asked.iter().any(|name| number::<f64>(name).is_some()) { in_chaos } else { in_suite }
}

fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

#[expect(clippy::disallowed_methods, reason = "chaos runs for minutes, not for a number of rounds")]
fn now() -> Instant {
    Instant::now()
}
