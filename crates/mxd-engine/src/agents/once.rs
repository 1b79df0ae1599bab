//! Calls that the daemon itself carries out: however often one is begun, because the daemon was killed in between, what it
//! does is done once.

use mxd_core::event::body::ToolCallId;
use mxd_core::id::{MessageId, TaskId, Ulid};
use tokio_util::sync::CancellationToken;

use super::Agents;

/// One run of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) call: &'a ToolCallId,
    pub(super) attempt: Attempt,
    /// What ends it before its time.
    pub(super) stop: &'a CancellationToken,
}

/// Whether a call was begun before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// It was not.
    First,
    /// A daemon that has ended since had begun it: all, a part or nothing of it has happened.
    Again,
}

impl Agents {
    /// The id of the message that a call sends: the same in every attempt, so that whoever gets it gets it once. Providers
    /// may use the id of a call again in another turn, so the turn is part of it.
    pub(super) fn message_of_call(&self, task: TaskId, call: &ToolCallId) -> MessageId {
        let turn = self.parts().shown.look(|state| state.session(task).life().turns);
        let texts = [self.parts().project.to_string(), task.to_string(), turn.to_string(), call.0.clone()];
        MessageId::from(Ulid(fnv_1a(&texts)))
    }
}

/// FNV-1a of 128 bits: it has to be the same in every version of the program.
fn fnv_1a(texts: &[String]) -> u128 {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in texts.iter().flat_map(|text| text.bytes().chain([0xff])) {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    hash
}
