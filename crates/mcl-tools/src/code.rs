//! Exit codes: one meaning each.

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $word:literal, $meaning:literal;)+) => {
        /// How the program ends.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Code {
            $($(#[$doc])* $variant,)+
        }

        impl Code {
            /// Every code, by its number.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The number.
            pub(crate) fn number(self) -> u8 {
                match self { $(Self::$variant => $number,)+ }
            }

            /// A word for programs.
            pub(crate) fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// What it means.
            pub(crate) fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }
        }
    };
}

codes! {
    /// All is well.
    Done = 0, "done", "all is well";
    /// The program could not do its own work.
    Trouble = 1, "trouble", "a file, a folder or the sandbox failed us";
    /// It was called wrongly.
    Usage = 2, "usage", "wrong usage: an option, a tool URI, arguments that are no JSON object";
    /// A tool ran and failed.
    ToolFailed = 3, "tool_failed", "the tool failed, or its server was lost during the call";
    /// A file has problems.
    Invalid = 4, "invalid", "the manifest, the lock file, the signature file or the plan has problems";
    /// A server is not there.
    Unavailable = 5, "unavailable", "a server cannot be started or reached";
    /// A server offers something else.
    Drift = 6, "drift", "a server offers something else than was declared or accepted";
    /// A package is another one.
    Digest = 7, "digest", "a package is not what its digest says, or the digest is a placeholder";
    /// Nobody vouches for the manifest.
    Signature = 8, "signature", "the manifest is not signed as required";
    /// The gate said no.
    Denied = 9, "denied", "the gate denied the call: unknown tool, class, pin, arguments";
    /// Somebody stopped it.
    Stopped = 10, "stopped", "stopped: it took too long, or a gate of the plan was answered with no";
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// The table for the help.
pub(crate) fn table() -> String {
    let row = |code: &Code| format!("  {:>2}  {}\n", code.number(), code.meaning());
    let rows: String = Code::ALL.iter().map(row).collect();
    format!("Exit codes (of several problems, that of the first):\n{rows}")
}
