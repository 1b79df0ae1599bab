//! Where paths lead, against a model that knows only strings.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use mxd_tools::builtin::{edit_file, list_files, read_file, write_file};
use mxd_tools::confine::{Confinement, What};
use mxd_tools::outcome::Outcome;
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::ground::{Ground, bad, good, put};

fn read(ground: &Ground, path: &str) -> Outcome {
    read_file::run(&read_file::Args { path: path.to_owned(), offset: None, limit: None }, &ground.scope)
}

fn write(ground: &Ground, path: &str, content: &str) -> Outcome {
    write_file::run(&write_file::Args { path: path.to_owned(), content: content.to_owned() }, &ground.scope)
}

#[test]
fn ways_out_are_refused_and_named() {
    let ground = Ground::new();
    let top = ground.top().display().to_string();
    put(&ground.out("secret"), "secret");
    ground.put("file", "inside\n");
    ground.link("up", "../out");
    ground.link("away", "/etc");
    ground.link("chain", "up/secret");
    ground.link("loop", "loop");
    ground.link("proc", "/proc/self/root");
    let told = |path: &str| bad(&read(&ground, path));
    assert_eq!(
        told("../out/secret"),
        format!("../out/secret is outside of the worktree; use a path relative to {top}/work")
    );
    assert_eq!(
        told("/etc/passwd"),
        format!("/etc/passwd is outside of the worktree; use a path relative to {top}/work")
    );
    assert_eq!(
        told("away/passwd"),
        "away/passwd is outside of the worktree: the link away -> /etc leads there; use a file inside of the worktree"
    );
    assert_eq!(
        told("chain"),
        "chain is outside of the worktree: the link up -> ../out leads there; use a file inside of the worktree"
    );
    assert_eq!(told("loop"), "loop leads through more than 40 links; is there a loop?");
    assert!(told("proc/etc/passwd").contains("the link proc -> /proc/self/root leads there"));
    assert_eq!(told("file/x"), "file/x cannot be: file is not a folder");
    assert_eq!(told(""), "\"\" is not a path: it is empty");
    assert_eq!(told("a\0b"), "\"a\\0b\" is not a path: it contains a zero byte");
    assert!(told(&"a/".repeat(3_000)).contains("it is too long"));
    fs::create_dir_all(ground.work(&"d/".repeat(130))).unwrap();
    assert!(told(&"d/".repeat(130)).contains("more than 128 folders"));
}

#[test]
fn ways_inside_are_found_however_they_are_written() {
    let ground = Ground::new();
    let top = ground.top().to_owned();
    ground.put("a/file", "inside\n");
    put(&top.join("extra/e"), "extra\n");
    put(&top.join("shared/s"), "shared\n");
    ground.link("a/back", "../a/./file");
    ground.link("absolute", ground.work("a"));
    ground.link("to_extra", top.join("extra"));
    ground.link("sideways", ["..", "shared", "s"].join("/"));
    let shown = |path: &str| good(&read(&ground, path));
    for path in ["a/file", "./a//file", "a/../a/file", "a/back", "absolute/file", "to_extra/../work/a/file"] {
        assert_eq!(shown(path), "     1\tinside\n", "{path}");
    }
    assert_eq!(shown(&ground.work("a/file").display().to_string()), "     1\tinside\n");
    assert_eq!(shown(&format!("{}/extra/e", top.display())), "     1\textra\n");
    assert_eq!(shown("to_extra/e"), "     1\textra\n");
    assert_eq!(shown("sideways"), "     1\tshared\n");
}

#[test]
fn only_what_was_given_for_writing_is_written() {
    let ground = Ground::new();
    let top = ground.top().to_owned();
    put(&top.join("extra/e"), "extra");
    fs::create_dir(ground.work(".git")).unwrap();
    ground.put(".git/config", "[core]\n");
    ground.put("sub/.git", "gitdir: elsewhere\n");
    ground.link("innocent", ".git/config");
    ground.link("dangling", "made/here");
    let extra = format!("{}/extra", top.display());
    assert_eq!(
        bad(&write(&ground, &format!("{extra}/e"), "x")),
        format!(
            "{extra}/e cannot be written: {extra} is given for reading only; write inside of the worktree"
        )
    );
    for path in [".git/config", ".git/hooks/pre-commit", "innocent", "sub/.git", ".GIT/config", ".git"] {
        let told = bad(&write(&ground, path, "x"));
        assert_eq!(
            told,
            format!("{path} belongs to git and cannot be written by file tools; use git commands")
        );
        let edit = edit_file::Args {
            path: path.to_owned(),
            old_string: Some("core".to_owned()),
            new_string: Some("x".to_owned()),
            ..edit_file::Args::default()
        };
        bad(&edit_file::run(&edit, &ground.scope));
    }
    assert_eq!(ground.content(".git/config"), b"[core]\n");
    assert_eq!(ground.names(".git"), ["config"]);
    assert_eq!(good(&write(&ground, "dangling", "new\n")), "created made/here (1 line, 4 bytes)");
    assert_eq!(ground.content("made/here"), b"new\n");
    good(&write(&ground, &format!("{}/shared/deep/new", top.display()), "s"));
    assert_eq!(fs::read(top.join("shared/deep/new")).unwrap(), b"s");
    assert_eq!(fs::read(top.join("extra/e")).unwrap(), b"extra");
}

#[test]
fn a_declared_folder_below_another_has_its_own_rules() {
    let ground = Ground::new();
    let mut scope = ground.scope.clone();
    ground.put("vendor/lib", "v");
    let vendor =
        mxd_tools::scope::Root { path: ground.work("vendor"), access: mxd_tools::scope::Access::Read };
    scope.roots = std::sync::Arc::new([vendor]);
    ground.link("alias", "vendor");
    for path in ["vendor/lib", "alias/lib", "vendor/new/file"] {
        let args = write_file::Args { path: path.to_owned(), content: "x".to_owned() };
        assert!(bad(&write_file::run(&args, &scope)).contains("given for reading only"), "{path}");
    }
    assert_eq!(ground.content("vendor/lib"), b"v");
}

#[test]
fn only_ordinary_files_are_opened() {
    let ground = Ground::new();
    assert!(Command::new("mkfifo").arg(ground.work("pipe")).status().unwrap().success());
    let _listener = UnixListener::bind(ground.work("socket")).unwrap();
    for (path, kind) in [("pipe", "named pipe"), ("socket", "socket")] {
        let expected = format!("{path} is a {kind}; file tools touch only ordinary files");
        assert_eq!(bad(&read(&ground, path)), expected);
        assert_eq!(bad(&write(&ground, path, "x")), expected);
    }
}

#[test]
fn a_missing_worktree_is_said() {
    let ground = Ground::new();
    fs::remove_dir(ground.work("")).unwrap();
    let told = bad(&read(&ground, "a"));
    assert!(told.contains("opening the worktree") && told.contains("No such file"), "{told}");
    let told = bad(&list_files::run(&list_files::Args::default(), &ground.scope, &CancellationToken::new()));
    assert!(told.contains("opening the worktree"), "{told}");
}

/// A tree of four folders, as strings.
#[derive(Debug, Clone, Default)]
struct Model {
    nodes: BTreeMap<PathBuf, Node>,
    grounds: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Folder,
    File(String),
    Link(PathBuf),
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Leads {
    Folder(PathBuf),
    File(PathBuf, String),
    Missing,
    Refused,
}

impl Model {
    fn inside(&self, path: &Path) -> bool {
        self.grounds.iter().any(|ground| path.starts_with(ground))
    }

    /// Follows a path through strings alone. Outside of the grounds there are no files, only the way back.
    fn follow(&self, start: &Path, path: &str) -> Leads {
        let mut at = start.to_owned();
        let mut rest: Vec<String> = split(Path::new(path));
        if path.starts_with('/') {
            at = PathBuf::from("/");
        }
        let mut links = 0;
        while let Some(name) = rest.pop() {
            if name == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&name);
            // The folder of a ground is there; whatever else is outside is only passed by.
            if !self.inside(&at) {
                at = next;
                continue;
            }
            match self.nodes.get(&next) {
                Some(Node::Folder) => at = next,
                Some(Node::File(content)) if rest.is_empty() => return Leads::File(next, content.clone()),
                Some(Node::File(_)) => return Leads::Refused,
                Some(Node::Link(target)) => {
                    links += 1;
                    if links > 40 {
                        return Leads::Refused;
                    }
                    rest.extend(split(target));
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                }
                // What is not there has no parent either.
                None if rest.iter().any(|name| name == "..") => return Leads::Refused,
                None => return Leads::Missing,
            }
        }
        if self.inside(&at) { Leads::Folder(at) } else { Leads::Refused }
    }
}

/// The components in reverse.
fn split(path: &Path) -> Vec<String> {
    let component = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_str().unwrap().to_owned()),
        Component::ParentDir => Some("..".to_owned()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    path.components().rev().filter_map(component).collect()
}

/// A name in one of the folders, with `TOP` where the folder of the test will be.
fn some_path() -> impl Strategy<Value = String> {
    let name = prop_oneof![6 => "[abc]", 1 => Just("..".to_owned()), 1 => Just(".git".to_owned())];
    let start = prop_oneof![
        8 => Just(String::new()),
        1 => Just("TOP/work/".to_owned()),
        1 => Just("TOP/extra/".to_owned()),
        1 => Just("TOP/shared/".to_owned()),
        1 => Just("TOP/out/".to_owned()),
        1 => Just("../extra/".to_owned()),
        1 => Just("../out/".to_owned()),
        1 => Just("/etc/".to_owned()),
    ];
    (start, prop::collection::vec(name, 1..5)).prop_map(|(start, names)| start + &names.join("/"))
}

#[derive(Debug, Clone)]
enum Make {
    Folder,
    File,
    Link(String),
}

fn some_nodes() -> impl Strategy<Value = Vec<(String, Vec<String>, Make)>> {
    let ground = prop_oneof![4 => Just("work"), 1 => Just("extra"), 1 => Just("shared"), 1 => Just("out")];
    let names = prop::collection::vec("[abc]|\\.git", 1..4);
    let make =
        prop_oneof![2 => Just(Make::Folder), 2 => Just(Make::File), 3 => some_path().prop_map(Make::Link)];
    prop::collection::vec((ground.prop_map(str::to_owned), names, make), 1..24)
}

/// Makes the nodes on disk and in the model. Those whose folder is a file or a link are left out.
fn make(ground: &Ground, nodes: &[(String, Vec<String>, Make)]) -> Model {
    let top = ground.top();
    let mut model = Model::default();
    for name in ["work", "extra", "shared", "out"] {
        model.nodes.insert(top.join(name), Node::Folder);
    }
    model.grounds = ["work", "extra", "shared"].map(|name| top.join(name)).to_vec();
    for (index, (ground, names, kind)) in nodes.iter().enumerate() {
        let mut path = top.join(ground);
        let (last, folders) = names.split_last().unwrap();
        for folder in folders {
            path.push(folder);
            if !model.nodes.contains_key(&path) {
                fs::create_dir(&path).unwrap();
                model.nodes.insert(path.clone(), Node::Folder);
            }
            if model.nodes[&path] != Node::Folder {
                break;
            }
        }
        let path = path.join(last);
        let in_folder = model.nodes.get(path.parent().unwrap()) == Some(&Node::Folder);
        if model.nodes.contains_key(&path) || !in_folder {
            continue;
        }
        let node = match kind {
            Make::Folder => {
                fs::create_dir(&path).unwrap();
                Node::Folder
            }
            Make::File => {
                put(&path, format!("file {index}"));
                Node::File(format!("file {index}"))
            }
            Make::Link(target) => {
                let target = PathBuf::from(target.replace("TOP", top.to_str().unwrap()));
                symlink(&target, &path).unwrap();
                Node::Link(target)
            }
        };
        model.nodes.insert(path, node);
    }
    model
}

/// Everything below some folders: paths, and contents or targets.
fn everything(folders: &[PathBuf]) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut waiting = folders.to_vec();
    while let Some(path) = waiting.pop() {
        let kind = fs::symlink_metadata(&path).unwrap();
        let what = if kind.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            "folder".to_owned()
        } else if kind.is_symlink() {
            format!("link {}", fs::read_link(&path).unwrap().display())
        } else {
            fs::read_to_string(&path).unwrap()
        };
        found.insert(path, what);
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn any_path_in_any_tree_leads_where_the_model_says_and_never_out(
        nodes in some_nodes(),
        paths in prop::collection::vec(some_path(), 1..16),
    ) {
        let ground = Ground::new();
        let model = make(&ground, &nodes);
        let confinement = Confinement::of(&ground.scope).unwrap();
        let paths: Vec<String> =
            paths.iter().map(|path| path.replace("TOP", ground.top().to_str().unwrap())).collect();
        for path in &paths {
            let expected = model.follow(&ground.scope.worktree, path);
            let found = match confinement.resolve(path) {
                Err(_) => Leads::Refused,
                Ok(place) => match place.what() {
                    What::Folder => Leads::Folder(ground.work("").join(place.shown())),
                    What::Missing(_) => Leads::Missing,
                    What::Entry(_) => {
                        let content = place.open().unwrap().read_whole(path).unwrap();
                        Leads::File(ground.work("").join(place.shown()), String::from_utf8(content).unwrap())
                    }
                },
            };
            prop_assert!(found == normal(expected.clone()), "{path}: {found:?}, not {expected:?}");
            if let Leads::File(_, content) = &found {
                // The kernel, which is not confined, agrees about what is there.
                prop_assert_eq!(&fs::read_to_string(ground.work(path)).unwrap(), content);
            }
        }
        let kept: Vec<PathBuf> = ["out", "extra"].map(|name| ground.top().join(name)).to_vec();
        let before = everything(&kept);
        for path in &paths {
            let outcome = write(&ground, path, "written");
            let real = Confinement::of(&ground.scope).unwrap().resolve(path);
            if !outcome.is_error {
                let shown = real.unwrap().shown();
                prop_assert!(!shown.components().any(|part| part.as_os_str() == ".git"), "{path}");
                prop_assert_eq!(fs::read(ground.work("").join(shown)).unwrap(), b"written");
            }
        }
        prop_assert_eq!(everything(&kept), before);
    }
}

/// The worktree's own folder has a slash at the end when it is joined with nothing.
fn normal(leads: Leads) -> Leads {
    match leads {
        Leads::Folder(path) => Leads::Folder(path.components().collect()),
        other => other,
    }
}
