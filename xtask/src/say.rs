//! What the developer reads: headings, failures, the colours of both.
//!
//! `anstream` removes the colours when the output is not a terminal or `NO_COLOR` is set. A reader that
//! went away (`| head`) must not become a panic, therefore `writeln!` and not `println!`.

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};

pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
const HEADING: Style = Style::new().bold();

/// One line on stdout.
pub(crate) fn line(text: impl Display) {
    // Nobody reads any more: there is nobody to tell.
    let _ = writeln!(anstream::stdout(), "{text}");
}

/// One line on stderr, for what is not the command's result.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Announces on stderr what starts now, so that stdout stays free for results.
pub(crate) fn heading(text: impl Display) {
    note(format_args!("{HEADING}==> {text}{HEADING:#}"));
}

/// Why the command could not do its work.
pub(crate) fn error(reason: impl Display) {
    note(format_args!("{BAD}error:{BAD:#} {reason}"));
}

/// The one line that says which part failed, and the one that says how to see it again.
pub(crate) fn failed(part: impl Display, again: impl Display) {
    note(format_args!("{BAD}FAILED: {part}{BAD:#}"));
    note(format_args!("to see it alone: {again}"));
}
