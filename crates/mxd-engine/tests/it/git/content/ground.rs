//! A worktree in which attempts are planted.

use std::fs;
use std::path::{Path, PathBuf};

use mxd_engine::git::worktree::Worktree;

use super::super::yard::{Yard, write};
use super::attempts::{Attempt, Spot};

/// A text that stands outside of the worktree, where attempts point to.
pub(super) const SECRET: &str = "a secret that stands outside of the worktree";

pub(super) struct Ground {
    pub(super) yard: Yard,
    pub(super) worktree: Worktree,
    /// Another agent's, which nobody attacks.
    pub(super) other: Worktree,
    pub(super) names: Vec<String>,
}

impl Ground {
    /// A worktree with these attempts in it.
    pub(super) async fn with(attempts: Vec<Attempt>) -> Self {
        let yard = Yard::new();
        for path in ["home/secret", "home/folder/secret", "agents/outside/secret"] {
            yard.write(path, &format!("{SECRET}\n"));
        }
        yard.write("home/settings", &format!("[user]\n\tname = {SECRET}\n"));
        yard.user("branch side");
        let (worktree, other) = (yard.create(1).await.worktree, yard.create(2).await.worktree);
        write(&other.folder.join("own.txt"), &format!("{SECRET}\n"));
        let names = attempts.iter().map(|attempt| attempt.name.clone()).collect();
        let ground = Self { yard, worktree, other, names };
        ground.make_template();
        write(&ground.worktree.folder.join("file.txt"), "an agent's line\ntwo\nthree\n");
        for (spot, attempt) in ground.spots(&attempts) {
            if let Some(committed) = &attempt.committed {
                committed(&ground, &spot);
            }
        }
        let agent = |args: &[&str]| ground.yard.git_args(&ground.worktree.folder, args);
        agent(&["add", "--all"]);
        agent(&["commit", "-qm", "work"]);
        // The user's branch disagrees with the agent about a line.
        ground.yard.write("repo/file.txt", "the user's line\ntwo\nthree\n");
        ground.yard.user("commit -qam other");
        for (spot, attempt) in ground.spots(&attempts) {
            if let Some(planted) = &attempt.planted {
                planted(&ground, &spot);
            }
        }
        assert_eq!(ground.markers(), Vec::<String>::new(), "the test itself ran an attempt");
        ground
    }

    fn spots<'a>(&'a self, attempts: &'a [Attempt]) -> impl Iterator<Item = (Spot, &'a Attempt)> {
        attempts.iter().enumerate().map(|(number, attempt)| {
            let name = format!("attempt{number}");
            let marker = self.yard.at("home/markers").join(number.to_string());
            fs::create_dir_all(marker.parent().unwrap()).unwrap();
            let spot = Spot {
                folder: self.worktree.folder.join(&name),
                command: format!("touch '{}'", marker.display()),
                word: format!("evil{number}"),
                name,
            };
            (spot, attempt)
        })
    }

    /// The attempts whose program ran outside.
    pub(super) fn markers(&self) -> Vec<String> {
        let found = fs::read_dir(self.yard.at("home/markers")).into_iter().flatten().flatten();
        let number = |entry: fs::DirEntry| entry.file_name().to_string_lossy().parse::<usize>().unwrap();
        found.map(|entry| self.names[number(entry)].clone()).collect()
    }

    /// The agent's own git folder.
    pub(super) fn private(&self) -> PathBuf {
        self.yard.private(&self.worktree)
    }

    /// A repository with a commit and a file that differs from it in the same number of bytes, so that git has to read it.
    fn make_template(&self) {
        let template = self.yard.at("template");
        fs::create_dir_all(&template).unwrap();
        self.yard.git_in(&template, "init -q");
        write(&template.join("a.txt"), "a\n");
        self.yard.git_in(&template, "add . ; commit -qm nested");
        fs::remove_dir_all(template.join(".git/hooks")).unwrap();
        write(&template.join("a.txt"), "b\n");
    }

    /// Puts such a repository into a folder.
    pub(super) fn nest(&self, folder: &Path) {
        copy(&self.yard.at("template"), folder);
    }

    /// The commit of such a repository.
    pub(super) fn nested_commit(&self) -> String {
        self.yard.git_in(&self.yard.at("template"), "rev-parse HEAD")
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
