//! What a developer runs: `cargo xtask demo`, `test`, `bench`, `chaos`, `world`, `shots`, and the tidy rules.
//!
//! A command is a module: it decides what to run (a list of steps or a table of names), and only
//! `step` starts processes. [`tidy`] starts nothing but `cargo metadata`; `tests/tidy.rs` runs it inside
//! `cargo test`, so that a broken rule is a failing test and not a habit somebody has to remember.

mod bench;
mod chaos;
mod cli;
mod demo;
mod page;
mod say;
mod step;
mod test;
pub mod tidy;
mod world;

use std::path::Path;
use std::process::ExitCode;

pub use cli::run;

/// How a command ended when nothing kept it from doing its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::SUCCESS,
            Verdict::Failed => Self::FAILURE,
        }
    }
}

/// The folder of the workspace's `Cargo.toml`.
#[must_use]
pub fn workspace_root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
