//! Keeping the state beside the log, for the next start.

use std::sync::Arc;

use mxd_core::state::State;
use mxd_store::Log;

use super::fold::Fold;
use super::hub::Shown;
use crate::agents::Agents;

/// Keeps what is shown. Called where nothing is shown meanwhile: by the loop, and when it has ended. What goes wrong
/// costs the next start a moment, and nothing else.
pub(super) async fn keep(log: &Arc<Log>, shown: &Shown, agents: &Agents) {
    let through = shown.head();
    let fold = Fold { state: shown.look(State::clone), unwanted: agents.unwanted() };
    let log = Arc::clone(log);
    let kept = tokio::task::spawn_blocking(move || {
        let bytes = fold.keep().map_err(std::io::Error::from)?;
        log.save_snapshot(through.0, bytes)
    });
    match kept.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the state could not be kept for the next start"),
        Err(error) => tracing::warn!(%error, "the state could not be kept for the next start"),
    }
}
