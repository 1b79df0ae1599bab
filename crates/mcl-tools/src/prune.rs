//! `prune`: removes verified packages that no server was started from for a while.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use mxd_tools::package::{PackageError, Store};
use mxd_tools::sandbox::User;
use serde_json::json;

use crate::answer::{Answer, Failure, Trouble};
use crate::cli::Prune;
use crate::code::Code;

const DAY: u64 = 24 * 60 * 60;

pub(crate) fn run(prune: &Prune) -> Result<Answer, Failure> {
    let trouble = |error: PackageError| Trouble::new(Code::Trouble, &error, error.hint());
    let folder = prune.store.clone().unwrap_or_else(|| User::of_environment().packages());
    let store = Store::open(&folder).map_err(trouble)?;
    let unused = store.unused_since(then(prune.unused)).map_err(trouble)?;
    let mut answer = Answer::default();
    for copy in &unused {
        if !prune.dry_run {
            store.remove(copy).map_err(trouble)?;
        }
        let _ = writeln!(answer.text, "{} ({} bytes)", copy.path.display(), copy.bytes);
    }
    let bytes: u64 = unused.iter().map(|copy| copy.bytes).sum();
    let verb = if prune.dry_run { "would be removed" } else { "are removed" };
    let _ = writeln!(answer.text, "{} packages with {bytes} bytes {verb}.", unused.len());
    let paths: Vec<_> = unused.iter().map(|copy| &copy.path).collect();
    answer.result = json!({ "removed": paths, "bytes": bytes, "dry_run": prune.dry_run });
    Ok(answer)
}

/// So many days ago.
#[expect(clippy::disallowed_methods, reason = "the edge of the program, where time comes from")]
fn then(days: u64) -> SystemTime {
    let ago = Duration::from_secs(days.saturating_mul(DAY));
    SystemTime::now().checked_sub(ago).unwrap_or(SystemTime::UNIX_EPOCH)
}
