//! Credentials by their shape: what nobody made known and must not be written all the same.

use regex::Regex;

use crate::auth::TOKEN_SHAPE;

/// What stands where a credential stood.
const MARK: &str = "[redacted]";

/// Shapes of credentials. The first group of each is what stays.
const SHAPES: &[&str] = &[
    // A header that carries credentials, up to the end of its line or of the text it stands in.
    r#"(?i)(\b(?:proxy-)?authorization\\?["']?\s*[:=]\s*(?:\\?["'])?)[^"'\\\r\n}]+"#,
    r#"(?i)(\b(?:set-)?cookie\\?["']?\s*[:=]\s*(?:\\?["'])?)[^"'\\\r\n}]+"#,
    r#"(?i)(\b(?:x-)?api-key\\?["']?\s*[:=]\s*(?:\\?["'])?)[^"'\\\s}]+"#,
    // What follows a scheme, wherever it stands.
    r"(?i)(\b(?:bearer|basic)\s+)[a-z0-9._~+/=-]{8,}",
    // A user and a password in an address.
    r#"(\w://)[^/\s"'@]+@"#,
    // Keys of providers.
    r"(\bsk-)[A-Za-z0-9_-]{16,}",
];

/// All of them, ready to be looked for.
pub(super) struct Shapes(Vec<Regex>);

impl Shapes {
    pub(super) fn new() -> Self {
        let own = format!("()(?:{TOKEN_SHAPE})");
        let all = SHAPES.iter().copied().chain([own.as_str()]);
        // They are constant, and a test reads them all.
        Self(all.filter_map(|shape| Regex::new(shape).ok()).collect())
    }

    pub(super) fn redact(&self, text: &str) -> String {
        let replacement = format!("${{1}}{MARK}");
        self.0.iter().fold(text.to_owned(), |text, shape| shape.replace_all(&text, &replacement).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_looked_for() {
        assert_eq!(Shapes::new().0.len(), SHAPES.len() + 1);
    }

    #[test]
    fn what_looks_like_a_credential_is_not_written() {
        let own = crate::auth::fresh_token().unwrap();
        let cases = [
            ("authorization: Basic dXNlcjpwYXNz", "authorization: [redacted]"),
            (r#"{"cookie":"a=1; b=2","other":3}"#, r#"{"cookie":"[redacted]","other":3}"#),
            (r#"\"x-api-key\": \"abc\", more"#, r#"\"x-api-key\": \"[redacted]\", more"#),
            ("said bearer abcdefgh.1 to us", "said bearer [redacted] to us"),
            ("http://user:pass@proxy.example/path", "http://[redacted]proxy.example/path"),
            ("the key sk-ant-api03-0123456789abcdef.", "the key sk-[redacted]."),
            (&format!("?token={own}&x=1"), "?token=[redacted]&x=1"),
            ("the bearer of news, an author", "the bearer of news, an author"),
            ("method=GET path=/projects/{project}/tasks", "method=GET path=/projects/{project}/tasks"),
        ];
        let shapes = Shapes::new();
        for (text, clean) in cases {
            assert_eq!(shapes.redact(text), clean);
        }
    }
}
