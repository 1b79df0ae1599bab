//! The server under test: ours, with the tools that the suite calls by name.

use std::path::PathBuf;
use std::sync::Arc;

use mxd_core::raw::RawJson;
use mxd_core::tool::{
    Annotations, ApprovalPolicy, ApprovalRule, CapabilityLayer, CapabilitySet, Fallback, PinState, Ruling,
    SideEffect, ToolDef, ToolFacts, ToolOffer,
};
use mxd_tools::builtin::Context;
use mxd_tools::confine::Files;
use mxd_tools::kept::Kept;
use mxd_tools::outcome::{Outcome, Part};
use mxd_tools::plane::{Executor, Function, Plane, Registry};
use mxd_tools::sandbox::{Launcher, Mode, Policy, Sandbox};
use mxd_tools::scope::{Access, Scope};
use mxd_tools::secrets::Secrets;
use mxd_tools::serve::{Door, Endpoint, Offer, Permissions, Server};
use mxd_tools::shell::Processes;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// A picture of one red point.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A server that runs until it is dropped.
pub(crate) struct Served {
    pub(crate) url: String,
    _runtime: Runtime,
    _folder: TempDir,
}

pub(crate) fn serve() -> Served {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let address = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let offer = Offer {
            plane: Plane::new(registry()),
            scope: scope(folder.path().into()).await,
            permissions: permissions(),
            instructions: "",
        };
        // The suite has no way to show a token.
        let endpoint = Endpoint::new(&Server::new(offer), Door::Open);
        tokio::spawn(endpoint.listen(listener));
        address
    });
    Served { url: format!("http://{address}/mcp"), _runtime: runtime, _folder: folder }
}

fn permissions() -> Permissions {
    // The questions that our server asks are those about calls.
    let asked = json!({ "name": "asked", "tool": "mcp:mxd:*_elicitation", "ruling": "ask" });
    let asked: ApprovalRule = serde_json::from_value(asked).unwrap();
    Permissions {
        effects: SideEffect::ALL.into_iter().collect(),
        capabilities: CapabilitySet::root(CapabilityLayer::granting(["mcp:*:*".parse().unwrap()]).unwrap()),
        approvals: ApprovalPolicy::new(vec![asked], Fallback::always(Ruling::Allow)).unwrap(),
    }
}

async fn scope(folder: PathBuf) -> Scope {
    let kept = Kept::open(&folder).unwrap();
    let launcher = Launcher { program: env!("CARGO_BIN_EXE_mxd-sandbox").into(), args: vec![] };
    let sandbox = Sandbox::probe(launcher, Mode::Off).await.unwrap();
    Scope {
        worktree: folder.clone(),
        access: Access::Write,
        roots: Arc::new([]),
        processes: Processes::open(&folder, kept.clone()).unwrap(),
        scratch: folder,
        cell: sandbox.cell(Policy::default()),
        env: Arc::new([]),
        files: Files::default(),
        kept,
        secrets: Secrets::default(),
    }
}

/// The built-in tools, and those of the suite.
fn registry() -> Registry {
    let text = |text: &'static str| Function::new(move |_, _| Box::pin(async move { Outcome::text(text) }));
    let picture = || Part::Image { media_type: "image/png".to_owned(), data: PICTURE.to_owned() };
    let image = Function::new(move |_, _| {
        Box::pin(async move { Outcome { parts: vec![picture()], ..Outcome::default() } })
    });
    let failing = Function::new(|_, _| {
        Box::pin(async { Outcome::error("This tool intentionally returns an error for testing") })
    });
    let progress = Function::new(|_, context: Context<'_>| {
        ["first", "second", "third"].iter().for_each(|step| context.watcher.tell(context.call, step));
        Box::pin(async { Outcome::text("done in three steps") })
    });
    let plain = r#"{"type":"object","properties":{}}"#;
    let mut registry = Registry::built_in().unwrap();
    for (name, schema, run) in [
        ("test_simple_text", plain, text("This is a simple text response for testing.")),
        ("test_image_content", plain, image),
        ("test_error_handling", plain, failing),
        ("test_tool_with_progress", plain, progress),
        ("test_streaming_elicitation", plain, text("allowed")),
        ("test_input_required_result_elicitation", plain, text("allowed")),
        ("test_logging_tool", plain, text("nothing is logged")),
        ("json_schema_2020_12_tool", include_str!("schema-2020-12.json"), text("ok")),
        ("test_custom_header", include_str!("schema-header.json"), text("ok")),
    ] {
        let def = ToolDef::from_offer(ToolOffer {
            facts: ToolFacts {
                id: format!("mcp:mxd:{name}").parse().unwrap(),
                pin: PinState::Held("1.0.0".parse().unwrap()),
                effect: Some(SideEffect::Read),
            },
            title: "",
            description: "A tool of the conformance suite.",
            input_schema: &RawJson::parse(schema).unwrap(),
            output_schema: None,
            timeout_ms: 30_000,
            annotations: Annotations::default(),
        });
        registry.register(def.unwrap(), Executor::Function(run)).unwrap();
    }
    registry
}
