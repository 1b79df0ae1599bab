//! An MCP server that misbehaves in the way it is told to, for tests of this crate.
//!
//! Its first argument is the kind of misbehaviour; `good` is none. The second one is used by some kinds.

mod calls;
mod kinds;
mod offers;
mod shelf;
mod speech;

use std::io::{self, BufRead as _};
use std::process::ExitCode;

use serde_json::Value;

use kinds::Kind;
use speech::Speech;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let mut kind = Kind::new(&name, args.next().unwrap_or_default());
    let speech = Speech;
    kind.begin(&speech);
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if let Some(code) = kind.hear(&message, &speech) {
            return ExitCode::from(code);
        }
    }
    kind.end();
    ExitCode::SUCCESS
}
