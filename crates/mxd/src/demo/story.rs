//! The story of the demo: what each of its seven agents says and does.
//!
//! Only the words of the model are written here. Every edit, every commit, every test, the conflict and its resolution
//! are real work of the daemon in real worktrees.

use serde_json::{Value, json};

use super::Pace;

/// What the user asks for.
pub(super) const GOAL: &str = "Please add sums per month and per category, refuse lines that are no expenses, accept \
                               the amounts people really write, and describe it all in the README.";
/// What the user answers, unless somebody else does on the page.
pub(super) const ANSWER: &str = "Both: 12.50 and 12,50 mean the same.";
/// What stands around an answer in a conversation, whatever it says.
const ANSWERED: &str = "<clarify_response";
/// The commit that resolves the conflict.
pub(super) const RESOLVING: &str = "Sums per category, beside those per month";
/// The tasks, below the root.
pub(super) const TASKS: &[&str] =
    &["Reports", "Sums per month", "Sums per category", "Input", "Refuse what is no expense", "Describe it"];

const MONTH_DONE: &str = "`tally.sh month` works and is tested.";
const CATEGORY_DONE: &str = "`tally.sh category` works and is tested.";
const RESOLVED: &str = "The conflict is resolved: both reports work.";
const REPORTS_DONE: &str = "Both reports are in, each with its test.";
const REFUSE_DONE: &str = "Lines that are no expenses are refused, with their number.";
const INPUT_DONE: &str = "12.50 and 12,50 mean the same; what is no expense is refused.";
const GUIDE_DONE: &str = "The README describes it.";

const TEST: &str = "sh tests/run.sh";
/// Where a report is put in. It is not there twice: the same edit made again finds nothing to change.
const PLACE: &str = "{ printf \"%.2f\\n\", sum }'\n    ;;\n";
const USAGE: &str = "  *) usage ;;\n";
const CREATED: &str = "Created the task (?<first>[0-9A-Z]{26})";
const CREATED_TWO: &str =
    "(?s)Created the task (?<first>[0-9A-Z]{26}).*Created the task (?<second>[0-9A-Z]{26})";
const CREATED_THREE: &str = "(?s)Created the task (?<first>[0-9A-Z]{26}).*Created the task (?<second>[0-9A-Z]{26})\
                             .*Created the task (?<third>[0-9A-Z]{26})";

/// The script of the model. It resumes: what it is asked again, it answers again in the same words.
pub(super) fn script(pace: Pace) -> Value {
    let conversations = [
        ("tally", root()),
        ("Reports", reports()),
        ("Sums per month", month()),
        ("Sums per category", category()),
        ("Input", input()),
        ("Refuse what is no expense", refuse()),
        ("Describe it", guide()),
    ];
    let told: Vec<Value> = conversations
        .iter()
        .map(|(title, turns)| {
            let turns: Vec<Value> = turns.iter().map(|turn| turn.told(pace)).collect();
            json!({ "first_message": { "contains": format!("Title: {title}\n") }, "turns": turns })
        })
        .collect();
    json!({
        "description": "Seven agents on three levels make a small program better.",
        "resumes": true,
        "caches": true,
        "conversations": told,
        "default_reply": ending(),
    })
}

/// What anybody hears who writes to an agent whose part is over, or makes a task of their own.
fn ending() -> Value {
    let text = "My part of the demo ends here. With a real model I would go on from your words.";
    let input = json!({ "status": "passed", "summary": "Read. The script of the demo has no more to say." });
    json!({ "blocks": [{ "text": text }, { "tool_call": { "name": "mcp__mxd__done", "input": input } }] })
}

/// One answer of the model.
#[derive(Debug, Clone)]
struct Turn {
    says: &'static str,
    calls: Vec<(&'static str, Value)>,
    catches: Option<&'static str>,
    /// When it has what it wanted; until then it says the same again.
    until: Option<Value>,
}

/// A turn with tools. Those whose outcome nobody knows, because the daemon died under them, are called again.
fn turn(says: &'static str, calls: Vec<(&'static str, Value)>) -> Turn {
    let until = json!({ "added": { "not_contains": "outcome is unknown" } });
    Turn { says, calls, catches: None, until: Some(until) }
}

/// Waits until all of this was read.
fn wait(words: &[&str]) -> Turn {
    let until = json!({ "ever": { "contains": words } });
    Turn { says: "", calls: vec![("yield", json!({}))], catches: None, until: Some(until) }
}

fn done(summary: &str) -> Turn {
    let call = ("done", json!({ "status": "passed", "summary": summary }));
    Turn { says: "", calls: vec![call], catches: None, until: None }
}

impl Turn {
    fn catching(mut self, pattern: &'static str) -> Self {
        self.catches = Some(pattern);
        self
    }

    /// The turn as a script has it, at a pace that people can follow.
    fn told(&self, pace: Pace) -> Value {
        let mut blocks = Vec::new();
        if !self.says.is_empty() {
            blocks.push(json!({ "text": self.says }));
        }
        let call = |(name, input): &(&str, Value)| json!({ "tool_call": { "name": format!("mcp__mxd__{name}"), "input": input } });
        blocks.extend(self.calls.iter().map(call));
        let mut told = json!({ "reply": { "blocks": blocks } });
        if let Some(pattern) = self.catches {
            told["capture"] = json!([pattern]);
        }
        if let Some(until) = &self.until {
            told["until"] = until.clone();
        }
        if pace == Pace::Calm {
            told["delay_ms"] = json!(500);
            told["chunk_delay_ms"] = json!(60);
        }
        told
    }
}

fn create(title: &str, description: &str) -> (&'static str, Value) {
    ("create_task", json!({ "title": title, "description": description, "checks": [TEST] }))
}

fn start(task: &str) -> (&'static str, Value) {
    ("send_message", json!({ "taskId": task, "title": "go", "message": "Please begin; tests first." }))
}

fn merge(task: &str) -> (&'static str, Value) {
    ("merge_task", json!({ "taskId": task }))
}

fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({ "command": command }))
}

fn file(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": content }))
}

fn edit(old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({ "path": "tally.sh", "old_string": old, "new_string": new }))
}

/// Tests and commits. What is committed already is not committed again, so it can be asked for twice.
fn commit(message: &str) -> Turn {
    let command = format!(
        "{TEST} && git add -A && (git diff --cached --quiet || git commit -q -m '{message}') && git log --oneline -1"
    );
    turn("The tests decide.", vec![bash(&command)])
}

fn root() -> Vec<Turn> {
    vec![
        turn(
            "Three parts that can be done at the same time: the reports, what comes in, and the description. I hand \
             each to a task of its own, with the tests as its check.",
            vec![
                create(
                    "Reports",
                    "Sums per month and per category, each with a test. Both belong into tally.sh.",
                ),
                create(
                    "Input",
                    "Accept amounts as people write them, and refuse lines that are no expenses.",
                ),
                create("Describe it", "README.md: every report, the form of a line, what is refused."),
            ],
        ),
        turn("All three can start.", vec![start("$first"), start("$second"), start("$third")])
            .catching(CREATED_THREE),
        wait(&[REPORTS_DONE, INPUT_DONE, GUIDE_DONE]),
        turn("All parts are done. First the reports.", vec![merge("$first")]),
        turn("Now what comes in.", vec![merge("$second")]),
        turn("And the description.", vec![merge("$third")]),
        done(
            "Sums per month and per category, comma and point, bad lines refused, all described and tested.",
        ),
    ]
}

fn reports() -> Vec<Turn> {
    vec![
        turn(
            "Two reports that do not need each other: two tasks.",
            vec![
                create("Sums per month", "`tally.sh month` prints one sum per month, sorted. With a test."),
                create(
                    "Sums per category",
                    "`tally.sh category` prints one sum per category, sorted. With a test.",
                ),
            ],
        ),
        turn("", vec![start("$first"), start("$second")]).catching(CREATED_TWO),
        wait(&[MONTH_DONE, CATEGORY_DONE]),
        turn("Both are done; I merge the first.", vec![merge("$first")]),
        turn("And the second.", vec![merge("$second")]),
        turn(
            "Both changed the same place. The second one's owner knows best what it meant: it gets the conflict.",
            vec![(
                "send_message",
                json!({
                    "taskId": "$second", "title": "conflict",
                    "message": "Your branch and the sums per month change the same lines. Keep both reports, please."
                }),
            )],
        ),
        wait(&[RESOLVED]),
        turn("Again.", vec![merge("$second")]),
        turn("", vec![bash(TEST)]),
        done(REPORTS_DONE),
    ]
}

fn report(name: &str, block: &str, test: &str) -> Turn {
    turn(
        "A test that fails first, then the report.",
        vec![
            file(&format!("tests/{name}.test.sh"), test),
            edit(&format!("{PLACE}{USAGE}"), &format!("{PLACE}{block}{USAGE}")),
        ],
    )
}

fn month() -> Vec<Turn> {
    vec![
        report("month", include_str!("files/month.txt"), include_str!("files/month.test.sh")),
        commit("Sums per month"),
        done(MONTH_DONE),
    ]
}

fn category() -> Vec<Turn> {
    let both = format!("{}{}", include_str!("files/month.txt"), include_str!("files/category.txt"));
    let whole = include_str!("files/tally.sh").replace(USAGE, &format!("{both}{USAGE}"));
    let above =
        "git merge -q \"$(git for-each-ref --format='%(refname:short)' 'refs/heads/mxd/*/reports')\" || true";
    vec![
        report("category", include_str!("files/category.txt"), include_str!("files/category.test.sh")),
        commit("Sums per category"),
        done(CATEGORY_DONE),
        turn(
            "I take the other change in and look at the conflict.",
            vec![bash(&format!("{above}; git diff --name-only"))],
        ),
        turn("", vec![("read_file", json!({ "path": "tally.sh" }))]),
        turn("Both reports stay, one after the other.", vec![file("tally.sh", &whole)]),
        commit(RESOLVING),
        done(RESOLVED),
    ]
}

fn input() -> Vec<Turn> {
    let comma = "  sed 's/,\\([0-9]*\\)$/.\\1/' \"$file\"\n";
    vec![
        turn(
            "How people write amounts is not for me to guess. I ask, and go on with the rest meanwhile.",
            vec![
                (
                    "clarify",
                    json!({ "question": "Are amounts written 12.50, 12,50, or both?\nBoth is easy if nobody writes thousands with a comma; I would take both." }),
                ),
                create(
                    "Refuse what is no expense",
                    "A line without date, category and amount ends tally with its number.",
                ),
            ],
        ),
        turn("", vec![start("$first")]).catching(CREATED),
        wait(&[ANSWERED, REFUSE_DONE]),
        turn("The answer is there, and the other half is done.", vec![merge("$first")]),
        turn(
            "Both forms, then.",
            vec![
                file("tests/comma.test.sh", include_str!("files/comma.test.sh")),
                edit("  cat \"$file\"\n", comma),
            ],
        ),
        commit("Amounts with a comma"),
        done(INPUT_DONE),
    ]
}

fn refuse() -> Vec<Turn> {
    let (place, lines) = ("cannot read $file\" >&2; exit 1; }\n", "\nlines() {\n");
    vec![
        turn(
            "A test with a line that is no expense, and the check before anything is summed up.",
            vec![
                file("tests/refuse.test.sh", include_str!("files/refuse.test.sh")),
                edit(
                    &format!("{place}{lines}"),
                    &format!("{place}{}{lines}", include_str!("files/refuse.txt")),
                ),
            ],
        ),
        commit("Refuse what is no expense"),
        done(REFUSE_DONE),
    ]
}

fn guide() -> Vec<Turn> {
    vec![
        turn("", vec![file("README.md", include_str!("files/guide.md"))]),
        commit("Describe every report"),
        done(GUIDE_DONE),
    ]
}
