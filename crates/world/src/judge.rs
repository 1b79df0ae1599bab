//! What has to be true of a repository when the story is over.

use crate::scene::Scene;
use crate::shell::Shell;
use crate::story::{FIRST_LINE, SECOND_LINE};
use crate::user::User;

/// How often the repository is looked at before what should go counts as left.
const LOOKS: usize = 3_000;

/// What there was before anything began.
pub(crate) struct Before {
    commit: String,
    status: String,
    worktrees: String,
}

impl Before {
    pub(crate) fn of(shell: &Shell, scene: &Scene) -> Self {
        let commit = format!("git rev-parse -q --verify 'refs/heads/{}' || true", scene.base);
        Self {
            commit: shell.run(&shell.repository, &commit).text,
            status: status(shell),
            worktrees: worktrees(shell),
        }
    }
}

/// What git says about the user's files; a bare repository has none.
fn status(shell: &Shell) -> String {
    let script =
        "[ \"$(git rev-parse --is-bare-repository)\" = true ] || git status --porcelain -uall --ignored";
    shell.run(&shell.repository, script).text
}

fn worktrees(shell: &Shell) -> String {
    shell.run(&shell.repository, "git worktree list --porcelain | grep '^worktree '").text
}

/// The first thing that is not as it should be.
pub(crate) fn problem(user: &User<'_>, shell: &Shell, (scene, before): (&Scene, &Before)) -> Option<String> {
    let broken_rule = user.model.requests().into_iter().find(|request| !request.violations.is_empty());
    if let Some(request) = broken_rule {
        return Some(format!("a request to the model broke a rule: {:?}", request.violations));
    }
    in_repository(shell, scene, before)
        .or_else(|| as_before("status of the user's files", &before.status, &status(shell)))
        .or_else(|| as_before("list of worktrees", &before.worktrees, &worktrees(shell)))
        .or_else(|| {
            let after = shell.run(&shell.repository, scene.after);
            (!after.succeeded).then(|| format!("at the end: {}", after.text))
        })
}

fn as_before(what: &str, before: &str, now: &str) -> Option<String> {
    (before != now).then(|| format!("the {what} was `{before}` and is `{now}`"))
}

fn in_repository(shell: &Shell, scene: &Scene, before: &Before) -> Option<String> {
    let base = format!("refs/heads/{}", scene.base);
    let run = |script: &str| shell.run(&shell.repository, script).text;
    let shared = run(&format!("git cat-file -p '{base}:{}'", scene.shared));
    for line in [FIRST_LINE, SECOND_LINE] {
        if !shared.contains(line) {
            return Some(format!("“{line}” is not in {} of {}: {shared}", scene.shared, scene.base));
        }
    }
    let authors = format!("git log --format='%an <%ae>%n%cn <%ce>' '{}..{base}' | sort -u", before.commit);
    let authors = run(&authors);
    if authors != scene.author {
        return Some(format!("the commits are by {authors}, and should be by {}", scene.author));
    }
    // Worktrees are removed in the background, and nobody waits for that.
    let left = || run("git for-each-ref refs/heads/mxd/ refs/mxd/merge; ls .worktrees 2>/dev/null || true");
    if !(0..LOOKS).any(|_| left().is_empty()) {
        return Some(format!("branches of closed tasks are left: {}", left()));
    }
    let is_base = run("git diff --stat HEAD; git symbolic-ref -q HEAD");
    if scene.follows && !is_base.contains(&base) {
        return Some(format!("the checkout does not stand on {}: {is_base}", scene.base));
    }
    let in_checkout = format!("grep -c -e '{FIRST_LINE}' -e '{SECOND_LINE}' '{}'", scene.shared);
    if scene.follows && run(&in_checkout) != "2" {
        return Some(format!("the user's {} has not followed the merge", scene.shared));
    }
    let damage = shell.run(&shell.repository, "git fsck --no-dangling --no-progress");
    (!damage.succeeded).then(|| format!("git fsck: {}", damage.text))
}
