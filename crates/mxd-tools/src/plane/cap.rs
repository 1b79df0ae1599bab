//! The last step of every call: no secret comes out, and nothing that is too long.

use mxd_core::tool::CleanText;
use serde_json::Value;

use crate::kept::{Kept, MAX_RESULT_BYTES};
use crate::outcome::{Outcome, Part};
use crate::secrets::Secrets;
use crate::shell::text;

/// Bytes of text of one result that a model reads.
pub const MAX_TEXT_BYTES: usize = 100_000;
/// Bytes from the beginning of a longer one.
const HEAD_BYTES: usize = 20_000;
/// Bytes from its end.
const TAIL_BYTES: usize = 20_000;
/// Bytes of structured content, as JSON.
pub const MAX_STRUCTURED_BYTES: usize = 256 << 10;

/// Takes secrets out of an outcome and cuts what is too long; the whole text is kept in a file.
pub fn presentable(mut outcome: Outcome, secrets: &Secrets, kept: &Kept) -> Outcome {
    outcome.parts.iter_mut().for_each(|part| redact(part, secrets));
    let mut outcome = cut_text(outcome, kept);
    outcome.structured = outcome.structured.take().and_then(|mut value| {
        secrets.redact_value(&mut value);
        fits(&value).then_some(value)
    });
    if outcome.parts.is_empty() {
        outcome.parts.push(Part::Text("[the tool returned nothing]".to_owned()));
    }
    outcome
}

fn redact(part: &mut Part, secrets: &Secrets) {
    match part {
        Part::Text(text) => *text = secrets.redact(text),
        Part::Image { media_type, data } => {
            // Redacted base64 is no picture any more, and a picture that says a secret in its bytes is none.
            let clean = secrets.redact(data);
            if clean != *data {
                let marker = secrets.marker();
                *part = Part::Text(format!("[a picture of type {media_type} was left out: {marker}]"));
            }
        }
    }
}

fn fits(value: &Value) -> bool {
    value.to_string().len() <= MAX_STRUCTURED_BYTES
}

fn cut_text(mut outcome: Outcome, kept: &Kept) -> Outcome {
    let texts = || {
        outcome.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Image { .. } => None,
        })
    };
    if texts().map(|text| text.len() + 1).sum::<usize>() <= MAX_TEXT_BYTES {
        return outcome;
    }
    let whole = texts().collect::<Vec<_>>().join("\n");
    let (head, tail) = (text::head(&whole, HEAD_BYTES), text::tail(&whole, TAIL_BYTES));
    // An agent reads the file without a fence, so what nobody sees must not be in it.
    let stored = match &outcome.server {
        Some(_) => CleanText::clean(&whole, usize::MAX).text().to_owned(),
        None => whole.clone(),
    };
    let between = format!("[… the result has {} bytes; {} …]", whole.len(), keep(&stored, kept));
    let images = outcome.parts.drain(..).filter(|part| matches!(part, Part::Image { .. }));
    let mut parts = vec![Part::Text(format!("{}\n{between}\n{tail}", head.trim_end_matches('\n')))];
    parts.extend(images);
    Outcome { parts, ..outcome }
}

/// Keeps a text and says where, or why not.
fn keep(whole: &str, kept: &Kept) -> String {
    let (half, cut) = (MAX_RESULT_BYTES / 2, whole.len().saturating_sub(MAX_RESULT_BYTES));
    let (text, all) = match cut {
        0 => (whole.to_owned(), "all of it is".to_owned()),
        cut => {
            let gap = format!("\n[… {cut} bytes were dropped here …]\n");
            (
                text::head(whole, half).to_owned() + &gap + text::tail(whole, half),
                format!("all but {cut} bytes are"),
            )
        }
    };
    match kept.store(&text) {
        Ok(path) => format!("{all} in {}: read_file shows any part of it", path.display()),
        Err(error) => format!("the middle is lost, because it could not be kept: {error}"),
    }
}
