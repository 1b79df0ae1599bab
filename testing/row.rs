//! One line of a benchmark's report.
//!
//! Included by the benchmarks of several crates.

/// A measured number and what it is held against.
pub(crate) struct Row {
    pub(crate) metric: String,
    pub(crate) unit: &'static str,
    pub(crate) value: f64,
    pub(crate) baseline: Option<f64>,
    pub(crate) bar: Option<&'static str>,
}

impl Row {
    pub(crate) fn tell(&self) {
        let Self { metric, unit, value, baseline, bar } = self;
        let ratio = baseline.map(|baseline| value / baseline);
        let row = serde_json::json!({
            "metric": metric, "unit": unit, "value": value, "baseline": baseline, "ratio": ratio, "bar": bar,
        });
        println!("{row}");
    }
}

/// The middle of some measurements.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
