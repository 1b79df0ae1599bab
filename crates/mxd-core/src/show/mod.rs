//! What people are shown: where an agent stands and why, and one line for each thing that happened.
//!
//! The command line, the live view and the page say these texts and no others, so that they cannot disagree.

mod call;
mod line;
mod progress;
mod standing;

pub use self::call::{call_line, call_rows, result_line};
pub use self::line::{LINE_CHARS, line, one_line};
pub use self::progress::{Progress, progress};
pub use self::standing::{AgentState, Standing, standing};
