//! How long a random test runs: a fixed small number of rounds in the suite, minutes of fresh ones under chaos.
//!
//! Included by the test binaries of several crates.

use std::time::{Duration, Instant};

/// The rounds of a random test, each with its own seed.
pub(crate) fn seeds(in_suite: u64) -> Box<dyn Iterator<Item = u64>> {
    let first: u64 = number("MXD_CHAOS_SEED").unwrap_or(1);
    match number::<f64>("MXD_CHAOS_MINUTES") {
        None => Box::new(first..first + in_suite),
        Some(minutes) => {
            let end = now() + Duration::from_secs_f64(60.0 * minutes);
            Box::new((first..).take_while(move |_| now() < end))
        }
    }
}

/// A size that chaos multiplies.
pub(crate) fn size(in_suite: usize, in_chaos: usize) -> usize {
    if number::<f64>("MXD_CHAOS_MINUTES").is_some() { in_chaos } else { in_suite }
}

fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

#[expect(clippy::disallowed_methods, reason = "chaos runs for minutes, not for a number of rounds")]
fn now() -> Instant {
    Instant::now()
}
