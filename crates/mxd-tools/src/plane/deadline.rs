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
/// dropped, which ends the commands it has started. Time that is over while the call is held up begins again.
pub async fn within<F: Future<Output = Outcome>>(
    (patience, is_held_up): (Duration, impl Fn() -> bool),
    cancel: &CancellationToken,
    work: impl FnOnce(CancellationToken) -> F,
) -> Ran {
    let stop = cancel.child_token();
    let work = work(stop.clone());
    tokio::pin!(work);
    let wrap: fn(Outcome) -> Ran = loop {
        tokio::select! {
            biased;
            outcome = &mut work => {
                return if cancel.is_cancelled() { Ran::Cancelled(outcome) } else { Ran::Done(outcome) };
            }
            () = cancel.cancelled() => break Ran::Cancelled,
            () = tokio::time::sleep(patience) => {}
        }
        if !is_held_up() {
            break Ran::TimedOut;
        }
    };
    stop.cancel();
    let stopped = tokio::time::timeout(GRACE, work).await;
    wrap(
        stopped.unwrap_or_else(|_left| {
            Outcome::error("the tool did not stop when it was told to, and was left")
        }),
    )
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_stands_still_while_a_call_is_held_up() {
        let looks = Cell::new(0);
        let is_held_up = || {
            looks.set(looks.get() + 1);
            looks.get() < 3
        };
        let work = |stop: CancellationToken| async move {
            stop.cancelled().await;
            Outcome::error("stopped")
        };
        let began = tokio::time::Instant::now();
        let ran = within((Duration::from_secs(1), is_held_up), &CancellationToken::new(), work).await;
        assert!(matches!(ran, Ran::TimedOut(_)), "{ran:?}");
        assert_eq!((looks.get(), began.elapsed().as_secs()), (3, 3));
    }
}
