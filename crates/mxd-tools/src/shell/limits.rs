//! Every limit of commands and their output.

use std::time::Duration;

/// How long a command is waited for when nobody says otherwise.
pub const FOREGROUND_TIMEOUT_MS: u64 = 120_000;
/// The longest a command can be waited for.
pub const MAX_FOREGROUND_TIMEOUT_MS: u64 = 600_000;
/// The longest `background` waits for the end of a command.
pub const MAX_AWAIT_MS: u64 = 600_000;
/// How long it waits when nobody says otherwise.
pub const AWAIT_MS: u64 = 120_000;
/// Characters of a command. A longer one belongs into a file.
pub const MAX_COMMAND_CHARS: u32 = 32 * 1024;
/// Background commands of one agent that run, or whose end was not taken notice of, before another is refused.
pub const MAX_BACKGROUND: usize = 16;
/// The same for all commands: what runs in the foreground can become background at any time.
pub const MAX_PROCESSES: usize = 32;
/// Background commands that ended and can still be asked about.
pub const MAX_FINISHED: usize = 64;
/// Bytes of output that are shown whole.
pub const INLINE_BYTES: usize = 10_000;
/// Bytes from the beginning of longer output that are shown.
pub const PREVIEW_HEAD_BYTES: usize = 4_000;
/// Bytes from its end.
pub const PREVIEW_TAIL_BYTES: usize = 5_000;
/// Bytes from the end that a notice of completion or a question about a running command shows.
pub const NOTICE_TAIL_BYTES: usize = 2_000;
/// Bytes of output that are kept as they come; beyond that only the end is.
pub const FILE_HEAD_BYTES: u64 = 16 << 20;
/// Bytes from the end of output beyond that. They are in memory until the command ends.
pub const FILE_TAIL_BYTES: usize = 256 << 10;
/// Bytes of one piece of live output.
pub const LIVE_CHUNK_BYTES: usize = 8 << 10;
/// Bytes of a command that a list or a notice shows.
pub const SHOWN_COMMAND_BYTES: usize = 200;
/// How long output is still read after the end: something else may hold the pipe.
pub const DRAIN: Duration = Duration::from_millis(1_500);
