//! `mxd watch` in a terminal, and where there is none.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Stdio};

use regex::Regex;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;

use crate::user::User;

/// A terminal with the program in it.
struct Terminal {
    screen: File,
    program: Child,
    /// What was shown since the last words that were waited for, without colours and moves.
    shown: String,
}

impl Terminal {
    fn open(user: &User, columns: u16, rows: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let end = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
        let mut command = user.command(&["watch"]);
        command.env("TERM", "xterm-256color").stdin(end()).stdout(end()).stderr(end());
        Self { screen: File::from(master), program: command.spawn().unwrap(), shown: String::new() }
    }

    /// Reads until these words were drawn. Between words the cursor is moved, so blanks do not count.
    fn until(&mut self, words: &str) {
        let words = &words.replace(' ', "");
        let moves = Regex::new(r"\x1b(\[[0-9;?]*[a-zA-Z]|[()][A-Z0-9]|[=>])").unwrap();
        while !self.shown.contains(words) {
            let mut bytes = [0; 65_536];
            let count = self.screen.read(&mut bytes).unwrap_or(0);
            assert!(count > 0, "it ended before {words:?}: {}", self.shown);
            let text = moves.replace_all(&String::from_utf8_lossy(&bytes[..count]), "").replace(' ', "");
            self.shown.push_str(&text);
        }
        self.shown.clear();
    }

    fn press(&mut self, keys: &str) {
        self.screen.write_all(keys.as_bytes()).unwrap();
    }

    /// How the program ended.
    fn ended(mut self) -> Option<i32> {
        let mut rest = Vec::new();
        // A terminal nobody is in any more is an error to read from.
        let _gone = self.screen.read_to_end(&mut rest);
        self.program.wait().unwrap().code()
    }
}

#[test]
fn somebody_at_a_terminal_reads_writes_stops_and_leaves() {
    let user = User::new(&json!([]));
    assert_eq!(user.run(&["init"]).0, 0);
    assert_eq!(user.run(&["task", "create", "Paint the wall"]).0, 0);
    let mut terminal = Terminal::open(&user, 80, 24);
    terminal.until("Paint the wall");
    // To the root, which answers.
    terminal.press("\r");
    terminal.press("Hello from a terminal\r");
    terminal.until("Noted.");
    assert!(user.run(&["logs"]).1.contains("you: Hello from a terminal"));
    assert_eq!(user.run(&["wait"]).0, 0);
    terminal.press("s");
    terminal.until("stopped");
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn without_a_terminal_there_are_lines() {
    let user = User::new(&json!([]));
    assert_eq!(user.run(&["init"]).0, 0);
    let mut watch = user.command(&["watch"]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    assert_eq!(user.run(&["send", "Hello"]).0, 0);
    let answered = lines.any(|line| line.unwrap().contains("Noted."));
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert!(answered);
}
