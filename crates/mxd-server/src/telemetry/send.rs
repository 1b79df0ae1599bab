//! Carrying spans to the collector: in batches, a few times, and never at anybody's expense.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mxd_core::time::Millis;
use reqwest::{Client, Url, redirect};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::measure::Measures;
use super::trace::Span;
use super::{Collector, Counts, otlp};
use crate::{clock, limits};

pub(super) struct Sender {
    client: Client,
    collector: Collector,
    counts: Arc<Counts>,
    measures: Measures,
    since: Millis,
    /// Whether the last batch arrived: what changes is written once, not with every batch.
    well: bool,
}

impl Sender {
    pub(super) fn new(collector: Collector, counts: Arc<Counts>, since: Millis) -> Option<Self> {
        let client = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .timeout(limits::TELEMETRY_PATIENCE)
            .build()
            .inspect_err(|error| tracing::warn!(%error, "no collector can be told anything"))
            .ok()?;
        Some(Self { client, collector, counts, measures: Measures::default(), since, well: true })
    }

    /// Sends what comes, until the end.
    pub(super) async fn run(mut self, mut waiting: mpsc::Receiver<Span>, end: CancellationToken) {
        while let Some(batch) = collect(&mut waiting, &end).await {
            self.send(&batch, &end).await;
        }
    }

    async fn send(&mut self, batch: &[Span], end: &CancellationToken) {
        batch.iter().for_each(|span| self.measures.take(span));
        let arrived = self.post(&self.collector.traces, &otlp::traces(batch), end).await;
        let count = if arrived { &self.counts.sent } else { &self.counts.dropped };
        count.fetch_add(batch.len() as u64, Ordering::Relaxed);
        if arrived {
            // They are sums: what is lost now is in the next ones.
            let metrics = otlp::metrics(&self.measures, (self.since, clock::now()));
            self.post(&self.collector.metrics, &metrics, end).await;
        }
        if arrived != self.well {
            self.well = arrived;
            if arrived {
                tracing::info!("the collector takes spans again");
            } else {
                tracing::warn!("the collector takes no spans; they are dropped until it does");
            }
        }
    }

    /// Posts once, and a few times more as long as the collector may come back.
    async fn post(&self, to: &Url, body: &Value, end: &CancellationToken) -> bool {
        let text = body.to_string();
        let mut pause = limits::TELEMETRY_PAUSE;
        for attempt in 1..=limits::TELEMETRY_ATTEMPTS {
            let request = self.client.post(to.clone()).headers(self.collector.headers.clone());
            let request = request.header("content-type", "application/json").body(text.clone());
            match request.send().await {
                Ok(answer) if answer.status().is_success() => return true,
                Ok(answer) if !is_passing(answer.status().as_u16()) => {
                    tracing::debug!(status = answer.status().as_u16(), "the collector refused");
                    return false;
                }
                Ok(answer) => tracing::debug!(status = answer.status().as_u16(), "the collector is busy"),
                Err(error) => tracing::debug!(error = %error.without_url(), "the collector was not reached"),
            }
            if attempt == limits::TELEMETRY_ATTEMPTS || end.is_cancelled() {
                return false;
            }
            tokio::select! {
                () = end.cancelled() => return false,
                () = tokio::time::sleep(pause) => pause *= 2,
            }
        }
        false
    }
}

/// What a collector answers that may take the same a moment later.
fn is_passing(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

/// The next batch: as many as have come in a while, or as fit. None at the end, when nothing is left.
async fn collect(waiting: &mut mpsc::Receiver<Span>, end: &CancellationToken) -> Option<Vec<Span>> {
    let mut batch = Vec::new();
    let first = tokio::select! {
        biased;
        first = waiting.recv() => first,
        () = end.cancelled() => waiting.try_recv().ok(),
    };
    batch.push(first?);
    let full = async {
        while batch.len() < limits::SPANS_AT_ONCE {
            match waiting.recv().await {
                Some(span) => batch.push(span),
                None => return,
            }
        }
    };
    tokio::select! {
        () = full => {}
        () = tokio::time::sleep(limits::TELEMETRY_GATHER) => {}
        () = end.cancelled() => {}
    }
    while batch.len() < limits::SPANS_AT_ONCE {
        match waiting.try_recv() {
            Ok(span) => batch.push(span),
            Err(_) => break,
        }
    }
    Some(batch)
}
