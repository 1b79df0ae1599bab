//! The conditions that repositories of users have, each on one small program.

mod checkout;
mod content;
mod history;
mod settings;

use crate::scene::Scene;

/// All of them, in the order of the table.
#[must_use]
pub fn all() -> Vec<Scene> {
    [settings::SCENES, history::SCENES, checkout::SCENES, content::SCENES].concat()
}

/// Those that take minutes, or gigabytes: they are not played by the ordinary tests.
pub const LARGE: &[&str] = &["files_10000", "files_100000", "binary_1_gb"];

/// Those that still go wrong after `mxd init` was content. Whoever mends one takes it out here, and the tests hold it.
pub const DEFECTS: &[&str] = &["submodule_needed", "eol_not_normalized", "filter_changed", "lfs_changed"];

/// The condition with this id.
#[must_use]
pub fn named(id: &str) -> Option<Scene> {
    all().into_iter().find(|scene| scene.id == id)
}
