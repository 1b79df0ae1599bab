//! The commands of one agent: started, watched, moved to the background, ended.
//!
//! [`Processes`] knows all of them. Each has a task of its own that owns the child and pumps its
//! output; when it ends, the one who waits for it or the queue of [`Completion`]s gets the
//! result, never both. Nothing outlives [`Processes::close`], nor the last handle.

mod cwd;
mod end;
mod foreground;
mod limit_notes;
pub mod limits;
mod live;
mod output;
mod processes;
mod run;
mod start;
mod table;
pub(crate) mod text;
mod waiting;

pub use end::Ending;
pub use live::{CallId, Live, Watcher};
pub use processes::Processes;
pub use start::StartError;
pub use table::{Completion, Snapshot, State};
pub use waiting::Awaited;

pub(crate) use foreground::{Moved, Mover, Waited};
pub(crate) use live::Feed;
pub(crate) use output::{Output, Shown};
pub(crate) use start::Order;
pub(crate) use table::Ended;
