//! Every limit of the server.

use std::time::Duration;

/// Bytes of one message. A longer one is answered with an error.
pub const MAX_MESSAGE_BYTES: usize = 4 << 20;
/// Bytes kept of both ends of a message that is too long, to find out which request it is.
pub const KEPT_BYTES: usize = 4 << 10;
/// Requests of one client that have no answer yet. Further ones are refused until there are fewer.
pub const MAX_UNANSWERED: usize = 1_024;
/// Cancelled requests whose numbers are remembered, so that a late answer is not taken for another's.
pub const MAX_CANCELLED: usize = 1_024;
/// Calls that run at once; the others wait for their turn.
pub const MAX_RUNNING: usize = 16;
/// Messages that wait to be written.
pub const MAX_WAITING_LINES: usize = 64;
/// How long calls may go on after their client has closed its end.
pub const LINGER: Duration = Duration::from_secs(2);
/// Pieces of live output of one call that wait to be told.
pub const MAX_WAITING_PIECES: usize = 64;
/// Messages about the progress of one call.
pub const MAX_PROGRESS_MESSAGES: usize = 1_000;
/// How long the user has to answer a question.
pub const ANSWER_PATIENCE: Duration = Duration::from_secs(600);
/// Bytes of a call that a question shows.
pub const MAX_QUESTION_BYTES: usize = 2_000;
/// Ends of background commands that one result tells.
pub const MAX_NOTICES: usize = 16;
/// HTTP connections at once.
pub const MAX_CONNECTIONS: usize = 64;
/// HTTP conversations at once: sessions, and requests that belong to none.
pub const MAX_SESSIONS: usize = 64;
/// How long a session may be silent: longer than any call.
pub const SESSION_IDLE: Duration = Duration::from_secs(900);
/// How long a client may take to send the head of an HTTP request.
pub const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a token, at least.
pub const MIN_TOKEN_BYTES: usize = 16;
/// Bytes of a token, at most.
pub const MAX_TOKEN_BYTES: usize = 1_024;
