//! MCP over standard input and output: the tools of the registry, for whichever revision of the protocol a client speaks.

mod lines;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool as McpTool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::engine::tools::{Effect, ROWS, Row};
use crate::engine::{CallContext, Engine, Progress, TenantName};
use lines::Lines;

const INSTRUCTIONS: &str = "Tools for smart contracts. The chain `dev` is embedded, free and always there: try everything on it \
    first. Compile, test, simulate, then deploy or call. Every answer is {ok, data} or {ok, error}; with error.retry the same \
    request may be sent again as it is. Numbers of 256 bits are strings.";

/// How many messages about the progress of one call may wait to be written.
const PROGRESS_WAITING: usize = 64;

/// Serves one client until it closes its end and every call is answered.
pub(crate) async fn serve(engine: Arc<Engine>, tenant: TenantName) -> Result<(), McpError> {
    let lines = Lines::new(tokio::io::stdin(), tokio::io::stdout());
    let server = Server { engine, tenant };
    let running = server.serve(lines).await.map_err(|error| McpError(error.to_string()))?;
    running.waiting().await.map_err(|error| McpError(error.to_string()))?;
    Ok(())
}

/// The conversation could not begin, or broke.
#[derive(Debug, thiserror::Error)]
#[error("the MCP client and this server did not come to terms: {0}")]
pub(crate) struct McpError(String);

struct Server {
    engine: Arc<Engine>,
    tenant: TenantName,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("tachyon-tools", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(listed()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        let (teller, told) = mpsc::channel(PROGRESS_WAITING);
        let mut call = CallContext::of(self.tenant.clone());
        call.cancel = context.ct.clone();
        match context.meta.get_progress_token() {
            Some(_) => call.progress = Progress::to(teller),
            // Nobody listens; a channel that stayed open would be waited for.
            None => drop(teller),
        }
        let answered = async {
            let answer = self.engine.call(&request.name, arguments, &call).await;
            // Ends the telling; what was told is written before the answer is.
            call.progress = Progress::default();
            answer
        };
        let (answer, ()) = tokio::join!(answered, relay(told, &context));
        let json = answer.to_tool_json(&request.name);
        let text = vec![ContentBlock::text(json.to_string())];
        let mut result =
            if answer.is_ok() { CallToolResult::success(text) } else { CallToolResult::error(text) };
        result.structured_content = Some(json);
        Ok(CallToolResponse::Complete(result))
    }
}

/// Writes what a call tells about its progress, until it tells no more.
async fn relay(mut told: mpsc::Receiver<String>, context: &RequestContext<RoleServer>) {
    let mut steps = 0.0;
    while let Some(message) = told.recv().await {
        let Some(token) = context.meta.get_progress_token() else { continue };
        steps += 1.0;
        let mut progress = ProgressNotificationParam::new(token, steps);
        progress.message = Some(message);
        // A client that is gone does not need to know.
        let _ = context.peer.notify_progress(progress).await;
    }
}

/// The registry as MCP shows it.
pub(crate) fn listed() -> Vec<McpTool> {
    ROWS.iter().map(shown).collect()
}

fn shown(row: &Row) -> McpTool {
    let object = |schema: Value| match schema {
        Value::Object(fields) => Arc::new(fields),
        _ => Arc::new(JsonObject::new()),
    };
    let annotations = ToolAnnotations::with_title(row.title)
        .read_only(row.effect == Effect::Reads)
        .destructive(row.effect == Effect::Sends)
        .idempotent(row.effect != Effect::Sends)
        .open_world(row.effect == Effect::Sends);
    McpTool::new(row.name, row.description, object((row.input)()))
        .with_title(row.title)
        .with_raw_output_schema(object((row.output)()))
        .with_annotations(annotations)
}
