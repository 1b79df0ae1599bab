//! Money as whole micro-dollars, because sums of floating point dollars drift.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An amount of US dollars, never negative, in steps of one millionth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(u64);

const MICROS_PER_DOLLAR: u64 = 1_000_000;

impl Usd {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// A billion dollars. Fifteen decimal digits are what a JSON number carries exactly through any reader.
    pub const MAX: Self = Self(1_000_000_000 * MICROS_PER_DOLLAR);

    /// From millionths of a dollar; `None` above [`Usd::MAX`].
    pub fn from_micros(micros: u64) -> Option<Self> {
        (micros <= Self::MAX.0).then_some(Self(micros))
    }

    /// From whole cents; `None` above [`Usd::MAX`].
    pub fn from_cents(cents: u64) -> Option<Self> {
        Self::from_micros(cents.checked_mul(MICROS_PER_DOLLAR / 100)?)
    }

    /// In millionths of a dollar.
    pub fn micros(self) -> u64 {
        self.0
    }

    /// The sum, unless it exceeds [`Usd::MAX`].
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Self::from_micros(self.0.checked_add(other.0)?)
    }

    /// The difference, unless it would be negative.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}

impl fmt::Display for Usd {
    /// Cents always, millionths only where they matter: `$1.50`, `$0.000125`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, micros) = (self.0 / MICROS_PER_DOLLAR, self.0 % MICROS_PER_DOLLAR);
        if micros.is_multiple_of(10_000) {
            write!(f, "${dollars}.{:02}", micros / 10_000)
        } else {
            write!(f, "${dollars}.{micros:06}")
        }
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(MICROS_PER_DOLLAR) {
            return serializer.serialize_u64(self.0 / MICROS_PER_DOLLAR);
        }
        #[expect(clippy::cast_precision_loss, reason = "at most 10^15, far below 2^53, so both are exact")]
        serializer.serialize_f64(self.0 as f64 / MICROS_PER_DOLLAR as f64)
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_f64(Dollars)
    }
}

struct Dollars;

impl Visitor<'_> for Dollars {
    type Value = Usd;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount of dollars from 0 to one billion")
    }

    fn visit_u64<E: de::Error>(self, dollars: u64) -> Result<Usd, E> {
        let micros = dollars.checked_mul(MICROS_PER_DOLLAR).and_then(Usd::from_micros);
        micros.ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(dollars), &self))
    }

    fn visit_f64<E: de::Error>(self, dollars: f64) -> Result<Usd, E> {
        #[expect(clippy::cast_precision_loss, reason = "one million is exact")]
        let micros = (dollars * MICROS_PER_DOLLAR as f64).round();
        if !(0.0..=1e15).contains(&micros) {
            return Err(E::invalid_value(de::Unexpected::Float(dollars), &self));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number in range"
        )]
        Ok(Usd(micros as u64))
    }
}
