//! Ids: one type per thing, so that a message id can never be passed where a task id is meant.
//!
//! All of them are ULIDs, written as the 26 characters of Crockford's base 32 and read in either case.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;
pub use ulid::Ulid;

/// What every id of the domain can do, so that [`Fresh`] can issue any of them.
pub trait Id: Copy + From<Ulid> {
    /// The number behind the text.
    fn ulid(self) -> Ulid;
}

/// Why a text is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ParseIdError {
    /// Ids are never shortened where they are stored.
    #[error("an id has {} characters, this has {given}", ulid::ULID_LEN)]
    Length {
        /// How many bytes were given.
        given: usize,
    },
    /// A character outside Crockford's base 32.
    #[error("an id is made of digits and letters without I, L, O and U")]
    Character,
    /// 26 characters hold 130 bits and an id has 128, so the first character ends at 7.
    #[error("an id starts with a digit from 0 to 7")]
    TooLarge,
}

/// Parses a text that must be a whole id.
fn parse(text: &str) -> Result<Ulid, ParseIdError> {
    let number = Ulid::from_string(text).map_err(|problem| match problem {
        ulid::DecodeError::InvalidLength => ParseIdError::Length { given: text.len() },
        ulid::DecodeError::InvalidChar => ParseIdError::Character,
    })?;
    // The decoder drops the two highest bits instead of refusing them, which would give two texts the same
    // id.
    match text.as_bytes().first() {
        Some(b'0'..=b'7') => Ok(number),
        Some(_) | None => Err(ParseIdError::TooLarge),
    }
}

struct UlidText;

impl Visitor<'_> for UlidText {
    type Value = Ulid;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id of 26 characters")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Ulid, E> {
        parse(text).map_err(E::custom)
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Ulid);

        impl Id for $name {
            fn ulid(self) -> Ulid {
                self.0
            }
        }

        impl From<Ulid> for $name {
            fn from(number: Ulid) -> Self {
                Self(number)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.0.array_to_str(&mut [0; ulid::ULID_LEN]))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                parse(text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.0.array_to_str(&mut [0; ulid::ULID_LEN]))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(UlidText).map(Self)
            }
        }
    )+};
}

ids! {
    /// A project: one repository, one tree, one log.
    ProjectId;
    /// A node of the tree, task or folder. The conversation of a task has the same id.
    TaskId;
    /// A message; given by its sender, so that posting it twice delivers it once.
    MessageId;
    /// A question an agent put to the user.
    ClarificationId;
    /// A tool call that waits for the user's word.
    ApprovalId;
    /// Money set aside for one model call until its real cost is known.
    ReservationId;
}

/// New ids for one decision, counted up from a seed that arrives with the input.
///
/// A decision must not draw random numbers, or replaying an input would give another log. The seed carries 80
/// random bits, so that the short runs counted from two seeds do not meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    next: u128,
}

impl Fresh {
    /// Starts counting at the seed.
    pub fn from_seed(seed: Ulid) -> Self {
        Self { next: seed.0 }
    }

    /// Issues the next id, of whatever kind is asked for.
    pub fn issue<I: Id>(&mut self) -> I {
        let issued = Ulid(self.next);
        self.next = self.next.wrapping_add(1);
        I::from(issued)
    }
}
