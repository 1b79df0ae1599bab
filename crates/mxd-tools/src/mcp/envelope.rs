//! A message of a server, read no further than to know whose it is.

use std::borrow::Cow;

use rmcp::model::{ErrorCode, ErrorData};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Bytes of the message of an error that are kept.
const ERROR_BYTES: usize = 2_000;
/// Bytes of the data of an error that are kept: enough for a list of versions.
const DATA_BYTES: usize = 4_000;

#[derive(Debug, Deserialize)]
struct Parts<'a> {
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

/// What a message is.
#[derive(Debug)]
pub(super) enum Envelope<'a> {
    /// An answer to a question of ours. The result stays as it was written.
    Result { id: i64, text: &'a str },
    /// A question of ours is refused. Without a number it is about no question in particular.
    Refusal { id: Option<i64>, error: ErrorData },
    /// The server asks. Its number stays as it was written.
    Request { id: &'a str, method: Cow<'a, str>, params: Option<&'a str> },
    /// The server says something.
    Notice { method: Cow<'a, str>, params: Option<&'a str> },
}

/// Reads a message; nothing when it is none.
pub(super) fn read(message: &[u8]) -> Option<Envelope<'_>> {
    let parts: Parts<'_> = serde_json::from_slice(message).ok()?;
    let params = parts.params.map(RawValue::get);
    let number = || parts.id.and_then(|id| id.get().parse::<i64>().ok());
    match (parts.method, parts.error) {
        (Some(method), _) => Some(match parts.id {
            Some(id) => Envelope::Request { id: id.get(), method, params },
            None => Envelope::Notice { method, params },
        }),
        (None, Some(error)) => Some(Envelope::Refusal { id: number(), error: refusal(error.get()) }),
        // A result of nothing is a result; whoever asked will not like it.
        (None, None) => {
            number().map(|id| Envelope::Result { id, text: parts.result.map_or("null", RawValue::get) })
        }
    }
}

fn refusal(error: &str) -> ErrorData {
    let value: Value = serde_json::from_str(error).unwrap_or_default();
    let code = value.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = value.get("message").and_then(Value::as_str).unwrap_or("the server does not say why");
    let message = message[..message.floor_char_boundary(ERROR_BYTES)].to_owned();
    let data = value.get("data").filter(|data| data.to_string().len() <= DATA_BYTES).cloned();
    ErrorData::new(ErrorCode(code.unwrap_or(0)), message, data)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn results_stay_as_they_were_written() {
        let message = br#"{"jsonrpc":"2.0","id":7,"result":{"b":1.0,"a":12345678901234567890123}}"#;
        let Some(Envelope::Result { id, text }) = read(message) else { panic!("no result") };
        assert_eq!((id, text), (7, r#"{"b":1.0,"a":12345678901234567890123}"#));
    }

    #[test]
    fn what_is_none_is_none() {
        for message in
            ["", "[]", "{}", "7", "\u{0}", r#"{"id":"7","result":{}}"#, r#"{"id":1,"id":2,"result":{}}"#]
        {
            assert!(read(message.as_bytes()).is_none(), "{message}");
        }
    }

    #[test]
    fn a_result_may_be_nested_however_deep() {
        let deep = format!(r#"{{"id":1,"result":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(read(deep.as_bytes()), Some(Envelope::Result { id: 1, .. })));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _whatever = read(&bytes);
        }

        #[test]
        fn a_refusal_is_short(message in "\\PC{0,4000}", code in any::<i64>()) {
            let text = serde_json::json!({ "id": 1, "error": { "code": code, "message": message } }).to_string();
            let Some(Envelope::Refusal { error, .. }) = read(text.as_bytes()) else { panic!("no refusal") };
            prop_assert!(error.message.len() <= ERROR_BYTES);
        }
    }
}
