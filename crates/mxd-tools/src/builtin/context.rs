//! What a running call has besides its arguments.

use tokio_util::sync::CancellationToken;

use crate::scope::Scope;
use crate::shell::{CallId, Watcher};

/// What a running call has besides its arguments.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Where it happens.
    pub scope: &'a Scope,
    /// Its name.
    pub call: &'a CallId,
    /// Who watches.
    pub watcher: &'a Watcher,
    /// Whether it is still wanted.
    pub cancel: &'a CancellationToken,
}
