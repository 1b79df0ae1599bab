//! The commands that talk to the daemon, one file per subject.

pub(crate) mod answer;
pub(crate) mod auth;
pub(crate) mod config;
pub(crate) mod init;
pub(crate) mod log;
pub(crate) mod model;
pub(crate) mod overview;
pub(crate) mod project;
pub(crate) mod read;
pub(crate) mod readiness;
pub(crate) mod scope;
pub(crate) mod send;
pub(crate) mod servers;
pub(crate) mod sessions;
pub(crate) mod steer;
pub(crate) mod task;
pub(crate) mod wait;

use crate::client::Failure;

/// Words as they are sent. What stands behind them is taken as words, which somebody who wrote to another task, or wanted help,
/// did not mean.
fn spoken(words: &[String]) -> Result<String, Failure> {
    let is_flag = |word: &str, flags: &[&str]| flags.contains(&word);
    let late = match words {
        [_, .., flag, value] if is_flag(flag, &["-t", "--task", "-p", "--project", "--id"]) => {
            Some(format!("{flag} {value}"))
        }
        [_, .., flag] if is_flag(flag, &["-h", "--help", "--json"]) => Some(flag.clone()),
        _ => None,
    };
    match late {
        None => Ok(words.join(" ")),
        Some(late) => {
            Err(Failure::new(format!("`{late}` stands behind the words, and would be sent with them"))
                .hint("Put it before them. Quote the words when it is one of them: 'as one argument'."))
        }
    }
}
