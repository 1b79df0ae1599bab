//! What the helper processes do.

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

use mxd_store::{Draft, Log, Options};

/// Small segments, so that closing and packing happen all the time.
fn options() -> Options {
    Options { segment_bytes: 40_000, ..Options::default() }
}

/// A commit of one event.
fn note(text: &str) -> Draft {
    Draft::of(1, [format!(r#"{{"task":"T1","type":"note","text":"{text}"}}"#).as_str()]).unwrap()
}

/// Appends from several threads until somebody kills us; says `<seq> <text>` for every acknowledged commit.
pub(crate) fn hammer(dir: &Path, nonce: &str) -> ExitCode {
    let log = Log::open(dir, options(), &mut ()).unwrap();
    let filler = "x".repeat(300);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (log, filler) = (&log, &filler);
            scope.spawn(move || {
                for count in 0.. {
                    let text = format!("{nonce}-{thread}-{count}-{filler}");
                    let seq = log.append(note(&text)).unwrap();
                    writeln!(std::io::stdout().lock(), "{seq} {text}").unwrap();
                }
            });
        }
    });
    ExitCode::SUCCESS
}

/// Opens the log, then appends once for every line on standard input; says `opened`, `ok <seq>` or what went wrong.
pub(crate) fn append_on_request(dir: &Path) -> ExitCode {
    let log = match Log::open(dir, options(), &mut ()) {
        Ok(log) => log,
        Err(error) => {
            say(&format!("{error}; {}", error.hint()));
            return ExitCode::FAILURE;
        }
    };
    say("opened");
    for line in std::io::stdin().lock().lines() {
        match log.append(note(&line.unwrap())) {
            Ok(seq) => say(&format!("ok {seq}")),
            Err(error) => say(&format!("{error}; {}", error.hint())),
        }
    }
    ExitCode::SUCCESS
}

/// Appends more than one write may carry, without blocking, and then reads all of it back; says how much there is.
pub(crate) fn append_much(dir: &Path) -> ExitCode {
    let log = Log::open(dir, options(), &mut ()).unwrap();
    let body = "x".repeat(3_900_000);
    let tickets: Vec<_> = (0..6).map(|_| log.submit(note(&body)).unwrap()).collect();
    let answers = log.append_all((0..6).map(|_| note(&body))).unwrap();
    assert!(tickets.into_iter().all(|ticket| ticket.wait().is_ok()) && answers.iter().all(Result::is_ok));
    drop(log);
    let log = Log::open(dir, options(), &mut ()).unwrap();
    say(&format!("{} of {}", log.report().scanned, *log.head().borrow()));
    ExitCode::SUCCESS
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
}
