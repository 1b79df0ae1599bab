//! What is known about a tool that is to be called.

use super::effect::SideEffect;
use super::id::{PinnedTool, ToolId};
use super::pin::Pin;

/// What the registry knows about a tool. What it does not know, the gate takes for a no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFacts {
    /// Which tool.
    pub id: ToolId,
    /// Whether it is held to a version.
    pub pin: PinState,
    /// What it does to the world, as its manifest says; none when nobody said.
    pub effect: Option<SideEffect>,
}

/// Whether a tool is held to a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PinState {
    /// It is, and it is that version.
    Held(Pin),
    /// It is, but its server now offers something else.
    Changed {
        /// What it is held to.
        held: Pin,
        /// What is there.
        found: Pin,
    },
    /// It is not.
    Missing,
}

impl ToolFacts {
    /// The tool in the version it is held to, when it is that version.
    pub fn pinned(&self) -> Option<PinnedTool> {
        match &self.pin {
            PinState::Held(pin) => Some(PinnedTool { id: self.id.clone(), pin: pin.clone() }),
            PinState::Changed { .. } | PinState::Missing => None,
        }
    }
}

/// What a called name turned out to be.
#[derive(Debug, Clone, Copy)]
pub enum Known<'a> {
    /// A tool of the registry.
    Tool(&'a ToolFacts),
    /// A native tool, which manifests may list and nobody can call.
    Native,
    /// Nothing we know.
    Unknown,
}
