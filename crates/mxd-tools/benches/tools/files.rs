//! `read_file` against `cat`, `edit_file` against `sed -i`.

use std::process::{Command, Stdio};

use mxd_tools::builtin::{edit_file, read_file};

use super::by_turns;
use super::repository::{Repository, path_of};
use super::row::Row;

pub(crate) fn read(repository: &Repository, rounds: usize) {
    let path = path_of(repository.files / 2);
    let args = read_file::Args { path: path.clone(), offset: None, limit: None };
    let ours = || assert!(!read_file::run(&args, &repository.scope).is_error);
    let theirs = || command(repository, "cat", &[&path]);
    let (value, baseline) = by_turns(rounds, ours, theirs);
    let metric = "read_file, against starting cat".to_owned();
    Row { metric, unit: "ms", value, baseline: Some(baseline), bar: Some("<= 1") }.tell();
}

/// Ours is on disk when it answers, `sed -i` is not; so the disk decides, and there is no bar.
pub(crate) fn edit(repository: &Repository, rounds: usize) {
    let (mine, theirs) = (path_of(repository.files / 3), path_of(repository.files / 3 + 1));
    let mut turn = 0;
    let ours = || {
        let (old, new) = if turn % 2 == 0 { ("value_7 ", "changed_7 ") } else { ("changed_7 ", "value_7 ") };
        turn += 1;
        let args = edit_file::Args {
            path: mine.clone(),
            old_string: Some(old.to_owned()),
            new_string: Some(new.to_owned()),
            ..edit_file::Args::default()
        };
        assert!(!edit_file::run(&args, &repository.scope).is_error);
    };
    let sed = || command(repository, "sed", &["-i", "s/value_7 /value_7 /", &theirs]);
    let (value, baseline) = by_turns(rounds, ours, sed);
    let metric = "edit_file with sync, against starting sed -i without".to_owned();
    Row { metric, unit: "ms", value, baseline: Some(baseline), bar: None }.tell();
}

fn command(repository: &Repository, program: &str, args: &[&str]) {
    let mut command = Command::new(program);
    command.args(args).current_dir(repository.path()).stdin(Stdio::null());
    assert!(command.output().unwrap().status.success());
}
