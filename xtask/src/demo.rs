//! `cargo xtask demo`: builds the page and the program, and plays the demo.

use crate::cli::DemoArgs;
use crate::step::{Step, describe};
use crate::{Verdict, page, say};

/// Builds what is needed, says what it does, and hands over to `mxd demo`.
pub(crate) fn run(args: &DemoArgs) -> Result<Verdict, String> {
    let steps = page::build().into_iter().chain([Step::cargo("build --package mxd"), play(args)]);
    for step in steps {
        say::heading(&step.to_string());
        let ended = step.run().map_err(|error| error.to_string())?;
        if !ended.status.success() {
            say::failed(format_args!("{step} ({})", describe(ended.status)), &step);
            return Ok(Verdict::Failed);
        }
    }
    Ok(Verdict::Passed)
}

fn play(args: &DemoArgs) -> Step {
    args.rest.iter().fold(Step::mxd("demo"), |step, arg| step.arg(arg))
}
