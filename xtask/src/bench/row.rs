//! One metric as a bench target prints it:
//! `{"metric":"…","unit":"…","value":1,"baseline":1,"ratio":1,"bar":"<= 1.2"}`, where the last three may be
//! `null`. Any other line is an error: a typo must not turn a bar into a remark.

use serde::Deserialize;

use super::bar::Bar;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    metric: String,
    unit: String,
    value: f64,
    baseline: Option<f64>,
    ratio: Option<f64>,
    bar: Option<String>,
}

/// A metric, judged.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) metric: String,
    pub(super) unit: String,
    pub(super) value: f64,
    pub(super) baseline: Option<f64>,
    pub(super) ratio: Option<f64>,
    pub(super) bar: Option<String>,
    /// Whether the bar holds; a metric without a bar only informs.
    pub(super) ok: bool,
}

/// Reads everything a bench target printed. Printing nothing is an error too.
pub(super) fn parse_all(stdout: &str) -> Result<Vec<Row>, String> {
    let lines = stdout.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |(index, line): (usize, &str)| {
        parse(line).map_err(|error| {
            format!("line {} of its output is not a metric: {error}\n  the line: {line}", index + 1)
        })
    };
    let rows = lines.map(row).collect::<Result<Vec<_>, _>>()?;
    if rows.is_empty() { Err("it printed no metric".to_owned()) } else { Ok(rows) }
}

fn parse(line: &str) -> Result<Row, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let bar = line.bar.as_deref().map(str::parse::<Bar>).transpose()?;
    let judged = line.ratio.unwrap_or(line.value);
    Ok(Row {
        ok: bar.is_none_or(|bar| bar.holds(judged)),
        metric: line.metric,
        unit: line.unit,
        value: line.value,
        baseline: line.baseline,
        ratio: line.ratio,
        bar: line.bar,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(ratio: &str, bar: &str) -> bool {
        let line =
            format!(r#"{{"metric":"m","unit":"us","value":50,"baseline":40,"ratio":{ratio},"bar":{bar}}}"#);
        parse(&line).unwrap().ok
    }

    #[test]
    fn a_bar_judges_the_ratio() {
        assert!(ok("1.1", r#""<= 1.2""#));
        assert!(!ok("1.3", r#""<= 1.2""#));
    }

    #[test]
    fn without_a_ratio_it_judges_the_value() {
        assert!(ok("null", r#""<= 64""#));
        assert!(!ok("null", r#"">= 64""#));
    }

    #[test]
    fn without_a_bar_a_metric_only_informs() {
        assert!(ok("1000", "null"));
    }

    #[test]
    fn every_field_arrives() {
        let line = r#"{"metric":"append","unit":"us","value":1.5,"baseline":null,"ratio":null,"bar":null}"#;
        let row = parse(line).unwrap();
        let expected = Row {
            metric: "append".to_owned(),
            unit: "us".to_owned(),
            value: 1.5,
            baseline: None,
            ratio: None,
            bar: None,
            ok: true,
        };
        assert_eq!(row, expected);
    }

    #[test]
    fn a_malformed_line_is_named_with_its_number() {
        let good = r#"{"metric":"m","unit":"s","value":1,"baseline":null,"ratio":null,"bar":null}"#;
        let error = parse_all(&format!("{good}\n\nwarming up\n")).unwrap_err();
        assert!(error.starts_with("line 3 of its output is not a metric"), "{error}");
        assert!(error.ends_with("the line: warming up"), "{error}");
    }

    #[test]
    fn a_typo_in_a_field_or_a_bar_is_an_error() {
        let field = r#"{"metric":"m","unit":"s","value":1,"rato":2,"bar":"<= 1"}"#;
        assert!(parse(field).unwrap_err().contains("rato"));
        let bar = r#"{"metric":"m","unit":"s","value":1,"bar":"=< 1"}"#;
        assert!(parse(bar).unwrap_err().contains("=< 1"));
    }

    #[test]
    fn silence_is_an_error() {
        assert!(parse_all("\n").is_err());
    }
}
