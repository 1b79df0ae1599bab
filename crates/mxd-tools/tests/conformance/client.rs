//! The client under test: ours. It connects, calls the tools that it is offered, and answers what it is asked.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use mxd_core::manifest::{Reconnect, Remote, ResourceAccess, Sampling, ServerSpec, Tools, Transport};
use mxd_core::tool::ToolName;
use mxd_tools::mcp::{Answers, CallOptions, Connection, Limits, Surroundings};
use mxd_tools::sandbox::{self, Agent, Launcher, Mode, Network, Sandbox, User};
use mxd_tools::scope::{Access, Root};
use serde_json::{Map, Value, json};

/// Plays a scenario against the server at the address that is the last argument.
pub(crate) fn drive(scenario: &str) -> ExitCode {
    let url = std::env::args().next_back().unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match runtime.block_on(play(scenario, url)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn play(scenario: &str, url: String) -> Result<(), Box<dyn std::error::Error>> {
    let spec = ServerSpec {
        name: "suite".parse()?,
        transport: Transport::Http(Remote { endpoint: url, headers: vec![] }),
        package: None,
        tools: Tools::FirstUse,
        reconnect: Reconnect::Never,
        timeout_ms: 20_000,
        sampling: Sampling::Off,
        resources: ResourceAccess::Closed,
    };
    let connection = Connection::open(&spec, None, &Arc::new(surroundings().await?)).await?;
    let definitions = connection.definitions();
    let definitions: Vec<Value> =
        definitions.iter().map(|raw| serde_json::from_str(raw.get())).collect::<Result<_, _>>()?;
    for (name, args) in calls(scenario, &definitions) {
        let Ok(name) = name.parse::<ToolName>() else { continue };
        // What the server says to a call is its own affair; what was sent is looked at.
        let result = connection.call(&name, &args, CallOptions::within(Duration::from_secs(20))).await;
        if let Err(error) = result {
            eprintln!("{name}: {error}");
        }
    }
    connection.close().await;
    Ok(())
}

/// The calls of a scenario: those it names, or one of every tool.
fn calls(scenario: &str, definitions: &[Value]) -> Vec<(String, Value)> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let name = |of: &Value| of["name"].as_str().unwrap_or_default().to_owned();
    if let Some(named) = context["toolCalls"].as_array() {
        return named.iter().map(|call| (name(call), call["arguments"].clone())).collect();
    }
    let args = |tool: &Value| {
        let mut args = arguments(&tool["inputSchema"]);
        if scenario == "json-schema-2020-12-preservation"
            && tool["inputSchema"]["properties"].get("schema").is_some()
        {
            args["schema"] = definitions[0]["inputSchema"].clone();
        }
        args
    };
    definitions.iter().map(|tool| (name(tool), args(tool))).collect()
}

/// Arguments that fit a schema, as far as schemas of the suite go.
fn arguments(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let value = |of: &Value| match (of.get("default"), of["type"].as_str()) {
        (Some(default), _) => default.clone(),
        (None, Some("number" | "integer")) => json!(7),
        (None, Some("boolean")) => json!(true),
        (None, Some("object")) => json!({}),
        (None, Some("array")) => json!([]),
        (None, _) => of["enum"].get(0).cloned().unwrap_or(json!("words")),
    };
    Value::Object(properties.iter().map(|(name, of)| (name.clone(), value(of))).collect())
}

/// Nothing of the machine, and a user who takes what is suggested.
async fn surroundings() -> Result<Surroundings, Box<dyn std::error::Error>> {
    let launcher = Launcher { program: env!("CARGO_BIN_EXE_mxd-sandbox").into(), args: vec![] };
    let agree = |question: mxd_tools::mcp::Question| -> mxd_tools::mcp::Answering {
        let properties =
            question.params["requestedSchema"]["properties"].as_object().cloned().unwrap_or_default();
        let suggested = |(name, of): (&String, &Value)| Some((name.clone(), of.get("default")?.clone()));
        let content: Map<String, Value> = properties.iter().filter_map(suggested).collect();
        Box::pin(async move { Ok(json!({ "action": "accept", "content": content })) })
    };
    let folder = std::env::temp_dir();
    Ok(Surroundings {
        sandbox: Sandbox::probe(launcher, Mode::Off).await?,
        packages: None,
        agent: Agent {
            worktree: Root { path: folder.clone(), access: Access::Read },
            scratch: folder,
            repository: None,
            user: User {
                name: String::new(),
                home: "/".into(),
                path: String::new(),
                variables: Default::default(),
            },
            author: None,
            extra: vec![],
            network: Network::None,
            limits: sandbox::Limits::default(),
        },
        proxy_env: vec![],
        secrets: Arc::new(|_| None),
        answers: Answers { roots: vec![], sampling: None, elicitation: Some(Arc::new(agree)) },
        plain_http: vec![],
        // The suite starts all clients at once, and a machine that is busy must not be taken for an older server.
        limits: Limits { probe: Duration::from_secs(20), ..Limits::default() },
    })
}
