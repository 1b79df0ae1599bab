//! Words on a terminal. Colour comes only where there is one.

use std::io::{self, Write};
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};

/// Good.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Works, but not as well as it could.
pub(crate) const WEAK: Style = AnsiColor::Yellow.on_default().bold();
/// Does not work.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Why standard output could not be written, once it could not.
static UNWRITTEN: OnceLock<io::ErrorKind> = OnceLock::new();

/// One line to standard output. Nobody reading is not our fault; a full disk is told by [`written`].
pub(crate) fn line(text: impl AsRef<str>) {
    let mut out = anstream::stdout();
    if let Err(error) = writeln!(out, "{}", text.as_ref()).and_then(|()| out.flush()) {
        let _first = UNWRITTEN.set(error.kind());
    }
}

/// Whether nobody reads what is said any more.
pub(crate) fn is_unread() -> bool {
    UNWRITTEN.get().is_some()
}

/// Whether all that was said was written, or nobody wanted the rest.
pub(crate) fn written() -> io::Result<()> {
    match UNWRITTEN.get() {
        Some(kind) if *kind != io::ErrorKind::BrokenPipe => Err((*kind).into()),
        Some(_) | None => Ok(()),
    }
}

/// One line to standard error, beside what a program reads from standard output.
pub(crate) fn note(text: impl AsRef<str>) {
    let _closed = writeln!(anstream::stderr(), "{}", text.as_ref());
}

/// A runtime for what has to wait.
pub(crate) fn wait_for<T>(work: impl Future<Output = T>) -> io::Result<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work))
}

/// Beside the point.
pub(crate) const DIM: Style = Style::new().dimmed();

/// The answer of the daemon for programs, or a sentence for people.
pub(crate) fn answer(as_json: bool, answer: &serde_json::Value, sentence: impl FnOnce() -> String) {
    line(if as_json { answer.to_string() } else { sentence() });
}

/// How wide the terminal is; what is no terminal is wide.
pub(crate) fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(200)
}
