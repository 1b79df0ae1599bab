//! The rules without a server, for tests that look at very many requests.

use serde_json::Value;

use crate::violation::Violation;
use crate::wire::Wire;
use crate::{prefix, shape};

/// What a request looks like to the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The rules it breaks. Headers, conversations and expectations are not looked at.
    pub violations: Vec<Violation>,
    /// The prompt, one short line per block.
    pub shape: Vec<String>,
}

/// Holds the body of a request to the rules of its wire.
pub fn inspect(wire: Wire, body: &Value) -> Inspection {
    let reading = wire.read(body);
    Inspection { violations: reading.violations, shape: shape::lines(&reading.view) }
}

/// What `next` changes of `earlier` that a later request of the same conversation may not change, with a diff.
pub fn prefix_break(wire: Wire, earlier: &Value, next: &Value) -> Option<String> {
    prefix::broken(&wire.read(earlier).view.pieces, &wire.read(next).view.pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rules_and_prefix_can_be_asked_without_a_server() {
        let user = |text: &str| json!({ "role": "user", "content": text });
        let cases = [
            (Wire::Anthropic, "messages", json!({ "model": "m", "max_tokens": 1 })),
            (Wire::Responses, "input", json!({ "model": "m" })),
            (Wire::Chat, "messages", json!({ "model": "m" })),
        ];
        for (wire, list, mut body) in cases {
            body[list] = json!([user("a")]);
            let earlier = body.clone();
            assert_eq!(inspect(wire, &body).violations, []);
            assert_eq!(inspect(wire, &body).shape, ["user text \"a\""]);
            body[list] = json!([user("a"), user("b")]);
            assert_eq!(prefix_break(wire, &earlier, &body), None);
            let told = prefix_break(wire, &body, &earlier).unwrap();
            assert!(told.starts_with(&format!("{list}[1] is missing")), "{told}");
            body["surprise"] = 1.into();
            assert_eq!(inspect(wire, &body).violations[0].rule, "unknown-field");
        }
    }
}
