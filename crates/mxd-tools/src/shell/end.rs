//! How commands end, in words.

use crate::sandbox::{End, Exit};

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// By itself, or by a signal.
    Exit(Exit),
    /// It was killed because somebody said so, or because its agent ended.
    Killed,
    /// Nobody knows: what watched over it went away.
    Lost(String),
}

impl Ending {
    /// Whether it did what it was to do.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Exit(Exit { end: End::Code(0), .. }))
    }

    /// In a few words.
    pub fn in_words(&self) -> String {
        match self {
            Self::Exit(Exit { end: End::Code(code), .. }) => match code.checked_sub(128).map(signal_name) {
                Some(Some(name)) => format!("exit code: {code}, which is 128 + {name}"),
                Some(None) | None => format!("exit code: {code}"),
            },
            Self::Exit(Exit { end: End::Signal(signal), .. }) => match signal_name(*signal) {
                Some(name) => format!("killed by signal {signal} ({name})"),
                None => format!("killed by signal {signal}"),
            },
            Self::Killed => "killed".to_owned(),
            Self::Lost(why) => format!("ended, nobody knows how: {why}"),
        }
    }
}

/// The names of signals by the numbers Linux gives them, as far as commands die of them.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}
