//! Files of others, by every way to name them.

use super::attempt::{Attempt, Family, Landlock, Sign};

pub(super) const FAMILY: Family = Family { name: "Files of others", attempts: ATTEMPTS, ..Family::PLAIN };

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "read a key by its absolute path",
        script: "cat $GROUND/home/.ssh/id_ed25519",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read cloud credentials with `..`",
        script: "cat ../../../home/.aws/credentials",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a token that lies beside a visible cache",
        script: "cat $GROUND/home/.cargo/credentials.toml",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read any file of the home folder",
        script: "cat $GROUND/home/notes.txt",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "list the home folder",
        script: "ls -A $GROUND/home | grep -qx notes.txt && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "search for a secret",
        script: "find $GROUND -name notes.txt -exec cat {} +",
        ..Attempt::PLAIN
    },
    Attempt { name: "read the daemon's log", script: "cat $GROUND/data/log/*.jsonl", ..Attempt::PLAIN },
    Attempt {
        name: "truncate the daemon's log",
        script: "truncate -s 0 $GROUND/data/log/000001.jsonl",
        sign: Sign::Seen(|scene| scene.text("data/log/000001.jsonl").is_empty()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "delete the daemon's log",
        script: "rm -f $GROUND/data/log/000001.jsonl",
        sign: Sign::Seen(|scene| !scene.at("data/log/000001.jsonl").exists()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "put a file into the data folder",
        script: "touch $GROUND/data/planted",
        sign: Sign::Seen(|scene| scene.at("data/planted").exists()),
        ..Attempt::PLAIN
    },
    Attempt { name: "read another agent's worktree", script: "cat ../two/secret", ..Attempt::PLAIN },
    Attempt {
        name: "write into another agent's worktree",
        script: "echo changed > ../two/README",
        sign: Sign::Seen(|scene| scene.text("data/trees/two/README") == "changed\n"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "move a file out of another agent's worktree",
        script: "mv ../two/README moved",
        sign: Sign::Seen(|scene| !scene.at("data/trees/two/README").exists()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read another agent's temporary files",
        script: "cat $GROUND/data/scratch/two/tmp/secret",
        ..Attempt::PLAIN
    },
    Attempt { name: "read the user's checkout", script: "cat $GROUND/repo/uncommitted", ..Attempt::PLAIN },
    Attempt {
        name: "write into the user's checkout",
        script: "echo changed > $GROUND/repo/README",
        sign: Sign::Seen(|scene| scene.text("repo/README") == "changed\n"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the passwords of the machine",
        script: "[ \"$(head -c 1 /etc/shadow | wc -c)\" = 1 ] && say",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "write to the settings of the machine",
        script: "exec 3>> /etc/passwd && say",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "write to the programs of the machine",
        script: "exec 3>> /usr/lib/os-release && say",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "read through a symbolic link",
        script: "ln -s $GROUND/home/.ssh/id_ed25519 link-to-key; cat link-to-key",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "write through a symbolic link to a folder",
        script: "ln -s ../two link-to-two; echo > link-to-two/through",
        sign: Sign::Seen(|scene| scene.at("data/trees/two/through").exists()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read through a chain of links and `..`",
        script: "ln -s ../../.. up; ln -s up/home chain; cat chain/notes.txt",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "make a hard link to a secret",
        script: "ln $GROUND/home/notes.txt hard && cat hard",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "make a hard link into another agent's worktree",
        script: "echo > mine; ln mine ../two/hard",
        sign: Sign::Seen(|scene| scene.at("data/trees/two/hard").exists()),
        ..Attempt::PLAIN
    },
    Attempt { name: "read while a link is swapped", script: SWAP_A_FILE, ..Attempt::PLAIN },
    Attempt {
        name: "write while a folder is swapped for a link",
        script: SWAP_A_FOLDER,
        sign: Sign::Seen(|scene| scene.at("data/trees/two/raced").exists()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read past `/proc/self/root`",
        script: "cat /proc/self/root$GROUND/home/notes.txt",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read past `/proc/self/cwd`",
        script: "cat /proc/self/cwd/../../../home/notes.txt",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "open a folder outside and read from there",
        script: "exec 3< ../../..; cat /proc/self/fd/3/home/notes.txt",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "see that a file is there, its size and its times",
        script: "stat $GROUND/home/notes.txt && say",
        landlock: Landlock::NotStopped(
            "the kernel does not ask Landlock about looking at a file from outside",
        ),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "see where a link leads",
        script: "readlink $GROUND/home/link",
        landlock: Landlock::NotStopped("the kernel does not ask Landlock about reading links"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "make a folder of others the current one",
        script: "cd $GROUND/data/log && say",
        landlock: Landlock::NotStopped(
            "the kernel does not ask Landlock; nothing in it can be read from there",
        ),
        ..Attempt::PLAIN
    },
];

/// A link is turned after it was looked at and before it is read; then a process turns it all the time.
const SWAP_A_FILE: &str = r#"perl -e '
    my $secret = "$ENV{GROUND}/home/notes.txt";
    sub turn { symlink shift, "swap.new"; rename "swap.new", "swap" }
    sub look { if (open my $file, "<", "swap") { print <$file> } }
    turn "README"; -f "swap" or die; turn $secret; look;
    my $swapper = fork;
    if (!$swapper) { while (1) { turn "README"; turn $secret } }
    look for 1 .. 1000;
    kill "KILL", $swapper' | sort -u"#;

/// A link takes the place of a folder after it was looked at and before it is used; then a process does so all the time.
const SWAP_A_FOLDER: &str = r#"mkdir folder; ln -s ../two folder-link; perl -e '
    sub swap { rename "folder", "aside"; rename "folder-link", "folder" }
    sub swap_back { rename "folder", "folder-link"; rename "aside", "folder" }
    sub use_it { open my $file, ">", "folder/raced" }
    -d "folder" && !-l "folder" or die; swap; use_it; swap_back;
    my $swapper = fork;
    if (!$swapper) { while (1) { swap; swap_back } }
    use_it for 1 .. 1000;
    kill "KILL", $swapper'"#;
