//! Every limit of this crate.

use std::time::Duration;

/// The largest request body that is read.
pub const BODY_BYTES: usize = 64 * 1024 * 1024;

/// The largest script that is read.
pub const SCRIPT_BYTES: u64 = 16 * 1024 * 1024;

/// Conversations in one script.
pub const CONVERSATIONS: usize = 10_000;

/// Turns in one conversation.
pub const TURNS: usize = 100_000;

/// How often one turn is played until it is over.
pub const REPEATS: usize = 10_000;

/// The longest delay a script may ask for, in milliseconds.
pub const DELAY_MS: u64 = 10 * 60 * 1000;

/// Characters of one text delta, and of one piece of a tool call's JSON.
pub const DELTA_CHARS: usize = 24;

/// Chunks of a reply that wait for a slow client.
pub const CHUNKS_WAITING: usize = 16;

/// Characters of a text shown in one line of a shape.
pub const SHAPE_CHARS: usize = 60;

/// Bytes that are counted as one token.
pub const TOKEN_BYTES: u64 = 4;

/// Tokens that a prompt cache keeps at least.
pub const CACHE_LEAST_TOKENS: u64 = 1_024;

/// Steps in which OpenAI's prompt cache counts.
pub const CACHE_STEP_TOKENS: u64 = 128;

/// Blocks before a mark at which Anthropic's prompt cache looks for what it has.
pub const CACHE_LOOK_BACK: usize = 20;

/// Beginnings of requests that a prompt cache remembers.
pub const CACHED_PREFIXES: usize = 200_000;

/// Lines of a prefix diff that are shown.
pub const DIFF_LINES: usize = 80;

/// How long open connections may take to end when the server stops.
pub const GRACE: Duration = Duration::from_millis(500);
