//! Limits that a command ran into, in words that stand at the end of its output.
//!
//! A program that is refused memory or a process often says nothing of use, and one that was killed says nothing at all.

use super::end::Ending;
use crate::sandbox::{End, Exit, LimitHits, Limits};

const TOO_MUCH_PROCESSOR_TIME: i32 = 24;
const TOO_LARGE_A_FILE: i32 = 25;

/// What to say about a command that ended so, while its agent ran into limits so often.
pub(super) fn notes(limits: &Limits, ending: &Ending, hits: LimitHits) -> Vec<String> {
    let mut notes = Vec::new();
    if hits.refused_processes > 0 {
        notes.push(format!(
            "the limit of {} processes and threads for all commands of this agent was reached: {} more were refused",
            limits.processes, hits.refused_processes
        ));
    }
    if hits.killed_for_memory > 0 {
        notes.push(format!(
            "the limit of {} MiB of memory for all commands of this agent was reached: {} of their processes were killed",
            limits.memory_bytes >> 20,
            hits.killed_for_memory
        ));
    }
    let Ending::Exit(exit) = ending else { return notes };
    match signal(exit) {
        Some(TOO_LARGE_A_FILE) => {
            notes.push(format!("no file may be larger than {} bytes", limits.file_bytes));
        }
        Some(TOO_MUCH_PROCESSOR_TIME) => {
            notes.push(format!(
                "no process may use more than {} seconds of processor time",
                limits.cpu_seconds
            ));
        }
        Some(_) | None => {}
    }
    notes
}

/// The signal that ended the command, or the program that its shell waited for.
fn signal(exit: &Exit) -> Option<i32> {
    match exit.end {
        End::Signal(signal) => Some(signal),
        End::Code(code) => Some(code - 128).filter(|signal| *signal > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Usage;

    fn ended(end: End) -> Ending {
        Ending::Exit(Exit { end, usage: Usage::default() })
    }

    #[test]
    fn each_limit_is_named_with_its_value() {
        let limits = Limits {
            memory_bytes: 256 << 20,
            processes: 64,
            file_bytes: 1_000,
            cpu_seconds: 2,
            ..Limits::default()
        };
        let none = LimitHits::default();
        let cases = [
            (ended(End::Code(0)), none, None),
            (ended(End::Signal(9)), none, None),
            (ended(End::Signal(24)), none, Some("more than 2 seconds")),
            (ended(End::Code(152)), none, Some("more than 2 seconds")),
            (ended(End::Code(153)), none, Some("larger than 1000 bytes")),
            (Ending::Killed, LimitHits { refused_processes: 3, ..none }, Some("64 processes and threads")),
            (ended(End::Code(0)), LimitHits { killed_for_memory: 1, ..none }, Some("256 MiB of memory")),
        ];
        for (ending, hits, expected) in cases {
            let said = notes(&limits, &ending, hits);
            assert_eq!(said.len(), usize::from(expected.is_some()), "{ending:?}: {said:?}");
            assert!(said.iter().all(|note| note.contains(expected.unwrap_or_default())), "{said:?}");
        }
    }
}
