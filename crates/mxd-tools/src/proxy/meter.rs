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
        loop {
            let last = self.began + Duration::from_millis(self.last.load(Ordering::Relaxed));
            let end = last + patience;
            if end <= Instant::now() {
                return;
            }
            sleep_until(end).await;
        }
    }

    fn count(&self, counter: &AtomicU64, bytes: usize) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        counter.fetch_add(bytes as u64, Ordering::Relaxed);
        let since = self.began.elapsed().as_millis();
        self.last.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
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
    pub(super) fn new(stream: S, meter: &Arc<Meter>) -> Self {
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
