//! The page: how it is built and looked at. Without npm there is a page that says how to get the real one.

use crate::step::{Step, describe};
use crate::{Verdict, say, workspace_root};

/// Whether the page can be built here.
pub(crate) fn has_npm() -> bool {
    Step::npm("--version").succeeds_quietly()
}

/// What has to run so that the page is built into the program; nothing when npm is not there.
pub(crate) fn build() -> Vec<Step> {
    if !has_npm() {
        say::note(format_args!(
            "npm is not installed: the program gets a page that says how to build the real one"
        ));
        return Vec::new();
    }
    vec![Step::npm("ci --no-audit --no-fund"), Step::npm("run build")]
}

/// `cargo xtask shots`: a picture of every view, in light and dark and on a small screen.
pub(crate) fn shots() -> Result<Verdict, String> {
    let steps = build().into_iter().chain([Step::cargo("build --package mxd"), Step::npm("run shots")]);
    for step in steps {
        say::heading(&step.to_string());
        let ended = step.run().map_err(|error| error.to_string())?;
        if !ended.status.success() {
            say::failed(format_args!("{step} ({})", describe(ended.status)), &step);
            return Ok(Verdict::Failed);
        }
    }
    say::line(format!("the pictures are in {}", workspace_root().join("target/shots").display()).as_str());
    Ok(Verdict::Passed)
}
