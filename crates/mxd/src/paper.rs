//! Completions for shells and the manual page, made from the same description as the help.

use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::Cli;
use crate::say;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd completions bash > ~/.local/share/bash-completion/completions/mxd
  mxd completions zsh > ~/.zfunc/_mxd")]
pub(crate) struct Completions {
    /// For which shell.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> ExitCode {
        clap_complete::generate(self.shell, &mut Cli::command(), "mxd", &mut std::io::stdout());
        ExitCode::SUCCESS
    }
}

/// The manual page, for `man -l -`.
pub(crate) fn man() -> ExitCode {
    match clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => say::failure(error.to_string()),
    }
}
