//! Questions of servers: they become questions to the user, whose answer goes back to the server.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use mxd_core::decide::SessionOp;
use mxd_core::event::{Event, EventBody};
use mxd_core::id::{ClarificationId, TaskId};
use mxd_tools::mcp::{Answerer, Question, Refusal};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::{Agents, Inner};
use crate::clock;

/// How often the user is asked again when an answer does not fit.
const ATTEMPTS: usize = 3;
/// Bytes of the words of a server that are shown.
const SHOWN: usize = 4_000;
/// Fields of one question.
const FIELDS: usize = 20;

/// Who waits for which answer; nothing is told when nobody answered in time.
pub(super) type Waiting = HashMap<ClarificationId, oneshot::Sender<Option<String>>>;

impl Agents {
    /// Somebody who asks the user for the servers of a task. It does not keep the project open.
    pub(super) fn asker(&self, task: TaskId) -> Answerer {
        let inner = Arc::downgrade(&self.inner);
        Arc::new(move |question| {
            let inner = Weak::clone(&inner);
            Box::pin(async move { Self::still_open(&inner)?.elicit(task, &question).await })
        })
    }

    /// The agents, unless they are gone.
    pub(super) fn still_open(inner: &Weak<Inner>) -> Result<Self, Refusal> {
        let inner = inner.upgrade().ok_or_else(|| Refusal("the project is closed".to_owned()))?;
        Ok(Self { inner })
    }

    async fn elicit(&self, task: TaskId, question: &Question) -> Result<Value, Refusal> {
        let form = Form::of(&question.params)?;
        let mut why = String::new();
        for _ in 0..ATTEMPTS {
            let words = format!("{}{}", why, form.words(question.server.as_str()));
            let Some(answer) = self.ask_user(task, question.server.as_str(), words).await? else {
                return Ok(json!({ "action": "cancel" }));
            };
            match form.read(&answer) {
                Ok(content) => return Ok(content),
                Err(problem) => why = format!("Your last answer does not fit: {problem}.\n\n"),
            }
        }
        Err(Refusal("the user's answers did not fit the question".to_owned()))
    }

    /// Asks the user and waits. When nobody waits any more the question is withdrawn.
    async fn ask_user(&self, task: TaskId, server: &str, words: String) -> Result<Option<String>, Refusal> {
        let id: ClarificationId = clock::fresh(clock::now()).issue();
        let (tell, told) = oneshot::channel();
        self.waiting().insert(id, tell);
        let withdrawal = Withdrawal { agents: self.clone(), task, id };
        let op = SessionOp::AskForServer { id, server: server.to_owned(), question: words };
        self.decided(task, op).await.map_err(|error| Refusal(error.to_string()))?;
        let answer = told.await.map_err(|_| Refusal("the project is closed".to_owned()))?;
        drop(withdrawal);
        Ok(answer)
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.inner.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears the answers that servers wait for.
    pub(super) fn hear_answer(&self, event: &Event) {
        let (id, answer) = match &event.body {
            EventBody::ClarificationAnswered(body) => (body.id, Some(body.answer.clone())),
            EventBody::ClarificationExpired(body) => (body.id, None),
            _ => return,
        };
        if let Some(waiting) = self.waiting().remove(&id) {
            // Whoever asked may be gone.
            let _gone = waiting.send(answer);
        }
    }
}

/// Takes a question back when its asker is gone before it was answered.
struct Withdrawal {
    agents: Agents,
    task: TaskId,
    id: ClarificationId,
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        if self.agents.waiting().remove(&self.id).is_some() {
            let (agents, task, id) = (self.agents.clone(), self.task, self.id);
            self.agents.spawn(async move { agents.report(task, SessionOp::WithdrawQuestion { id }).await });
        }
    }
}

/// What a server wants to know.
#[derive(Debug)]
struct Form {
    message: String,
    /// A page the user is to look at, when that is what is asked.
    url: Option<String>,
    schema: Value,
    /// The fields, with what is said about each.
    fields: Vec<(String, String)>,
}

impl Form {
    fn of(params: &Value) -> Result<Self, Refusal> {
        let word = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default();
        let url = (word("mode") == "url").then(|| word("url").to_owned());
        let schema = params.get("requestedSchema").cloned().unwrap_or_else(|| json!({ "type": "object" }));
        let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        if properties.len() > FIELDS {
            return Err(Refusal(format!("a question has {FIELDS} fields at most")));
        }
        let fields = properties.iter().map(|(name, field)| (name.clone(), described(field))).collect();
        let message = word("message");
        let message = message[..message.floor_char_boundary(SHOWN)].to_owned();
        Ok(Self { message, url, schema, fields })
    }

    /// The question as the user reads it.
    fn words(&self, server: &str) -> String {
        let mut words = format!("The server {server} asks: {}\n", self.message.trim());
        if let Some(url) = &self.url {
            words.push_str(&format!("It wants you to open {url}\nAnswer yes when you have done so.\n"));
        }
        match &self.fields[..] {
            [] => {}
            [(name, about)] => words.push_str(&format!("Answer with {name} ({about}).\n")),
            fields => {
                words.push_str("Answer with a line for each, `name: value`:\n");
                for (name, about) in fields {
                    words.push_str(&format!("* {name} ({about})\n"));
                }
            }
        }
        words.push_str("Answer `decline` to refuse, `cancel` to say nothing.");
        words
    }

    /// What the server is told, or why the answer does not fit.
    fn read(&self, answer: &str) -> Result<Value, String> {
        let answer = answer.trim();
        match answer.to_lowercase().as_str() {
            "decline" => return Ok(json!({ "action": "decline" })),
            "cancel" => return Ok(json!({ "action": "cancel" })),
            "no" if self.fields.is_empty() => return Ok(json!({ "action": "decline" })),
            _ => {}
        }
        let content = self.content(answer)?;
        let validator =
            jsonschema::validator_for(&self.schema).map_err(|_| "the server's form is none".to_owned())?;
        if let Some(error) = validator.iter_errors(&content).next() {
            return Err(error.to_string());
        }
        if self.url.is_some() {
            return Ok(json!({ "action": "accept" }));
        }
        Ok(json!({ "action": "accept", "content": content }))
    }

    fn content(&self, answer: &str) -> Result<Value, String> {
        if let Ok(content @ Value::Object(_)) = serde_json::from_str(answer) {
            return Ok(content);
        }
        let value = |name: &str, text: &str| {
            let kind = self.schema.pointer(&format!("/properties/{name}/type")).and_then(Value::as_str);
            typed(kind.unwrap_or("string"), text.trim())
        };
        let mut content = Map::new();
        match &self.fields[..] {
            [] => {}
            [(name, _)] => drop(content.insert(name.clone(), value(name, answer))),
            fields => {
                for line in answer.lines().filter(|line| !line.trim().is_empty()) {
                    let named = line.split_once(':').map(|(name, text)| (name.trim(), text));
                    let known = named.filter(|(name, _)| fields.iter().any(|(field, _)| field == name));
                    let (name, text) = known.ok_or_else(|| format!("`{line}` names none of the fields"))?;
                    content.insert(name.to_owned(), value(name, text));
                }
            }
        }
        Ok(Value::Object(content))
    }
}

/// A word as what it is meant to be; what it is not stays a text, which does not fit.
fn typed(kind: &str, text: &str) -> Value {
    match kind {
        "boolean" => match text.to_lowercase().as_str() {
            "yes" | "true" | "y" => Value::Bool(true),
            "no" | "false" | "n" => Value::Bool(false),
            _ => Value::from(text),
        },
        "integer" => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
        "number" => text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from),
        "array" => text.split(',').map(|part| Value::from(part.trim())).collect(),
        _ => Value::from(text),
    }
}

/// What is said about a field: its title or description, and what it may be.
fn described(field: &Value) -> String {
    let word = |key: &str| field.get(key).and_then(Value::as_str);
    let about = word("description").or_else(|| word("title")).unwrap_or_default();
    let choices = field.get("enum").and_then(Value::as_array).into_iter().flatten();
    let choices: Vec<&str> = choices.filter_map(Value::as_str).collect();
    let kind =
        if choices.is_empty() { word("type").unwrap_or("text").to_owned() } else { choices.join(" | ") };
    if about.is_empty() { kind } else { format!("{about}; {kind}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Form;

    fn form(schema: serde_json::Value) -> Form {
        Form::of(&json!({ "message": "Which?", "requestedSchema": schema })).unwrap()
    }

    #[test]
    fn an_answer_becomes_what_the_form_asks_for() {
        let one = form(
            json!({ "type": "object", "properties": { "age": { "type": "integer" } }, "required": ["age"] }),
        );
        assert_eq!(one.read(" 42 "), Ok(json!({ "action": "accept", "content": { "age": 42 } })));
        assert!(one.read("old").unwrap_err().contains("old"));
        assert_eq!(one.read("decline"), Ok(json!({ "action": "decline" })));
        let two = form(
            json!({ "type": "object", "properties": { "sure": { "type": "boolean" }, "why": { "type": "string" } } }),
        );
        let accepted = json!({ "action": "accept", "content": { "sure": true, "why": "it: matters" } });
        assert_eq!(two.read("sure: yes\nwhy: it: matters"), Ok(accepted.clone()));
        assert_eq!(two.read(r#"{"sure":true,"why":"it: matters"}"#), Ok(accepted));
        assert!(two.read("perhaps").is_err());
        assert!(two.words("files").contains("* sure (boolean)"));
        let none = form(json!({ "type": "object" }));
        assert_eq!(none.read("yes"), Ok(json!({ "action": "accept", "content": {} })));
        assert_eq!(none.read("no"), Ok(json!({ "action": "decline" })));
    }
}
