//! `tachyon key`: makes, takes in and lists keys, encrypted and readable by their owner only.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;

use clap::Subcommand;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::Config;
use crate::policy::keys::{SecretRef, key_from_text};
use crate::policy::signer::Key;
use crate::policy::vault;

#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
    /// Makes a key that nobody knows, and keeps it encrypted.
    New {
        /// What to call it: small letters, digits, `-` and `_`.
        name: String,
        /// Where its password is, `$env:NAME` or `file:PATH`; asked for when left out.
        #[arg(long, value_name = "REFERENCE")]
        password: Option<String>,
    },
    /// Takes in a key that is there already, and keeps it encrypted.
    Import {
        /// What to call it: small letters, digits, `-` and `_`.
        name: String,
        /// Where the key is, `$env:NAME` or `file:PATH`; asked for when left out.
        #[arg(long, value_name = "REFERENCE")]
        key: Option<String>,
        /// Where its password is, `$env:NAME` or `file:PATH`; asked for when left out.
        #[arg(long, value_name = "REFERENCE")]
        password: Option<String>,
    },
    /// Lists names, addresses and files.
    List,
}

/// What a reference leads to. One that is none may be the secret itself, so it is not repeated.
fn reveal(place: &str) -> io::Result<SecretString> {
    let place = SecretRef::try_from(place.to_owned()).map_err(io::Error::other)?;
    place.reveal().map_err(io::Error::other)
}

impl KeyCommand {
    pub(super) fn run(&self, config: &Config) -> io::Result<bool> {
        let folder = config.key_folder();
        let (name, key, password) = match self {
            Self::List => {
                for kept in vault::list(&folder).map_err(io::Error::other)? {
                    writeln!(io::stdout(), "{} {} {}", kept.name, kept.address, kept.path.display())?;
                }
                return Ok(true);
            }
            Self::New { name, password } => (name, Key::random(), password),
            Self::Import { name, key, password } => {
                let text = match key {
                    Some(place) => reveal(place)?,
                    None => ask("Private key (hexadecimal): ")?,
                };
                let what = || io::Error::other("that is not a private key of 64 hexadecimal digits");
                (name, key_from_text(&text).ok_or_else(what)?, password)
            }
        };
        let password = match password {
            Some(place) => reveal(place)?,
            None => new_password()?,
        };
        let kept = vault::keep(&folder, name, &key, &password).map_err(io::Error::other)?;
        writeln!(io::stdout(), "{} {} {}", kept.name, kept.address, kept.path.display())?;
        Ok(true)
    }
}

/// Asked for twice: a password with a slip in it would lock the key away for good.
fn new_password() -> io::Result<SecretString> {
    let (first, second) = (ask("New password: ")?, ask("The same again: ")?);
    if first.expose_secret() == second.expose_secret() {
        return Ok(first);
    }
    Err(io::Error::other("the two passwords are not the same; nothing was kept"))
}

/// Asks on the terminal, without showing what is typed.
fn ask(question: &str) -> io::Result<SecretString> {
    let terminal = File::options().read(true).write(true).open("/dev/tty").map_err(|_| {
        io::Error::other("there is no terminal to ask on; say where it is with `$env:NAME` or `file:PATH`")
    })?;
    (&terminal).write_all(question.as_bytes())?;
    let hidden = Hidden::on(&terminal)?;
    let mut line = String::new();
    BufReader::new(&terminal).read_line(&mut line)?;
    drop(hidden);
    (&terminal).write_all(b"\n")?;
    Ok(SecretString::from(line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// A terminal that does not show what is typed, until this is dropped.
struct Hidden<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> Hidden<'a> {
    fn on(terminal: &'a File) -> io::Result<Self> {
        let before = tcgetattr(terminal.as_fd())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(terminal.as_fd(), OptionalActions::Flush, &hidden)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing restored.
        let _ = tcsetattr(self.terminal.as_fd(), OptionalActions::Now, &self.before);
    }
}
