//! A stream whose bytes are counted and whose silence is noticed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until};

/// What passed through a stream, and when the last byte did.
#[derive(Debug)]
pub(super) struct Meter {
    up: AtomicU64,
    down: AtomicU64,
    limit: u64,
    began: Instant,
    /// Milliseconds after the beginning.
    last: AtomicU64,
}

impl Meter {
    pub(super) fn new(limit: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            up: AtomicU64::new(0),
            down: AtomicU64::new(0),
            limit: limit.unwrap_or(u64::MAX),
            began: Instant::now(),
            last: AtomicU64::new(0),
        })
    }

    /// Bytes written to the stream.
    pub(super) fn up(&self) -> u64 {
        self.up.load(Ordering::Relaxed)
    }

    /// Bytes read from the stream.
    pub(super) fn down(&self) -> u64 {
        self.down.load(Ordering::Relaxed)
    }

    /// Comes back when nothing has passed for so long.
    pub(super) async fn silence(&self, patience: Duration) {
        while !self.is_silent(patience) {
            sleep_until(self.last() + patience).await;
        }
    }

    /// Whether nothing has passed for so long.
    pub(super) fn is_silent(&self, patience: Duration) -> bool {
        self.last() + patience <= Instant::now()
    }

    fn last(&self) -> Instant {
        self.began + Duration::from_millis(self.last.load(Ordering::Relaxed))
    }

    fn touch(&self) {
        let since = self.began.elapsed().as_millis();
        self.last.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn count(&self, counter: &AtomicU64, bytes: usize) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        counter.fetch_add(bytes as u64, Ordering::Relaxed);
        self.touch();
        if self.up().saturating_add(self.down()) > self.limit {
            return Err(io::Error::other("more bytes than one connection may move"));
        }
        Ok(())
    }
}

/// A stream with its meter.
#[derive(Debug)]
pub(super) struct Metered<S> {
    stream: S,
    meter: Arc<Meter>,
}

impl<S> Metered<S> {
    /// Silence counts from here, not from when the meter was made.
    pub(super) fn new(stream: S, meter: &Arc<Meter>) -> Self {
        meter.touch();
        Self { stream, meter: Arc::clone(meter) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
        Poll::Ready(this.meter.count(&this.meter.down, buf.filled().len() - before))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write(cx, buf))?;
        this.meter.count(&this.meter.up, written)?;
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write_vectored(cx, bufs))?;
        this.meter.count(&this.meter.up, written)?;
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::advance;

    use super::*;

    const STEP: Duration = Duration::from_secs(6);
    const PATIENCE: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn silence_counts_from_the_last_byte_in_either_direction() {
        let meter = Meter::new(None);
        advance(STEP).await;
        let (near, mut far) = duplex(16);
        let mut near = Metered::new(near, &meter);
        advance(STEP).await;
        assert!(!meter.is_silent(PATIENCE));
        near.write_all(b"up").await.unwrap();
        advance(STEP).await;
        assert!(!meter.is_silent(PATIENCE));
        far.write_all(b"down").await.unwrap();
        near.read_exact(&mut [0; 4]).await.unwrap();
        advance(STEP).await;
        assert!(!meter.is_silent(PATIENCE));
        advance(STEP).await;
        assert!(meter.is_silent(PATIENCE));
        meter.silence(PATIENCE).await;
        assert_eq!((meter.up(), meter.down()), (2, 4));
    }
}
