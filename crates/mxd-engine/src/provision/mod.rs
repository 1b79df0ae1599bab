//! What agents are provided with: the manifest or the settings say which servers and tools there are, tasks narrow that
//! down, and what was accepted is held.
//!
//! `Stock` is what the project has, `Ledger` what a person accepted of it, and `Remit` what one task may use of it:
//! never more than the task above. Manifests and skills are files of the repository, which agents can change by
//! merging. So the manifest of the project is used as it was accepted, and what tasks name only takes away.

mod ledger;
mod narrow;
mod report;
mod skills;
mod stock;

pub(crate) use ledger::{Ledger, LedgerError};
pub(crate) use narrow::{Link, Remit, RemitError};
pub(crate) use report::tools as tool_reports;
pub use report::{ManifestReport, ServerReport, ServerState, ToolChange, ToolReport};
pub(crate) use skills::Skills;
pub use stock::Source;
pub(crate) use stock::{
    Stock, StockError, Supplied, accept as accept_manifest, parse as parse_manifest, read as read_manifest,
};
