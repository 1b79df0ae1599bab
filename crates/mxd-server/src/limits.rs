//! Every limit of the daemon.

use std::time::Duration;

/// Connections that are open at the same time.
pub const CONNECTIONS: usize = 4_096;

/// How long the head of a request may take to arrive.
pub const HEAD_PATIENCE: Duration = Duration::from_secs(10);

/// How long the body of a request may take to arrive.
pub const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// How long the rest of a body that is too large is read, so that its sender hears why.
pub const REST_PATIENCE: Duration = Duration::from_millis(500);

/// How much of it.
pub const REST_BYTES: usize = 64 << 20;

/// Bytes of the head of a request.
pub const HEAD_BYTES: usize = 32 << 10;

/// Bytes of the body of a request that has no pictures.
pub const BODY_BYTES: usize = 1 << 20;

/// Bytes of a message with its pictures, as base64.
pub const MESSAGE_BYTES: usize = 24 << 20;

/// Bytes of one picture.
pub const PICTURE_BYTES: usize = 5 << 20;

/// Events on one page, unless fewer are asked for.
pub const PAGE_EVENTS: usize = 200;

/// Events on one page at most.
pub const MOST_PAGE_EVENTS: usize = 1_000;

/// Bytes of a description in a list of tasks.
pub const DESCRIPTION_IN_LISTS: usize = 1_000;

/// Frames that a live stream may be behind before it reads from disk.
pub const FRAMES: usize = 256;

/// How long words that are being written are gathered after the last were told.
pub const WORDS_PAUSE: Duration = Duration::from_millis(20);

/// Bytes of them that are not gathered any longer.
pub const WORDS_BYTES: usize = 64 << 10;

/// How long it takes to hand a frame to one who listens. So long, for each of them, the next commits are gathered.
pub const SPREADING: Duration = Duration::from_micros(4);

/// A pause that is shorter is none.
pub const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

/// Live streams at the same time.
pub const STREAMS: usize = 3_000;

/// Commits that a client may be behind and still get one by one.
pub const CATCH_UP_COMMITS: u64 = 20_000;

/// Commits read from disk at a time.
pub const READ_COMMITS: usize = 256;

/// How often a silent stream says that it lives.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a write to a client may take before it counts as gone.
pub const WRITE_PATIENCE: Duration = Duration::from_secs(60);

/// How long a request that waits for agents does so, unless it says.
pub const WAIT: Duration = Duration::from_secs(60);

/// How long it does so at most.
pub const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// How long a request waits for a project that is being restarted.
pub const RESTART_PATIENCE: Duration = Duration::from_secs(20);

/// How long running requests may take when the daemon ends.
pub const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(5);

/// Characters of a one-line text.
pub const LINE_CHARS: usize = 200;

/// Results of a search.
pub const SEARCH_RESULTS: usize = 50;

/// Commits of a branch that are listed.
pub const HISTORY: usize = 50;

/// Commits of the log that a search looks through, newest first.
pub const SEARCH_COMMITS: u64 = 50_000;

/// Spans that wait for the collector; more are dropped.
pub const SPANS: usize = 2_048;

/// Spans that are sent at once.
pub const SPANS_AT_ONCE: usize = 256;

/// Bytes of a text in a span.
pub const SPAN_TEXT_BYTES: usize = 8 << 10;

/// Models and kinds of values that are measured apart.
pub const SERIES: usize = 500;

/// How long spans are gathered before they are sent.
pub const TELEMETRY_GATHER: Duration = Duration::from_secs(1);

/// How long the collector may take for an answer.
pub const TELEMETRY_PATIENCE: Duration = Duration::from_secs(10);

/// How often the same spans are sent.
pub const TELEMETRY_ATTEMPTS: u32 = 3;

/// How long to wait before they are sent again; each time twice as long.
pub const TELEMETRY_PAUSE: Duration = Duration::from_secs(1);

/// How long the collector is waited for when the daemon ends.
pub const TELEMETRY_FAREWELL: Duration = Duration::from_secs(2);
