//! The event decoder against a plain reading of the standard.

use mxd_llm::{SseDecoder, SseEvent};

use crate::dice::Dice;
use crate::rounds::{seeds, size};

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
    let mut decoder = SseDecoder::new(1 << 20);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece, &mut events).unwrap();
    }
    events
}

/// The whole text at once, the simple way.
fn plain(text: &str) -> Vec<SseEvent> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let Some((complete, _)) = text.rsplit_once('\n') else { return Vec::new() };
    let mut events = Vec::new();
    let mut data = Vec::new();
    for line in complete.split('\n') {
        if line.is_empty() {
            let lines = std::mem::take(&mut data);
            if !lines.is_empty() {
                events.push(SseEvent { data: lines.join("\n") });
            }
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        if field == "data" {
            data.push(value.to_owned());
        }
    }
    events
}

#[test]
fn any_text_in_any_pieces_gives_the_events_of_the_standard() {
    const WORDS: &[&str] = &[
        "data", "event", ":", ": ", "\n", "\r", "\r\n", "\n\n", "x", "é🦀", " ", "id: 1\n", "data:",
        "\u{feff}",
    ];
    for seed in seeds(3_000) {
        let mut dice = Dice::new(seed);
        let count = dice.below(40);
        let text: String =
            (0..count).map(|_| WORDS[usize::try_from(dice.below(WORDS.len() as u64)).unwrap()]).collect();
        let expected = plain(&text);
        assert_eq!(decode([text.as_bytes()]), expected, "seed {seed}, whole: {text:?}");
        let size = usize::try_from(1 + dice.below(6)).unwrap();
        assert_eq!(decode(text.as_bytes().chunks(size)), expected, "seed {seed}, by {size}: {text:?}");
    }
}

#[test]
fn an_endless_event_is_refused() {
    let mut decoder = SseDecoder::new(1_000);
    let mut events = Vec::new();
    decoder.push(&[b'x'; 999], &mut events).unwrap();
    assert_eq!(decoder.push(b"yy", &mut events).unwrap_err().limit, 1_000);

    let mut decoder = SseDecoder::new(1_000);
    let line = [b"data: ".as_slice(), &[b'x'; 400], b"\n"].concat();
    decoder.push(&line, &mut events).unwrap();
    decoder.push(&line, &mut events).unwrap();
    decoder.push(&line, &mut events).unwrap_err();
    assert_eq!(events, []);
}

#[test]
fn a_long_line_in_small_pieces_takes_linear_time() {
    // Searched again with every piece, this would be 800 gigabytes of work; the test would not end in time.
    let pieces = size(400_000, 1_000_000);
    let mut decoder = SseDecoder::new(16 << 20);
    let mut events = Vec::new();
    decoder.push(b"data: ", &mut events).unwrap();
    for _ in 0..pieces {
        decoder.push(b"0123456789", &mut events).unwrap();
    }
    decoder.push(b"\n\n", &mut events).unwrap();
    assert_eq!(events[0].data.len(), 10 * pieces);
}
