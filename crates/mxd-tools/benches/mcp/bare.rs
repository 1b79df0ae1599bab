//! The bare client of the Rust SDK on the same server: no gate, no schema, no sandbox.

use std::process::Stdio;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::service::{RoleClient, RunningService, ServiceExt as _};
use tokio::process::{Child, Command};

use super::Went;
use super::agent::SERVER;

pub(crate) struct Bare {
    client: RunningService<RoleClient, ()>,
    _child: Child,
}

pub(crate) async fn connect() -> Bare {
    let mut command = Command::new(SERVER);
    command.arg("good").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    Bare { client: ().serve(pipes).await.unwrap(), _child: child }
}

pub(crate) async fn calls(bare: &Bare, calls: usize, width: usize) -> Went {
    let start = Instant::now();
    let each = futures_util::stream::iter(0..calls)
        .map(|_| call(bare))
        .buffer_unordered(width)
        .collect::<Vec<Duration>>()
        .await;
    Went::of(each, start.elapsed())
}

async fn call(bare: &Bare) -> Duration {
    let start = Instant::now();
    let mut args = JsonObject::new();
    args.insert("text".to_owned(), "hello".into());
    let result =
        bare.client.call_tool(CallToolRequestParams::new("echo").with_arguments(args)).await.unwrap();
    assert!(result.is_error != Some(true));
    start.elapsed()
}
