//! Servers that misbehave: each is contained, told by its name, and keeps nobody else from answering.

use futures_util::StreamExt as _;
use mxd_tools::mcp::Status;
use mxd_tools::plane::Registry;
use mxd_tools::sandbox::Mode;

use super::scene::{Ground, echo, locked, name, odd, patience, unlocked, within, words};

/// What has to come of a server.
enum Must {
    /// It is not used, and this is told.
    NotBeUsed(&'static str),
    /// It is used, but its tools are not taken, and this is told.
    HaveNoTool(&'static str),
    /// Its first call fails, and this is told.
    FailTheCall(&'static str),
    /// It works all the same.
    Work,
}

use Must::{FailTheCall, HaveNoTool, NotBeUsed, Work};

/// A kind of server, and what has to come of it.
const KINDS: &[(&str, Must)] = &[
    ("good", Work),
    // The greeting.
    ("exits-at-once", NotBeUsed("cannot find the configuration")),
    ("dies-in-the-greeting", NotBeUsed("it ended with exit code 3; its last words: segmentation what?")),
    ("dies-when-probed", NotBeUsed("it ended with exit code 5")),
    ("silent", NotBeUsed("did not connect within 15000 ms")),
    ("silent-at-first", Work),
    ("modern-starts-late", Work),
    ("noise-first", Work),
    ("only-noise", NotBeUsed("messages that are none or that nobody waits for")),
    ("version-nonsense", NotBeUsed("it greets in version `1999-99-99`")),
    ("greets-with-a-string", NotBeUsed("is not understood: its greeting")),
    ("greets-with-nothing", NotBeUsed("is not understood")),
    ("greets-in-a-batch", NotBeUsed("1 messages made no sense, the last: [{")),
    ("greets-in-latin-1", NotBeUsed("messages made no sense")),
    ("greets-with-nul", NotBeUsed("messages made no sense")),
    ("greets-with-a-giant-line", NotBeUsed("it sent a message of more than 1048576 bytes")),
    ("greets-somebody-else", NotBeUsed("messages made no sense")),
    ("greets-by-string", NotBeUsed("messages made no sense")),
    ("refuses", NotBeUsed("not today (code -32000)")),
    ("modern-other-versions", NotBeUsed("it speaks the versions 2031-01-01")),
    // What it offers.
    ("endless-pages", NotBeUsed("has no end: it has more than 64 pages")),
    ("same-cursor", NotBeUsed("has no end: a page leads back to an earlier one")),
    ("list-of-a-string", NotBeUsed("something that is no result")),
    ("two-lists", NotBeUsed("something that is no result")),
    ("refuses-to-list", NotBeUsed("guess what I have")),
    ("many-tools", NotBeUsed("has no end: it has more than 1024 entries")),
    ("duplicate-tools", NotBeUsed("echo is there 2 times")),
    ("extra-tool", NotBeUsed("rm_rf is not declared")),
    ("no-tools", NotBeUsed("echo is missing")),
    ("escapes-in-names", NotBeUsed("it offers something that is no tool (a definition has a bad name")),
    ("number-for-a-name", NotBeUsed("a definition has no name")),
    ("other-words", NotBeUsed("echo has changed at description")),
    ("deep-schema", NotBeUsed("it offers something that is no tool")),
    ("no-schema", HaveNoTool("there is none")),
    ("bad-schema", HaveNoTool("is no JSON Schema")),
    ("remote-schema", HaveNoTool("is no JSON Schema")),
    ("huge-schema", HaveNoTool("bytes, more than 131072")),
    ("many-words", Work),
    ("injects", Work),
    // Calls.
    ("never-answers", FailTheCall("did not answer within 1000 ms")),
    ("answers-twice", Work),
    ("dies-in-a-call", FailTheCall("it ended with exit code 7; its last words: out of cheese")),
    ("is-killed-in-a-call", FailTheCall("it was ended by signal 6")),
    ("answers-with-garbage", FailTheCall("1 messages made no sense")),
    ("answers-somebody-else", FailTheCall("1 messages made no sense")),
    ("answers-deeply", FailTheCall("something that is no result")),
    ("answers-at-length", FailTheCall("it sent a message of more than 1048576 bytes")),
    ("answers-with-a-number", FailTheCall("42 instead of an object")),
    ("refuses-at-length", FailTheCall("refused: xxx")),
    ("refuses-oddly", FailTheCall("the server does not say why (code 0)")),
    ("promises-a-shape", FailTheCall("structured content that is not as promised: `/n` is a string")),
    ("odd-content", Work),
    ("closes-its-output", FailTheCall("it closed its output")),
    ("closes-its-input", FailTheCall("did not answer within 1000 ms")),
    ("drips", FailTheCall("did not answer within 1000 ms")),
    // What happens beside them.
    ("floods-notices", Work),
    ("floods-changes", Work),
    ("floods-progress", Work),
    ("floods-pings", FailTheCall("the last: ping")),
    ("floods-stderr", Work),
    ("progress-of-others", Work),
    ("asks-models", FailTheCall("it has more than 100 requests open at once")),
    ("asks-people", FailTheCall("it has more than 100 requests open at once")),
    ("asks-with-a-giant-number", Work),
    ("asks-for-roots", Work),
    ("ignores-the-end", Work),
    ("modern-good", Work),
    ("modern-never-satisfied", FailTheCall("asked for input 10 times and still has no result")),
    ("modern-asks-in-vain", FailTheCall("nobody can be asked at the moment")),
    (
        "modern-sends-requests",
        FailTheCall("it sent more than 200 messages that are none or that nobody waits for"),
    ),
    ("modern-task", FailTheCall("a task, which nobody asked for")),
];

/// Kinds whose definitions nobody has accepted: what is odd about them is not that they differ.
const FIRST_SEEN: &[&str] =
    &["no-schema", "bad-schema", "remote-schema", "huge-schema", "injects", "promises-a-shape"];

async fn contained(kind: &str, must: &Must) -> Result<(), String> {
    let ground = Ground::new(Mode::Off).await;
    let odd_one = odd("odd", kind);
    let odd_one = if FIRST_SEEN.contains(&kind) { unlocked(odd_one) } else { locked(odd_one) };
    let servers = ground.connect(vec![locked(odd("good", "good")), odd_one]).await;
    let status = servers.status(&name("odd")).unwrap();
    let told = match must {
        NotBeUsed(_) => {
            let refused = match echo(&servers, "odd", "hi").await {
                Ok(said) => return Err(format!("it answered {said}")),
                Err(refused) => refused.to_string(),
            };
            if !refused.contains("the server odd") {
                return Err(format!("the refusal does not name it: {refused}"));
            }
            words(&status)
        }
        HaveNoTool(_) => {
            let mut registry = Registry::default();
            let failed = servers.register(&mut registry);
            if registry.specs().len() != 1 {
                return Err("its tool was taken".to_owned());
            }
            failed.iter().map(ToString::to_string).collect()
        }
        FailTheCall(_) | Work if status != Status::Ready => {
            return Err(format!("not ready: {}", words(&status)));
        }
        FailTheCall(expected) => match within(&servers, "odd", "hi", patience(expected)).await {
            Ok(said) => return Err(format!("it answered {said}")),
            Err(error) if !error.to_string().contains("the server odd") => {
                return Err(format!("the error does not name it: {error}"));
            }
            Err(error) => error.to_string(),
        },
        Work => match echo(&servers, "odd", "hi").await {
            // Once more, so that what it does after the first answer has come to something, too.
            Ok(said) if said.contains("hi") || kind == "odd-content" => {
                echo(&servers, "odd", "hi").await.map_err(|error| format!("not a second time: {error}"))?
            }
            other => return Err(format!("it did not answer: {other:?}")),
        },
    };
    let (NotBeUsed(expected) | HaveNoTool(expected) | FailTheCall(expected)) = must else {
        return after(&servers).await;
    };
    if !told.contains(expected) || told.len() > 8_000 {
        return Err(format!("told is: {told}"));
    }
    after(&servers).await
}

/// The other server answers, and all of them can be closed.
async fn after(servers: &mxd_tools::mcp::Servers) -> Result<(), String> {
    let said = echo(servers, "good", "still here").await.map_err(|error| error.to_string())?;
    servers.close().await;
    if said == "still here" { Ok(()) } else { Err(format!("the other one said {said}")) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_hostile_server_is_contained_and_named() {
    let cases = futures_util::stream::iter(KINDS)
        .map(|(kind, must)| async move { (*kind, contained(kind, must).await) })
        .buffer_unordered(8);
    let failed: Vec<String> = cases
        .filter_map(|(kind, outcome)| async move { outcome.err().map(|why| format!("{kind}: {why}")) })
        .collect()
        .await;
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}
