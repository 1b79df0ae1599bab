//! What is listed against what is there: over the wire, without running anything.
//!
//! A client in the process asks the server for its tools and holds them against the registry, in both directions.
//! Then it calls every one of them with an argument that none takes: the refusal of that argument shows that the
//! name leads to a tool with a schema of its own, and keeps the tool from doing anything.

use std::collections::BTreeMap;

use mxd_core::tool::ToolDef;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::limits::MAX_MESSAGE_BYTES;
use super::lines::stdio;
use super::listing;
use super::server::Server;
use crate::plane::schema::Schema;

/// An argument that no tool has.
const NO_ARGUMENT: &str = "no tool has this argument";
/// A tool that no registry has.
const NO_TOOL: &str = "no_such_tool";

/// What a selftest found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The tools that were looked at, by name.
    pub tools: Vec<String>,
    /// Tools that the permissions keep from being offered.
    pub withheld: Vec<String>,
    /// What does not agree. Nothing, when all is well.
    pub findings: Vec<Finding>,
}

/// Something that does not agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which tool.
    pub tool: String,
    /// What is wrong with it.
    pub what: String,
}

/// Holds what a server lists and calls against its registry. Closes the server.
pub async fn selftest(server: Server) -> Report {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (input, output) = tokio::io::split(theirs);
    let serving = tokio::spawn(stdio(server.clone(), input, output));
    let mut client = Client::new(ours);
    let listed = client.ask("tools/list", json!({})).await;
    let listed = listed["result"]["tools"].as_array().cloned().unwrap_or_default();
    let offered: Vec<Value> =
        server.tools().iter().filter_map(|tool| serde_json::to_value(tool).ok()).collect();
    let mut findings = differences(&offered, &listed);
    let mut report = Report { tools: Vec::new(), withheld: Vec::new(), findings: Vec::new() };
    for def in server.offer().plane.registry().defs() {
        let name = listing::name(&def.facts.id);
        let found = offered.iter().any(|tool| tool["name"] == name.as_str());
        let params = json!({ "name": name, "arguments": { NO_ARGUMENT: 1 } });
        let answer = client.ask("tools/call", params).await;
        let problem = if found { misled(&answer) } else { not_refused(&answer) };
        findings
            .extend(problem.into_iter().chain(schemas(def)).map(|what| Finding { tool: name.clone(), what }));
        if found { report.tools.push(name) } else { report.withheld.push(name) }
    }
    let answer = client.ask("tools/call", json!({ "name": NO_TOOL, "arguments": {} })).await;
    findings.extend(not_refused(&answer).map(|what| Finding { tool: NO_TOOL.to_owned(), what }));
    drop(client);
    let _ended = serving.await;
    Report { findings, ..report }
}

/// The differences between two lists of tools, in both directions.
fn differences(offered: &[Value], listed: &[Value]) -> Vec<Finding> {
    let by_name = |tools: &[Value]| -> BTreeMap<String, Value> {
        tools
            .iter()
            .map(|tool| (tool["name"].as_str().unwrap_or_default().to_owned(), tool.clone()))
            .collect()
    };
    let (expected, found) = (by_name(offered), by_name(listed));
    let finding = |tool: &str, what: &str| Finding { tool: tool.to_owned(), what: what.to_owned() };
    let mut findings = Vec::new();
    for (name, tool) in &expected {
        match found.get(name) {
            None => findings.push(finding(name, "is registered and not listed")),
            Some(listed) if listed != tool => {
                findings.push(finding(name, "is listed otherwise than it is registered"));
            }
            Some(_) => {}
        }
    }
    let unknown = found.keys().filter(|name| !expected.contains_key(*name));
    findings.extend(unknown.map(|name| finding(name, "is listed and not registered")));
    if listed.len() != found.len() {
        findings.push(finding("tools/list", "lists a name twice"));
    }
    findings
}

/// Why a call with a wrong argument did not lead to the tool.
fn misled(answer: &Value) -> Option<String> {
    let result = &answer["result"];
    let told = result["content"][0]["text"].as_str().unwrap_or_default();
    if result["isError"] == true && told.contains(NO_ARGUMENT) {
        return None;
    }
    Some(format!("a call with a wrong argument was not refused for it: {answer}"))
}

/// Why a tool that is not offered could be called.
fn not_refused(answer: &Value) -> Option<String> {
    let refused = answer["error"]["code"] == -32602;
    (!refused).then(|| format!("is not offered, and a call of it was not refused: {answer}"))
}

/// What is wrong with the schemas of a tool.
fn schemas(def: &ToolDef) -> Vec<String> {
    let all = [("arguments", Some(def.input.shown())), ("results", def.output_schema.as_ref())];
    let given = all.into_iter().filter_map(|(of, schema)| Some((of, schema?)));
    let problem = |(of, schema): (&str, &mxd_core::raw::RawJson)| {
        let value: Value = serde_json::from_str(schema.get()).ok()?;
        let error = Schema::compile(&value).err()?;
        Some(format!("the schema of its {of} cannot be used: {error}"))
    };
    given.filter_map(problem).collect()
}

/// A client that asks one thing at a time.
struct Client {
    input: BufReader<ReadHalf<DuplexStream>>,
    output: WriteHalf<DuplexStream>,
    asked: u64,
}

impl Client {
    fn new(stream: DuplexStream) -> Self {
        let (input, output) = tokio::io::split(stream);
        Self { input: BufReader::with_capacity(MAX_MESSAGE_BYTES.min(64 << 10), input), output, asked: 0 }
    }

    /// The answer to a request; null when there is none.
    async fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.asked += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        let mut line = String::new();
        let asked = self.output.write_all(format!("{request}\n").as_bytes()).await;
        if asked.is_err() || self.input.read_line(&mut line).await.is_err() {
            return Value::Null;
        }
        serde_json::from_str(&line).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(offered: &[Value], listed: &[Value]) -> Vec<String> {
        differences(offered, listed)
            .into_iter()
            .map(|found| format!("{} {}", found.tool, found.what))
            .collect()
    }

    #[test]
    fn every_difference_between_two_lists_is_told() {
        let bash = [json!({ "name": "bash", "title": "a" })];
        let both = [bash[0].clone(), json!({ "name": "read" })];
        assert!(told(&both, &both).is_empty());
        assert_eq!(told(&both, &bash), ["read is registered and not listed"]);
        assert_eq!(told(&bash, &both), ["read is listed and not registered"]);
        let other = [json!({ "name": "bash", "title": "b" })];
        assert_eq!(told(&bash, &other), ["bash is listed otherwise than it is registered"]);
        let twice = [bash[0].clone(), bash[0].clone()];
        assert_eq!(told(&bash, &twice), ["tools/list lists a name twice"]);
    }

    #[test]
    fn a_call_that_leads_elsewhere_is_told() {
        let refused =
            json!({ "result": { "isError": true, "content": [{ "text": format!("`/{NO_ARGUMENT}` …") }] } });
        assert_eq!(misled(&refused), None);
        assert!(
            misled(&json!({ "result": { "isError": true, "content": [{ "text": "other" }] } })).is_some()
        );
        assert!(misled(&json!({ "error": { "code": -32602 } })).is_some());
        assert!(not_refused(&refused).is_some());
        assert_eq!(not_refused(&json!({ "error": { "code": -32602 } })), None);
    }
}
