//! Spans and measures as OTLP has them, in its JSON form: ids in hexadecimal, large numbers as texts.

use mxd_core::time::Millis;
use serde_json::{Value, json};

use super::measure::{Histogram, Measure, Measures, Series};
use super::trace::{Attribute, Operation, Place, Span};

/// Kinds of spans: of this program itself, and of a call of another one.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
/// The status of what went wrong.
const ERROR: u8 = 2;
/// Sums begin once and grow.
const CUMULATIVE: u8 = 2;

/// What `/v1/traces` takes.
pub(super) fn traces(spans: &[Span]) -> Value {
    let spans: Vec<Value> = spans.iter().map(span).collect();
    json!({ "resourceSpans": [{ "resource": resource(), "scopeSpans": [{ "scope": scope(), "spans": spans }] }] })
}

/// What `/v1/metrics` takes.
pub(super) fn metrics(measures: &Measures, (since, now): (Millis, Millis)) -> Value {
    let metric = |measure: Measure| {
        let points: Vec<Value> = measures
            .of(measure)
            .map(|(series, values)| point(measure, (series, values), (since, now)))
            .collect();
        json!({
            "name": measure.name(),
            "unit": measure.unit(),
            "histogram": { "aggregationTemporality": CUMULATIVE, "dataPoints": points },
        })
    };
    let metrics: Vec<Value> = Measure::ALL
        .into_iter()
        .filter(|measure| measures.of(*measure).next().is_some())
        .map(metric)
        .collect();
    json!({ "resourceMetrics": [{ "resource": resource(), "scopeMetrics": [{ "scope": scope(), "metrics": metrics }] }] })
}

fn resource() -> Value {
    json!({ "attributes": [
        attribute("service.name", &Attribute::Text("mxd".to_owned())),
        attribute("service.version", &Attribute::Text(env!("CARGO_PKG_VERSION").to_owned())),
    ] })
}

fn scope() -> Value {
    json!({ "name": "mxd", "version": env!("CARGO_PKG_VERSION") })
}

fn span(span: &Span) -> Value {
    let name = match &span.object {
        Some(object) => format!("{} {object}", span.operation.name()),
        None => span.operation.name().to_owned(),
    };
    let mut attributes: Vec<Value> =
        span.attributes.iter().map(|(name, value)| attribute(name, value)).collect();
    let mut whole = json!({
        "traceId": hex::encode(span.place.trace),
        "spanId": hex::encode(span.place.span),
        "name": name,
        "kind": if span.operation == Operation::Chat { CLIENT } else { INTERNAL },
        "startTimeUnixNano": nanos(span.start),
        "endTimeUnixNano": nanos(span.end),
    });
    if let Some(parent) = span.parent {
        whole["parentSpanId"] = json!(hex::encode(parent));
    }
    if let Some(Place { trace, span }) = span.link {
        whole["links"] = json!([{ "traceId": hex::encode(trace), "spanId": hex::encode(span) }]);
    }
    if let Some(error) = &span.error {
        attributes.push(attribute("error.type", &Attribute::Text(error.clone())));
        whole["status"] = json!({ "code": ERROR });
    }
    whole["attributes"] = Value::Array(attributes);
    whole
}

fn point(measure: Measure, (series, values): (&Series, &Histogram), (since, now): (Millis, Millis)) -> Value {
    let mut attributes = vec![
        attribute("gen_ai.operation.name", &Attribute::Text(Operation::Chat.name().to_owned())),
        attribute("gen_ai.provider.name", &Attribute::Text(series.provider.clone())),
        attribute("gen_ai.request.model", &Attribute::Text(series.model.clone())),
    ];
    let kind = match measure {
        Measure::Tokens => "gen_ai.token.type",
        Measure::Seconds => "error.type",
    };
    attributes.extend(series.kind.clone().map(|value| attribute(kind, &Attribute::Text(value))));
    let buckets: Vec<String> = values.buckets.iter().map(u64::to_string).collect();
    json!({
        "attributes": attributes,
        "startTimeUnixNano": nanos(since),
        "timeUnixNano": nanos(now),
        "count": values.count.to_string(),
        "sum": values.sum,
        "bucketCounts": buckets,
        "explicitBounds": measure.bounds(),
    })
}

fn attribute(name: &str, value: &Attribute) -> Value {
    let value = match value {
        Attribute::Text(text) => json!({ "stringValue": text }),
        Attribute::Number(number) => json!({ "intValue": number.to_string() }),
        Attribute::Fraction(number) => json!({ "doubleValue": number }),
        Attribute::Texts(texts) => {
            let values: Vec<Value> = texts.iter().map(|text| json!({ "stringValue": text })).collect();
            json!({ "arrayValue": { "values": values } })
        }
    };
    json!({ "key": name, "value": value })
}

fn nanos(at: Millis) -> String {
    (u128::from(at.0) * 1_000_000).to_string()
}
