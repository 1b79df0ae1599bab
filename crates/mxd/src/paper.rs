//! Completions for shells and the manual pages, made from the same description as the help.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::Cli;
use crate::client::Failure;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd completions bash > ~/.local/share/bash-completion/completions/mxd
  mxd completions zsh > ~/.zfunc/_mxd
  mxd completions fish > ~/.config/fish/completions/mxd.fish")]
pub(crate) struct Completions {
    /// For which shell.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> ExitCode {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "mxd", &mut script);
        match std::io::stdout().write_all(&script) {
            Ok(()) => ExitCode::SUCCESS,
            // Whoever stops reading has read enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(error) => Failure::new(format!("standard output: {error}")).tell(false),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd man | man -l -                                reads it
  mxd man --folder ~/.local/share/man/man1          one page for every command: `man mxd-send`")]
pub(crate) struct Man {
    /// Writes a page for every command into this folder, which is made when it is not there.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self) -> ExitCode {
        // `help` is no command that a page could say anything about.
        let described = Cli::command().disable_help_subcommand(true);
        let made = match &self.folder {
            None => clap_mangen::Man::new(described).render(&mut std::io::stdout()),
            Some(folder) => {
                std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(described, folder))
            }
        };
        match made {
            Ok(()) => ExitCode::SUCCESS,
            // Whoever stops reading has read enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(error) => {
                let place =
                    self.folder.map_or("standard output".to_owned(), |folder| folder.display().to_string());
                Failure::new(format!("{place}: {error}"))
                    .hint("Name a folder that you may write to.")
                    .tell(false)
            }
        }
    }
}
