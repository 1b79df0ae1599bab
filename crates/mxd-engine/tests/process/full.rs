//! A disk that is full for a while.

use std::process::Command;

use mxd_store::disk::OsDisk;
use mxd_store::verify;
use rehearse::{Rehearsal, Script, Wire};
use serde_json::json;
use tempfile::TempDir;

use crate::ground::repository::{make_repository, write_settings};
use crate::life::DONE;

/// Messages come until the disk takes no more. That is told; what was going on is taken up from what is written, and the
/// work ends when there is room again.
pub(crate) fn disk() {
    let ground = TempDir::new().unwrap();
    let path = ground.path();
    make_repository(&path.join("repo"));
    let calls =
        |name: &str, input| json!({ "tool_call": { "name": format!("mcp__mxd__{name}"), "input": input } });
    let waits = json!({
        "reply": { "blocks": [calls("yield", json!({}))] }, "until": { "ever": { "contains": "Finish now." } },
    });
    let done = calls("done", json!({ "status": "passed", "summary": "There is room." }));
    let turns = json!([waits, { "reply": { "blocks": [done] } }]);
    let script = json!({ "resumes": true, "conversations": [{ "turns": turns }] }).to_string();
    let model = Rehearsal::start(Script::parse("full.json", &script).unwrap()).unwrap();
    write_settings(path, &model.base_url(Wire::Anthropic), json!({}));
    // Without this the kernel ends a program whose file grows too large instead of telling it.
    let mut command = Command::new("bash");
    command.args(["-c", "trap '' XFSZ; exec \"$@\"", "limited"]).arg(std::env::current_exe().unwrap());
    let output = command.arg("live-through-a-full-disk").arg(path).output().unwrap();
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.ends_with(&format!("{DONE}\n")), "{said}\n{wrong}");
    assert!(said.contains("free some space"), "{said}");
    model.finish().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(verify(&OsDisk, &path.join("data/project/log")).unwrap().problems, []);
}
