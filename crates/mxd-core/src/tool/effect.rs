//! Side-effect classes: what a tool does to the world. The set is closed.

use std::fmt;
use std::str::FromStr;

use serde::de::Deserialize;
use serde::{Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::spelling::text_serde;
use super::text::Quoted;

/// What a tool does to the world. A tool has exactly one class: its gravest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SideEffect {
    /// It only looks.
    Read,
    /// It changes something on this machine.
    Write,
    /// It talks to others.
    Network,
    /// It runs programs.
    Shell,
    /// It acts on a chain, where nothing can be taken back.
    Chain,
}

impl SideEffect {
    /// All classes.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Network, Self::Shell, Self::Chain];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Network => "network",
            Self::Shell => "shell",
            Self::Chain => "chain",
        }
    }

    fn bit(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::Write => 2,
            Self::Network => 4,
            Self::Shell => 8,
            Self::Chain => 16,
        }
    }
}

/// A word that is no side-effect class.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{given}` is no side-effect class; there are read, write, network, shell and chain")]
pub struct InvalidSideEffect {
    /// The word.
    pub given: Quoted,
}

impl FromStr for SideEffect {
    type Err = InvalidSideEffect;

    fn from_str(text: &str) -> Result<Self, InvalidSideEffect> {
        let found = Self::ALL.into_iter().find(|effect| effect.name() == text);
        found.ok_or_else(|| InvalidSideEffect { given: Quoted::of(text) })
    }
}

impl fmt::Display for SideEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

text_serde!(SideEffect);

/// Some of the classes. An empty set means none, never all.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct EffectSet(u8);

impl EffectSet {
    /// No class.
    pub const NONE: Self = Self(0);

    /// Whether it has this class.
    pub fn contains(self, effect: SideEffect) -> bool {
        self.0 & effect.bit() != 0
    }

    /// The set and this class.
    #[must_use]
    pub fn with(self, effect: SideEffect) -> Self {
        Self(self.0 | effect.bit())
    }

    /// The set without this class.
    #[must_use]
    pub fn without(self, effect: SideEffect) -> Self {
        Self(self.0 & !effect.bit())
    }

    /// Its classes, in the order of [`SideEffect::ALL`].
    pub fn iter(self) -> impl Iterator<Item = SideEffect> {
        SideEffect::ALL.into_iter().filter(move |effect| self.contains(*effect))
    }
}

impl FromIterator<SideEffect> for EffectSet {
    fn from_iter<I: IntoIterator<Item = SideEffect>>(effects: I) -> Self {
        effects.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Display for EffectSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(SideEffect::name).collect();
        if names.is_empty() { f.write_str("none") } else { f.write_str(&names.join(", ")) }
    }
}

impl fmt::Debug for EffectSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for EffectSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for EffectSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<SideEffect>::deserialize(deserializer).map(Self::from_iter)
    }
}
