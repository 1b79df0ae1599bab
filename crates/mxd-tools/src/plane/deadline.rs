//! A call within its time: cancelled or too late, it has a moment to tidy up, and then it is left.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::outcome::Outcome;

/// How long a tool that is to stop may take to do so. Ending the commands of a call takes less.
pub const GRACE: Duration = Duration::from_secs(3);

/// How a call came to its end.
#[derive(Debug, Clone, PartialEq)]
pub enum Ran {
    /// By itself.
    Done(Outcome),
    /// It was cancelled; what it came to until then.
    Cancelled(Outcome),
    /// It took too long; what it came to until then.
    TimedOut(Outcome),
}

/// Lets a call run until it ends, is cancelled, or its time is over.
///
/// `work` is given a token of its own that says when to stop. What it is doing when it does not heed it is
/// dropped, which ends the commands it has started.
pub async fn within<F: Future<Output = Outcome>>(
    patience: Duration,
    cancel: &CancellationToken,
    work: impl FnOnce(CancellationToken) -> F,
) -> Ran {
    let stop = cancel.child_token();
    let work = work(stop.clone());
    tokio::pin!(work);
    let wrap: fn(Outcome) -> Ran = tokio::select! {
        biased;
        outcome = &mut work => {
            return if cancel.is_cancelled() { Ran::Cancelled(outcome) } else { Ran::Done(outcome) };
        }
        () = cancel.cancelled() => Ran::Cancelled,
        () = tokio::time::sleep(patience) => Ran::TimedOut,
    };
    stop.cancel();
    let stopped = tokio::time::timeout(GRACE, work).await;
    wrap(
        stopped.unwrap_or_else(|_left| {
            Outcome::error("the tool did not stop when it was told to, and was left")
        }),
    )
}
