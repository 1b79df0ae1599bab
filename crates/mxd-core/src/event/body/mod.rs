//! What each persisted event says, one struct per type, grouped by subject.
//!
//! Fields are written in camelCase. No struct may have a field named `task` or `type`: those are the event's
//! own.

mod ask;
mod conversation;
mod money;
mod sampling;
mod session;
mod system;
mod tree;
mod words;

pub use ask::*;
pub use conversation::*;
pub use money::*;
pub use sampling::*;
pub use session::*;
pub use system::*;
pub use tree::*;
pub use words::*;
