//! `cargo xtask world`: one story with the real program in many repositories, and the table of what became of it.

use crate::cli::WorldArgs;
use crate::step::{self, Step};
use crate::{Verdict, workspace_root};

/// Where the table is.
const PAGE: &str = "docs/world.md";

/// Builds the program and the player, and plays. The rows of what is not played now stay as they were.
pub(crate) fn run(args: &WorldArgs) -> Result<Verdict, String> {
    let target = step::target();
    let built = |name: &str| target.join("quick").join(name).display().to_string();
    // Scenes need a folder that is in no repository.
    let ground = std::env::temp_dir().join("mxd-world").display().to_string();
    let packages = target.join("packages").display().to_string();
    let play = Step::cargo("run --profile quick --quiet --package world --").arg("--mxd").arg(built("mxd"));
    let play = play.arg("--ground").arg(ground).arg("--packages").arg(packages);
    let page = workspace_root().join(PAGE).display().to_string();
    let play = args.only.iter().fold(play.arg("--write").arg(page), |play, name| play.arg(name));
    step::in_turn([Step::cargo("build --profile quick --package mxd"), play])
}
