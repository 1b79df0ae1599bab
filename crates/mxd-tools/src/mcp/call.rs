//! Calling a tool, and reading a resource, until there is a result.

use mxd_core::tool::{Quoted, ToolName};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::connection::{CallOptions, Connection};
use super::error::CallError;
use super::offer::{Offered, Output};
use super::talk::Ask;

/// Questions of one round that a server may ask.
const QUESTIONS: usize = 16;

impl Connection {
    /// Calls a tool. What comes back is the result as the server wrote it, without our secrets.
    ///
    /// # Errors
    ///
    /// When there is no result; a tool that failed is one.
    pub async fn call(
        &self,
        tool: &ToolName,
        args: &Value,
        options: CallOptions,
    ) -> Result<Value, CallError> {
        let offer = self.offer();
        let Some(offered) = offer.tool(tool) else {
            return Err(CallError::NotOffered { server: self.server().clone(), tool: tool.clone() });
        };
        let params = json!({ "name": tool.as_str(), "arguments": args });
        let result = self.insist("tools/call", params, options).await?;
        self.fits(offered, &result)?;
        Ok(result)
    }

    /// Reads a resource: the result as the server wrote it, without our secrets.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub async fn read_resource(&self, uri: &str, options: CallOptions) -> Result<Value, CallError> {
        self.insist("resources/read", json!({ "uri": uri }), options).await
    }

    /// Asks until the server has all it needs.
    async fn insist(
        &self,
        method: &'static str,
        mut params: Value,
        options: CallOptions,
    ) -> Result<Value, CallError> {
        let limit = self.talk.traffic.limits.rounds;
        let mut until = Instant::now() + options.deadline;
        for _round in 0..limit {
            let ask = Ask {
                method,
                params: params.clone(),
                deadline: until.saturating_duration_since(Instant::now()),
                cancel: Some(&options.cancel),
                progress: options.progress.clone(),
            };
            let text = self.talk.ask(ask).await.map_err(|error| whole(error, &options))?;
            let result = self.read(&text)?;
            let members = match &result {
                Value::Object(members) => members,
                // Some servers answer a call with nothing but its text.
                Value::String(_) if method == "tools/call" => return Ok(result),
                _ => {
                    let wanted = if method == "tools/call" { "an object or a text" } else { "an object" };
                    return Err(self.bad(format!("{} instead of {wanted}", Quoted::of(&text))));
                }
            };
            match members.get("resultType").and_then(Value::as_str) {
                Some("input_required") => {
                    let asked = Instant::now();
                    let answers = tokio::select! {
                        answers = self.input(members) => answers?,
                        () = options.cancel.cancelled() => {
                            return Err(CallError::Cancelled { server: self.server().clone() });
                        }
                    };
                    // It is not the server who took so long.
                    until += asked.elapsed();
                    params["inputResponses"] = answers;
                    match members.get("requestState") {
                        Some(state) => params["requestState"] = state.clone(),
                        None => drop(params.as_object_mut().and_then(|params| params.remove("requestState"))),
                    }
                }
                Some("task") => return Err(self.bad("a task, which nobody asked for".to_owned())),
                Some(_) | None => return Ok(result),
            }
        }
        Err(CallError::TooManyRounds { server: self.server().clone(), limit })
    }

    /// Answers what a server needs to know for its result.
    async fn input(&self, result: &Map<String, Value>) -> Result<Value, CallError> {
        let Some(Value::Object(questions)) = result.get("inputRequests") else { return Ok(json!({})) };
        if questions.len() > QUESTIONS {
            return Err(self.bad(format!("{} questions at once, more than {QUESTIONS}", questions.len())));
        }
        let mut answers = Map::new();
        for (name, question) in questions {
            let method = question.get("method").and_then(Value::as_str).unwrap_or_default();
            let params = question.get("params").cloned().unwrap_or_default();
            let answer = self.clerk.answer(method, params).await.map_err(|no| CallError::Unanswered {
                server: self.server().clone(),
                why: Quoted::of(&no.message()),
            })?;
            answers.insert(name.clone(), answer);
        }
        Ok(Value::Object(answers))
    }

    /// Holds structured content against what the tool promised.
    fn fits(&self, offered: &Offered, result: &Value) -> Result<(), CallError> {
        if result.get("isError").and_then(Value::as_bool) == Some(true) {
            return Ok(());
        }
        let schema = match &offered.output {
            Output::Anything => return Ok(()),
            Output::Shaped(schema) => schema,
            Output::Unreadable(why) => {
                return Err(self.bad(format!("the schema of its results cannot be used: {why}")));
            }
        };
        let Some(structured) = result.get("structuredContent") else {
            return Err(self.bad("no structured content, which its schema promises".to_owned()));
        };
        match schema.problems(structured).first() {
            None => Ok(()),
            Some(problem) => {
                let place = Quoted::of(&problem.path);
                Err(self.bad(format!(
                    "structured content that is not as promised: `{place}` {}",
                    problem.problem
                )))
            }
        }
    }

    fn bad(&self, why: String) -> CallError {
        CallError::BadResult { server: self.server().clone(), why }
    }
}

/// The time that is told is that of the whole call, not that of its last round.
fn whole(error: CallError, options: &CallOptions) -> CallError {
    match error {
        CallError::TimedOut { server, loss, .. } => {
            CallError::TimedOut { server, after: options.deadline, loss }
        }
        other => other,
    }
}
