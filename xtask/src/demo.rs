//! `cargo xtask demo`: builds the page and the program, and plays the demo.

use crate::cli::DemoArgs;
use crate::step::{self, Step};
use crate::{Verdict, page};

/// Builds what is needed, says what it does, and hands over to `mxd demo`.
pub(crate) fn run(args: &DemoArgs) -> Result<Verdict, String> {
    step::in_turn(page::with_program().into_iter().chain([play(args)]))
}

fn play(args: &DemoArgs) -> Step {
    args.rest.iter().fold(Step::mxd("demo"), |step, arg| step.arg(arg))
}
