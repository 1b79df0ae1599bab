//! Every limit of the crate, as data in one place.

use std::time::Duration;

/// Bytes of one event of a response stream. An image in base64 fits; a server that never ends a line does not.
pub const EVENT_BYTES: usize = 16 << 20;

/// Bytes of one whole response.
pub const RESPONSE_BYTES: usize = 64 << 20;

/// Bytes of an error body that are read; the rest is of no use to anybody.
pub const ERROR_BYTES: usize = 64 << 10;

/// How long the body of an error is waited for; its status is enough to decide.
pub const ERROR_BODY_WAIT: Duration = Duration::from_secs(5);

/// Characters of a server's message that an error keeps.
pub const MESSAGE_CHARS: usize = 2_000;

/// Bytes of the name by which a server calls the model that answers; a longer one is none.
pub const MODEL_NAME_BYTES: usize = 256;

/// Pages of a model list that are asked for.
pub const LIST_PAGES: usize = 20;

/// Tool calls of one response.
pub const CALLS: usize = 512;
