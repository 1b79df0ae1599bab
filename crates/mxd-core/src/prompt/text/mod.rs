//! Every sentence that Matrix itself puts into a conversation, as functions from plain data to text.
//!
//! [`SYSTEM`] is read by every agent and says when and why; what tools do stands in their descriptions. All
//! else is put together here from what is known, the same way every time: a conversation that is built again
//! from the log has to come out byte for byte. Words of others are fenced ([`Fence`]), so that a
//! reader always sees whose they are; only the program writes outside of fences.

mod budget;
mod compaction;
mod fence;
mod first;
mod memory;
mod message;
mod notice;
mod stamp;
mod tools;
mod waiting;

pub use budget::Funds;
pub use compaction::{
    Checkpoint, INSTRUCTION, Kept, KeptChild, KeptQuestion, Prose, SECTIONS, UserWords, prose, resume,
};
pub use fence::{Fence, TAGS, cut};
pub use first::{Above, Base, FirstMessage, SkillLine, Workplace};
pub use memory::{CURATION, Memory, MemoryChange, PATH as MEMORY_PATH};
pub use message::message;
pub use notice::Notice;
pub use stamp::stamp;
pub use tools::{active_skill, tool_troubles, withheld};
pub use waiting::{ForkSide, Pending, PendingTask, fork_result, woken_after_done, yield_result};

/// What every agent reads first. One text for all of them, so that all of them share it in the provider's cache.
pub const SYSTEM: &str = include_str!("system.md");

/// What the root reads beside it when the project is the program that runs it. Nobody else does, so that the others go on
/// sharing one beginning.
pub const SELF_BOOTSTRAP: &str = include_str!("self_bootstrap.md");
