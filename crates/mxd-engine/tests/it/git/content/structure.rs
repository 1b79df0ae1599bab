//! What a repository consists of, written by hand: refs, notes, objects, indexes.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::super::yard::write;
use super::attempts::{Attempt, Kind, Spot};
use super::ground::Ground;

/// Files of the agent's git folder and their text; `@head` is its commit, `@base` the commit it began with, `@home` a folder
/// outside, `@command` a command, `@branch` its branch.
const NOTES: &[(&str, &str, &str)] = &[
    ("replaces a commit", "refs/replace/@head", "@base\n"),
    ("grafts", "info/grafts", "@head\n"),
    ("a shallow history", "shallow", "@head\n"),
    ("a shallow history that is none", "shallow", "no commit\n"),
    ("another folder for everything", "commondir", "@home/folder\n"),
    ("a branch that follows the user's", "@branch", "ref: refs/heads/main\n"),
    ("a branch that follows a file outside", "@branch", "ref: ../../../../../../home/secret\n"),
    ("a branch that follows itself", "@branch", "ref: @branch\n"),
    ("a branch that is no commit", "@branch", "garbage\n"),
    ("a branch that names a missing commit", "@branch", "0123456789012345678901234567890123456789\n"),
    ("a head outside", "HEAD", "ref: refs/../../../../home/secret\n"),
    ("a head that is an option", "HEAD", "ref: --upload-pack=@command\n"),
    ("an empty head", "HEAD", ""),
    ("a ref that is an option", "refs/heads/--upload-pack=touch", "@head\n"),
    ("a ref with a newline", "refs/heads/a\nb", "@head\n"),
    ("a ref with an escape", "refs/heads/\u{1b}[2J", "@head\n"),
    ("a ref with bidi characters", "refs/heads/\u{202e}evil", "@head\n"),
    ("a ref in a folder of the user's names", "refs/remotes/origin/HEAD", "ref: refs/heads/main\n"),
    ("packed refs that are none", "packed-refs", "garbage\n\0\u{1}\n"),
    ("packed refs without an end", "packed-refs", "@head refs/heads/--output=x"),
    ("a merge that was begun", "MERGE_HEAD", "@base\n"),
    ("a rebase that was begun", "rebase-merge/git-rebase-todo", "exec @command\n"),
    ("a recorded resolution", "rr-cache/0123456789012345678901234567890123456789/postimage", "resolved\n"),
    ("a history that is none", "logs/HEAD", "garbage\n\n@head @head x <y> 1 +0000\t\u{1b}[2J\n"),
    ("sparse patterns", "info/sparse-checkout", "/*\n!/*/\n"),
    ("a worktree of its own", "worktrees/x/gitdir", "@home/folder/.git\n"),
    ("settings that are none", "config", "[core\nthis is no setting\n"),
    ("settings with a newline in a value", "config", "[core]\n\tbare = \"tr\nue\"\n"),
    ("a repository of another version", "config", "[core]\n\trepositoryformatversion = 99\n"),
    (
        "a repository with an unknown extension",
        "config",
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tnoSuch = 1\n",
    ),
    (
        "refs kept in another way",
        "config",
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n",
    ),
    (
        "objects of another kind",
        "config",
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n",
    ),
    ("a bare repository", "config", "[core]\n\tbare = true\n"),
];

const OBJECTS: &[(&str, &str, &str)] = &[
    ("alternates outside", "objects/info/alternates", "@home/folder\n"),
    ("alternates of another agent", "objects/info/alternates", "../../../02/git/objects\n"),
    ("alternates in a circle", "objects/info/alternates", "../../git/objects\n"),
    ("alternates that are an option", "objects/info/alternates", "--upload-pack=@command\n"),
    ("alternates of a server", "objects/info/http-alternates", "http://127.0.0.1:9/objects\n"),
    ("a list of packs", "objects/info/packs", "P pack-evil.pack\n"),
    ("a commit graph", "objects/info/commit-graph", "CGPH\u{1}\u{1}\u{0}\u{0}garbage"),
    ("a chain of commit graphs", "objects/info/commit-graphs/commit-graph-chain", "garbage\n"),
    ("an index of many packs", "objects/pack/multi-pack-index", "MIDX\u{1}\u{1}garbage"),
    ("an index of a pack", "objects/pack/pack-0123456789012345678901234567890123456789.idx", "garbage"),
    ("a bitmap", "objects/pack/pack-0123456789012345678901234567890123456789.bitmap", "BITMgarbage"),
    ("a promised pack", "objects/pack/pack-0123456789012345678901234567890123456789.promisor", ""),
    ("an index that is none", "index", "garbage"),
    ("an index that is empty", "index", ""),
];

/// Extensions of an index that lead elsewhere: the name and its content.
const EXTENSIONS: &[(&str, &[u8; 4], &[u8])] = &[
    ("fsmonitor", b"FSMN", b"\0\0\0\x02token\0\0\0\0\0"),
    ("a second index", b"link", b"01234567890123456789"),
    ("sparse folders", b"sdir", b""),
    ("untracked files", b"UNTR", b"\xff\xff\xff\xff"),
    ("something that has to be understood", b"evil", b"x"),
];

/// Files of the agent's git folder that become something else.
const PLACES: &[&str] = &[
    "HEAD",
    "config",
    "index",
    "packed-refs",
    "info/exclude",
    "shallow",
    "objects/info/alternates",
    "@branch",
];

/// What they become.
#[derive(Debug, Clone, Copy)]
enum Thing {
    Pipe,
    LinkOutside,
    LinkToItself,
    Folder,
}

const THINGS: &[(&str, Thing)] = &[
    ("a pipe", Thing::Pipe),
    ("a link to a file outside", Thing::LinkOutside),
    ("a link to itself", Thing::LinkToItself),
    ("a folder", Thing::Folder),
];

const HOOKS: &[&str] =
    &["post-checkout", "pre-commit", "post-index-change", "reference-transaction", "fsmonitor-watchman"];

pub(super) fn attempts() -> Vec<Attempt> {
    let mut all = Vec::new();
    for (part, notes) in [(0, NOTES), (1, OBJECTS)] {
        for (name, path, text) in notes {
            let attempt =
                Attempt::new(Kind::Structure(part), format!("the agent's repository has {name}")).alone();
            all.push(attempt.planted(move |ground, spot| {
                let path = ground.private().join(filled(ground, spot, path));
                write(&path, &filled(ground, spot, text));
            }));
        }
    }
    for (name, tag, content) in EXTENSIONS {
        let attempt = Attempt::new(Kind::Structure(1), format!("the agent's index has {name}")).alone();
        all.push(attempt.planted(move |ground, _| {
            let mut index = fs::File::create(ground.private().join("index")).unwrap();
            index.write_all(&index_with(tag, content)).unwrap();
        }));
    }
    for (number, place) in PLACES.iter().enumerate() {
        for (what, thing) in THINGS {
            let part = u8::from(number % 2 == 1);
            let attempt =
                Attempt::new(Kind::Structure(part), format!("{place} of the agent's repository is {what}"));
            all.push(attempt.alone().planted(move |ground, spot| {
                put(ground, &ground.private().join(filled(ground, spot, place)), *thing);
            }));
        }
    }
    for hook in HOOKS {
        let attempt = Attempt::new(Kind::Structure(0), format!("the hook {hook} of the agent's repository"));
        all.push(attempt.planted(move |ground, spot| {
            let path = ground.private().join("hooks").join(hook);
            write(&path, &format!("#!/bin/sh\n{}\n", spot.command));
            executable(&path);
        }));
    }
    all
}

fn filled(ground: &Ground, spot: &Spot, text: &str) -> String {
    let head = || fs::read_to_string(ground.private().join(branch(ground))).unwrap_or_default();
    let text = if text.contains("@head") { text.replace("@head", head().trim()) } else { text.to_owned() };
    text.replace("@base", ground.worktree.base.as_str())
        .replace("@branch", &branch(ground))
        .replace("@home", &ground.yard.at("home").display().to_string())
        .replace("@command", &spot.command)
}

/// An index without entries that has one extension. Its checksum is left out, which git allows.
fn index_with(tag: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut bytes = b"DIRC\0\0\0\x02\0\0\0\0".to_vec();
    bytes.extend(tag);
    bytes.extend(u32::try_from(content.len()).unwrap().to_be_bytes());
    bytes.extend(content);
    bytes.extend([0; 20]);
    bytes
}

fn put(ground: &Ground, path: &Path, thing: Thing) {
    let _absent = fs::remove_file(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let secret: PathBuf = ground.yard.at("home/secret");
    match thing {
        Thing::Pipe => super::files::pipe(path),
        Thing::LinkOutside => symlink(secret, path).unwrap(),
        Thing::LinkToItself => symlink(path, path).unwrap(),
        Thing::Folder => fs::create_dir_all(path).unwrap(),
    }
}

pub(super) fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn branch(ground: &Ground) -> String {
    format!("refs/heads/{}", ground.worktree.branch)
}
