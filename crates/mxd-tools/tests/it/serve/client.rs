//! A client that writes lines by hand, so that it can also write wrong ones.

use std::time::Duration;

use mxd_core::raw::RawJson;
use mxd_core::tool::{
    Annotations, ApprovalPolicy, ApprovalRule, CapabilityLayer, CapabilitySet, Fallback, PinState, Ruling,
    SideEffect, ToolDef, ToolFacts, ToolOffer,
};
use mxd_tools::plane::{Executor, Function, Plane, Registry};
use mxd_tools::scope::Scope;
use mxd_tools::serve::{OF_A_FOLDER, Offer, Permissions, Server, stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

use crate::scene::Scene;

/// Longer than anything takes here, so that a test that hangs says where.
const PATIENCE: Duration = Duration::from_secs(60);

/// What clients may do in these tests: everything.
pub(crate) fn permissions() -> Permissions {
    Permissions {
        effects: SideEffect::ALL.into_iter().collect(),
        capabilities: CapabilitySet::root(CapabilityLayer::granting(["mcp:*:*".parse().unwrap()]).unwrap()),
        approvals: ApprovalPolicy::new(Vec::new(), Fallback::always(Ruling::Allow)).unwrap(),
    }
}

/// The same, where rules say otherwise.
pub(crate) fn ruled(rules: Value) -> Permissions {
    let rules: Vec<ApprovalRule> = serde_json::from_value(rules).unwrap();
    let approvals = ApprovalPolicy::new(rules, Fallback::always(Ruling::Allow)).unwrap();
    Permissions { approvals, ..permissions() }
}

/// A tool of a test.
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a str,
    pub(crate) output_schema: Option<Value>,
    pub(crate) run: Function,
}

/// The built-in tools and these, as tools of the server `test`.
pub(crate) fn plane(tools: Vec<Tool<'_>>) -> Plane {
    let mut registry = Registry::built_in().unwrap();
    for tool in tools {
        let output = tool.output_schema.map(|schema| RawJson::parse(&schema.to_string()).unwrap());
        let def = ToolDef::from_offer(ToolOffer {
            facts: ToolFacts {
                id: format!("mcp:test:{}", tool.name).parse().unwrap(),
                pin: PinState::Held("1.0.0".parse().unwrap()),
                effect: Some(SideEffect::Read),
            },
            title: "A tool of a test",
            description: "",
            input_schema: &RawJson::parse(r#"{"type":"object"}"#).unwrap(),
            output_schema: output.as_ref(),
            timeout_ms: 60_000,
            annotations: Annotations::default(),
        });
        registry.register(def.unwrap(), Executor::Function(tool.run)).unwrap();
    }
    Plane::new(registry)
}

/// A server with the built-in tools.
pub(crate) fn server(scope: &Scope, permissions: Permissions) -> Server {
    Server::new(Offer { plane: plane(vec![]), scope: scope.clone(), permissions, instructions: OF_A_FOLDER })
}

pub(crate) struct Client {
    input: BufReader<ReadHalf<DuplexStream>>,
    output: Option<WriteHalf<DuplexStream>>,
    serving: JoinHandle<()>,
    /// What came while an answer was waited for.
    pub(crate) aside: Vec<Value>,
    last: i64,
}

impl Client {
    /// Connected, and nothing said yet.
    pub(crate) fn silent(server: Server) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let serving = tokio::spawn(stdio(server, input, output));
        let (input, output) = tokio::io::split(ours);
        Self { input: BufReader::new(input), output: Some(output), serving, aside: Vec::new(), last: 1_000 }
    }

    /// In the era of `initialize`.
    pub(crate) async fn legacy(server: Server, capabilities: Value) -> Self {
        let mut client = Self::silent(server);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "a test", "version": "1" },
        });
        let answer = client.ask("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
        client
    }

    /// The built-in tools of a scene, in the era of `initialize`.
    pub(crate) async fn of(scene: &Scene) -> Self {
        Self::legacy(server(&scene.scope, permissions()), json!({})).await
    }

    /// Writes a line, whatever it is.
    pub(crate) async fn write(&mut self, line: &str) {
        self.write_bytes(format!("{line}\n").as_bytes()).await;
    }

    pub(crate) async fn write_bytes(&mut self, bytes: &[u8]) {
        self.output.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    /// Writes a request and says its number.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> i64 {
        self.last += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.write(&request.to_string()).await;
        self.last
    }

    /// The next message; nothing when the server closed its end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.input.read_line(&mut line));
        let read = read.await.unwrap_or_else(|_| panic!("the server says nothing")).unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// The answer with this number. What else comes is put aside.
    pub(crate) async fn answer(&mut self, id: i64) -> Value {
        if let Some(at) = self.aside.iter().position(|message| message["id"] == id && is_answer(message)) {
            return self.aside.remove(at);
        }
        loop {
            let message = self.next().await.unwrap_or_else(|| panic!("the server is gone"));
            if message["id"] == id && is_answer(&message) {
                return message;
            }
            self.aside.push(message);
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool in the era of `initialize`.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    pub(crate) async fn cancel(&mut self, id: Value) {
        let params = json!({ "requestId": id, "reason": "not needed" });
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.write(&cancel.to_string()).await;
    }

    /// Closes its end and waits for the end of the server; what came until then.
    pub(crate) async fn hang_up(mut self) -> Vec<Value> {
        self.output.take().unwrap().shutdown().await.unwrap();
        let mut rest = std::mem::take(&mut self.aside);
        while let Some(message) = self.next().await {
            rest.push(message);
        }
        self.serving.await.unwrap();
        rest
    }
}

fn is_answer(message: &Value) -> bool {
    message.get("result").is_some() || message.get("error").is_some()
}

/// What every request of the stateless era carries.
pub(crate) fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": { "name": "a test", "version": "1" },
    })
}

/// The text of a result.
pub(crate) fn text(answer: &Value) -> String {
    let blocks = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("no result: {answer}"));
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}
