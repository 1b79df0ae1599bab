//! Removing worktrees: nothing that was in them is lost.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use mxd_engine::git::grave::{self, GraveError};
use mxd_engine::git::worktree::{self, Removal, RemoveError, Removed, Worktree};
use mxd_engine::git::{Repository, inhabitants, status};

use super::yard::{Yard, task, write};

pub(crate) fn removal(worktree: &Worktree) -> Removal {
    Removal { task: worktree.task, folder: worktree.folder.clone(), branch: worktree.branch.clone() }
}

/// Nothing of the worktree is left but what is kept.
pub(crate) fn assert_gone(yard: &Yard, worktree: &Worktree) {
    assert!(!worktree.folder.exists());
    assert!(!worktree.own.exists());
    assert_eq!(yard.user(&format!("for-each-ref refs/heads/mxd/{}", worktree.task)), "");
    let aside: Vec<_> =
        fs::read_dir(yard.at("agents")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let name = worktree.folder.file_name().unwrap().to_string_lossy().into_owned();
    assert!(aside.iter().all(|other| !other.to_string_lossy().contains(&name)), "{aside:?}");
    let records = fs::read_dir(worktree.own.ancestors().nth(2).unwrap().join("mxd/worktrees")).unwrap();
    let records: Vec<_> =
        records.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(records.iter().all(|name| !name.contains(&worktree.task.to_string())), "{records:?}");
}

async fn removed(repository: &Repository, worktree: &Worktree) -> Removed {
    worktree::remove(repository, &removal(worktree)).await.unwrap()
}

#[tokio::test]
async fn what_is_merged_and_clean_leaves_nothing() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    yard.commit(&worktree, "more.txt", "more\n");
    let repository = yard.repository().await;
    status(&repository, &worktree).await.unwrap();
    yard.user(&format!("merge -q {}", worktree.branch));
    assert_eq!(removed(&repository, &worktree).await, Removed::default());
    assert_gone(&yard, &worktree);
    assert_eq!(grave::list(&repository).await.unwrap(), []);
    assert_eq!(removed(&repository, &worktree).await, Removed::default(), "asked again");
}

#[tokio::test]
async fn everything_that_no_commit_has_comes_back_byte_for_byte() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    yard.write("repo/gone.txt", "never there\n");
    let head = yard.commit(&worktree, "committed.txt", "committed\n");
    let folder = &worktree.folder;
    write(&folder.join("file.txt"), "changed\r\n\r\n");
    fs::remove_file(folder.join(".gitignore")).unwrap();
    write(&folder.join(".gitignore"), "*.log\nbuild/\n.env\n");
    write(&folder.join("untracked/ünï cödé -- \"quoted\"\n.txt"), "untracked\n");
    write(&folder.join(std::ffi::OsStr::from_bytes(b"not \xff text")), "bytes\n");
    write(&folder.join("back\\slash"), "slash\n");
    write(&folder.join(".env"), "SECRET=1\n");
    write(&folder.join("build/small"), "small\n");
    write(&folder.join("tool.sh"), "#!/bin/sh\n");
    fs::set_permissions(folder.join("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", folder.join("link")).unwrap();
    fs::File::create(folder.join("large.bin")).unwrap().set_len(9 << 20).unwrap();
    fs::File::create(folder.join("large.log")).unwrap().set_len(9 << 20).unwrap();
    yard.git_in(folder, "rm -q --cached committed.txt");
    let repository = yard.repository().await;
    let ended = removed(&repository, &worktree).await;
    assert_eq!(
        (ended.left_out.count, ended.left_out.first.as_slice()),
        (1, ["large.log".to_owned()].as_slice())
    );
    assert_gone(&yard, &worktree);

    let restored = grave::restore(&repository, task(1), &yard.at("restored")).await.unwrap();
    assert_eq!(restored.head.as_str(), head);
    let back = yard.at("restored");
    let same =
        |name: &Path, text: &str| assert_eq!(fs::read_to_string(back.join(name)).unwrap(), text, "{name:?}");
    same(Path::new("file.txt"), "changed\r\n\r\n");
    same(Path::new("committed.txt"), "committed\n");
    same(Path::new("untracked/ünï cödé -- \"quoted\"\n.txt"), "untracked\n");
    same(Path::new(std::ffi::OsStr::from_bytes(b"not \xff text")), "bytes\n");
    same(Path::new("back\\slash"), "slash\n");
    same(Path::new(".env"), "SECRET=1\n");
    same(Path::new("build/small"), "small\n");
    assert_eq!(fs::read_link(back.join("link")).unwrap(), Path::new("/etc/passwd"));
    assert_eq!(fs::metadata(back.join("large.bin")).unwrap().len(), 9 << 20);
    assert_ne!(fs::metadata(back.join("tool.sh")).unwrap().permissions().mode() & 0o100, 0);
    assert!(!back.join("large.log").exists());
    yard.user("fsck --strict");
    let again = grave::restore(&repository, task(1), &back).await;
    assert!(matches!(again, Err(GraveError::Occupied { .. })), "{again:?}");
    let none = grave::restore(&repository, task(9), &yard.at("none")).await;
    assert!(matches!(none, Err(GraveError::None { .. })), "{none:?}");
    let graves = grave::list(&repository).await.unwrap();
    assert_eq!((graves.len(), graves[0].task), (1, task(1)));
    assert!(
        graves[0].at > 0 && graves[0].text.contains("Ignored and not kept: large.log"),
        "{}",
        graves[0].text
    );
}

#[tokio::test]
async fn deleted_files_are_deleted_in_the_grave_too() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    fs::remove_file(worktree.folder.join("file.txt")).unwrap();
    write(&worktree.folder.join("file.txt/now a folder"), "x\n");
    let ended = removed(&yard.repository().await, &worktree).await;
    let files = yard.user(&format!("ls-tree -r --name-only {}", ended.grave.unwrap()));
    assert_eq!(files, ".gitignore\nfile.txt/now a folder");
}

#[tokio::test]
async fn commits_without_another_name_are_held() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    let folder = &worktree.folder;
    let dropped = yard.commit(&worktree, "dropped.txt", "1\n");
    yard.git_in(folder, "reset -q --hard HEAD~1");
    yard.git_in(folder, &format!("checkout -q -b mxd/{}/side", worktree.task));
    let side = yard.commit(&worktree, "side.txt", "1\n");
    yard.git_in(folder, "checkout -q --detach HEAD~1");
    let detached = yard.commit(&worktree, "detached.txt", "1\n");
    write(&folder.join("staged.txt"), "only staged\n");
    yard.git_in(folder, "add staged.txt");
    fs::remove_file(folder.join("staged.txt")).unwrap();
    let repository = yard.repository().await;
    let grave = removed(&repository, &worktree).await.grave.unwrap();
    assert_gone(&yard, &worktree);
    yard.git_in(&yard.at("repo"), "reflog expire --expire=now --all ; gc -q --prune=now");
    for commit in [dropped, side, detached] {
        yard.user(&format!("merge-base --is-ancestor {commit} {grave}"));
    }
    let staged = yard.user(&format!("log -1 --format=%H --grep=staged {grave}"));
    assert_eq!(yard.user(&format!("show {staged}:staged.txt")), "only staged");
}

#[tokio::test]
async fn a_second_grave_of_a_task_holds_the_first() {
    let yard = Yard::new();
    let repository = yard.repository().await;
    let mut graves = Vec::new();
    for text in ["first\n", "second\n"] {
        let worktree = yard.create(1).await.worktree;
        write(&worktree.folder.join("note"), text);
        graves.push(removed(&repository, &worktree).await.grave.unwrap());
    }
    yard.user(&format!("merge-base --is-ancestor {} {}", graves[0], graves[1]));
    assert_eq!(yard.user(&format!("show {}:note", graves[0])), "first");
}

#[tokio::test]
async fn a_nested_repository_is_kept_with_its_history() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    let nested = worktree.folder.join("nested");
    fs::create_dir(&nested).unwrap();
    yard.git_in(&nested, "init -q");
    write(&nested.join("in"), "inside\n");
    yard.git_in(&nested, "add . ; commit -qm inside");
    let head = yard.git_in(&nested, "rev-parse HEAD");
    let repository = yard.repository().await;
    removed(&repository, &worktree).await;
    grave::restore(&repository, task(1), &yard.at("back")).await.unwrap();
    assert_eq!(yard.git_in(&yard.at("back/nested"), "rev-parse HEAD"), head);
    assert_eq!(yard.git_in(&yard.at("back/nested"), "status --porcelain"), "");
}

#[tokio::test]
async fn a_submodule_with_files_keeps_the_worktree() {
    let yard = Yard::new();
    yard.git_args(&yard.at("home"), &["init", "-q", "library"]);
    yard.write("home/library/in", "in\n");
    yard.git_in(&yard.at("home/library"), "add . ; commit -qm library");
    let library = yard.at("home/library");
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "add", "-q", library.to_str().unwrap(), "lib"];
    yard.git_args(&yard.at("repo"), &add);
    yard.user("commit -qm submodule");
    let worktree = yard.create(1).await.worktree;
    let repository = yard.repository().await;
    yard.git_in(&worktree.folder, "-c protocol.file.allow=always submodule --quiet update --init");
    let refused = worktree::remove(&repository, &removal(&worktree)).await;
    assert!(matches!(refused, Err(RemoveError::Submodules { .. })), "{refused:?}");
    assert!(worktree.folder.join("lib/in").exists());
    yard.git_in(&worktree.folder, "submodule --quiet deinit --all -f");
    fs::remove_dir_all(yard.private(&worktree).join("modules")).unwrap();
    removed(&repository, &worktree).await;
    assert_gone(&yard, &worktree);
}

#[tokio::test]
async fn who_lives_inside_is_not_thrown_out() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    let repository = yard.repository().await;
    write(&worktree.folder.join("deep/er/open"), "x\n");
    let works_in_it =
        |command: &mut Command| command.current_dir(worktree.folder.join("deep/er")).spawn().unwrap();
    let holds_open = |command: &mut Command| {
        command.stdout(fs::File::open(worktree.folder.join("deep/er/open")).unwrap()).spawn().unwrap()
    };
    let ways: [&dyn Fn(&mut Command) -> Child; 2] = [&works_in_it, &holds_open];
    for way in ways {
        let mut child = way(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()));
        let refused = worktree::remove(&repository, &removal(&worktree)).await.unwrap_err();
        let RemoveError::Inhabited { living, .. } = &refused else { panic!("{refused}") };
        assert_eq!(living.iter().map(|one| one.pid).collect::<Vec<_>>(), [child.id()]);
        assert!(refused.to_string().contains(&format!("({}, ", child.id())), "{refused}");
        drop(child.stdin.take());
        child.wait().unwrap();
    }
    assert!(inhabitants(&worktree.folder).is_empty());
    removed(&repository, &worktree).await;
    assert_gone(&yard, &worktree);
}

#[tokio::test]
async fn folders_without_rights_are_removed_and_a_neighbour_with_a_longer_name_is_not() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    let longer = yard.at("agents/-1 wörk and more");
    write(&longer.join("precious"), "mine\n");
    write(&worktree.folder.join("build/cache/mod"), "x\n");
    fs::set_permissions(worktree.folder.join("build/cache"), fs::Permissions::from_mode(0o555)).unwrap();
    removed(&yard.repository().await, &worktree).await;
    assert!(!worktree.folder.exists());
    assert_eq!(fs::read_to_string(longer.join("precious")).unwrap(), "mine\n");
}

#[tokio::test]
async fn links_in_a_worktree_are_removed_and_not_followed() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    yard.write("home/docs/precious", "mine\n");
    symlink(yard.at("home/docs"), worktree.folder.join("docs")).unwrap();
    let repository = yard.repository().await;
    let grave = removed(&repository, &worktree).await.grave.unwrap();
    assert_eq!(yard.read("home/docs/precious"), "mine\n");
    assert!(!yard.user(&format!("ls-tree -r --name-only {grave}")).contains("precious"));
}

#[tokio::test]
async fn traps_among_the_branches_are_cleared_and_lead_nowhere() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    yard.commit(&worktree, "work.txt", "work\n");
    let main = yard.user("rev-parse main");
    let branches = yard.at(&format!("repo/.git/refs/heads/mxd/{}", worktree.task));
    write(&branches.join("symbolic"), "ref: refs/heads/main\n");
    symlink("../../main", branches.join("link")).unwrap();
    symlink("../..", branches.join("folder")).unwrap();
    rustix_fifo(&branches.join("pipe"));
    let grave = removed(&yard.repository().await, &worktree).await.grave.unwrap();
    assert_eq!(yard.user("rev-parse main"), main);
    assert_eq!(yard.user(&format!("show {grave}:work.txt")), "work");
    assert_gone(&yard, &worktree);
}

fn rustix_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[tokio::test]
async fn without_a_record_work_is_kept_all_the_same() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    write(&worktree.folder.join("note"), "note\n");
    fs::remove_dir_all(yard.at("repo/.git/mxd")).unwrap();
    let repository = yard.repository().await;
    let grave = removed(&repository, &worktree).await.grave.unwrap();
    assert_eq!(yard.user(&format!("show {grave}:note")), "note");
    assert_gone(&yard, &worktree);
}

#[tokio::test]
async fn what_the_agent_tells_its_index_hides_nothing() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    yard.git_in(
        &worktree.folder,
        "update-index --assume-unchanged file.txt ; update-index --skip-worktree .gitignore",
    );
    write(&worktree.folder.join("file.txt"), "hidden\n");
    let repository = yard.repository().await;
    let status = mxd_engine::git::status(&repository, &worktree).await.unwrap();
    assert_eq!(status.dirty.first, ["file.txt"]);
    let grave = removed(&repository, &worktree).await.grave.unwrap();
    assert_eq!(yard.user(&format!("show {grave}:file.txt")), "hidden");
}
