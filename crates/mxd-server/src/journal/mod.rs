//! What the daemon writes about itself: lines on standard error, none of which holds a secret.
//!
//! Everything that is written goes through one place, [`Clean`]: what is known to be secret is looked for by its value,
//! in all the forms that programs print it in; what only looks like it, such as the header of a stranger, by its shape.

mod shapes;

use std::io::{self, IsTerminal as _};

use mxd_engine::config::{LogFormat, LogSettings};
use mxd_tools::secrets::Vault;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use self::shapes::Shapes;

/// The variable that says in detail what is written.
const FILTER: &str = "MXD_LOG";

/// How the daemon writes about itself.
#[derive(Debug)]
pub struct Journal {
    /// For whom, and how much.
    pub settings: LogSettings,
    /// What must not be written.
    pub vault: Vault,
}

impl Journal {
    /// Begins to write, on standard error. Panics are told there, too.
    pub fn begin(self) {
        let level = self.settings.level.name();
        let filter = EnvFilter::try_from_env(FILTER).unwrap_or_else(|_| EnvFilter::new(level));
        let terminal = io::stderr().is_terminal();
        let colours = terminal && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
        let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(Clean::new(self.vault));
        let as_json = match self.settings.format {
            LogFormat::Auto => !terminal,
            LogFormat::Text => false,
            LogFormat::Json => true,
        };
        // There is none before, and a second one would be no better.
        let _set = if as_json {
            builder.json().try_init()
        } else {
            builder.with_target(false).with_ansi(colours).try_init()
        };
        std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a part of the program broke off")));
    }
}

/// Standard error without secrets.
struct Clean {
    vault: Vault,
    shapes: Shapes,
}

impl Clean {
    fn new(vault: Vault) -> Self {
        Self { vault, shapes: Shapes::new() }
    }

    fn clean(&self, text: &str) -> String {
        self.shapes.redact(&self.vault.redact(text))
    }
}

/// One line. The formatter hands out each as a whole.
struct Line<'a>(&'a Clean);

impl<'a> MakeWriter<'a> for Clean {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
    }
}

impl io::Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let clean = self.0.clean(&String::from_utf8_lossy(line));
        io::stderr().lock().write_all(clean.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_neither_what_is_known_nor_what_looks_like_it() {
        let clean = Clean::new(Vault::default());
        clean.vault.learn("correct-horse");
        let line = r#"{"fields":{"message":"correct-horse","headers":"Authorization: Bearer abcdefgh1234"}}"#;
        let written = clean.clean(line);
        assert_eq!(written, r#"{"fields":{"message":"[redacted]","headers":"Authorization: [redacted]"}}"#);
    }
}
