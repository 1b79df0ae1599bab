//! The repository of an agent, and what of it reaches the user's.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mxd_engine::git::worktree::{self, Base, Worktree};
use mxd_engine::git::{Branch, GitError, RefError, Repository, Stands, review, status};

use super::yard::{Yard, nobody, write};

fn object(git_dir: &Path, id: &str) -> PathBuf {
    git_dir.join("objects").join(&id[..2]).join(&id[2..])
}

/// Puts other content under the name of an object, as only somebody who writes files can.
fn forge(yard: &Yard, git_dir: &Path, id: &str, content: &str) {
    let script = "import sys, zlib; data = sys.argv[2].encode(); \
                  open(sys.argv[1], 'wb').write(zlib.compress(b'blob %d\\0' % len(data) + data))";
    let path = object(git_dir, id);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if path.exists() {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }
    let done = std::process::Command::new("python3").args(["-c", script]).arg(&path).arg(content).status();
    assert!(done.unwrap().success());
    assert!(yard.at("repo").exists());
}

async fn head(repository: &Repository, worktree: &Worktree) -> String {
    status(repository, worktree).await.unwrap().head.unwrap().to_string()
}

#[tokio::test]
async fn commits_of_an_agent_arrive_few_as_objects_and_many_as_a_pack() {
    let yard = Yard::new();
    let repository = yard.repository().await;
    let worktree = yard.create(1).await.worktree;
    let few = yard.commit(&worktree, "one.txt", "1\n");
    let there = yard.outside(&yard.at("repo"), &["cat-file", "-e", &few]).output().unwrap();
    assert!(!there.status.success(), "nothing arrives before it is taken over");
    assert_eq!(head(&repository, &worktree).await, few);
    assert_eq!(yard.user(&format!("rev-parse {}", worktree.branch)), few);
    assert!(object(&yard.at("repo/.git"), &few).exists());
    for number in 0..60 {
        write(&worktree.folder.join(format!("many/{number}/file")), &format!("{number}\n"));
    }
    yard.git_in(&worktree.folder, "add . ; commit -qm many");
    let many = head(&repository, &worktree).await;
    assert!(!object(&yard.at("repo/.git"), &many).exists(), "it is in a pack");
    yard.user(&format!("fsck --strict --no-dangling {many}"));
    assert_eq!(yard.git_args(&yard.at("repo"), &["show", &format!("{many}:many/59/file")]), "59\n");
    let clean = yard.outside(&worktree.folder, &["status", "--porcelain"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&clean.stdout), "", "the user's git sees the same in the worktree");
}

#[tokio::test]
async fn object_of_the_user_that_an_agent_forges_stays_what_it_is_for_everybody_else() {
    let yard = Yard::new();
    let repository = yard.repository().await;
    let worktree = yard.create(1).await.worktree;
    let id = yard.user("rev-parse main:file.txt");
    forge(&yard, &yard.private(&worktree), &id, "forged\n");
    let made = yard.commit(&worktree, "more.txt", "more\n");
    assert_eq!(head(&repository, &worktree).await, made);
    assert_eq!(yard.user(&format!("cat-file blob {id}")), "one\ntwo\nthree");
    let request = worktree::Request { base: Base::Branch(worktree.branch.clone()), ..yard.request(2) };
    let other = worktree::create(&repository, &request, nobody).await.unwrap().worktree;
    assert_eq!(fs::read_to_string(other.folder.join("file.txt")).unwrap(), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn forged_object_of_the_agents_own_is_found_and_nothing_moves() {
    let yard = Yard::new();
    let repository = yard.repository().await;
    let worktree = yard.create(1).await.worktree;
    let before = head(&repository, &worktree).await;
    yard.commit(&worktree, "test.sh", "exit 1\n");
    let id = yard.git_in(&worktree.folder, "rev-parse HEAD:test.sh");
    forge(&yard, &yard.private(&worktree), &id, "exit 0\n");
    for told in [
        status(&repository, &worktree).await.unwrap_err(),
        review(&repository, &worktree).await.unwrap_err(),
        worktree::create(
            &repository,
            &worktree::Request { base: Base::Branch(worktree.branch.clone()), ..yard.request(2) },
            nobody,
        )
        .await
        .map(drop)
        .map_err(|error| match error {
            worktree::CreateError::Ref(error) => error,
            error => panic!("{error}"),
        })
        .unwrap_err(),
    ] {
        assert!(matches!(told, RefError::Git(GitError::Forged { .. })), "{told}");
        assert!(told.to_string().contains("not what its name says"), "{told}");
    }
    assert_eq!(yard.user(&format!("rev-parse {}", worktree.branch)), before);
    let there = yard.outside(&yard.at("repo"), &["cat-file", "-e", &id]).output().unwrap();
    assert!(!there.status.success(), "the forged object is not in the user's repository");
    // Others are not disturbed, and the agent can put it right.
    let other = yard.create(3).await.worktree;
    status(&repository, &other).await.unwrap();
    fs::remove_file(object(&yard.private(&worktree), &id)).unwrap();
    yard.git_in(&worktree.folder, "hash-object -w test.sh");
    assert_ne!(head(&repository, &worktree).await, before);
}

#[tokio::test]
async fn agent_sees_no_login_no_header_no_included_settings_and_no_other_tasks() {
    let yard = Yard::new();
    yard.write("home/secret.inc", "[http \"https://example.org\"]\n\textraheader = secret header\n");
    for setting in [
        ["remote.origin.url", "https://user:secret-token@example.org/a.git"],
        ["http.https://example.org.extraheader", "Authorization: secret"],
        ["include.path", yard.at("home/secret.inc").to_str().unwrap()],
        ["credential.helper", "store --file secret"],
        ["alias.x", "!secret"],
        ["filter.evil.clean", "secret"],
    ] {
        yard.git_args(&yard.at("repo"), &[&["config", "--add"][..], &setting].concat());
    }
    let repository = yard.repository().await;
    let gone = yard.create(9).await.worktree;
    yard.commit(&gone, "gone.txt", "1\n");
    worktree::remove(
        &repository,
        &worktree::Removal { task: gone.task, folder: gone.folder.clone(), branch: gone.branch.clone() },
    )
    .await
    .unwrap();
    let parent = yard.create(1).await.worktree;
    let sibling = yard.create(2).await.worktree;
    let request = worktree::Request { base: Base::Branch(parent.branch.clone()), ..yard.request(3) };
    let child = worktree::create(&repository, &request, nobody).await.unwrap().worktree;
    let text = fs::read_to_string(yard.private(&child).join("config")).unwrap();
    assert!(!text.contains("secret") && !text.contains("include"), "{text}");
    assert!(text.contains("url = \"https://example.org/a.git\""), "{text}");
    let shown = yard.git_in(&child.folder, "for-each-ref --format=%(refname)");
    let refs: Vec<&str> = shown.lines().collect();
    let is_shown = |branch: &Branch| refs.contains(&&*format!("refs/heads/{branch}"));
    assert!(is_shown(&parent.branch) && refs.contains(&"refs/heads/main"), "{refs:?}");
    assert!(!is_shown(&sibling.branch), "{refs:?}");
    assert!(refs.iter().all(|name| !name.contains(&gone.task.to_string())), "{refs:?}");
    // The one above is given its branch when it is made, and the user's when they move.
    yard.write("repo/file.txt", "moved\n");
    yard.user("commit -qam moved");
    repository.refresh_given(&parent).await.unwrap();
    assert_eq!(yard.git_in(&parent.folder, "rev-parse main"), yard.user("rev-parse main"));
    assert_eq!(yard.git_in(&parent.folder, &format!("rev-parse {}", child.branch)), child.base.to_string());
    yard.user("branch passing");
    repository.refresh_given(&parent).await.unwrap();
    yard.git_in(&parent.folder, "rev-parse passing");
    yard.user("branch -D passing");
    repository.refresh_given(&parent).await.unwrap();
    let gone = yard.command(&parent.folder, &["rev-parse", "-q", "--verify", "passing"]).output().unwrap();
    assert!(!gone.status.success());
}

#[tokio::test]
async fn commit_of_the_user_in_the_worktree_reaches_the_agent_and_two_that_went_apart_are_told() {
    let yard = Yard::new();
    let repository = yard.repository().await;
    let worktree = yard.create(1).await.worktree;
    let folder = &worktree.folder;
    let outside = |args: &[&str]| {
        let ended = yard.outside(folder, args).output().unwrap();
        assert!(ended.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap().trim().to_owned()
    };
    write(&folder.join("user.txt"), "1\n");
    outside(&["add", "user.txt"]);
    outside(&["commit", "-qm", "by the user"]);
    let by_user = outside(&["rev-parse", "HEAD"]);
    let looked = status(&repository, &worktree).await.unwrap();
    assert_eq!((looked.head.unwrap().to_string(), looked.dirty.count), (by_user.clone(), 0));
    assert_eq!(yard.git_in(folder, "rev-parse HEAD"), by_user);
    assert_eq!(yard.git_in(folder, "status --porcelain"), "");
    // Now both commit at the same time.
    write(&folder.join("both.txt"), "by the agent\n");
    yard.git_in(folder, "add both.txt ; commit -qm agent");
    let theirs = yard.git_in(folder, "rev-parse HEAD");
    outside(&["commit", "--allow-empty", "-qm", "user again"]);
    let told = status(&repository, &worktree).await.unwrap_err();
    assert!(matches!(&told, RefError::WentApart { .. }) && told.to_string().contains(&theirs), "{told}");
    fs::remove_file(folder.join("both.txt")).unwrap();
    outside(&["merge", "-q", &theirs]);
    let looked = status(&repository, &worktree).await.unwrap();
    assert_eq!((looked.head.unwrap().to_string(), looked.dirty.count), (outside(&["rev-parse", "HEAD"]), 0));
    assert_eq!(yard.git_in(folder, "status --porcelain"), "");
}

#[tokio::test]
async fn commit_without_a_branch_is_told_as_being_elsewhere() {
    let yard = Yard::new();
    let repository = yard.repository().await;
    let worktree = yard.create(1).await.worktree;
    yard.git_in(&worktree.folder, "checkout -q --detach");
    let astray = yard.commit(&worktree, "astray.txt", "1\n");
    let looked = status(&repository, &worktree).await.unwrap();
    assert_eq!(looked.stands, Stands::Detached(astray.parse().unwrap()));
    assert_eq!(looked.elsewhere.map(|commit| commit.to_string()), Some(astray));
    assert_eq!((looked.head, looked.dirty.count), (Some(worktree.base.clone()), 0));
    yard.git_in(&worktree.folder, &format!("checkout -q -B {} HEAD", worktree.branch));
    let looked = status(&repository, &worktree).await.unwrap();
    assert_eq!((looked.stands, looked.elsewhere), (Stands::OnItsBranch, None));
}

#[tokio::test]
async fn settings_hooks_and_alternates_of_the_agent_do_nothing_outside() {
    let yard = Yard::new();
    let repository = yard.repository().await;
    let worktree = yard.create(1).await.worktree;
    yard.commit(&worktree, "one.txt", "1\n");
    let mark = yard.at("home/ran");
    let private = yard.private(&worktree);
    let mut config = fs::OpenOptions::new().append(true).open(private.join("config")).unwrap();
    let touch = format!("touch '{}'", mark.display());
    write!(
        config,
        "[core]\n\tfsmonitor = \"{touch}\"\n\talternateRefsCommand = \"{touch}\"\n\tpager = \"{touch}\"\n\
         [filter \"x\"]\n\tclean = \"{touch}; cat\"\n[include]\n\tpath = {}\n",
        yard.at("home/.gitconfig").display()
    )
    .unwrap();
    write(&private.join("info/attributes"), "* filter=x\n");
    write(&worktree.folder.join("file.txt"), "changed!\n");
    let _ = status(&repository, &worktree).await;
    let _ = review(&repository, &worktree).await;
    let _ = repository.refresh_given(&worktree).await;
    let removal = worktree::Removal {
        task: worktree.task,
        folder: worktree.folder.clone(),
        branch: worktree.branch.clone(),
    };
    worktree::remove(&repository, &removal).await.unwrap();
    assert!(!mark.exists(), "a program of the agent's ran outside");
}
