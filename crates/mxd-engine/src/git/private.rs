//! The git repository that an agent works with: its own.
//!
//! An agent never writes to the user's repository. It has a git folder of its own, with its own settings, branches, index
//! and objects; the user's objects are alternates that it reads. It lies in `mxd/agents/<task>/` of the user's git folder:
//!
//! * `git`: the agent's git folder. After the agent has begun, nothing outside of a sandbox looks into it.
//! * `gitfile`: what the agent sees as `.git` of its worktree. The real one leads the user's git to the user's repository.
//! * `given`: the branches and tags of the user's that the agent was last given, to be seen and not to be moved.
//! * `known`: where the agent's branch stood when both repositories last agreed.
//!
//! What the agent commits reaches the user's repository by [`super::import`].

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mxd_core::id::TaskId;
use mxd_tools::sandbox::{Level, Repository as Shared};

use super::error::GitError;
use super::files::publish;
use super::inspect::{Inspected, Wish};
use super::names::{Branch, NAMESPACE, ObjectId};
use super::record::Record;
use super::refs::RefError;
use super::repository::{Place, Repository};
use super::run::Call;
use super::worktree::Worktree;

/// Where the repository of an agent is.
#[derive(Debug, Clone)]
pub(super) struct Private {
    folder: PathBuf,
}

impl Private {
    pub(super) fn of(common: &Path, task: TaskId) -> Self {
        Self { folder: common.join("mxd/agents").join(task.to_string()) }
    }

    /// The agent's git folder.
    pub(super) fn git_dir(&self) -> PathBuf {
        self.folder.join("git")
    }

    pub(super) fn git_file(&self) -> PathBuf {
        self.folder.join("gitfile")
    }

    fn given(&self) -> PathBuf {
        self.folder.join("given")
    }

    /// Whether it was made to its end.
    pub(super) fn exists(&self) -> bool {
        self.git_file().is_file()
    }

    /// Where the agent's branch stood when both repositories last agreed.
    pub(super) fn known(&self) -> Result<Option<ObjectId>, GitError> {
        let path = self.folder.join("known");
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text.trim().parse().ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(GitError::File { action: "read", path, source }),
        }
    }

    pub(super) fn write_known(&self, commit: &ObjectId) -> Result<(), GitError> {
        let path = self.folder.join("known");
        publish(&path, commit.as_str().as_bytes()).map_err(GitError::file("write", &path))
    }

    pub(super) fn forget_known(&self) -> Result<(), GitError> {
        let path = self.folder.join("known");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(GitError::file("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Removes it with everything in it.
    pub(super) async fn remove(&self, repository: &Repository) -> Result<(), GitError> {
        repository.remove_agents_folder(&self.folder).await
    }
}

impl Repository {
    /// Makes the repository of an agent whose worktree has its files and whom nobody has let in yet. One that is there has
    /// work in it: it stays, and stands at its branch again.
    pub(super) async fn make_private(&self, worktree: &Worktree, head: &ObjectId) -> Result<(), GitError> {
        let private = Private::of(self.common(), worktree.task);
        if private.exists() {
            let inspected = self.change_private(worktree).await?;
            let place = Place::Files(&inspected);
            let branch = worktree.branch.refname();
            self.ask(place, Call::new(["symbolic-ref", "HEAD", &branch])).await?;
            self.ask(place, Call::new(["update-ref", &branch, head.as_str()])).await?;
            self.ask(place, Call::new(["read-tree", head.as_str()])).await?;
            self.ask(place, Call::new(["update-index", "-q", "--refresh"]).accepts(&[1])).await?;
            self.point_to_private(worktree)?;
            return private.write_known(head);
        }
        private.remove(self).await?;
        let git_dir = private.git_dir();
        self.write_private(&private, &worktree.branch, head).await?;
        let index = git_dir.join("index");
        fs::copy(worktree.own.join("index"), &index).map_err(GitError::file("make", &index))?;
        private.write_known(head)?;
        self.point_to_private(worktree)?;
        // The last step: with this file it counts as made.
        let git_file = private.git_file();
        let text = format!("gitdir: {}\n", git_dir.display());
        publish(&git_file, text.as_bytes()).map_err(GitError::file("write", &git_file))
    }

    /// Writes a repository that stands at a branch: settings and references, no index and no objects of its own.
    pub(super) async fn write_private(
        &self,
        private: &Private,
        branch: &Branch,
        head: &ObjectId,
    ) -> Result<(), GitError> {
        let git_dir = private.git_dir();
        self.write_git_dir(&git_dir).await?;
        let given = self.refs_for(branch).await?;
        let settings = self.settings_for_agent().await?;
        let branch = branch.refname();
        let write = || -> io::Result<()> {
            publish(&git_dir.join("config"), settings.as_bytes())?;
            publish(&git_dir.join("HEAD"), format!("ref: {branch}\n").as_bytes())?;
            publish(&git_dir.join("packed-refs"), packed(&given).as_bytes())?;
            publish(&git_dir.join(&branch), format!("{head}\n").as_bytes())?;
            publish(&private.given(), packed(&given).as_bytes())?;
            fs::create_dir_all(git_dir.join("refs/tags"))
        };
        write().map_err(GitError::file("make", &git_dir))
    }

    /// Without mounts there is one `.git` for everybody: the real one leads to the agent's repository.
    fn point_to_private(&self, worktree: &Worktree) -> Result<(), GitError> {
        if self.inspector()?.level() == Level::Full {
            return Ok(());
        }
        let git_dir = Private::of(self.common(), worktree.task).git_dir();
        let pointer = worktree.folder.join(".git");
        let text = format!("gitdir: {}\n", git_dir.display());
        publish(&pointer, text.as_bytes()).map_err(GitError::file("write", &pointer))
    }

    /// What the sandbox of an agent has to know about its repository.
    #[must_use]
    pub fn shared_with(&self, task: TaskId) -> Shared {
        let private = Private::of(self.common(), task);
        Shared { git_dir: private.git_dir(), git_file: private.git_file(), objects: self.object_stores() }
    }

    /// A git in a sandbox that reads the repository of an agent.
    pub(super) async fn read_private(&self, task: TaskId) -> Result<Inspected, GitError> {
        let git_dir = Private::of(self.common(), task).git_dir();
        let env = vec![
            ("GIT_DIR", git_dir.clone()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.common().join("objects")),
        ];
        let wish = Wish { read: vec![git_dir.clone()], folder: Some(&git_dir), env, ..Wish::default() };
        self.git_in_sandbox(wish).await
    }

    /// A git in a sandbox that changes the repository of an agent and reads the worktree.
    pub(super) async fn change_private(&self, worktree: &Worktree) -> Result<Inspected, GitError> {
        let git_dir = Private::of(self.common(), worktree.task).git_dir();
        let env = vec![("GIT_DIR", git_dir.clone()), ("GIT_WORK_TREE", worktree.folder.clone())];
        let (read, write) = (vec![worktree.folder.clone()], vec![git_dir]);
        self.git_in_sandbox(Wish { read, write, folder: Some(&worktree.folder), env }).await
    }

    /// Shows the agent where the user's branches and tags stand now, and those of the tasks above and below.
    ///
    /// # Errors
    ///
    /// When git fails.
    pub async fn refresh_given(&self, worktree: &Worktree) -> Result<(), RefError> {
        let seen = ref_folders(self.common());
        if self.lane().has_seen(worktree.task, &seen) {
            return Ok(());
        }
        let _turn = self.task_turn(worktree.task).await;
        let private = Private::of(self.common(), worktree.task);
        let path = private.given();
        let now = self.refs_for(&worktree.branch).await?;
        let before = fs::read_to_string(&path).unwrap_or_default();
        if before != packed(&now) {
            let mut input = String::new();
            for (name, id) in &now {
                input.push_str(&format!("update {name} {id}\n"));
            }
            let lines = before.lines().filter(|line| !line.starts_with('#'));
            for (_, name) in lines.filter_map(|line| line.split_once(' ')) {
                if !now.contains_key(name) {
                    input.push_str(&format!("delete {name}\n"));
                }
            }
            let inspected = self.change_private(worktree).await?;
            let call = Call::new(["update-ref", "--no-deref", "--stdin"]).input(input);
            self.ask(Place::Files(&inspected), call).await?;
            publish(&path, packed(&now).as_bytes()).map_err(GitError::file("write", &path))?;
        }
        self.lane().saw(worktree.task, seen);
        Ok(())
    }

    /// The user's branches and tags, and the branches of the tasks above and below the one with this branch. Of all other
    /// tasks, also of those that are gone, nothing.
    async fn refs_for(&self, branch: &Branch) -> Result<BTreeMap<String, ObjectId>, GitError> {
        let records = Record::all(self.common())?;
        // Below the base branch, which the root reads, are all tasks.
        let relatives = match branch.is_of_agents() {
            true => relatives(branch, &records),
            false => records.iter().map(|record| record.branch.clone()).collect(),
        };
        let format = "--format=%(objectname) %(refname) %(symref)";
        let call = Call::new(["for-each-ref", format, "refs/heads", "refs/tags", "refs/remotes"]);
        let answer = self.ask(Place::Store, call).await?;
        let of_agents = format!("refs/heads/{NAMESPACE}/");
        let mut found = BTreeMap::new();
        for line in answer.text().lines() {
            let mut words = line.split(' ');
            let (Some(id), Some(name), symbolic) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let is_shown =
                !name.starts_with(&of_agents) || relatives.iter().any(|branch| branch.refname() == name);
            if is_shown && symbolic.is_none_or(str::is_empty) {
                found.insert(name.to_owned(), id.parse().map_err(|_| answer.odd())?);
            }
        }
        Ok(found)
    }

    /// The settings of an agent's repository: those of the user's that change how files are compared, and the remotes
    /// without what logs in there. Nothing that names a program or another file.
    async fn settings_for_agent(&self) -> Result<String, GitError> {
        const KEYS: &str =
            r"^(remote\..*\.(url|fetch|promisor|partialclonefilter)|merge\.conflictstyle|rerere\.enabled)$";
        let mut text = self.harmless_settings().await?;
        text.push_str("[core]\n\thooksPath = /dev/null\n");
        let answer = self
            .ask(Place::Store, Call::new(["config", "--null", "--get-regexp", KEYS]).accepts(&[1]))
            .await?;
        for setting in answer.parts() {
            let setting = String::from_utf8_lossy(setting);
            let (key, value) = setting.split_once('\n').unwrap_or((&setting, "true"));
            let Some((section, name)) = key.rsplit_once('.') else { continue };
            let value = if name == "url" { without_login(value) } else { value.to_owned() };
            let plain = |text: &str| !text.contains(['\n', '"', '\\']) && !text.chars().any(char::is_control);
            if !plain(&value) || !plain(section) {
                continue;
            }
            match section.split_once('.') {
                Some((section, part)) => {
                    text.push_str(&format!("[{section} \"{part}\"]\n\t{name} = \"{value}\"\n"))
                }
                None => text.push_str(&format!("[{section}]\n\t{name} = \"{value}\"\n")),
            }
        }
        Ok(text)
    }
}

/// A URL without the name and password, or the token, that stands before its host.
fn without_login(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) =
        rest.split_once('/').map_or((rest, None), |(authority, path)| (authority, Some(path)));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let query = |path: &str| path.split(['?', '#']).next().unwrap_or_default().to_owned();
    match path {
        Some(path) => format!("{scheme}://{host}/{}", query(path)),
        None => format!("{scheme}://{host}"),
    }
}

/// Refs in the form in which git keeps many of them.
fn packed(refs: &BTreeMap<String, ObjectId>) -> String {
    let mut text = String::from("# pack-refs with: sorted \n");
    for (name, id) in refs {
        text.push_str(&format!("{id} {name}\n"));
    }
    text
}

/// The branches of the tasks above and below the one with this branch, by what each started from.
fn relatives(branch: &Branch, records: &[Record]) -> Vec<Branch> {
    let base_of = |branch: &Branch| {
        let record = records.iter().find(|record| record.branch == *branch)?;
        record.base_branch.clone()
    };
    let line = |from: &Branch| {
        let mut line = Vec::new();
        let mut at = base_of(from);
        // Bases never go round in a circle, but the records are files.
        while let Some(next) = at.filter(|next| next.is_of_agents() && line.len() < records.len()) {
            at = base_of(&next);
            line.push(next);
        }
        line
    };
    let below = records.iter().map(|record| &record.branch).filter(|other| line(other).contains(branch));
    let below: Vec<Branch> = below.cloned().collect();
    line(branch).into_iter().chain(below).collect()
}

/// What tells whether a ref of the user's may have moved: git replaces files, which changes the folders they are in.
pub(super) type RefFolders = Vec<(PathBuf, std::time::SystemTime)>;

fn ref_folders(common: &Path) -> RefFolders {
    let mut found = Vec::new();
    let mut waiting = vec![common.join("refs"), common.join("packed-refs"), common.join("mxd/worktrees")];
    while let Some(path) = waiting.pop() {
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        found.extend(about.modified().ok().map(|time| (path.clone(), time)));
        if about.is_dir() && path.starts_with(common.join("refs")) {
            let inside = fs::read_dir(&path).into_iter().flatten().flatten();
            let folders = inside.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            waiting.extend(folders.map(|entry| entry.path()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::without_login;

    #[test]
    fn login_of_a_url_is_left_out_wherever_it_stands() {
        for (url, expected) in [
            ("https://user:token@example.org/a/b.git", "https://example.org/a/b.git"),
            ("https://token@example.org/a", "https://example.org/a"),
            ("https://a@b@example.org/x", "https://example.org/x"),
            ("https://example.org/x?private_token=secret", "https://example.org/x"),
            ("ssh://git@example.org:22/x", "ssh://example.org:22/x"),
            ("git@example.org:a/b.git", "git@example.org:a/b.git"),
            ("../other", "../other"),
            ("https://user:token@example.org", "https://example.org"),
        ] {
            assert_eq!(without_login(url), expected, "{url}");
        }
    }
}
