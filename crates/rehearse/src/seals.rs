//! Thinking comes back as it was said.
//!
//! The service signs what the model thinks and refuses it when it was altered. Here a signature is remembered with its
//! text. One that was never given out is let through: tests may begin with a history from elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::script::{Block, Reply};
use crate::view::{Part, View};
use crate::violation::Violation;
use crate::wire::made_signature;

/// What was thought, by signature. A script may use one signature for several thoughts.
#[derive(Debug, Default)]
pub(crate) struct Seals(BTreeMap<String, BTreeSet<String>>);

impl Seals {
    /// Remembers what a reply seals.
    pub(crate) fn note(&mut self, reply: &Reply, number: u64) {
        for (index, block) in reply.blocks.iter().enumerate() {
            if let Block::Thinking { text, signature } = block {
                let seal = signature.clone().unwrap_or_else(|| made_signature(number, index));
                self.0.entry(seal).or_default().insert(text.clone());
            }
        }
    }

    /// The first thought of a request that is not what was sealed.
    pub(crate) fn broken(&self, view: &View) -> Option<Violation> {
        let parts = view.messages.iter().enumerate().flat_map(|(at, message)| {
            message.parts.iter().enumerate().map(move |(block, part)| (at, block, part))
        });
        let altered = |part: &Part| match part {
            Part::Thinking { text, seal: Some(seal) } => {
                self.0.get(seal).is_some_and(|texts| !texts.contains(text))
            }
            _ => false,
        };
        let (message, block, _) = parts.into_iter().find(|(_, _, part)| altered(part))?;
        let told = format!(
            "messages.{message}.content.{block}: `thinking` or `redacted_thinking` blocks in the latest assistant \
             message cannot be modified. These blocks must remain as they were in the original response."
        );
        Some(Violation::new("thinking-altered", told))
    }
}
