//! The two values a chaos run is made of: how long, and from which seed.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU64;
use std::str::FromStr;

const WEEK: f64 = 7.0 * 24.0 * 60.0;

/// A time in minutes, more than none and at most a week.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Minutes(f64);

impl Minutes {
    /// The share of each of `parts` tests.
    pub(super) fn split(self, parts: usize) -> Self {
        let parts = u32::try_from(parts.max(1)).unwrap_or(u32::MAX);
        Self(self.0 / f64::from(parts))
    }
}

impl FromStr for Minutes {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(minutes) if minutes > 0.0 && minutes <= WEEK => Ok(Self(minutes)),
            _ => Err("give minutes as a number above 0, at most 10080 (a week)"),
        }
    }
}

impl fmt::Display for Minutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How long a test runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Length {
    /// Until the time is over.
    Minutes(Minutes),
    /// So many rounds, however long they take.
    Rounds(NonZeroU64),
}

impl Length {
    /// The variable that tells the test.
    pub(super) fn variable(self) -> (&'static str, String) {
        match self {
            Self::Minutes(minutes) => ("MXD_CHAOS_MINUTES", minutes.to_string()),
            Self::Rounds(rounds) => ("MXD_CHAOS_ROUNDS", rounds.to_string()),
        }
    }

    /// The arguments that ask for it.
    pub(super) fn arguments(self) -> String {
        match self {
            Self::Minutes(minutes) => format!("--minutes {minutes}"),
            Self::Rounds(rounds) => format!("--rounds {rounds}"),
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minutes(minutes) => write!(f, "{minutes} min"),
            Self::Rounds(rounds) => write!(f, "{rounds} rounds"),
        }
    }
}

/// Where a run's randomness starts; the same seed repeats the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed(u64);

impl Seed {
    /// A seed nobody chose: the standard library keys its hashers with the system's randomness.
    pub(super) fn fresh() -> Self {
        Self(RandomState::new().hash_one("seed"))
    }
}

impl FromStr for Seed {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self).map_err(|_| "give the seed as a whole number below 2^64")
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_shared_evenly() {
        let five: Minutes = "5".parse().unwrap();
        assert_eq!(five.split(4).to_string(), "1.25");
        assert_eq!(five.split(1).to_string(), "5");
    }

    #[test]
    fn minutes_that_are_no_time_are_refused() {
        for text in ["0", "-1", "NaN", "inf", "10081", "soon", ""] {
            assert!(text.parse::<Minutes>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_printed_seed_reads_back() {
        let seed = Seed::fresh();
        assert_eq!(seed.to_string().parse(), Ok(seed));
    }

    #[test]
    fn fresh_seeds_differ() {
        assert_ne!(Seed::fresh(), Seed::fresh());
    }
}
