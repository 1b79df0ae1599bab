//! The desk of a task at work: its conversation, its room, its tools, and what can be broken off.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mxd_core::event::EventBody;
use mxd_core::event::body::{ToolCall, ToolCallId};
use mxd_core::id::TaskId;
use tokio_util::sync::CancellationToken;

use super::room::Room;
use super::talk::Talk;
use super::toolbox::Toolbox;
use crate::conversation::Said;

/// What a task needs while it works.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) task: TaskId,
    /// Events that became durable since the conversation was last looked at.
    heard: Mutex<Vec<Said>>,
    /// Calls without a result, as their model made them. They are in the log; here they are at hand.
    calls: Mutex<HashMap<ToolCallId, ToolCall>>,
    pub(super) talk: tokio::sync::Mutex<Option<Talk>>,
    pub(super) room: tokio::sync::Mutex<Option<Arc<Room>>>,
    pub(super) toolbox: tokio::sync::Mutex<Option<Arc<Toolbox>>>,
    stops: Mutex<Stops>,
}

#[derive(Debug, Default)]
struct Stops {
    model: CancellationToken,
    tools: CancellationToken,
}

impl Desk {
    pub(super) fn new(task: TaskId) -> Self {
        Self {
            task,
            heard: Mutex::default(),
            calls: Mutex::default(),
            talk: tokio::sync::Mutex::default(),
            room: tokio::sync::Mutex::default(),
            toolbox: tokio::sync::Mutex::default(),
            stops: Mutex::default(),
        }
    }

    pub(super) fn hear(&self, said: Said) {
        match &said.2.body {
            EventBody::ToolCall(call) => {
                self.calls().insert(call.tool_call_id.clone(), call.clone());
            }
            EventBody::ToolResult(result) => {
                self.calls().remove(&result.tool_call_id);
            }
            _ => {}
        }
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(said);
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<ToolCallId, ToolCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call that was made since the desk is there and has no result yet.
    pub(super) fn call(&self, id: &ToolCallId) -> Option<ToolCall> {
        self.calls().get(id).cloned()
    }

    pub(super) fn take_heard(&self) -> Vec<Said> {
        std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn stops(&self) -> MutexGuard<'_, Stops> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What breaks the next model call off. A call that still runs is broken off: only one is wanted.
    pub(super) fn new_model_call(&self) -> CancellationToken {
        let mut stops = self.stops();
        stops.model.cancel();
        stops.model = CancellationToken::new();
        stops.model.clone()
    }

    pub(super) fn stop_model(&self) {
        self.stops().model.cancel();
    }

    /// What breaks the tool calls of this turn off.
    pub(super) fn tools_stop(&self) -> CancellationToken {
        self.stops().tools.clone()
    }

    /// Breaks off what runs; what is begun later is not concerned.
    pub(super) fn stop_tools(&self) {
        let mut stops = self.stops();
        stops.tools.cancel();
        stops.tools = CancellationToken::new();
    }

    /// Ends everything that runs here.
    pub(super) async fn clear(&self) {
        self.stop_model();
        self.stop_tools();
        let room = self.room.lock().await.take();
        if let Some(room) = room {
            room.close().await;
        }
        let toolbox = self.toolbox.lock().await.take();
        if let Some(toolbox) = toolbox {
            toolbox.servers.close().await;
        }
    }
}
