//! Two measures of model calls, as the conventions name them: tokens used, and how long a call took.

use std::collections::BTreeMap;

use super::trace::{Operation, Span};
use crate::limits;

/// Up to where values are counted together, as the conventions advise.
const TOKEN_BOUNDS: &[f64] = &[
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];
const SECOND_BOUNDS: &[f64] =
    &[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Measure {
    Tokens,
    Seconds,
}

impl Measure {
    pub(super) const ALL: [Self; 2] = [Self::Tokens, Self::Seconds];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tokens => "gen_ai.client.token.usage",
            Self::Seconds => "gen_ai.client.operation.duration",
        }
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Tokens => "{token}",
            Self::Seconds => "s",
        }
    }

    pub(super) fn bounds(self) -> &'static [f64] {
        match self {
            Self::Tokens => TOKEN_BOUNDS,
            Self::Seconds => SECOND_BOUNDS,
        }
    }
}

/// What values are kept apart by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Series {
    pub(super) provider: String,
    pub(super) model: String,
    /// Read or written, for tokens; the kind of error, for times.
    pub(super) kind: Option<String>,
}

/// Values that were counted together, since the daemon began.
#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    pub(super) count: u64,
    pub(super) sum: f64,
    /// One more than there are bounds.
    pub(super) buckets: Vec<u64>,
}

/// Everything that was measured.
#[derive(Debug, Default)]
pub(super) struct Measures(BTreeMap<(Measure, Series), Histogram>);

impl Measures {
    /// Measures a span, if it is a model call.
    pub(super) fn take(&mut self, span: &Span) {
        if span.operation != Operation::Chat {
            return;
        }
        let text = |name: &str| span.text(name).unwrap_or_default().to_owned();
        let series = |kind: Option<String>| Series {
            provider: text("gen_ai.provider.name"),
            model: text("gen_ai.request.model"),
            kind,
        };
        for kind in ["input", "output"] {
            if let Some(tokens) =
                span.number(&format!("gen_ai.usage.{kind}_tokens")).filter(|count| *count > 0)
            {
                self.put(Measure::Tokens, series(Some(kind.to_owned())), tokens as f64);
            }
        }
        let seconds = span.end.0.saturating_sub(span.start.0) as f64 / 1_000.0;
        self.put(Measure::Seconds, series(span.error.clone()), seconds);
    }

    fn put(&mut self, measure: Measure, series: Series, value: f64) {
        let key = (measure, series);
        // Names of models are the user's to choose, so their number is not ours to trust.
        if self.0.len() >= limits::SERIES && !self.0.contains_key(&key) {
            return;
        }
        let bounds = measure.bounds();
        let histogram = self.0.entry(key).or_default();
        histogram.buckets.resize(bounds.len() + 1, 0);
        histogram.buckets[bounds.partition_point(|bound| *bound < value)] += 1;
        histogram.count += 1;
        histogram.sum += value;
    }

    pub(super) fn of(&self, measure: Measure) -> impl Iterator<Item = (&Series, &Histogram)> {
        self.0
            .iter()
            .filter(move |((of, _), _)| *of == measure)
            .map(|((_, series), histogram)| (series, histogram))
    }
}
