//! Writing, in and out of order.

use std::io::{self, Write as _};

use serde_json::{Value, json};

/// What the server says. Nobody who does not listen keeps it from going on.
#[derive(Clone, Copy)]
pub(crate) struct Speech;

impl Speech {
    pub(crate) fn raw(self, bytes: &[u8]) -> bool {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush()).is_ok()
    }

    pub(crate) fn line(self, text: &str) -> bool {
        self.raw(format!("{text}\n").as_bytes())
    }

    pub(crate) fn message(self, message: &Value) -> bool {
        self.line(&message.to_string())
    }

    pub(crate) fn result(self, id: &Value, result: &Value) -> bool {
        self.message(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    pub(crate) fn error(self, id: &Value, code: i64, message: &str) -> bool {
        let error = json!({ "code": code, "message": message });
        self.message(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }

    pub(crate) fn notice(self, method: &str, params: &Value) -> bool {
        self.message(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    pub(crate) fn request(self, id: &Value, method: &str, params: &Value) -> bool {
        self.message(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    pub(crate) fn text(self, id: &Value, text: &str) -> bool {
        self.result(id, &json!({ "content": [{ "type": "text", "text": text }] }))
    }
}

pub(crate) fn complain(text: &str) {
    // Nobody has to read it.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
