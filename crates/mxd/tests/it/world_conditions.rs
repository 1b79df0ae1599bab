//! The whole story in repositories under the conditions that users have: each ends well, or is refused by `mxd init`.

use std::path::PathBuf;

use tempfile::TempDir;
use world::conditions::{self, DEFECTS, LARGE};
use world::{Outcome, Program, play};

/// Plays one condition, in a home folder that is in no repository.
fn holds(id: &str) {
    let scene = conditions::named(id).unwrap();
    let ground = TempDir::new().unwrap();
    let program = Program {
        mxd: PathBuf::from(env!("CARGO_BIN_EXE_mxd")),
        ground: ground.path().to_owned(),
        packages: ground.path().to_owned(),
        path: None,
    };
    let (outcome, evidence) = play(&program, &scene).unwrap();
    if let Outcome::NotMade { why } = &outcome {
        assert!(why.contains("is not installed"), "{}: {why}", scene.title);
        return;
    }
    assert!(outcome.fits(scene.expected), "{}: {outcome}\n{evidence}", scene.title);
}

macro_rules! conditions_that_hold {
    ($($id:ident)+) => {
        $(
            #[test]
            fn $id() {
                holds(stringify!($id));
            }
        )+

        const PLAYED: &[&str] = &[$(stringify!($id)),+];
    };
}

conditions_that_hold! {
    identity_global
    identity_include_if
    identity_local
    identity_none
    signing_by_ssh
    signing_by_gpg
    hooks_husky
    hooks_pre_commit
    hooks_path
    many_settings
    mxd_ignored
    autocrlf
    shallow_clone
    partial_clone
    partial_sparse_clone
    partial_clone_remote_gone
    sha256
    reftable
    alternates
    alternates_of_alternates
    packed
    own_worktrees
    in_own_worktree
    separate_git_dir
    unborn
    base_trunk
    base_unusual
    base_mxd
    detached
    detached_at_init
    another_branch
    bare
    subfolder
    no_repository
    dirty
    unknown_files
    touched
    assumed_unchanged
    sparse
    submodule
    submodule_dirty
    nested
    read_only
    executable
    file_mode_off
    unusual_names
    unusual_folder
    case_only
    symlinks
    eol_attributes
    encoding
    merge_driver
    filter
    lfs
}

#[test]
fn every_condition_is_played_unless_it_is_large_or_a_known_defect() {
    let mut expected: Vec<&str> = conditions::all().iter().map(|scene| scene.id).collect();
    expected.retain(|id| !LARGE.contains(id) && !DEFECTS.contains(id));
    assert_eq!(PLAYED, expected);
}
