//! A scripted model: a real HTTP server that speaks the wires of model services, follows a script, and holds every
//! request to the rules that the real services enforce.
//!
//! ```no_run
//! use rehearse::{Rehearsal, Script, Wire};
//!
//! let script = Script::load("script.json")?;
//! let model = Rehearsal::start(script)?;
//! let base_url = model.base_url(Wire::Anthropic);
//! // … point a client at base_url and let it work …
//! model.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is promised:
//!
//! * a request that breaks a rule of its wire is answered with the error of the real service, and noted;
//! * a request that changes what earlier requests of its conversation said is refused with a diff;
//! * the same script and the same requests give the same bytes, in any order of conversations, apart from what is
//!   billed with `caches`: there the first to come pays for what all begin with;
//! * [`Rehearsal::finish`] fails when a rule was broken, an expectation was not met or turns are left over.
//!
//! This crate depends on no other crate of the workspace: it must not share a mistake with what it tests.

mod cache;
mod capture;
mod expectation;
mod gates;
mod http;
mod inspect;
pub mod limits;
mod log;
mod play;
mod prefix;
mod scene;
pub mod script;
mod seals;
mod server;
mod shape;
mod stage;
mod view;
mod violation;
mod wire;

pub use gates::UnknownGate;
pub use http::CONVERSATION_HEADER;
pub use inspect::{Inspection, inspect, prefix_break};
pub use log::{LoggedRequest, Outcome, Report};
pub use script::{Script, ScriptError, ScriptProblem};
pub use server::{Options, Rehearsal, StartError};
pub use violation::Violation;
pub use wire::Wire;
