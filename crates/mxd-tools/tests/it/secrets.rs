//! Secrets do not come out, however the text is cut.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mxd_tools::secrets::{MIN_BYTES, Secrets};
use proptest::prelude::*;
use serde_json::json;

fn secret() -> impl Strategy<Value = String> {
    // Few letters, so that secrets overlap each other and themselves.
    prop_oneof!["[ab]{8,12}", "[a-c/+ \"]{8,20}", "\\PC{8,24}"]
}

/// A text with secrets, pieces of secrets and other things in it.
fn text(secrets: Vec<String>) -> impl Strategy<Value = (Vec<String>, String)> {
    let whole = prop::sample::select(secrets.clone());
    let piece = (whole.clone(), any::<prop::sample::Index>()).prop_map(|(secret, at)| {
        let chars: Vec<char> = secret.chars().collect();
        chars[..at.index(chars.len())].iter().collect::<String>()
    });
    let encoded = whole.clone().prop_map(|secret| STANDARD.encode(format!("user:{secret}")));
    let json = whole.clone().prop_map(|secret| json!({ "x": secret }).to_string());
    let part =
        prop_oneof![3 => whole, 3 => piece, 1 => encoded, 1 => json, 2 => "[ab]{0,4}", 1 => "\\PC{0,6}"];
    (Just(secrets), prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat()))
}

fn case() -> impl Strategy<Value = ((Vec<String>, String), Vec<prop::sample::Index>)> {
    let texts = prop::collection::vec(secret(), 1..4).prop_flat_map(text);
    (texts, prop::collection::vec(any::<prop::sample::Index>(), 0..12))
}

proptest! {
    #[test]
    fn no_secret_comes_out_however_the_text_is_cut(((secrets, text), cuts) in case()) {
        let looked_for = Secrets::new(secrets.iter().map(String::as_str)).unwrap();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut redactor = looked_for.redactor();
        let mut out = Vec::new();
        for cut in cuts.windows(2) {
            out.extend(redactor.push(&text.as_bytes()[cut[0]..cut[1]]));
            let shown = String::from_utf8_lossy(&out);
            for secret in secrets.iter().map(|secret| secret.trim()).filter(|secret| secret.len() >= MIN_BYTES) {
                prop_assert!(!shown.contains(secret), "{secret:?} in {shown:?}");
            }
        }
        out.extend(redactor.finish());
        let shown = String::from_utf8(out).unwrap();
        for secret in secrets.iter().map(|secret| secret.trim()).filter(|secret| secret.len() >= MIN_BYTES) {
            prop_assert!(!shown.contains(secret), "{secret:?} in {shown:?}");
            prop_assert!(!shown.contains(json!(secret).to_string().trim_matches('"')), "{secret:?} in {shown:?}");
        }
        prop_assert_eq!(shown, looked_for.redact(&text), "the cuts make no difference");
    }

    #[test]
    fn text_without_secrets_stays(text in "[0-9 \n]{0,200}") {
        let secrets = Secrets::new(["secret-value", "other-secret"]).unwrap();
        prop_assert_eq!(secrets.redact(&text), text);
    }
}

#[test]
fn nothing_is_held_back_that_begins_no_secret() {
    let mut redactor = Secrets::new(["secret-value"]).unwrap().redactor();
    assert_eq!(redactor.push(b"a prompt> "), b"a prompt> ");
    assert_eq!(redactor.push(b"x sec"), b"x ");
    assert_eq!(redactor.push(b"ond"), b"second");
    assert_eq!(redactor.push(b" secret-v"), b" ");
    assert_eq!(redactor.push(b"alue!"), b"[redacted]!");
}

#[test]
fn what_repeats_for_ever_is_not_held_for_ever() {
    let mut redactor = Secrets::new(["aaaaaaaa"]).unwrap().redactor();
    let mut out = Vec::new();
    for _ in 0..1_000 {
        out.extend(redactor.push(&[b'a'; 100]));
        assert!(format!("{redactor:?}").contains("held: 7,"), "{redactor:?}");
    }
    out.extend(redactor.finish());
    assert_eq!(out, b"[redacted]");
}

#[test]
fn values_lose_their_secrets_in_names_texts_and_numbers() {
    let secrets = Secrets::new(["secret-value", "1234567890"]).unwrap();
    let mut value = json!({ "a secret-value": ["x secret-value", 1_234_567_890, 5, null] });
    secrets.redact_value(&mut value);
    assert_eq!(value, json!({ "a [redacted]": ["x [redacted]", "[redacted]", 5, null] }));
}
