//! [`Server`]: a plane, where its calls happen, and what they may do.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mxd_core::tool::{ApprovalPolicy, CallHash, CapabilitySet, EffectSet, SkillScope, ToolDef, WireName};
use rmcp::model::Tool;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::limits::{MAX_NOTICES, MAX_RUNNING, MAX_UNANSWERED};
use super::listing;
use crate::plane::{Authority, Call, Plane, Settlement};
use crate::scope::Scope;
use crate::shell::{CallId, Completion, Watcher};

/// What is offered, and to what extent.
#[derive(Debug)]
pub struct Offer {
    /// The tools.
    pub plane: Plane,
    /// Where they act.
    pub scope: Scope,
    /// What they may do.
    pub permissions: Permissions,
    /// What a model is told about all of them.
    pub instructions: &'static str,
}

/// What a model is told about the built-in tools.
pub const OF_A_FOLDER: &str = "\
Tools for one folder: read, write, edit, list and search its files, and run commands there in a sandbox. Paths are \
relative to that folder. Commands run in the background with `run_in_background`; their end is told with the next \
result of any tool.";

/// What the clients of a server may do.
#[derive(Debug, Clone)]
pub struct Permissions {
    /// The classes of tools that are offered.
    pub effects: EffectSet,
    /// The tools that are offered.
    pub capabilities: CapabilitySet,
    /// Which calls run, which are asked about, which do not run.
    pub approvals: ApprovalPolicy,
}

impl Permissions {
    /// Whether a tool is offered at all.
    fn allow(&self, def: &ToolDef) -> bool {
        def.facts.effect.is_some_and(|effect| self.effects.contains(effect))
            && self.capabilities.is_granted(&def.facts.id).is_ok()
    }

    fn authority(&self, approved: Option<CallHash>) -> Authority<'_> {
        Authority {
            manifest_effects: self.effects,
            skill: SkillScope::NoSkill,
            capabilities: &self.capabilities,
            approvals: &self.approvals,
            approved,
        }
    }
}

/// A server, for any number of conversations. Cheap to clone.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

struct Shared {
    offer: Offer,
    tools: Vec<Tool>,
    /// The names clients use, and those the plane uses.
    names: BTreeMap<String, WireName>,
    /// Room for calls, whether they run or wait.
    room: Semaphore,
    running: Semaphore,
    calls: AtomicU64,
    end: CancellationToken,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("offer", &self.shared.offer).finish_non_exhaustive()
    }
}

/// A call as a client made it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) tool: &'a WireName,
    pub(super) args: &'a str,
    pub(super) approved: Option<CallHash>,
}

impl Server {
    /// For this offer.
    pub fn new(offer: Offer) -> Self {
        let offered = |def: &&ToolDef| offer.permissions.allow(def);
        let defs: Vec<&ToolDef> = offer.plane.registry().defs().filter(offered).collect();
        let tools = defs.iter().map(|def| listing::listed(def)).collect();
        let name = |def: &&ToolDef| (listing::name(&def.facts.id), WireName::of(&def.facts.id));
        let names = defs.iter().map(name).collect();
        let shared = Shared {
            tools,
            names,
            offer,
            room: Semaphore::new(MAX_UNANSWERED),
            running: Semaphore::new(MAX_RUNNING),
            calls: AtomicU64::new(0),
            end: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The tools as clients see them, always in the same order.
    pub fn tools(&self) -> &[Tool] {
        &self.shared.tools
    }

    /// What is offered.
    pub fn offer(&self) -> &Offer {
        &self.shared.offer
    }

    /// Ends all calls and everything they have started, and waits until it has ended.
    pub async fn close(&self) {
        self.shared.end.cancel();
        self.shared.offer.scope.processes.close().await;
    }

    /// Says when the server ends.
    pub(super) fn end(&self) -> &CancellationToken {
        &self.shared.end
    }

    /// The tool that a client calls by this name.
    pub(super) fn tool(&self, name: &str) -> Option<&WireName> {
        self.shared.names.get(name)
    }

    /// Room for a call, when there is some.
    pub(super) fn room(&self) -> Option<SemaphorePermit<'_>> {
        self.shared.room.try_acquire().ok()
    }

    /// Settles a call when it is its turn. Nothing when it is no longer wanted by then.
    pub(super) async fn settle(
        &self,
        request: Request<'_>,
        watcher: Watcher,
        unwanted: &CancellationToken,
    ) -> Option<Settlement> {
        let shared = &self.shared;
        let _turn = tokio::select! {
            turn = shared.running.acquire() => turn.ok()?,
            () = unwanted.cancelled() => return None,
            () = shared.end.cancelled() => return None,
        };
        let stop = shared.end.child_token();
        let number = shared.calls.fetch_add(1, Ordering::Relaxed);
        let call = Call {
            id: CallId::new(&format!("mcp-{number}")),
            tool: request.tool.as_str(),
            args: request.args,
            watcher,
        };
        let authority = shared.offer.permissions.authority(request.approved);
        let call = shared.offer.plane.call(call, &authority, &shared.offer.scope, &stop);
        tokio::pin!(call);
        tokio::select! {
            biased;
            settled = &mut call => return Some(settled),
            () = unwanted.cancelled() => stop.cancel(),
        }
        Some(call.await)
    }

    /// Background commands that ended and that nobody was told about.
    pub(super) async fn ended(&self) -> Vec<Completion> {
        let mut ended = Vec::new();
        while ended.len() < MAX_NOTICES {
            tokio::select! {
                biased;
                completion = self.shared.offer.scope.processes.next_completion() => ended.push(completion),
                () = std::future::ready(()) => break,
            }
        }
        ended
    }
}
