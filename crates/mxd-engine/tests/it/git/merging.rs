//! Merging: the target has all of it or nothing, and nobody's files are written over.

use std::fs;

use mxd_engine::git::merge::{self, Blocked, MergeError, Outcome, Stat};
use mxd_engine::git::worktree::{self, Base, Worktree};
use mxd_engine::git::{Branch, End, Repository};

use super::yard::{Yard, nobody, plainly, write};

/// What must be true after a merge that did not happen.
fn assert_untouched(yard: &Yard, main: &str) {
    assert_eq!(yard.user("rev-parse main"), main);
    assert_nothing_left(yard);
}

pub(crate) fn assert_nothing_left(yard: &Yard) {
    assert!(!yard.user("worktree list").contains("scratch"), "{}", yard.user("worktree list"));
    assert_eq!(yard.user("for-each-ref refs/mxd/merge"), "");
    let left = fs::read_dir(yard.at("scratch")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "files in the scratch folder");
}

async fn worked(yard: &Yard, file: &str, text: &str) -> (Repository, Worktree) {
    let worktree = yard.create(1).await.worktree;
    yard.commit(&worktree, file, text);
    (yard.repository().await, worktree)
}

#[tokio::test]
async fn a_branch_that_nobody_has_checked_out_moves_to_the_merge() {
    let yard = Yard::new();
    let (repository, worktree) = worked(&yard, "new.txt", "new\n").await;
    yard.user("checkout -q -b other");
    let main = yard.user("rev-parse main");
    let merged = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    let Outcome::Merged(merged) = merged else { panic!("{merged:?}") };
    assert_eq!(merged.commit.as_str(), yard.user("rev-parse main"));
    assert_eq!(yard.user("rev-parse main^1 main^{tree}"), format!("{main}\n{}", merged.tree));
    assert_eq!(
        (merged.stat, merged.files.first),
        (Stat { files: 1, insertions: 1, deletions: 0 }, vec!["new.txt".to_owned()])
    );
    assert_eq!(merged.followed, None);
    assert_eq!(yard.user("log -1 --format=%s%n%an%n%ce main"), "Merge some work\nMatrix\nmatrix@example.org");
    let again = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    assert_eq!(again, Outcome::AlreadyMerged { at: merged.commit });
    assert_nothing_left(&yard);
}

#[tokio::test]
async fn a_clean_checkout_follows_with_index_and_files() {
    let yard = Yard::new();
    let (repository, worktree) = worked(&yard, "new.txt", "new\n").await;
    yard.write("repo/unknown.txt", "not git's\n");
    let merged = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    let Outcome::Merged(merged) = merged else { panic!("{merged:?}") };
    assert_eq!(merged.followed, Some(yard.at("repo")));
    assert_eq!(yard.read("repo/new.txt"), "new\n");
    assert_eq!(yard.user("status --porcelain"), "?? unknown.txt");
    assert_eq!(yard.user("symbolic-ref HEAD"), "refs/heads/main");
    assert_nothing_left(&yard);
}

#[tokio::test]
async fn changes_of_the_same_file_in_the_checkout_are_not_written_over() {
    let yard = Yard::new();
    let (repository, worktree) = worked(&yard, "file.txt", "the agent's\n").await;
    let main = yard.user("rev-parse main");
    for (unstaged, command) in [(true, "status --short"), (false, "add file.txt")] {
        yard.write("repo/file.txt", "the user's\n");
        yard.user(command);
        let ended = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
        let Outcome::Blocked(blocked @ Blocked::Dirty { .. }) = &ended else {
            panic!("{unstaged}: {ended:?}")
        };
        assert!(blocked.to_string().contains("(file.txt) and not committed them"), "{blocked}");
        assert_eq!(yard.read("repo/file.txt"), "the user's\n");
        assert_untouched(&yard, &main);
    }
}

#[tokio::test]
async fn changes_of_other_files_in_the_checkout_stay_and_the_merge_lands() {
    for (command, left) in [("status --short", " M file.txt"), ("add file.txt", "M  file.txt")] {
        let yard = Yard::new();
        let (repository, worktree) = worked(&yard, "new.txt", "new\n").await;
        yard.write("repo/file.txt", "the user's\n");
        yard.user(command);
        let merged = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
        let Outcome::Merged(merged) = merged else { panic!("{merged:?}") };
        assert_eq!(merged.followed, Some(yard.at("repo")));
        assert_eq!(yard.read("repo/new.txt"), "new\n");
        assert_eq!(yard.read("repo/file.txt"), "the user's\n");
        assert_eq!(yard.user("status --porcelain"), left);
        assert_eq!(yard.user("show main:file.txt"), "one\ntwo\nthree");
        assert_nothing_left(&yard);
    }
}

#[tokio::test]
async fn a_file_that_git_does_not_know_is_not_written_over() {
    let yard = Yard::new();
    let (repository, worktree) = worked(&yard, "new.txt", "new\n").await;
    let main = yard.user("rev-parse main");
    yard.write("repo/new.txt", "the user's\n");
    let ended = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    let Outcome::Blocked(Blocked::Stuck { said, .. }) = &ended else { panic!("{ended:?}") };
    assert!(said.contains("new.txt"), "{said}");
    assert_eq!(yard.read("repo/new.txt"), "the user's\n");
    assert_untouched(&yard, &main);
}

#[tokio::test]
async fn a_checkout_in_the_middle_of_something_is_not_touched() {
    let yard = Yard::new();
    let (repository, worktree) = worked(&yard, "new.txt", "new\n").await;
    let main = yard.user("rev-parse main");
    yard.write("repo/.git/CHERRY_PICK_HEAD", &format!("{main}\n"));
    let ended = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    assert!(matches!(&ended, Outcome::Blocked(Blocked::Busy { doing: "a cherry-pick", .. })), "{ended:?}");
    assert_untouched(&yard, &main);
}

#[tokio::test]
async fn two_checkouts_of_the_target_are_one_too_many() {
    let yard = Yard::new();
    let (repository, worktree) = worked(&yard, "new.txt", "new\n").await;
    let second = yard.at("second");
    yard.git_args(&yard.at("repo"), &["worktree", "add", "-q", "--force", second.to_str().unwrap(), "main"]);
    let ended = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    assert!(
        matches!(&ended, Outcome::Blocked(Blocked::Several { folders }) if folders.len() == 2),
        "{ended:?}"
    );
}

#[tokio::test]
async fn conflicts_are_told_with_their_lines_and_leave_nothing() {
    let yard = Yard::new();
    let (repository, worktree) = worked(&yard, "file.txt", "one\nthe agent's\nthree\n").await;
    yard.commit(&worktree, "kind", "a file\n");
    yard.write("repo/file.txt", "one\nthe user's\nthree\n");
    yard.write("repo/kind", "another file\n");
    yard.user("add . ; commit -qm user");
    let main = yard.user("rev-parse main");
    let ended = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    let Outcome::Conflicts(conflicts) = ended else { panic!("{ended:?}") };
    assert_eq!(conflicts.files.first, ["file.txt", "kind"]);
    let hunk = &conflicts.described[0].hunks[0];
    assert_eq!(hunk.line, 2);
    let lines: Vec<_> = hunk.text.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(lines, ["<<<<<<<", "the", "=======", "the", ">>>>>>>"]);
    assert!(hunk.text.contains("\nthe user's\n=======\nthe agent's\n"), "{}", hunk.text);
    assert!(
        conflicts.messages.iter().any(|said| said.contains("Merge conflict in file.txt")),
        "{conflicts:?}"
    );
    assert_eq!(yard.user("status --porcelain"), "");
    assert_untouched(&yard, &main);
}

#[tokio::test]
async fn a_file_that_one_deleted_and_the_other_changed_is_a_conflict_without_lines() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    yard.git_in(&worktree.folder, "rm -q file.txt ; commit -qm gone");
    yard.write("repo/file.txt", "changed\n");
    yard.user("commit -qam changed");
    let ended = merge::merge(&yard.repository().await, &yard.merge(&worktree), nobody).await.unwrap();
    let Outcome::Conflicts(conflicts) = ended else { panic!("{ended:?}") };
    assert_eq!(
        (conflicts.files.first.as_slice(), conflicts.described[0].hunks.len()),
        (["file.txt".to_owned()].as_slice(), 0)
    );
    assert!(conflicts.messages[0].contains("modify/delete"), "{conflicts:?}");
}

#[tokio::test]
async fn the_targets_rules_for_its_files_hold_in_a_merge() {
    let yard = Yard::new();
    yard.write("repo/.gitattributes", "notes.txt merge=union\n");
    yard.write("repo/notes.txt", "start\n");
    yard.user("add . ; commit -qm notes");
    let (repository, worktree) = worked(&yard, "notes.txt", "start\nagent\n").await;
    yard.write("repo/notes.txt", "start\nuser\n");
    yard.user("commit -qam user");
    let ended = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    assert!(matches!(ended, Outcome::Merged(_)), "{ended:?}");
    assert_eq!(yard.read("repo/notes.txt"), "start\nuser\nagent\n");
}

#[tokio::test]
async fn many_and_long_conflicts_are_cut() {
    let yard = Yard::new();
    let block = |word: &str| (0..40).map(|n| format!("{word} {n}\n\n\n\n\n\n\n\n\n\n")).collect::<String>();
    yard.write("repo/many.txt", &block("base"));
    yard.write("repo/long.txt", "base\n");
    yard.user("add . ; commit -qm base");
    let (repository, worktree) = worked(&yard, "many.txt", &block("agent")).await;
    yard.commit(&worktree, "long.txt", &"agent ünd lines\n".repeat(100_000));
    yard.write("repo/many.txt", &block("user"));
    yard.write("repo/long.txt", &"user\n".repeat(100_000));
    yard.user("commit -qam user");
    let ended = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    let Outcome::Conflicts(conflicts) = ended else { panic!("{ended:?}") };
    let [long, many] = conflicts.described.as_slice() else { panic!("{:?}", conflicts.files) };
    assert!(long.hunks[0].text.len() <= mxd_engine::git::limits::CONFLICT_HUNK + 100);
    assert_eq!((many.hunks.len(), many.more_hunks), (10, 30));
}

#[tokio::test]
async fn the_check_sees_the_merged_files_and_decides() {
    let yard = Yard::new();
    let (repository, worktree) = worked(&yard, "agent.txt", "agent\n").await;
    yard.write("repo/user.txt", "user\n");
    yard.user("add . ; commit -qm user");
    let main = yard.user("rev-parse main");
    let mut request = yard.merge(&worktree);
    request.check =
        Some(["sh", "-c", "cat agent.txt user.txt; git status --porcelain; exit 4"].map(Into::into).to_vec());
    let ended = merge::merge(&repository, &request, plainly).await.unwrap();
    let Outcome::CheckFailed { ran, .. } = ended else { panic!("{ended:?}") };
    assert_eq!((ran.end, ran.output.as_str()), (End::Exit(4), "agent\nuser\n"));
    assert_untouched(&yard, &main);
    request.check = Some(["sh", "-c", "echo made > artefact; test -f agent.txt"].map(Into::into).to_vec());
    let ended = merge::merge(&repository, &request, plainly).await.unwrap();
    assert!(matches!(ended, Outcome::Merged(_)), "{ended:?}");
    assert!(!yard.at("repo/artefact").exists());
    assert_nothing_left(&yard);
    let refused = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    assert!(matches!(refused, Outcome::AlreadyMerged { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_user_who_commits_during_the_check_wins() {
    let yard = Yard::new();
    let (repository, worktree) = worked(&yard, "agent.txt", "agent\n").await;
    let mut request = yard.merge(&worktree);
    request.check = Some(vec!["true".into()]);
    let while_checking = |errand| {
        yard.write("repo/user.txt", "user\n");
        yard.user("add . ; commit -qm user");
        plainly(errand)
    };
    let ended = merge::merge(&repository, &request, while_checking).await.unwrap();
    assert!(matches!(ended, Outcome::Overtaken { .. }), "{ended:?}");
    assert_eq!(yard.user("log --format=%s main"), "user\nstart");
    assert_eq!(yard.user("status --porcelain"), "");
    assert_nothing_left(&yard);
    let ended = merge::merge(&repository, &request, plainly).await.unwrap();
    assert!(matches!(ended, Outcome::Merged(_)), "{ended:?}");
    assert_eq!(
        (yard.read("repo/user.txt"), yard.read("repo/agent.txt")),
        ("user\n".into(), "agent\n".into())
    );
}

#[tokio::test]
async fn the_worktree_of_another_agent_follows_by_its_own_git() {
    let yard = Yard::new();
    let parent = yard.create(1).await.worktree;
    let repository = yard.repository().await;
    let mut request = yard.request(2);
    request.base = Base::Branch(parent.branch.clone());
    let child = worktree::create(&repository, &request, nobody).await.unwrap().worktree;
    yard.commit(&child, "child.txt", "child\n");
    let mut request = yard.merge(&child);
    request.into = parent.branch.clone();
    let ended = merge::merge(&repository, &request, plainly).await.unwrap();
    let Outcome::Merged(merged) = ended else { panic!("{ended:?}") };
    assert_eq!(merged.followed.as_deref(), Some(parent.folder.as_path()));
    assert_eq!(fs::read_to_string(parent.folder.join("child.txt")).unwrap(), "child\n");
    assert_eq!(yard.git_in(&parent.folder, "status --porcelain"), "");

    yard.commit(&child, "child.txt", "more\n");
    write(&parent.folder.join("child.txt"), "the parent's\n");
    let ended = merge::merge(&repository, &request, plainly).await.unwrap();
    assert!(matches!(&ended, Outcome::Blocked(Blocked::Stuck { .. })), "{ended:?}");
    assert_eq!(fs::read_to_string(parent.folder.join("child.txt")).unwrap(), "the parent's\n");
}

#[tokio::test]
async fn branches_that_are_missing_or_strangers_are_refused() {
    let yard = Yard::new();
    let (repository, worktree) = worked(&yard, "new.txt", "new\n").await;
    let mut request = yard.merge(&worktree);
    request.into = "nowhere".parse().unwrap();
    let refused = merge::merge(&repository, &request, nobody).await;
    assert!(matches!(refused, Err(MergeError::NoBranch { .. })), "{refused:?}");
    yard.user("checkout -q --orphan stranger ; commit -qm stranger ; checkout -q main");
    request.into = "stranger".parse::<Branch>().unwrap();
    let refused = merge::merge(&repository, &request, nobody).await;
    assert!(matches!(refused, Err(MergeError::Unrelated { .. })), "{refused:?}");
}
