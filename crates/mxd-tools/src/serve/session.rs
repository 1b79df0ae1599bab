//! One conversation with a client, whichever era of the protocol it speaks.

use std::sync::OnceLock;

use mxd_core::tool::Quoted;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use super::answer;
use super::approval::{self, Question, Word};
use super::limits::MAX_UNANSWERED;
use super::progress::Progress;
use super::server::{Request, Server};
use crate::outcome::Outcome;
use crate::plane::Settlement;

/// One conversation.
pub(super) struct Session {
    server: Server,
    initialized: OnceLock<()>,
    /// Kept as long as the conversation, where their number is limited.
    _seat: Option<OwnedSemaphorePermit>,
}

impl Session {
    pub(super) fn new(server: Server) -> Self {
        Self { server, initialized: OnceLock::new(), _seat: None }
    }

    pub(super) fn seated(server: Server, seat: OwnedSemaphorePermit) -> Self {
        Self { _seat: Some(seat), ..Self::new(server) }
    }

    /// A request says which protocol it speaks, or comes after `initialize`.
    fn begun(context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if context.peer.peer_info().is_some() || context.meta.protocol_version().is_some() {
            return Ok(());
        }
        let what = "the conversation has not begun: send `initialize`, or name the protocol version and the \
                    capabilities of the client in `_meta`";
        Err(ErrorData::invalid_params(what, None))
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.server.tool(&request.name) else {
            let what =
                format!("there is no tool `{}`; tools/list shows what there is", Quoted::of(&request.name));
            return Err(ErrorData::invalid_params(what, None));
        };
        let Some(_room) = self.server.room() else {
            let what = format!("{MAX_UNANSWERED} calls run or wait already; wait for some of them");
            return Err(ErrorData::internal_error(what, None));
        };
        let args = Value::Object(request.arguments.unwrap_or_default()).to_string();
        let mut ended = self.server.ended().await;
        let mut asked = Request { tool, args: &args, approved: None };
        let mut settled = self.run(asked, context).await;
        if let Some(Settlement::Ask { rule, call_hash }) = &settled {
            let (call_hash, secrets) = (*call_hash, &self.server.offer().scope.secrets);
            let question = Question { tool: &request.name, args: &args, rule, call_hash, secrets };
            let word = tokio::select! {
                word = approval::ask(&question, request.input_responses.as_ref(), context) => word,
                () = self.server.end().cancelled() => Word::Withheld("the server ends".to_owned()),
            };
            settled = match word {
                Word::Given => {
                    asked.approved = Some(call_hash);
                    self.run(asked, context).await
                }
                Word::Withheld(why) => Some(Settlement::Done(Outcome::error(why))),
                Word::Asked(question) => return Ok(CallToolResponse::InputRequired(question)),
            };
        }
        ended.extend(self.server.ended().await);
        let outcome = settled.and_then(answer::outcome);
        let outcome = outcome.unwrap_or_else(|| Outcome::error("the call was cancelled before it began"));
        Ok(answer::result(outcome, &ended, context.protocol_version().as_ref()).into())
    }

    async fn run(&self, request: Request<'_>, context: &RequestContext<RoleServer>) -> Option<Settlement> {
        let (progress, watcher) = Progress::of(context);
        progress.during(self.server.settle(request, watcher, &context.ct)).await
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("mxd", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.server.offer().instructions)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let answer = self.negotiate_initialize(&request)?;
        if self.initialized.set(()).is_err() {
            return Err(ErrorData::invalid_request("the conversation has begun already", None));
        }
        request.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(answer)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()).with_cache_scope(CacheScope::Private))
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Self::begun(&context)?;
        if page.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params("all tools are on the first page", None));
        }
        let all = ListToolsResult::with_all_items(self.server.tools().to_vec());
        Ok(all.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Self::begun(&context)?;
        self.call(request, &context).await
    }

    // What we do not offer is not there, rather than empty.

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let what = format!("there is no method `{}`", Quoted::of(&request.method));
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what, None))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.tools().iter().find(|tool| tool.name == name).cloned()
    }
}
