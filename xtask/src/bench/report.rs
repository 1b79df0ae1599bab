//! The rows of one benchmark, as a table for a person or an object for a program.

use anstyle::Style;
use serde_json::json;

use super::row::Row;
use crate::say;

const HEADINGS: [&str; 6] = ["metric", "value", "baseline", "ratio", "bar", ""];

/// What one benchmark measured.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) bench: &'static str,
    pub(super) rows: Vec<Row>,
}

impl Report {
    /// The metrics that missed their bar.
    pub(super) fn missed(&self) -> Vec<&str> {
        self.rows.iter().filter(|row| !row.ok).map(|row| row.metric.as_str()).collect()
    }

    /// One line: `{"bench":…,"rows":[{"metric","value","baseline","ratio","bar","ok"}]}`.
    pub(super) fn json(&self) -> Result<String, String> {
        let row = |row: &Row| {
            json!({
                "metric": row.metric, "value": row.value, "baseline": row.baseline,
                "ratio": row.ratio, "bar": row.bar, "ok": row.ok,
            })
        };
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        serde_json::to_string(&json!({ "bench": self.bench, "rows": rows }))
            .map_err(|error| error.to_string())
    }

    /// Aligned columns: words to the left, numbers to the right.
    pub(super) fn table(&self) -> String {
        let cells: Vec<[String; 6]> = self.rows.iter().map(cells).collect();
        let mut widths = HEADINGS.map(|heading| heading.chars().count());
        for row in &cells {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut table = line(&HEADINGS.map(str::to_owned), &widths, say::FAINT);
        for (row, cells) in self.rows.iter().zip(&cells) {
            table += &line(cells, &widths, if row.ok { say::GOOD } else { say::BAD });
        }
        table
    }
}

fn cells(row: &Row) -> [String; 6] {
    let verdict = match (&row.bar, row.ok) {
        (None, _) => "",
        (Some(_), true) => "ok",
        (Some(_), false) => "MISSED",
    };
    [
        row.metric.clone(),
        with_unit(row.value, &row.unit),
        row.baseline.map_or_else(dash, |baseline| with_unit(baseline, &row.unit)),
        row.ratio.map_or_else(dash, |ratio| format!("{ratio:.3}")),
        row.bar.clone().unwrap_or_else(dash),
        verdict.to_owned(),
    ]
}

fn line(cells: &[String; 6], widths: &[usize; 6], style: Style) -> String {
    let [metric, value, baseline, ratio, bar, verdict] = cells;
    let [w0, w1, w2, w3, w4, _] = *widths;
    let numbers = format!("{metric:<w0$}  {value:>w1$}  {baseline:>w2$}  {ratio:>w3$}  {bar:<w4$}");
    if verdict.is_empty() {
        format!("{}\n", numbers.trim_end())
    } else {
        format!("{numbers}  {style}{verdict}{style:#}\n")
    }
}

fn dash() -> String {
    "-".to_owned()
}

fn with_unit(value: f64, unit: &str) -> String {
    format!("{} {unit}", number(value)).trim_end().to_owned()
}

/// Whole numbers whole, the others with three digits that mean something.
fn number(value: f64) -> String {
    let size = value.abs();
    if value.fract() == 0.0 || size >= 100.0 {
        format!("{value:.0}")
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else if size >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let stdout = concat!(
            r#"{"metric":"append","unit":"us","value":52.25,"baseline":50,"ratio":1.045,"bar":"<= 1.2"}"#,
            "\n",
            r#"{"metric":"64 callers","unit":"/s","value":123456,"baseline":19000,"ratio":6.5,"bar":">= 15"}"#,
            "\n",
            r#"{"metric":"note","unit":"","value":3,"baseline":null,"ratio":null,"bar":null}"#,
        );
        Report { bench: "log", rows: super::super::row::parse_all(stdout).unwrap() }
    }

    #[test]
    fn the_table_is_aligned_and_names_the_missed_bar() {
        let plain = anstream::adapter::strip_str(&report().table()).to_string();
        let expected = "\
metric          value  baseline  ratio  bar
append        52.2 us     50 us  1.045  <= 1.2  ok
64 callers  123456 /s  19000 /s  6.500  >= 15   MISSED
note                3         -      -  -
";
        assert_eq!(plain, expected);
        assert_eq!(report().missed(), ["64 callers"]);
    }

    #[test]
    fn the_object_has_exactly_the_promised_fields() {
        let expected = concat!(
            r#"{"bench":"log","rows":["#,
            r#"{"metric":"append","value":52.25,"baseline":50.0,"ratio":1.045,"bar":"<= 1.2","ok":true},"#,
            r#"{"metric":"64 callers","value":123456.0,"baseline":19000.0,"ratio":6.5,"bar":">= 15","ok":false},"#,
            r#"{"metric":"note","value":3.0,"baseline":null,"ratio":null,"bar":null,"ok":true}]}"#,
        );
        assert_eq!(report().json().unwrap(), expected);
    }

    #[test]
    fn numbers_keep_what_means_something() {
        assert_eq!(number(1_234_567.8), "1234568");
        assert_eq!(number(12.34), "12.3");
        assert_eq!(number(1.2345), "1.23");
        assert_eq!(number(0.012_34), "0.0123");
        assert_eq!(number(15.0), "15");
    }
}
