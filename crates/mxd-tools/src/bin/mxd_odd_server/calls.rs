//! What it does when it is called. Only the first call is odd.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use crate::kinds::{FLOOD, Kind};
use crate::speech::{Speech, complain};

/// A call.
pub(crate) struct Call<'a> {
    id: &'a Value,
    text: &'a str,
    token: Value,
    message: &'a Value,
}

impl<'a> Call<'a> {
    fn of(id: &'a Value, message: &'a Value) -> Self {
        let text = message.pointer("/params/arguments/text").and_then(Value::as_str).unwrap_or_default();
        let token = message.pointer("/params/_meta/progressToken").cloned().unwrap_or_default();
        Self { id, text, token, message }
    }
}

/// Whether a call is dealt with: with a number that is the end, without one it is all that is done about it.
type Dealt = ControlFlow<Option<u8>>;

const DONE: Dealt = ControlFlow::Break(None);
const NOT_YET: Dealt = ControlFlow::Continue(());

impl Kind {
    pub(crate) fn call(&mut self, id: &Value, message: &Value, speech: &Speech) -> Option<u8> {
        self.calls += 1;
        let call = Call::of(id, message);
        if self.calls > 1 && !self.is("modern-never-satisfied") {
            if self.is("withdraws-its-question") {
                for number in ["somebody else's", "q", "q"] {
                    speech.notice("notifications/cancelled", &json!({ "requestId": number }));
                }
            }
            let withdrawn = self.withdrawn.to_string();
            speech.text(id, if self.is("counts-withdrawals") { &withdrawn } else { call.text });
            return None;
        }
        let dealt = [Self::break_off, Self::misanswer, Self::ask, Self::look_around];
        for deal in dealt {
            if let ControlFlow::Break(end) = deal(self, &call, speech) {
                return end;
            }
        }
        self.flood(&call, speech);
        speech.text(id, call.text);
        None
    }

    /// Does not answer.
    fn break_off(&mut self, _call: &Call<'_>, speech: &Speech) -> Dealt {
        let park = || loop {
            std::thread::park();
        };
        match self.name.as_str() {
            "never-answers" | "stops-answering" | "counts-withdrawals" => DONE,
            "dies-in-a-call" => {
                complain("out of cheese\n");
                ControlFlow::Break(Some(7))
            }
            "is-killed-in-a-call" => std::process::abort(),
            "closes-its-output" => {
                let nowhere = std::fs::File::open("/dev/null").map(rustix::stdio::dup2_stdout);
                drop(nowhere);
                park()
            }
            "closes-its-input" => {
                let nothing = std::fs::File::open("/dev/null").map(rustix::stdio::dup2_stdin);
                drop(nothing);
                park()
            }
            "drips" => {
                // Slowly, on every machine: the limit of a message is met by other modes.
                while speech.raw(b" ") {
                    std::thread::park_timeout(std::time::Duration::from_millis(1));
                }
                ControlFlow::Break(Some(1))
            }
            _ => NOT_YET,
        }
    }

    /// Answers with something that is no answer.
    fn misanswer(&mut self, call: &Call<'_>, speech: &Speech) -> Dealt {
        let id = call.id;
        match self.name.as_str() {
            "answers-twice" => {
                speech.text(id, call.text);
                speech.text(id, "and again");
                speech.error(id, -1, "or not");
            }
            "answers-with-garbage" => drop(speech.line("{\"jsonrpc\": \"2.0\", \"id\": ")),
            "answers-somebody-else" => drop(speech.text(&json!(99_999), call.text)),
            "answers-deeply" => {
                let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
                speech.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{deep}}}}}"#));
            }
            "answers-at-length" => drop(speech.text(id, &"x".repeat(3 << 20))),
            "answers-with-a-string" => drop(speech.result(id, &json!(call.text))),
            "answers-with-a-number" => drop(speech.result(id, &json!(42))),
            "refuses-at-length" => {
                let error = json!({ "code": 7, "message": "x".repeat(100_000), "data": "y".repeat(100_000) });
                speech.message(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
            "refuses-oddly" => drop(speech.message(&json!({ "jsonrpc": "2.0", "id": id, "error": "no" }))),
            "promises-a-shape" => {
                speech.result(id, &json!({ "content": [], "structuredContent": { "n": "seven" } }));
            }
            "odd-content" => {
                let content = json!([{ "type": "video", "url": "x" }, { "type": "text", "text": call.text }]);
                speech.result(id, &json!({ "content": content }));
            }
            "modern-task" => {
                speech.result(id, &json!({ "resultType": "task", "task": { "taskId": "1" } }));
            }
            _ => return NOT_YET,
        }
        DONE
    }

    /// Asks before it answers.
    fn ask(&mut self, call: &Call<'_>, speech: &Speech) -> Dealt {
        let question = json!({ "q": { "method": "elicitation/create", "params": { "message": "more?" } } });
        let needs = |questions: &Value| {
            let needed = json!({ "resultType": "input_required", "inputRequests": questions, "requestState": "opaque" });
            speech.result(call.id, &needed);
        };
        match self.name.as_str() {
            "asks-for-roots" => {
                self.pending = Some(call.id.clone());
                speech.request(&json!("r"), "roots/list", &json!({}));
            }
            "asks-somebody" => {
                self.pending = Some(call.id.clone());
                speech.request(&json!(1), &self.extra, &json!({ "message": "what now?" }));
            }
            "withdraws-its-question" => {
                speech.request(&json!("q"), "elicitation/create", &json!({ "message": "what now?" }));
                return NOT_YET;
            }
            "modern-asks-once" => match call.message.pointer("/params/inputResponses") {
                Some(answers) => {
                    let state = call.message.pointer("/params/requestState").unwrap_or(&Value::Null);
                    speech.text(call.id, &format!("{state} {answers}"));
                }
                None => {
                    self.calls = 0;
                    needs(&question);
                }
            },
            "modern-asks-in-vain" => needs(&question),
            "modern-never-satisfied" => needs(&json!({})),
            _ => return NOT_YET,
        }
        DONE
    }

    /// Tells what it sees, and what it can do.
    fn look_around(&mut self, call: &Call<'_>, speech: &Speech) -> Dealt {
        match self.name.as_str() {
            "tells-its-number" => drop(speech.text(call.id, &std::process::id().to_string())),
            "writes" => {
                let written = std::fs::File::create(&self.extra).map_err(|error| error.kind());
                speech.text(call.id, &format!("{written:?}"));
            }
            "tells-secrets" => {
                let secret = std::env::var(&self.extra).unwrap_or_default();
                complain(&format!("my token is {secret}\n"));
                let progress = json!({ "progressToken": call.token, "progress": 1, "message": secret });
                speech.notice("notifications/progress", &progress);
                speech.line(&format!("token={secret}"));
                let env: Vec<String> =
                    std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
                let content = json!([{ "type": "text", "text": env.join("\n") }]);
                let structured = json!({ secret.clone(): [secret] });
                speech.result(call.id, &json!({ "content": content, "structuredContent": structured }));
            }
            _ => return NOT_YET,
        }
        DONE
    }

    /// Says a lot beside its answer.
    fn flood(&mut self, call: &Call<'_>, speech: &Speech) {
        let changed = || speech.notice("notifications/tools/list_changed", &json!({}));
        let progress = |token: &Value, progress: Value| {
            speech.notice("notifications/progress", &json!({ "progressToken": token, "progress": progress }))
        };
        let ask =
            |number: Value, method: &str| speech.request(&number, method, &json!({ "message": "well?" }));
        match self.name.as_str() {
            "floods-notices" => {
                let log = json!({ "level": "info", "data": "x" });
                (0..FLOOD).all(|_| speech.notice("notifications/message", &log));
            }
            "floods-changes" => drop((0..FLOOD).all(|_| changed())),
            "floods-progress" => drop((0..FLOOD).all(|number| progress(&call.token, json!(number)))),
            "progress-of-others" => {
                let others = [json!(99_999), json!("x"), Value::Null, json!({}), json!(-1)];
                others.iter().all(|token| progress(token, json!("much")));
            }
            "reports-progress" => {
                let half =
                    json!({ "progressToken": call.token, "progress": 1, "total": 2, "message": "half" });
                speech.notice("notifications/progress", &half);
            }
            "floods-pings" => drop((0..FLOOD).all(|number| ask(json!(format!("p{number}")), "ping"))),
            "asks-models" => drop((0..FLOOD).all(|number| ask(json!(number), "sampling/createMessage"))),
            "asks-people" => drop((0..FLOOD).all(|number| ask(json!(number), "elicitation/create"))),
            "modern-sends-requests" => drop((0..FLOOD).all(|number| ask(json!(number), "roots/list"))),
            "asks-with-a-giant-number" => {
                ask(json!("9".repeat(100_000)), "ping");
                ask(json!({ "deep": [] }), "roots/list");
            }
            "changes-later" | "refuses-to-list-again" => drop(changed()),
            _ => {}
        }
    }
}
