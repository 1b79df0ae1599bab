//! What to do about a server of somebody's settings that does not come up: what its command needs and its sandbox does not
//! give. To run it by hand would show nothing of that, because there it has everything.

use std::path::{Path, PathBuf};

use mxd_core::manifest::{Program, ServerSpec, Transport};

use super::error::ConnectError;
use super::surroundings::Surroundings;

/// Commands that get a package from elsewhere when they start, with the words before the package.
const FETCHERS: &[(&str, &[&str])] = &[
    ("npx", &[]),
    ("bunx", &[]),
    ("pnpx", &[]),
    ("uvx", &[]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["dlx"]),
    ("yarn", &["dlx"]),
    ("bun", &["x"]),
    ("uv", &["tool", "run"]),
    ("pipx", &["run"]),
    ("docker", &["run"]),
    ("podman", &["run"]),
];

impl ConnectError {
    /// What to do about it, where more is known than the error says: what was to be started, and in which sandbox.
    pub fn advice(&self, spec: &ServerSpec, around: &Surroundings) -> String {
        let Transport::Stdio(program) = &spec.transport else { return self.hint() };
        let may_be_the_sandbox = matches!(self, Self::Lost { .. } | Self::Slow { .. } | Self::Start { .. });
        if !may_be_the_sandbox {
            return self.hint();
        }
        let again = format!("then `mxd servers retry {}`", spec.name);
        if let Some(path) = hidden(program, around) {
            let folder = path.parent().unwrap_or(&path).display().to_string();
            return format!(
                "Its sandbox does not show {}, which its command names. If the server may read that folder, set \
                 `sandbox.read` to [\"{folder}\"] with `mxd config set`; {again}.",
                path.display()
            );
        }
        if spec.package.is_none()
            && let Some(fetcher) = fetcher(program)
        {
            return format!(
                "`{fetcher}` gets its package from the network when it starts, and a server is started without network. \
                 Install the package first and write its own program as `command`; {again}."
            );
        }
        self.hint()
    }
}

fn fetcher(program: &Program) -> Option<&str> {
    let name = Path::new(&program.command).file_name()?.to_str()?;
    let (_, words) = FETCHERS.iter().find(|(fetcher, _)| *fetcher == name)?;
    let first = program.args.first().map(String::as_str).unwrap_or_default();
    (words.is_empty() || words.contains(&first)).then_some(name)
}

/// The first file that the command names, that is there, and that the sandbox does not show.
fn hidden(program: &Program, around: &Surroundings) -> Option<PathBuf> {
    let policy = around.agent.settle(around.sandbox.level()).ok()?.policy;
    let shown = |path: &Path| {
        let seen =
            policy.read.iter().chain(&policy.write).chain(policy.overlays.iter().map(|one| &one.lower));
        seen.into_iter().any(|root| path.starts_with(root))
            && !policy.hide.iter().any(|root| path.starts_with(root))
    };
    let words = std::iter::once(&program.command).chain(&program.args);
    let mut named = words.map(PathBuf::from).filter(|path| path.is_absolute() && path.exists());
    // A link is shown as what it leads to.
    named.find(|path| !shown(path) && std::fs::canonicalize(path).is_ok_and(|real| !shown(&real)))
}
