//! Git for agents: every task has its own worktree and branch, nothing in them is ever lost, and what comes back is
//! merged where nobody is disturbed.
//!
//! The user's repository is shared with agents that may write to parts of it. So git is told about the shared folder
//! only, sees nothing but what [`Git`] says, changes one thing at a time ([`Lanes`]), and what agents can have touched
//! is read with suspicion. Programs of the project are never run here; see [`Errand`].

mod admin;
mod blobs;
mod changes;
mod errand;
mod error;
mod files;
mod filtered;
pub mod grave;
mod heads;
mod history;
mod identity;
mod import;
pub mod init;
mod inspect;
mod lane;
pub mod limits;
mod living;
pub mod merge;
mod names;
mod private;
mod record;
mod refs;
mod repository;
mod review;
mod run;
pub mod scratch;
mod snapshot;
pub mod space;
mod status;
mod sweep;
pub mod task_files;
pub mod view;
pub mod worktree;

pub use changes::Names;
pub use errand::{End, Errand, Ran};
pub use error::GitError;
pub use filtered::filtered_work;
pub use history::{Logged, history};
pub use identity::{Identity, IdentityError};
pub use inspect::Inspector;
pub use lane::Lanes;
pub use living::{Inhabitant, inhabitants};
pub use names::{Branch, NAMESPACE, NameError, ObjectId, Slug};
pub use refs::RefError;
pub use repository::{Checkout, Head, OpenError, Repository};
pub use review::{FileChange, FileStatus, Review, review};
pub use run::Git;
pub use status::{Diff, Drift, Stands, Status, diff, status};
