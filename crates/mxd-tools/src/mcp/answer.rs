//! What servers are told when they ask.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mxd_core::tool::ServerName;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::surroundings::{Answerer, Answers, Question, Refusal};
use super::traffic::{Admission, Traffic};
use super::wire::Outlet;

/// Bytes of the number of a request.
const ID_BYTES: usize = 1_024;
const METHOD_NOT_FOUND: i64 = -32_601;
const REFUSED: i64 = -32_000;

/// Who answers the requests of one server. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Clerk {
    desk: Arc<Desk>,
}

#[derive(Debug)]
struct Desk {
    server: ServerName,
    answers: Answers,
    traffic: Arc<Traffic>,
    /// Servers that keep no state ask in their results only.
    is_closed: AtomicBool,
    /// Requests that are being answered, by their number as the server wrote it.
    open: Mutex<HashMap<String, CancellationToken>>,
}

/// A request that the server does not want answered any more.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Withdrawn<'a> {
    #[serde(borrow)]
    request_id: &'a RawValue,
}

/// Why a request of a server is not answered.
pub(super) struct NoAnswer {
    code: i64,
    message: String,
}

impl NoAnswer {
    /// In words.
    pub(super) fn message(self) -> String {
        self.message
    }
}

impl Clerk {
    pub(super) fn new(server: ServerName, answers: Answers, traffic: Arc<Traffic>) -> Self {
        let (is_closed, open) = (AtomicBool::new(false), Mutex::default());
        Self { desk: Arc::new(Desk { server, answers, traffic, is_closed, open }) }
    }

    /// From now on requests of the server make no sense.
    pub(super) fn close(&self) {
        self.desk.is_closed.store(true, Ordering::Relaxed);
    }

    /// What we say we can do.
    pub(super) fn capabilities(&self) -> Value {
        let answers = &self.desk.answers;
        let mut capabilities = Map::new();
        if !answers.roots.is_empty() {
            capabilities.insert("roots".to_owned(), json!({}));
        }
        if answers.sampling.is_some() {
            capabilities.insert("sampling".to_owned(), json!({}));
        }
        if answers.elicitation.is_some() {
            capabilities.insert("elicitation".to_owned(), json!({}));
        }
        Value::Object(capabilities)
    }

    /// Takes a request: it is answered at once, in a task of its own, or not at all.
    pub(super) fn receive(&self, id: &str, method: &str, params: Option<&str>, outlet: &Outlet) {
        let traffic = &self.desk.traffic;
        if self.desk.is_closed.load(Ordering::Relaxed) || id.len() > ID_BYTES {
            return traffic.odd(method.as_bytes());
        }
        if method == "ping" {
            if !outlet.reply(message(id, "result", &json!({}))) {
                traffic.odd(b"ping");
            }
            return;
        }
        match traffic.admit() {
            Admission::Admitted => {}
            Admission::Crowded => {
                let error = json!({ "code": REFUSED, "message": "too many requests at once" });
                let _no_room = outlet.reply(message(id, "error", &error));
                return;
            }
            Admission::Exhausted => {
                return traffic.end(super::error::Cause::TooManyRequests { limit: traffic.limits.answers });
            }
        }
        let params = params.and_then(|params| serde_json::from_str(params).ok()).unwrap_or_default();
        let (clerk, outlet) = (self.clone(), outlet.clone());
        let (id, method) = (id.to_owned(), method.to_owned());
        let withdrawn = CancellationToken::new();
        self.open().insert(id.clone(), withdrawn.clone());
        tokio::spawn(async move {
            let traffic = &clerk.desk.traffic;
            tokio::select! {
                () = traffic.ended().cancelled() => {}
                () = withdrawn.cancelled() => {}
                answer = clerk.answer(&method, params) => {
                    let _no_room = outlet.reply(match answer {
                        Ok(result) => message(&id, "result", &result),
                        Err(NoAnswer { code, message: words }) => {
                            message(&id, "error", &json!({ "code": code, "message": words }))
                        }
                    });
                }
            }
            clerk.open().remove(&id);
            traffic.dismiss();
        });
    }

    /// The server does not want an answer any more.
    pub(super) fn withdraw(&self, params: Option<&str>) {
        let withdrawn = params.and_then(|params| serde_json::from_str::<Withdrawn<'_>>(params).ok());
        if let Some(open) = withdrawn.and_then(|withdrawn| self.open().remove(withdrawn.request_id.get())) {
            open.cancel();
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.desk.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a request, however it came.
    pub(super) async fn answer(&self, method: &str, params: Value) -> Result<Value, NoAnswer> {
        let answers = &self.desk.answers;
        match method {
            "roots/list" if !answers.roots.is_empty() => Ok(json!({ "roots": self.roots() })),
            "sampling/createMessage" => {
                self.ask(answers.sampling.as_ref(), params, "no model writes for this server").await
            }
            "elicitation/create" => {
                self.ask(answers.elicitation.as_ref(), params, "nobody can be asked at the moment").await
            }
            _ => Err(NoAnswer { code: METHOD_NOT_FOUND, message: format!("{method} is not offered") }),
        }
    }

    async fn ask(&self, who: Option<&Answerer>, params: Value, nobody: &str) -> Result<Value, NoAnswer> {
        let Some(who) = who else {
            return Err(NoAnswer { code: METHOD_NOT_FOUND, message: nobody.to_owned() });
        };
        let _asking = self.desk.traffic.ask();
        let answer = who(Question { server: self.desk.server.clone(), params }).await;
        answer.map_err(|Refusal(message)| NoAnswer { code: REFUSED, message })
    }

    fn roots(&self) -> Vec<Value> {
        let root = |path: &std::path::PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            json!({ "uri": file_uri(&path.to_string_lossy()), "name": name })
        };
        self.desk.answers.roots.iter().map(root).collect()
    }
}

fn message(id: &str, kind: &str, content: &Value) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"{kind}":{content}}}"#).into_bytes()
}

/// A path as a URI: whatever is not plainly part of a path is encoded.
fn file_uri(path: &str) -> String {
    use std::fmt::Write as _;
    path.bytes().fold("file://".to_owned(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(uri, "%{byte:02X}");
        }
        uri
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(file_uri("/a b/ü#?.txt"), "file:///a%20b/%C3%BC%23%3F.txt");
    }
}
