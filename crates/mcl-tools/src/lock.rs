//! `lock` and `diff`: what a person has accepted, and what is different now.

use std::fmt::Write as _;

use futures_util::future::join_all;
use mxd_core::manifest::{
    AgentManifest, Comparison, Discovered, Finding, LockFile, LockedServer, Report, ServerSpec,
};
use mxd_tools::builtin;
use serde_json::{Value, json};

use crate::answer::{Answer, Failure, Trouble, Warning};
use crate::cli::{Common, LiveArgs, Lock};
use crate::live::{World, wait_for};
use crate::{files, inspect, show};

/// What a server offers now.
struct Seen<'a> {
    server: &'a ServerSpec,
    discovered: Discovered,
    report: Report,
}

/// Asks all servers, and forgets the built-in one: its definitions are those of the program.
async fn seen<'a>(manifest: &'a AgentManifest, world: &World) -> Vec<Result<Seen<'a>, Trouble>> {
    let ask = |server: &'a ServerSpec| async move {
        let connection = world.connect(server).await?;
        let (discovered, report) = (connection.discovered(), connection.report());
        connection.close().await;
        Ok(Seen { server, discovered: (*discovered).clone(), report: (*report).clone() })
    };
    let foreign = manifest.servers.iter().filter(|server| !builtin::is_built_in(server));
    join_all(foreign.map(ask)).await
}

/// What was accepted, and what is there.
struct Looked<'a> {
    all: Vec<Seen<'a>>,
    lock: Option<LockFile>,
    problems: Vec<Trouble>,
}

fn looked_at<'a>(
    common: &Common,
    with: &LiveArgs,
    manifest: &'a AgentManifest,
) -> Result<Looked<'a>, Failure> {
    wait_for(async {
        let world = World::open(common, with).await?;
        let (mut all, mut problems) = (Vec::new(), Vec::new());
        for one in seen(manifest, &world).await {
            match one {
                Ok(seen) => all.push(seen),
                Err(problem) => problems.push(problem),
            }
        }
        Ok(Looked { all, lock: world.lock, problems })
    })
}

/// The differences of all servers, for people and for programs.
fn differences(all: &[Seen<'_>]) -> (String, Vec<Value>) {
    let mut text = String::new();
    for Seen { server, report, discovered } in all {
        match report.comparison() {
            Comparison::Same => {
                let _ = writeln!(text, "{}: as declared and accepted", server.name);
            }
            Comparison::Unaccepted | Comparison::Drift => {
                let _ = writeln!(text, "{}:\n{}", server.name, show::text(report, discovered).trim_end());
            }
        }
    }
    (text, all.iter().map(|seen| show::value(&seen.report, &seen.discovered)).collect())
}

pub(crate) fn diff(common: &Common, with: &LiveArgs) -> Result<Answer, Failure> {
    let manifest = files::manifest(&common.manifest, common.placeholders())?;
    let Looked { all, lock, mut problems } = looked_at(common, with, &manifest)?;
    let (mut text, servers) = differences(&all);
    problems.extend(all.iter().flat_map(|seen| show::troubles(&seen.report)));
    let gone = gone(lock.as_ref(), &manifest);
    for server in &gone {
        let _ = writeln!(text, "{server}: accepted, but no longer in the manifest");
    }
    let result = json!({ "servers": servers, "no_longer_declared": gone });
    Ok(Answer { result, text, warnings: inspect::warnings(&manifest), problems })
}

/// Servers that were accepted and that the manifest has no longer.
fn gone(lock: Option<&LockFile>, manifest: &AgentManifest) -> Vec<String> {
    let locked = lock.iter().flat_map(|lock| lock.servers.keys());
    locked.filter(|name| manifest.server(name).is_none()).map(ToString::to_string).collect()
}

pub(crate) fn lock(common: &Common, args: &Lock) -> Result<Answer, Failure> {
    let manifest = files::manifest(&common.manifest, common.placeholders())?;
    let Looked { all, lock: before, mut problems } = looked_at(common, &args.with, &manifest)?;
    let (text, servers) = differences(&all);
    // What contradicts the manifest cannot be accepted; what merely is new or other can.
    let contradictions = all.iter().map(|seen| Report {
        server: seen.report.server.clone(),
        findings: seen.report.findings.iter().filter(|one| contradicts(one)).cloned().collect(),
    });
    problems.extend(contradictions.flat_map(|report| show::troubles(&report)));
    // Also a server or a tool that was not there before: whoever accepted the others has not seen it.
    let is_change = |seen: &Seen<'_>| seen.report.comparison() != Comparison::Same;
    if problems.is_empty() && !args.accept && before.is_some() && all.iter().any(is_change) {
        problems.extend(all.iter().flat_map(|seen| show::troubles(&seen.report)));
    }
    let mut answer = Answer { text, warnings: inspect::warnings(&manifest), problems, ..Answer::default() };
    let path = common.lock();
    let is_written = answer.problems.is_empty();
    if is_written {
        let accepted = |seen: &Seen<'_>| {
            let before = before.as_ref().and_then(|lock| lock.servers.get(&seen.server.name));
            (seen.server.name.clone(), LockedServer::accept(seen.server, &seen.discovered, before))
        };
        let lock = LockFile { servers: all.iter().map(accepted).collect() };
        files::write(&path, lock.to_string())?;
        let offer = if all.len() == 1 { "1 server offers" } else { &format!("{} servers offer", all.len()) };
        let _ = writeln!(answer.text, "What {offer} is written to {}.", path.display());
    } else {
        answer.warnings.push(Warning::look(
            format!("{} is as it was", path.display()),
            "Nothing is accepted while there are problems.",
        ));
    }
    answer.result = json!({ "lock_file": path, "written": is_written, "servers": servers });
    Ok(answer)
}

fn contradicts(finding: &Finding) -> bool {
    match finding {
        Finding::Missing { .. }
        | Finding::Unexpected { .. }
        | Finding::Unreadable { .. }
        | Finding::TooMany { .. }
        | Finding::Repeated { .. } => true,
        Finding::ServerNotLocked
        | Finding::OtherIdentity { .. }
        | Finding::OtherPackage { .. }
        | Finding::ToolNotLocked { .. }
        | Finding::Drift { .. } => false,
    }
}
