//! A user who has a key, a daemon and a scripted model, and types commands.

use std::path::Path;
use std::process::Command;

use rehearse::{Rehearsal, Script, Wire};

use crate::scene::Scene;
use crate::shell::{Said, Shell, said};
use crate::story;

/// A user with a daemon that runs.
pub(crate) struct User<'a> {
    program: &'a Path,
    shell: &'a Shell,
    pub(crate) model: Rehearsal,
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        let _stopped = self.mxd(&["daemon", "stop"]);
    }
}

impl<'a> User<'a> {
    /// The README's commands until the daemon runs.
    pub(crate) fn start(program: &'a Path, shell: &'a Shell, scene: &Scene) -> Result<Self, String> {
        let script = Script::parse("story", &story::script(scene).to_string());
        let model = Rehearsal::start(script.map_err(|error| error.to_string())?);
        let model = model.map_err(|error| format!("the scripted model: {error}"))?;
        let url = model.base_url(Wire::Anthropic);
        let user = Self { program, shell, model };
        let key = ["--key", "$env:ANTHROPIC_API_KEY", "--base-url", &url, "--default"];
        user.must(&[&["config", "auth", "add", "main", "--provider", "anthropic"], &key[..]].concat())?;
        user.must(&["config", "set", "budgetUsd", "5", "--global"])?;
        user.must(&["config", "set", "port", "0", "--global"])?;
        user.must(&["up", "--no-open"])?;
        Ok(user)
    }

    /// Runs `mxd` in the repository.
    pub(crate) fn mxd(&self, arguments: &[&str]) -> Said {
        said(&mut self.command(arguments))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let folder = if self.shell.repository.is_dir() { &self.shell.repository } else { &self.shell.home };
        let mut command = self.shell.command(self.program, folder);
        command.args(arguments).env("ANTHROPIC_API_KEY", "a key that only the scripted model takes");
        command
    }

    fn must(&self, arguments: &[&str]) -> Result<(), String> {
        let said = self.mxd(arguments);
        if said.succeeded { Ok(()) } else { Err(format!("mxd {}: {}", arguments.join(" "), said.text)) }
    }
}
