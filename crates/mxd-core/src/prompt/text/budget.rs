//! Money as agents are told about it.

use crate::money::Usd;

/// What a task may spend, with everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Funds {
    /// Nobody set a limit.
    Unlimited,
    /// A limit.
    Limited {
        /// What it was given.
        given: Usd,
        /// What it has spent and set aside.
        spent: Usd,
    },
}

impl Funds {
    /// One line about it.
    pub fn line(self) -> String {
        match self {
            Self::Unlimited => "no limit was set".to_owned(),
            Self::Limited { given, spent } if spent == Usd::ZERO => {
                format!("{given}, shared with every task below yours")
            }
            Self::Limited { given, spent } => {
                let left = given.checked_sub(spent).unwrap_or(Usd::ZERO);
                format!("{left} left of {given}, shared with every task below yours")
            }
        }
    }
}
