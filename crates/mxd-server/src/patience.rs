//! Deadlines that are set for every request and nearly never reached.
//!
//! The timer of a connection: each of its deadlines is later than the one before, so one alarm of the runtime is enough
//! for all of them. It rings at the first and is set anew only then, to the deadline that holds by that time.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use tokio::time::Sleep as Alarm;

/// The timer of one connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patience {
    alarm: Arc<Mutex<Option<Pin<Box<Alarm>>>>>,
}

/// One deadline of it.
struct Deadline {
    at: Instant,
    timer: Patience,
}

impl Timer for Patience {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, at: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Deadline { at, timer: self.clone() })
    }

    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}

impl Sleep for Deadline {}

impl Future for Deadline {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let at = self.at.into();
        let mut alarm = self.timer.alarm.lock().unwrap_or_else(PoisonError::into_inner);
        let alarm = alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
        loop {
            if alarm.deadline() > at {
                alarm.as_mut().reset(at);
            }
            ready!(alarm.as_mut().poll(context));
            if alarm.deadline() == at || tokio::time::Instant::now() >= at {
                return Poll::Ready(());
            }
            alarm.as_mut().reset(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_deadline_holds_however_often_it_was_put_off() {
        let (timer, begin) = (Patience::default(), tokio::time::Instant::now());
        let second = Duration::from_secs(1);
        for turn in 1..=5 {
            let mut deadline = timer.sleep(10 * second);
            assert!(futures_util::poll!(deadline.as_mut()).is_pending());
            tokio::time::sleep(3 * second).await;
            assert_eq!(begin.elapsed(), 3 * turn * second);
            assert!(futures_util::poll!(deadline.as_mut()).is_pending(), "{turn}");
        }
        timer.sleep(10 * second).await;
        assert_eq!(begin.elapsed().as_secs(), 25);
        // Also one that is earlier than the alarm was set to.
        let late = futures_util::poll!(timer.sleep(10 * second));
        assert!(late.is_pending());
        timer.sleep(second).await;
        assert_eq!(begin.elapsed().as_secs(), 26);
    }
}
