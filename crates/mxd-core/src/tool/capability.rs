//! What a task may use: grants and denials, which only shrink on the way down the tree.
//!
//! A set is a stack of layers, the root's first. A tool is granted when every layer grants it and none denies
//! it, so whatever a child asks for, it gets a part of what its parent has. There is no operation that takes
//! a layer away.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::id::ToolId;
use super::limits;
use super::pattern::ToolPattern;

/// What a task may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Layers", into = "Layers")]
pub struct CapabilitySet {
    root: CapabilityLayer,
    narrowed: Vec<CapabilityLayer>,
}

/// Grants and denials that somebody wrote down. Without grants it grants nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CapabilityLayer {
    grants: Vec<ToolPattern>,
    denials: Vec<ToolPattern>,
}

/// Why there can be no such set.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum CapabilitySetError {
    #[error("{given} grants and denials in one layer, more than {limit}")]
    TooManyPatterns { given: usize, limit: usize },
    #[error("the capabilities have {given} layers, more than {limit}")]
    TooDeep { given: usize, limit: usize },
    #[error("the capabilities have no layer, and so nobody granted them")]
    NoLayer,
}

impl CapabilitySetError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooManyPatterns { .. } => "Use wildcards.",
            Self::TooDeep { .. } => "Leave the capabilities of the child as those of its parent.",
            Self::NoLayer => "Write at least one layer with its grants.",
        }
    }
}

/// The rule that grants a tool: the one of the layer furthest down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The grant.
    pub rule: ToolPattern,
}

/// Why a tool is not granted. Layers are counted from the root's, which is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ungranted {
    /// A denial covers it.
    Denial {
        /// The denial.
        rule: ToolPattern,
        /// Whose it is.
        layer: usize,
    },
    /// No grant of a layer covers it.
    NoGrant {
        /// The first layer that has none.
        layer: usize,
    },
}

impl fmt::Display for Ungranted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denial { rule, layer } => write!(f, "denial {rule} of layer {layer}"),
            Self::NoGrant { layer } => write!(f, "no grant in layer {layer}"),
        }
    }
}

impl CapabilityLayer {
    /// A layer that grants these and denies nothing; order and repetition make no difference.
    pub fn granting(grants: impl IntoIterator<Item = ToolPattern>) -> Result<Self, CapabilitySetError> {
        Self { grants: sorted(grants), denials: Vec::new() }.checked()
    }

    /// The layer with these denials added to those it has.
    pub fn denying(self, denials: impl IntoIterator<Item = ToolPattern>) -> Result<Self, CapabilitySetError> {
        let denials = sorted(self.denials.into_iter().chain(denials));
        Self { grants: self.grants, denials }.checked()
    }

    /// What it grants, sorted.
    pub fn grants(&self) -> &[ToolPattern] {
        &self.grants
    }

    /// What it denies, sorted.
    pub fn denials(&self) -> &[ToolPattern] {
        &self.denials
    }

    fn checked(self) -> Result<Self, CapabilitySetError> {
        let given = self.grants.len() + self.denials.len();
        if given > limits::PATTERNS_PER_LAYER {
            return Err(CapabilitySetError::TooManyPatterns { given, limit: limits::PATTERNS_PER_LAYER });
        }
        Ok(self)
    }

    /// Whether it lets through whatever the layers above let through.
    fn is_neutral(&self) -> bool {
        self.denials.is_empty() && self.grants.iter().any(ToolPattern::is_any)
    }
}

fn sorted(patterns: impl IntoIterator<Item = ToolPattern>) -> Vec<ToolPattern> {
    let mut patterns: Vec<ToolPattern> = patterns.into_iter().collect();
    patterns.sort();
    patterns.dedup();
    patterns
}

impl CapabilitySet {
    /// The set of a root task.
    pub fn root(layer: CapabilityLayer) -> Self {
        Self { root: layer, narrowed: Vec::new() }
    }

    /// The set that grants nothing.
    pub fn none() -> Self {
        Self::root(CapabilityLayer::default())
    }

    /// The set of a child that asks for this: never more than the parent has.
    ///
    /// A layer that changes nothing is not added, so that a long line of tasks that pass on what they have
    /// stays small.
    pub fn child(&self, requested: CapabilityLayer) -> Result<Self, CapabilitySetError> {
        if requested.is_neutral() || self.layers().any(|layer| *layer == requested) {
            return Ok(self.clone());
        }
        let mut narrowed = self.narrowed.clone();
        narrowed.push(requested);
        let given = 1 + narrowed.len();
        if given > limits::CAPABILITY_LAYERS {
            return Err(CapabilitySetError::TooDeep { given, limit: limits::CAPABILITY_LAYERS });
        }
        Ok(Self { root: self.root.clone(), narrowed })
    }

    /// The layers, the root's first.
    pub fn layers(&self) -> impl Iterator<Item = &CapabilityLayer> {
        std::iter::once(&self.root).chain(&self.narrowed)
    }

    /// Whether a tool is granted, and by which rule or against which one. A denial always wins.
    pub fn is_granted(&self, id: &ToolId) -> Result<Granted, Ungranted> {
        let covering = |patterns: &[ToolPattern]| patterns.iter().find(|rule| rule.matches(id)).cloned();
        for (layer, rules) in self.layers().enumerate() {
            if let Some(rule) = covering(&rules.denials) {
                return Err(Ungranted::Denial { rule, layer });
            }
        }
        let mut granted = covering(&self.root.grants).ok_or(Ungranted::NoGrant { layer: 0 })?;
        for (index, rules) in self.narrowed.iter().enumerate() {
            granted = covering(&rules.grants).ok_or(Ungranted::NoGrant { layer: index + 1 })?;
        }
        Ok(Granted { rule: granted })
    }
}

/// How a set is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layers {
    layers: Vec<CapabilityLayer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredLayer {
    #[serde(default)]
    grants: Vec<ToolPattern>,
    #[serde(default)]
    denials: Vec<ToolPattern>,
}

impl<'de> Deserialize<'de> for CapabilityLayer {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = StoredLayer::deserialize(deserializer)?;
        let layer = Self::granting(stored.grants).and_then(|layer| layer.denying(stored.denials));
        layer.map_err(serde::de::Error::custom)
    }
}

impl TryFrom<Layers> for CapabilitySet {
    type Error = CapabilitySetError;

    fn try_from(stored: Layers) -> Result<Self, CapabilitySetError> {
        let given = stored.layers.len();
        if given > limits::CAPABILITY_LAYERS {
            return Err(CapabilitySetError::TooDeep { given, limit: limits::CAPABILITY_LAYERS });
        }
        let mut layers = stored.layers.into_iter();
        let root = layers.next().ok_or(CapabilitySetError::NoLayer)?;
        Ok(Self { root, narrowed: layers.collect() })
    }
}

impl From<CapabilitySet> for Layers {
    fn from(set: CapabilitySet) -> Self {
        Self { layers: std::iter::once(set.root).chain(set.narrowed).collect() }
    }
}
