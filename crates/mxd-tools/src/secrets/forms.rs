//! The forms in which a secret value shows up in output.

use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::{MAX_BYTES, MIN_BYTES};

/// A line of a longer value is looked for by itself when it has at least this many bytes.
const MIN_LINE_BYTES: usize = 16;

/// Everything to look for because of this value; nothing when it is too short.
pub(super) fn of(value: &str) -> Vec<Vec<u8>> {
    let value = value.trim();
    let mut pieces: Vec<&str> = Vec::new();
    if value.len() >= MIN_BYTES {
        pieces.push(cut(value));
    }
    if value.contains('\n') {
        pieces.extend(value.lines().map(str::trim).filter(|line| line.len() >= MIN_LINE_BYTES).map(cut));
    }
    pieces.into_iter().flat_map(forms).collect()
}

/// A value that is too long is found by its beginning.
fn cut(value: &str) -> &str {
    &value[..value.floor_char_boundary(MAX_BYTES)]
}

fn forms(value: &str) -> Vec<Vec<u8>> {
    let bytes = value.as_bytes();
    let mut forms = vec![bytes.to_vec(), json(value)];
    forms.extend([percent(bytes, Space::Percent, "0123456789ABCDEF")]);
    forms.extend([percent(bytes, Space::Percent, "0123456789abcdef")]);
    forms.extend([percent(bytes, Space::Plus, "0123456789ABCDEF")]);
    for offset in 0..3 {
        forms
            .extend([base64_at(bytes, offset, &STANDARD_NO_PAD), base64_at(bytes, offset, &URL_SAFE_NO_PAD)]);
    }
    forms
}

/// As it stands in a JSON string.
fn json(value: &str) -> Vec<u8> {
    let quoted = serde_json::Value::from(value).to_string();
    quoted.as_bytes()[1..quoted.len() - 1].to_vec()
}

#[derive(Clone, Copy)]
enum Space {
    Percent,
    Plus,
}

/// As it stands in a URL or in a form.
fn percent(bytes: &[u8], space: Space, digits: &str) -> Vec<u8> {
    let digits = digits.as_bytes();
    let mut encoded = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        match (byte, space) {
            (b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~', _) => encoded.push(byte),
            (b' ', Space::Plus) => encoded.push(b'+'),
            _ => encoded.extend([b'%', digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]),
        }
    }
    encoded
}

/// As it stands in the base64 of something longer, behind so many bytes more than a multiple of three.
///
/// The characters at both ends depend on what is around the value and are left out; what remains of the
/// shortest value is long enough not to be found by chance.
fn base64_at(bytes: &[u8], offset: usize, alphabet: &impl base64::Engine) -> Vec<u8> {
    let mut shifted = vec![0; offset];
    shifted.extend(bytes);
    let first = [0, 2, 3][offset];
    let last = shifted.len() * 8 / 6;
    alphabet.encode(&shifted).as_bytes()[first..last].to_vec()
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::*;

    #[test]
    fn the_base64_of_anything_around_it_holds_one_of_the_forms() {
        let secret = b"s3cr3t-v";
        for before in 0..7 {
            for after in 0..4 {
                let whole = [vec![b'x'; before], secret.to_vec(), vec![b'y'; after]].concat();
                for text in [STANDARD_NO_PAD.encode(&whole), URL_SAFE_NO_PAD.encode(&whole)] {
                    let found = of("s3cr3t-v").iter().any(|form| {
                        form.len() >= MIN_BYTES && text.as_bytes().windows(form.len()).any(|w| w == form)
                    });
                    assert!(found, "{before} {after} {text}");
                }
            }
        }
    }

    #[test]
    fn a_short_value_has_no_form_and_a_key_has_its_lines() {
        assert!(of("1234567").is_empty());
        let key = of("-----BEGIN KEY-----\nMIIBVQIBADANBgkqhkiG\n-----END KEY-----\n");
        assert!(key.contains(&b"MIIBVQIBADANBgkqhkiG".to_vec()));
    }

    #[test]
    fn urls_and_json_are_known() {
        let forms = of("a/b c\"d+e");
        for form in ["a%2Fb%20c%22d%2Be", "a%2fb%20c%22d%2be", "a%2Fb+c%22d%2Be", "a/b c\\\"d+e"] {
            assert!(forms.contains(&form.as_bytes().to_vec()), "{form}");
        }
    }
}
