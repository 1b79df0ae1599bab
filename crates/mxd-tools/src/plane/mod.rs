//! The one path of every call.
//!
//! [`Registry`] knows the tools; [`Plane::call`] is how they are called, whoever provides them: the name is looked
//! up, the arguments are read and held against the tool's schema, the gate of the domain decides, the tool
//! runs within its time, and what it returns is made presentable: without secrets and not too long. What a call
//! came to is a [`Settlement`], and there is always one.

mod call;
mod cap;
mod deadline;
mod function;
mod registry;
pub mod result;
pub mod schema;

pub use call::{Authority, Call, Plane, Settlement};
pub use cap::{MAX_STRUCTURED_BYTES, MAX_TEXT_BYTES, presentable};
pub use deadline::{GRACE, Ran, within};
pub use function::{Answer, Function};
pub(crate) use registry::OwnTool;
pub use registry::{Executor, MAX_TOOLS, Registry, RegistryError};
