//! `call`: one tool, through the same gate as an agent's call.

use std::time::Duration;

use mxd_core::tool::ToolId;
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, Failure, Trouble};
use crate::caller::{Called, Caller, Request, not_callable};
use crate::cli::{Call, Common};
use crate::code::Code;
use crate::live::{World, wait_for};
use crate::uri::{self, Meant};
use crate::{files, inspect, sign};

pub(crate) fn run(common: &Common, call: &Call) -> Result<Answer, Failure> {
    let manifest = files::manifest(&common.manifest, common.placeholders())?;
    sign::checked(common, &manifest, &[])?;
    let lock = files::lock(&common.lock())?;
    let (server, tool) = match uri::find(&call.tool.uri, &manifest, lock.as_ref())? {
        Meant::Server(server, tool) => (server, tool),
        Meant::Native(entry) => return Err(not_callable(entry).into()),
    };
    let is_object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&call.args);
    if let Err(error) = is_object {
        let what = format!("the arguments are no JSON object: {error}");
        return Err(Trouble::new(Code::Usage, what, "Write --args '{\"name\": \"value\"}'.").into());
    }
    let called = wait_for(async {
        let world = World::open(common, &call.with).await?;
        let caller = Caller::open(&world, &manifest, &[(server, tool)]).await?;
        let request = Request {
            name: "call".to_owned(),
            tool: ToolId { server: server.name.clone(), tool: tool.name.clone() },
            args: call.args.clone(),
            patience: call.timeout.map(Duration::from_secs),
        };
        let called = caller.call(&world, &request, &CancellationToken::new()).await;
        caller.close(&world).await;
        Ok(called)
    })?;
    let Called { result, text, problem } = called;
    Ok(Answer {
        result,
        text,
        warnings: inspect::warnings(&manifest),
        problems: problem.into_iter().collect(),
    })
}
