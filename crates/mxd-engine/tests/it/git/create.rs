//! Making worktrees: what they start from, where they go, what comes along, and what the agent is told.

use std::fs;
use std::os::unix::fs::symlink;

use mxd_engine::git::space::{SpaceError, Watermark};
use mxd_engine::git::worktree::{self, Base, CreateError, FailedSetup, How, IncludeError, Setup, SetupError};
use mxd_engine::git::{Head, OpenError, RefError, Repository};

use super::yard::{Yard, inspector, nobody, plainly, task, write};

#[tokio::test]
async fn a_worktree_has_its_own_branch_and_the_files_of_its_base() {
    let yard = Yard::new();
    let made = yard.create(7).await;
    assert_eq!(made.how, How::Made);
    let worktree = made.worktree;
    assert_eq!(worktree.branch.as_str(), format!("mxd/{}/some-work", task(7)));
    assert_eq!(worktree.base.as_str(), yard.user("rev-parse main"));
    assert_eq!(fs::read_to_string(worktree.folder.join("file.txt")).unwrap(), "one\ntwo\nthree\n");
    assert_eq!(yard.git_in(&worktree.folder, "status --porcelain"), "");
    assert_eq!(yard.git_in(&worktree.folder, "symbolic-ref --short HEAD"), worktree.branch.as_str());
    assert_eq!(yard.user("status --porcelain"), "");
    let upstream = yard.command(&worktree.folder, &["rev-parse", "@{upstream}"]).output().unwrap();
    assert!(!upstream.status.success(), "the branch tracks nothing");
    yard.user("fsck --strict");
}

#[tokio::test]
async fn asked_again_a_task_keeps_its_worktree_and_its_base() {
    let yard = Yard::new();
    let first = yard.create(7).await.worktree;
    yard.commit(&first, "more.txt", "more\n");
    write(&first.folder.join("unsaved"), "unsaved\n");
    yard.write("repo/file.txt", "changed\n");
    yard.user("commit -qam moved");
    let mut request = yard.request(7);
    request.slug = mxd_engine::git::Slug::of_title("Another title");
    let again = worktree::create(&yard.repository().await, &request, nobody).await.unwrap();
    assert_eq!((again.how, &again.worktree), (How::Reused, &first));
    assert_eq!(fs::read_to_string(first.folder.join("unsaved")).unwrap(), "unsaved\n");
}

#[tokio::test]
async fn files_that_somebody_removed_come_back_from_the_branch() {
    let yard = Yard::new();
    let first = yard.create(7).await.worktree;
    yard.commit(&first, "more.txt", "more\n");
    fs::remove_dir_all(&first.folder).unwrap();
    let again = yard.create(7).await;
    assert_eq!(again.how, How::Revived);
    assert_eq!(again.worktree.base, first.base);
    assert_eq!(fs::read_to_string(first.folder.join("more.txt")).unwrap(), "more\n");
    assert_eq!(yard.git_in(&first.folder, "status --porcelain"), "");
}

#[tokio::test]
async fn what_is_not_there_is_not_started_from() {
    let yard = Yard::empty();
    let repository = yard.repository().await;
    assert_eq!(repository.head().await.unwrap(), Head::Unborn { branch: "main".parse().unwrap() });
    let refused = worktree::create(&repository, &yard.request(1), nobody).await;
    assert!(matches!(refused, Err(CreateError::NoBaseBranch { .. })), "{refused:?}");
    yard.write("repo/file.txt", "one\n");
    yard.user("add . ; commit -qm start");
    let mut request = yard.request(1);
    request.base = Base::Commit("0123456789".repeat(4).parse().unwrap());
    let refused = worktree::create(&repository, &request, nobody).await;
    assert!(matches!(refused, Err(CreateError::NoBaseCommit { .. })), "{refused:?}");
    assert!(worktree::list(&repository).unwrap().is_empty());
    assert!(!request.folder.exists());
}

#[tokio::test]
async fn a_detached_head_is_said_and_its_commit_can_be_started_from() {
    let yard = Yard::new();
    yard.user("checkout -q --detach");
    let repository = yard.repository().await;
    let Head::Detached { commit } = repository.head().await.unwrap() else { panic!("not detached") };
    let mut request = yard.request(1);
    request.base = Base::Commit(commit.clone());
    let made = worktree::create(&repository, &request, nobody).await.unwrap();
    assert_eq!((made.worktree.base, made.worktree.base_branch), (commit, None));
}

#[tokio::test]
async fn a_bare_repository_and_a_shallow_clone_will_do() {
    let yard = Yard::new();
    yard.write("repo/file.txt", "later\n");
    yard.user("commit -qam later");
    let origin = format!("file://{}", yard.at("repo").display());
    for (number, kind) in [(1, "--bare"), (2, "--depth=1")] {
        let clone = yard.at(&format!("clone{kind}"));
        yard.git_args(&yard.at("repo"), &["clone", "-q", kind, &origin, clone.to_str().unwrap()]);
        let repository =
            Repository::open(yard.git(), yard.lanes(), &clone).await.unwrap().inspected_by(inspector().await);
        let made = worktree::create(&repository, &yard.request(number), nobody).await.unwrap();
        assert_eq!(yard.git_in(&made.worktree.folder, "status --porcelain"), "", "{kind}");
        assert_eq!(made.disclosure.shallow, number == 2);
        assert_eq!(repository.checkout().is_none(), number == 1);
        let bare = yard.git_in(&clone, "rev-parse --is-bare-repository");
        assert_eq!(bare, (number == 1).to_string(), "the settings of the first checkout stay true");
    }
}

#[tokio::test]
async fn a_linked_worktree_of_the_user_is_a_checkout_and_one_of_an_agent_is_not() {
    let yard = Yard::new();
    yard.git_args(
        &yard.at("repo"),
        &["worktree", "add", "-q", "-b", "side", yard.at("side").to_str().unwrap()],
    );
    let repository = Repository::open(yard.git(), yard.lanes(), &yard.at("side"))
        .await
        .unwrap()
        .inspected_by(inspector().await);
    assert!(
        matches!(repository.head().await.unwrap(), Head::Branch { branch, .. } if branch.as_str() == "side")
    );
    let made = worktree::create(&repository, &yard.request(1), nobody).await.unwrap();
    let refused = Repository::open(yard.git(), yard.lanes(), &made.worktree.folder).await;
    assert!(matches!(refused, Err(OpenError::OfAnAgent { .. })), "{refused:?}");
    let refused = Repository::open(yard.git(), yard.lanes(), &yard.at("home")).await;
    assert!(matches!(refused, Err(OpenError::NotARepository { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_place_that_is_taken_is_left_alone() {
    let yard = Yard::new();
    let request = yard.request(1);
    write(&request.folder.join("precious"), "mine\n");
    let refused = worktree::create(&yard.repository().await, &request, nobody).await;
    assert!(matches!(refused, Err(CreateError::Occupied { .. })), "{refused:?}");
    assert_eq!(fs::read_to_string(request.folder.join("precious")).unwrap(), "mine\n");
    assert_eq!(yard.user("branch --list mxd/*"), "");
    let mut inside = yard.request(2);
    inside.folder = yard.at("repo/.git/inside/work");
    let refused = worktree::create(&yard.repository().await, &inside, nobody).await;
    assert!(matches!(refused, Err(CreateError::Folder { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_branch_that_was_there_is_taken_as_it_is_and_one_that_leads_elsewhere_is_not() {
    let yard = Yard::new();
    let name = format!("mxd/{}/some-work", task(1));
    yard.user(&format!("branch {name}"));
    yard.write("repo/file.txt", "later\n");
    yard.user("commit -qam later");
    let made = yard.create(1).await;
    assert_eq!(made.worktree.base.as_str(), yard.user(&format!("rev-parse {name}")));
    assert_eq!(made.worktree.base.as_str(), yard.user("rev-parse main~1"));
    let trap = format!("refs/heads/mxd/{}/some-work", task(2));
    yard.user(&format!("symbolic-ref {trap} refs/heads/main"));
    let refused = worktree::create(&yard.repository().await, &yard.request(2), nobody).await;
    assert!(matches!(refused, Err(CreateError::Ref(RefError::NotItsOwn { .. }))), "{refused:?}");
}

#[tokio::test]
async fn below_the_mark_no_worktree_starts() {
    let yard = Yard::new();
    let mut request = yard.request(1);
    request.room = Watermark { bytes: u64::MAX, inodes: 0 };
    let refused = worktree::create(&yard.repository().await, &request, nobody).await;
    assert!(matches!(refused, Err(CreateError::Space(SpaceError::Low { .. }))), "{refused:?}");
    request.room = Watermark { bytes: 0, inodes: u64::MAX };
    let refused = worktree::create(&yard.repository().await, &request, nobody).await;
    // A file system that does not count files has always room for more.
    assert!(!matches!(refused, Err(CreateError::Space(SpaceError::Unknown { .. }))), "{refused:?}");
}

#[tokio::test]
async fn named_files_come_along_and_links_and_large_ones_do_not() {
    let yard = Yard::new();
    yard.write("repo/.env", "KEY=1\n");
    yard.write("repo/deep/er/.env", "KEY=2\n");
    yard.write("repo/other.log", "noise\n");
    yard.write("home/secret", "secret\n");
    symlink(yard.at("home/secret"), yard.at("repo/link.env")).unwrap();
    symlink(yard.at("home"), yard.at("repo/away")).unwrap();
    let large = fs::File::create(yard.at("repo/large.env")).unwrap();
    large.set_len(mxd_engine::git::limits::INCLUDE_FILE + 1).unwrap();
    let mut request = yard.request(1);
    request.include = [".env", "**/.env", "*.env", "away/*"].map(str::to_owned).to_vec();
    let made = worktree::create(&yard.repository().await, &request, nobody).await.unwrap();
    assert_eq!(made.included.copied, [".env", "deep/er/.env"]);
    let skipped: Vec<_> = made.included.skipped.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(skipped, ["large.env", "link.env"]);
    assert_eq!(fs::read_to_string(made.worktree.folder.join("deep/er/.env")).unwrap(), "KEY=2\n");
    for absent in ["other.log", "link.env", "away", "large.env"] {
        assert!(fs::symlink_metadata(made.worktree.folder.join(absent)).is_err(), "{absent}");
    }
}

#[tokio::test]
async fn files_that_come_along_are_not_written_through_links_of_the_commit() {
    let yard = Yard::new();
    symlink(yard.at("home"), yard.at("repo/conf")).unwrap();
    yard.user("add conf ; commit -qm link ; rm -q --cached conf");
    fs::remove_file(yard.at("repo/conf")).unwrap();
    yard.write("repo/conf/planted", "planted\n");
    yard.write("repo/.env", "KEY=1\n");
    let mut request = yard.request(1);
    request.include = vec!["conf/*".to_owned(), ".env".to_owned()];
    let made = worktree::create(&yard.repository().await, &request, nobody).await.unwrap();
    assert_eq!(made.included.copied, [".env"]);
    assert!(!yard.at("home/planted").exists());
}

#[tokio::test]
async fn patterns_that_lead_out_are_refused() {
    let yard = Yard::new();
    for pattern in ["../x", "/etc/passwd", "", "a/../../b", ".git/config"] {
        let mut request = yard.request(1);
        request.include = vec![pattern.to_owned()];
        let refused = worktree::create(&yard.repository().await, &request, nobody).await;
        assert!(
            matches!(refused, Err(CreateError::Include(IncludeError::Pattern { .. }))),
            "{pattern}: {refused:?}"
        );
    }
    assert_eq!(yard.user("branch --list mxd/*"), "");
}

#[tokio::test]
async fn the_script_of_the_commit_is_run_and_a_failure_leaves_nothing() {
    let yard = Yard::new();
    let script = ".mxd/hooks/setup_worktree.sh";
    let repository = yard.repository().await;
    let mut request = yard.request(1);
    request.setup = Setup::Required;
    let refused = worktree::create(&repository, &request, plainly).await;
    assert!(matches!(refused, Err(CreateError::Setup(SetupError::Missing))), "{refused:?}");
    yard.write(&format!("repo/{script}"), "echo ready in $1 > ready; echo said\n");
    yard.user("add . ; commit -qm script");
    let made = worktree::create(&repository, &request, plainly).await.unwrap();
    assert_eq!(made.setup.unwrap().output, "said\n");
    let ready = fs::read_to_string(made.worktree.folder.join("ready")).unwrap();
    assert_eq!(ready, format!("ready in {}\n", made.worktree.folder.display()));

    yard.write(&format!("repo/{script}"), "echo out of luck; exit 3\n");
    yard.user("commit -qam broken");
    let mut request = yard.request(2);
    request.setup = Setup::IfPresent;
    let failed = worktree::create(&repository, &request, plainly).await.unwrap_err();
    assert!(failed.to_string().contains("exit code 3; its last words: out of luck"), "{failed}");
    assert!(!request.folder.exists());
    assert_eq!(yard.user(&format!("branch --list mxd/{}/*", task(2))), "");
    assert!(!yard.user("worktree list").contains("-2 "));

    request.failed_setup = FailedSetup::Keep;
    worktree::create(&repository, &request, plainly).await.unwrap_err();
    assert!(request.folder.join("file.txt").exists());
    yard.write(&format!("repo/{script}"), "true\n");
    yard.user("commit -qam mended");
    request.base = Base::Branch("main".parse().unwrap());
    assert!(worktree::find(&repository, task(2)).unwrap().is_none(), "it is not ready");
}

#[tokio::test]
async fn the_agent_is_told_what_is_not_there() {
    let yard = Yard::new();
    yard.write("repo/.gitattributes", "*.bin filter=lfs\n");
    yard.write("repo/big.bin", "version https://git-lfs.github.com/spec/v1\n");
    yard.user("init -q sub");
    yard.write("repo/sub/in", "in\n");
    yard.git_in(&yard.at("repo/sub"), "add . ; commit -qm sub");
    yard.user("add . ; commit -qm more");
    yard.write("repo/file.txt", "changed\n");
    yard.write("repo/new.txt", "new\n");
    yard.write("repo/.env", "KEY=1\n");
    let mut request = yard.request(1);
    request.include = vec![".env".to_owned()];
    request.folder = yard.at("repo/.worktrees/one");
    let repository = yard.repository().await;
    repository.exclude("/.worktrees/").await.unwrap();
    repository.exclude("/.worktrees/").await.unwrap();
    let made = worktree::create(&repository, &request, nobody).await.unwrap();
    let head = yard.user("rev-parse main");
    let expected = format!(
        "Your branch is mxd/{}/some-work. It starts at commit {} of main.\n\
         Not here: changes in the user's checkout that are not committed (1): file.txt\n\
         Not here: files in the user's checkout that git does not know (1): new.txt\n\
         Empty here: submodules (1): sub\n\
         Here as they are stored, not as their filter (such as LFS) would show them (1): big.bin\n\
         Copied from the user's checkout (1): .env\n",
        task(1),
        &head[..12],
    );
    assert_eq!(made.disclosure.to_string(), expected);
    assert_eq!(yard.user("status --porcelain"), " M file.txt\n?? new.txt");
    assert_eq!(yard.read("repo/.git/info/exclude").matches("/.worktrees/").count(), 1);
}

#[tokio::test]
async fn a_sparse_checkout_is_as_sparse_for_the_agent_and_nothing_counts_as_deleted() {
    let yard = Yard::new();
    yard.write("repo/wanted/in", "in\n");
    yard.write("repo/other/out", "out\n");
    yard.user("add . ; commit -qm more ; sparse-checkout set wanted");
    let made = yard.create(1).await;
    assert!(made.disclosure.sparse && made.disclosure.to_string().contains("sparse checkout"));
    assert!(made.worktree.folder.join("wanted/in").exists() && !made.worktree.folder.join("other").exists());
    assert_eq!(yard.git_in(&made.worktree.folder, "status --porcelain"), "");
    let repository = yard.repository().await;
    assert_eq!(mxd_engine::git::status(&repository, &made.worktree).await.unwrap().dirty.count, 0);
    write(&made.worktree.folder.join("wanted/in"), "changed\n");
    let removal = super::remove::removal(&made.worktree);
    let grave = worktree::remove(&repository, &removal).await.unwrap().grave.unwrap();
    assert_eq!(yard.user(&format!("show {grave}:other/out")), "out");
    assert_eq!(yard.user(&format!("show {grave}:wanted/in")), "changed");
}
