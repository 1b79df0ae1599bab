//! The one path of every call.

mod cap;
mod deadline;
pub mod result;
pub mod schema;

pub use cap::{MAX_STRUCTURED_BYTES, MAX_TEXT_BYTES, presentable};
pub use deadline::{GRACE, Ran, within};
