//! `mxd watch` in a terminal, and where there is none.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use mxd_server::Contact;
use ratatui::text::Span;
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

use crate::user::User;

/// How long, and how often, nothing may be drawn before what is waited for counts as lost. Together it is less than a
/// daemon may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
const SILENCES: usize = 3;
/// What the program writes when it gives the terminal back.
const NORMAL_SCREEN: &str = "\x1b[?1049l";

/// A terminal with the program in it.
struct Terminal {
    keys: File,
    written: Receiver<Vec<u8>>,
    program: Child,
    /// What was written and is not on the grid yet: half a letter or half a move.
    unread: Vec<u8>,
    /// What stands in each cell; behind a wide letter stands an empty one.
    grid: Vec<Vec<String>>,
    /// Row and column of the next letter.
    at: (usize, usize),
    moves: Regex,
    is_given_back: bool,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _gone = self.program.kill();
        let _waited = self.program.wait();
    }
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
        let program = command.spawn().unwrap();
        let keys = File::from(master);
        let mut screen = keys.try_clone().unwrap();
        let (writer, written) = sync_channel(64);
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            // A terminal nobody is in any more is an error to read from.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if writer.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            keys,
            written,
            program,
            unread: Vec::new(),
            grid: vec![vec![" ".to_owned(); columns.into()]; rows.into()],
            at: (0, 0),
            moves: Regex::new(r"^\x1b(?:\[([0-9;?]*)([@-~])|[()][A-Z0-9]|[=>])").unwrap(),
            is_given_back: false,
        }
    }

    /// What is on the screen, row by row.
    fn text(&self) -> String {
        let rows = self.grid.iter().map(|row| row.concat().trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n")
    }

    /// Reads until these words stand on the screen.
    fn until(&mut self, words: &str) {
        let mut silences = 0;
        while !self.text().contains(words) {
            match self.written.recv_timeout(PATIENCE) {
                Ok(bytes) => self.draw(&bytes),
                Err(RecvTimeoutError::Timeout) if silences < SILENCES => silences += 1,
                Err(why) => panic!("{why}: {words:?} is not on the screen:\n{}", self.text()),
            }
        }
    }

    fn draw(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.unread) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = String::from_utf8(self.unread[..whole].to_vec()).unwrap();
        self.is_given_back |= text.contains(NORMAL_SCREEN);
        let mut rest = text.as_str();
        while let Some(letter) = rest.chars().next() {
            if letter != '\x1b' {
                self.put(letter);
                rest = &rest[letter.len_utf8()..];
                continue;
            }
            let Some(found) = self.moves.captures(rest) else { break };
            let part = |n: usize| found.get(n).map_or("", |part| part.as_str());
            match part(2) {
                "H" => {
                    let mut place = part(1).split(';').map(|n| n.parse::<usize>().unwrap_or(1) - 1);
                    self.at = (place.next().unwrap_or(0), place.next().unwrap_or(0));
                }
                "J" => self.grid.iter_mut().flatten().for_each(|cell| " ".clone_into(cell)),
                _ => {}
            }
            rest = &rest[part(0).len()..];
        }
        let left = whole - rest.len();
        self.unread.drain(..left);
    }

    fn put(&mut self, letter: char) {
        let letter = letter.to_string();
        let width = Span::raw(letter.as_str()).width();
        let (row, column) = self.at;
        for (n, cell) in self.grid[row].iter_mut().skip(column).take(width).enumerate() {
            *cell = if n == 0 { letter.clone() } else { String::new() };
        }
        self.at.1 += width;
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// What a terminal sends for a text from the clipboard.
    fn paste(&mut self, text: &str) {
        self.press(&format!("\x1b[200~{text}\x1b[201~"));
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.program), signal).unwrap();
    }

    /// How the program ended.
    fn ended(mut self) -> Option<i32> {
        let mut silences = 0;
        let code = loop {
            match self.written.recv_timeout(PATIENCE) {
                Ok(bytes) if self.is_given_back => drop(bytes),
                Ok(bytes) => self.draw(&bytes),
                Err(RecvTimeoutError::Disconnected) => break self.program.wait().unwrap().code(),
                Err(RecvTimeoutError::Timeout) if silences < SILENCES => silences += 1,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end:\n{}", self.text()),
            }
        };
        assert!(self.is_given_back, "the terminal was not given back");
        code
    }
}

/// A daemon that ends with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _waited = self.0.wait();
    }
}

fn signal_daemon(user: &User, signal: Signal) {
    let contact = Contact::read(&user.ground.path().join("data")).unwrap();
    kill_process(Pid::from_raw(contact.pid.try_into().unwrap()).unwrap(), signal).unwrap();
}

fn calls(name: &str, input: &Value) -> Value {
    json!({ "reply": { "blocks": [{ "tool_call": { "name": format!("mcp__mxd__{name}"), "input": input } }] } })
}

const QUESTION: &str = "Which colour shall the long wall behind the house have, of all those that we have talked \
    about so far: shall it be red or shall it be blue?";

/// A root that asks, and a task that may run a command only when it is allowed to.
fn both_wait() -> User {
    let user = User::new(&json!([
        {
            "first_message": { "contains": "Title: repo\n" },
            "turns": [
                calls("clarify", &json!({ "question": QUESTION })),
                calls("yield", &json!({})),
                { "reply": { "blocks": [{ "text": "So be it." }] } },
            ],
        },
        {
            "first_message": { "contains": "Title: Careful\n" },
            "turns": [
                calls("bash", &json!({ "command": "printf '\u{1b}[2J' > /dev/null\nls -a | wc -l\n# the end" })),
                calls("done", &json!({ "status": "passed", "summary": "It was counted." })),
            ],
        },
    ]));
    assert_eq!(user.run(&["init"]).0, 0);
    let rule = r#"{"rules":[{"name":"ask","effect":"shell","ruling":"ask"}]}"#;
    assert_eq!(user.run(&["config", "set", "approvals", rule]).0, 0);
    assert_eq!(user.run(&["task", "create", "Careful"]).0, 0);
    assert_eq!(user.run(&["send", "-t", "Careful", "Begin."]).0, 0);
    assert_eq!(user.run(&["send", "Begin."]).0, 0);
    user.until("both wait", |user| {
        let waits = user.run(&["needs"]).1;
        waits.contains("permission") && waits.contains("question")
    });
    user
}

/// A project with nobody at work.
fn quiet() -> User {
    let user = User::new(&json!([]));
    assert_eq!(user.run(&["init"]).0, 0);
    user
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

#[test]
fn a_call_is_allowed_by_whoever_has_seen_all_of_it() {
    let user = both_wait();
    let call_waits = || user.run(&["needs"]).1.contains("permission");
    let mut terminal = Terminal::open(&user, 80, 24);
    terminal.until("2 wait for you");
    // The root is chosen, and all it has is a question, which is shown to its end.
    terminal.press("a");
    terminal.until("shall it be blue?");
    assert!(call_waits());
    terminal.press("Blue\r");
    terminal.until("So be it.");
    // Now somebody else waits: first it is looked at.
    terminal.press("a");
    terminal.until("“Careful” waits for you");
    assert!(call_waits());
    terminal.press("d");
    terminal.until("y deny");
    terminal.press("n");
    terminal.until("q quit");
    assert!(call_waits());
    terminal.press("a");
    terminal.until("y allow");
    for line in ["printf '␛[2J' > /dev/null", "ls -a | wc -l", "# the end"] {
        terminal.until(line);
    }
    assert!(call_waits());
    terminal.press("y");
    terminal.until("It was counted.");
    assert!(!call_waits());
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn keys_with_control_are_no_letters() {
    let user = quiet();
    let mut terminal = Terminal::open(&user, 80, 24);
    terminal.until("repo");
    // None of them is the letter, and Ctrl-S is not `s`.
    terminal.press("\x01\x04\x13\x11\r");
    terminal.press("nonsense\x15Hello nobody\x17\x01world\r");
    terminal.until("you: Hello world");
    terminal.until("Noted.");
    terminal.press("\x03");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn what_is_pasted_is_text_and_no_command() {
    let user = quiet();
    let mut terminal = Terminal::open(&user, 80, 24);
    terminal.until("repo");
    terminal.paste("q\rq\r");
    terminal.press("\r");
    terminal.paste("First line\rsecond line\r");
    terminal.press("\r");
    terminal.until("you: First line second line");
    assert!(user.run(&["logs", "--json"]).1.contains(r"First line\nsecond line"));
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn a_message_goes_to_nobody_else() {
    let user = quiet();
    assert_eq!(user.run(&["task", "create", "Doomed"]).0, 0);
    let mut terminal = Terminal::open(&user, 80, 24);
    terminal.until("Doomed");
    terminal.press("j\rOnly for you");
    terminal.until("Only for you▏");
    assert_eq!(user.run(&["delete", "Doomed"]).0, 0);
    terminal.until("the chosen task is gone");
    terminal.press("\r");
    terminal.until("“Doomed” is gone");
    terminal.until("message to “Doomed” › Only for you▏");
    // The words can be given to somebody else, but only on purpose.
    terminal.press("\x1b");
    terminal.until("q quit");
    assert!(!user.run(&["logs"]).1.contains("Only for you"));
    terminal.press("\r\r");
    terminal.until("you: Only for you");
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn words_outlive_the_daemon() {
    let user = quiet();
    let mut terminal = Terminal::open(&user, 80, 24);
    terminal.until("repo");
    signal_daemon(&user, Signal::KILL);
    terminal.until("looking for it");
    terminal.press("\rDo not lose me\r");
    terminal.until("nobody answers there");
    terminal.until("› Do not lose me▏");
    let mut daemon = user.command(&["serve", "--port", "0"]);
    daemon.env("STAGE_KEY", "a key of the stage").stdout(Stdio::null()).stderr(Stdio::null());
    let _daemon = Running(daemon.spawn().unwrap());
    terminal.until("back");
    terminal.press("\r");
    terminal.until("Noted.");
    assert_eq!(user.run(&["logs"]).1.matches("you: Do not lose me").count(), 1);
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn a_daemon_that_does_not_answer_holds_nobody() {
    let user = quiet();
    let mut terminal = Terminal::open(&user, 80, 24);
    terminal.until("created: repo");
    signal_daemon(&user, Signal::STOP);
    terminal.press("s\rstill alive");
    terminal.until("still alive▏");
    terminal.press("\x03");
    // What was asked may not have arrived, and that is said.
    assert_eq!(terminal.ended(), Some(1));
}

#[test]
fn whoever_leaves_at_once_has_still_said_it() {
    let user = quiet();
    let mut terminal = Terminal::open(&user, 80, 24);
    terminal.until("created: repo");
    terminal.press("\rLast words\rq");
    assert_eq!(terminal.ended(), Some(0));
    assert!(user.run(&["logs"]).1.contains("you: Last words"));
}

#[test]
fn the_end_of_a_long_line_stays_in_sight() {
    let user = quiet();
    let mut terminal = Terminal::open(&user, 40, 12);
    terminal.until("q quit");
    terminal.press("\r");
    terminal.press(&"日本語 ".repeat(30));
    terminal.press("the end");
    terminal.until("語 the end▏");
    terminal.press("\x03");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn a_view_that_is_told_to_end_gives_the_terminal_back() {
    let user = quiet();
    for signal in [Signal::TERM, Signal::HUP] {
        let mut terminal = Terminal::open(&user, 80, 24);
        terminal.until("repo");
        terminal.signal(signal);
        assert_eq!(terminal.ended(), Some(0));
    }
}
