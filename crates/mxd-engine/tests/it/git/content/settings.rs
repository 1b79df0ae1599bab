//! Settings that name programs and files, in every place in which git looks for settings.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::super::yard::write;
use super::attempts::{Attempt, Kind, Spot};
use super::ground::Ground;

/// What a setting does, and its text: `@command` is replaced by the command, `@word` by a word of the attempt's own,
/// `@home` by a folder outside.
const SETTINGS: &[(&str, &str)] = &[
    ("filter clean", "[filter \"@word\"]\n\tclean = \"@command; cat\"\n"),
    ("filter smudge", "[filter \"@word\"]\n\tsmudge = \"@command; cat\"\n"),
    ("filter process", "[filter \"@word\"]\n\tprocess = \"@command\"\n"),
    ("fsmonitor", "[core]\n\tfsmonitor = \"@command;\"\n"),
    ("hooksPath", "[core]\n\thooksPath = \"@home/hooks\"\n"),
    ("alias", "[alias]\n\tstatus = \"!@command\"\n\tadd = \"!@command\"\n"),
    ("pager", "[core]\n\tpager = \"@command\"\n[pager]\n\tstatus = \"@command\"\n\tdiff = \"@command\"\n"),
    ("textconv", "[diff \"@word\"]\n\ttextconv = \"@command; cat\"\n"),
    ("diff driver", "[diff \"@word\"]\n\tcommand = \"@command;\"\n"),
    ("external diff", "[diff]\n\texternal = \"@command;\"\n"),
    ("merge driver", "[merge \"@word\"]\n\tdriver = \"@command;\"\n"),
    ("credential helper", "[credential]\n\thelper = \"!@command;\"\n"),
    ("sshCommand", "[core]\n\tsshCommand = \"@command;\"\n"),
    ("editor", "[core]\n\teditor = \"@command;\"\n[sequence]\n\teditor = \"@command;\"\n"),
    ("gpg", "[gpg]\n\tprogram = \"@home/program\"\n[commit]\n\tgpgSign = true\n"),
    ("askPass", "[core]\n\taskPass = \"@home/program\"\n"),
    ("alternateRefsCommand", "[core]\n\talternateRefsCommand = \"@command;\"\n"),
    ("packObjectsHook", "[uploadpack]\n\tpackObjectsHook = \"@command;\"\n"),
    ("gitProxy", "[core]\n\tgitProxy = \"@home/program\"\n"),
    ("remote helper", "[remote \"origin\"]\n\turl = \"ext::sh -c @command\"\n[protocol]\n\tallow = always\n"),
    ("uploadpack", "[remote \"origin\"]\n\turl = \".\"\n\tuploadpack = \"@command;\"\n\tpromisor = true\n"),
    (
        "promised objects",
        "[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = \"ext::sh -c @command\"\n",
    ),
    ("submodule update", "[submodule \"@name\"]\n\tactive = true\n\tupdate = \"!@command\"\n\turl = .\n"),
    ("worktree elsewhere", "[core]\n\tworktree = \"@home/folder\"\n"),
    ("include", "[include]\n\tpath = \"@home/included@number\"\n"),
    ("includeIf", "[includeIf \"gitdir:/\"]\n\tpath = \"@home/included@number\"\n"),
    ("excludesFile", "[core]\n\texcludesFile = \"@home/secret\"\n"),
    ("attributesFile", "[core]\n\tattributesFile = \"@home/secret\"\n"),
    ("trace", "[trace2]\n\teventTarget = \"@home/markers/0\"\n\tnormalTarget = \"@home/markers/0\"\n"),
];

/// Those with which git fails, so that no other one is tried after it.
const HIDING: &[&str] = &["filter process", "worktree elsewhere", "promised objects"];

/// Where it is written.
#[derive(Debug, Clone, Copy)]
enum Site {
    Nested,
    Gitlink,
    GitFile,
    GitLinkToFolder,
    Bare,
    Private,
    PrivateWorktree,
}

const SITES: &[(&str, Site)] = &[
    ("a nested repository", Site::Nested),
    ("a gitlink", Site::Gitlink),
    ("a repository behind a `.git` file", Site::GitFile),
    ("a repository behind a `.git` link", Site::GitLinkToFolder),
    ("a folder that looks like a bare repository", Site::Bare),
    ("the agent's repository", Site::Private),
    ("the agent's repository, per worktree", Site::PrivateWorktree),
];

/// What attributes say; `@word` is the driver of the attempt.
const ATTRIBUTES: &[(&str, &str)] = &[
    ("filter", "* filter=@word"),
    ("diff", "* diff=@word"),
    ("merge", "* merge=@word"),
    ("binary merge", "* merge=binary -text"),
    ("encoding", "* working-tree-encoding=UTF-16LE-BOM"),
    ("an encoding that is none", "* working-tree-encoding=no-such-encoding"),
    ("ident", "* ident"),
    ("export-subst", "* export-subst export-ignore"),
    ("line ends", "* text eol=crlf"),
    ("whitespace", "* whitespace=tab-in-indent,cr-at-eol,tabwidth=63"),
    ("a macro", "[attr]all filter=@word diff=@word merge=@word\n* all"),
    ("a very long line", "*@long filter=@word"),
];

pub(super) fn attempts() -> Vec<Attempt> {
    let mut all = Vec::new();
    for (setting, text) in SETTINGS {
        for (place, site) in SITES {
            let attempt = Attempt::new(Kind::Settings, format!("{setting} in the settings of {place}"));
            let attempt = match site {
                Site::Gitlink if HIDING.contains(setting) => attempt.committed(gitlink).alone(),
                Site::Gitlink => attempt.committed(gitlink).with("nested"),
                Site::Private | Site::PrivateWorktree if HIDING.contains(setting) => attempt.alone(),
                Site::Private | Site::PrivateWorktree => attempt.with("private"),
                _ => attempt.with("nested"),
            };
            all.push(attempt.planted(move |ground, spot| plant(ground, spot, (*site, text))));
        }
    }
    for (what, text) in ATTRIBUTES {
        let name = |place: &str| format!("attributes with {what} in {place}");
        let lines = move |spot: &Spot| text.replace("@word", &spot.word).replace("@long", &"x".repeat(5_000));
        let write_files = move |_: &Ground, spot: &Spot| {
            write(&spot.folder.join("text.txt"), "$Id$ $Format:%an$\n");
            write(&spot.folder.join(".gitattributes"), &lines(spot));
        };
        let new = |place: &str| {
            let attempt = Attempt::new(Kind::Settings, name(place)).with("attributes");
            if what.contains("encoding") || what.contains("long") { attempt.alone() } else { attempt }
        };
        // Git itself refuses to commit with an encoding that is none.
        if !what.ends_with("is none") {
            all.push(new("a commit").committed(write_files).planted(define));
        }
        all.push(new("a file that is not committed").planted(move |ground, spot| {
            write_files(ground, spot);
            define(ground, spot);
        }));
        all.push(new("the agent's repository").planted(move |ground, spot| {
            append(&ground.private().join("info/attributes"), &format!("{}\n", lines(spot)));
            define(ground, spot);
        }));
    }
    all
}

/// A link to a commit of another repository, as it stands in the commit.
fn gitlink(ground: &Ground, spot: &Spot) {
    let entry = format!("160000,{},{}", ground.nested_commit(), spot.name);
    ground.yard.git_args(&ground.worktree.folder, &["update-index", "--add", "--cacheinfo", &entry]);
    ground.nest(&spot.folder);
}

fn plant(ground: &Ground, spot: &Spot, (site, text): (Site, &str)) {
    let home = ground.yard.at("home");
    let program = home.join("program");
    write(&program, &format!("#!/bin/sh\n{}\n", spot.command));
    write(
        &home.join(format!("included{}", spot.word)),
        &format!("[core]\n\tfsmonitor = \"{}\"\n", spot.command),
    );
    let text = text
        .replace("@command", &spot.command)
        .replace("@word", &spot.word)
        .replace("@name", &spot.name)
        .replace("@number", &spot.word)
        .replace("@home", &home.display().to_string());
    let config = match site {
        Site::Nested => {
            ground.nest(&spot.folder);
            spot.folder.join(".git/config")
        }
        Site::Gitlink => spot.folder.join(".git/config"),
        Site::GitFile | Site::GitLinkToFolder => {
            ground.nest(&spot.folder);
            let real = spot.folder.join("real");
            fs::rename(spot.folder.join(".git"), &real).unwrap();
            match site {
                Site::GitFile => write(&spot.folder.join(".git"), "gitdir: real\n"),
                _ => symlink("real", spot.folder.join(".git")).unwrap(),
            }
            real.join("config")
        }
        Site::Bare => {
            ground.nest(&spot.folder);
            for name in ["HEAD", "objects", "refs", "config"] {
                fs::rename(spot.folder.join(".git").join(name), spot.folder.join(name)).unwrap();
            }
            fs::remove_dir_all(spot.folder.join(".git")).unwrap();
            spot.folder.join("config")
        }
        Site::Private => ground.private().join("config"),
        Site::PrivateWorktree => {
            append(&ground.private().join("config"), "[extensions]\n\tworktreeConfig = true\n");
            ground.private().join("config.worktree")
        }
    };
    write_attributes(ground, spot, site);
    append(&config, &text);
}

/// The attributes that have git use the drivers of an attempt.
fn write_attributes(ground: &Ground, spot: &Spot, site: Site) {
    let line = format!("* filter={word} diff={word} merge={word}\n", word = spot.word);
    match site {
        Site::Private | Site::PrivateWorktree => {
            write(&spot.folder.join("text.txt"), "text\n");
            write(&spot.folder.join(".gitattributes"), &line);
            append(&ground.private().join("info/attributes"), "file.txt diff=none\n");
        }
        _ => write(&spot.folder.join(".gitattributes"), &line),
    }
}

/// Gives the attempt's word a meaning in the settings of the agent's repository.
fn define(ground: &Ground, spot: &Spot) {
    let (word, command) = (&spot.word, &spot.command);
    append(
        &ground.private().join("config"),
        &format!(
            "[filter \"{word}\"]\n\tclean = \"{command}; cat\"\n\tsmudge = \"{command}; cat\"\n\
             [diff \"{word}\"]\n\ttextconv = \"{command}; cat\"\n[merge \"{word}\"]\n\tdriver = \"{command}\"\n"
        ),
    );
}

fn append(path: &Path, text: &str) {
    let mut all = fs::read(path).unwrap_or_default();
    all.extend(text.as_bytes());
    write(path, &String::from_utf8(all).unwrap());
}
