//! The page: how it is built and looked at. Without npm there is a page that says how to get the real one.

use crate::step::{self, Step};
use crate::{Verdict, say, workspace_root};

/// Where the built page is, for the build of the program.
const PLACE: &str = "MXD_WEB_DIST";

/// Whether the page can be built here.
pub(crate) fn has_npm() -> bool {
    Step::npm("--version").succeeds_quietly()
}

/// What builds the page.
pub(crate) fn build() -> Vec<Step> {
    vec![Step::npm("ci --no-audit --no-fund"), Step::npm("run build")]
}

/// Whether there is a browser to look at it with, or one could be installed with the package client of the system.
pub(crate) fn has_browser() -> bool {
    Step::npm("run browser").succeeds_quietly()
}

/// What the page is held to without a browser.
pub(crate) fn checks() -> Vec<Step> {
    vec![Step::npm("run check"), Step::npm("test")]
}

/// What is done with the page in a browser; the last with the real daemon, which has to be there.
pub(crate) fn journeys() -> Vec<Step> {
    vec![
        Step::npm("run e2e"),
        // With the features of the tests, for which everything is built already.
        Step::cargo("build --workspace --bins --tests"),
        Step::npm("run e2e:real"),
    ]
}

/// What builds the page, where that can be done, and the program with it.
pub(crate) fn with_program() -> Vec<Step> {
    let program = Step::cargo("build --profile quick --package mxd");
    if !has_npm() {
        say::note(format_args!(
            "npm is not installed: the program gets a page that says how to build the real one"
        ));
        return vec![program];
    }
    let place = workspace_root().join("web/dist").display().to_string();
    build().into_iter().chain([program.env(PLACE, place)]).collect()
}

/// `cargo xtask shots`: a picture of every view, in light and dark and on a small screen.
pub(crate) fn shots() -> Result<Verdict, String> {
    let folder = workspace_root().join("target/shots").display().to_string();
    let verdict = step::in_turn(build().into_iter().chain([Step::npm("run shots --").arg(&folder)]))?;
    if verdict == Verdict::Passed {
        say::line(format!("the pictures are in {folder}").as_str());
    }
    Ok(verdict)
}
