//! `verify`: is a manifest what it should be, and are its servers?

use std::fmt::Write as _;

use futures_util::future::join_all;
use mxd_core::manifest::{AgentManifest, Comparison, DigestState, Finding, Report, ServerSpec, Transport};
use mxd_tools::builtin;
use mxd_tools::mcp::Connection;
use serde_json::{Value, json};

use crate::answer::{Answer, BAD, Failure, GOOD, Trouble, WEAK, Warning};
use crate::cli::{Common, LiveArgs, Verify};
use crate::code::Code;
use crate::live::{World, wait_for};
use crate::{files, inspect, show, sign};

pub(crate) fn run(common: &Common, verify: &Verify) -> Result<Answer, Failure> {
    let manifest = files::manifest(&common.manifest, common.placeholders())?;
    let signer = sign::checked(common, &manifest, &verify.signer)?;
    let lock = files::lock(&common.lock())?;
    let mut answer = Answer { warnings: inspect::warnings(&manifest), ..Answer::default() };
    let signed = signer.map_or_else(|| "nobody".to_owned(), |signer| signer.to_string());
    let line = format!(
        "agent={} schema=1 servers={} native={} address=sha256:{} signed-by={signed}\n",
        manifest.agent,
        manifest.servers.len(),
        manifest.native_tools.len(),
        manifest.address(),
    );
    answer.result = json!({
        "agent": manifest.agent,
        "schema_version": 1,
        "address": format!("sha256:{}", manifest.address()),
        "allowed_side_effects": manifest.allowed,
        "servers": manifest.servers.iter().map(inspect::server).collect::<Vec<_>>(),
        "native_tools": manifest.native_tools.len(),
        "signer": signer,
        "lock_file": lock.is_some().then(|| common.lock()),
    });
    if verify.live {
        live(common, &verify.with, (&manifest, &mut answer))?;
    }
    let word = if answer.problems.is_empty() { "ok" } else { "bad" };
    answer.text.insert_str(0, &format!("{word}: {line}"));
    Ok(answer)
}

/// What a server turned out to be.
struct Found {
    state: &'static str,
    report: Value,
    warnings: Vec<Warning>,
    problems: Vec<Trouble>,
}

fn live(
    common: &Common,
    with: &LiveArgs,
    (manifest, answer): (&AgentManifest, &mut Answer),
) -> Result<(), Failure> {
    let all = wait_for(async {
        let world = World::open(common, with).await?;
        Ok(join_all(manifest.servers.iter().map(|server| look(server, &world))).await)
    })?;
    let mut servers = Vec::new();
    for (server, found) in manifest.servers.iter().zip(all) {
        let (style, word) = match (found.problems.is_empty(), found.warnings.is_empty()) {
            (true, true) => (GOOD, "ok"),
            (true, false) => (WEAK, "weak"),
            (false, _) => (BAD, "bad"),
        };
        let (name, tools) = (&server.name, inspect::counted(server.declared().len(), "tool"));
        let _ = writeln!(answer.text, "{style}{word:>5}{style:#}  {name:<12} {tools}, {}", found.state);
        let problems: Vec<&str> = found.problems.iter().map(|one| one.message.as_str()).collect();
        servers.push(json!({
            "alias": name,
            "state": found.state,
            "problems": problems,
            "report": found.report,
        }));
        answer.warnings.extend(found.warnings);
        answer.problems.extend(found.problems);
    }
    answer.result["live"] = servers.into();
    Ok(())
}

async fn look(server: &ServerSpec, world: &World) -> Found {
    if builtin::is_built_in(server) {
        return built_in(server, world);
    }
    match world.connect(server).await {
        Ok(connection) => {
            let found = offered(server, world, &connection);
            connection.close().await;
            found
        }
        Err(problem) => {
            let state = match problem.code {
                Code::Digest => "another package",
                _ => "not connected",
            };
            Found { state, report: Value::Null, warnings: Vec::new(), problems: vec![problem] }
        }
    }
}

fn built_in(server: &ServerSpec, world: &World) -> Found {
    let misfits = builtin::misfits(server, world.packages.placeholders);
    let problems: Vec<Trouble> = misfits.iter().map(misfit).collect();
    let state = if problems.is_empty() { "built in" } else { "not as it is built in" };
    Found { state, report: Value::Null, warnings: Vec::new(), problems }
}

/// What is wrong with built-in tools in a manifest.
pub(crate) fn misfit(misfit: &builtin::Misfit) -> Trouble {
    let code = match misfit {
        builtin::Misfit::Digest { .. } | builtin::Misfit::Version { .. } => Code::Digest,
        _ => Code::Drift,
    };
    let what = format!("the server mxd: {misfit}");
    Trouble::new(code, what, misfit.hint()).of_server(builtin::SERVER)
}

/// The differences to what is declared; where there is no lock file, nobody has begun to accept anything.
fn without_lock(report: &Report) -> Report {
    let is_declared = |finding: &&Finding| **finding != Finding::ServerNotLocked;
    let findings = report.findings.iter().filter(is_declared).cloned().collect();
    Report { server: report.server.clone(), findings }
}

fn offered(server: &ServerSpec, world: &World, connection: &Connection) -> Found {
    let report = connection.report();
    let mut warnings = Vec::new();
    let is_remote = !matches!(server.transport, Transport::Stdio(_));
    let is_real = server.package.as_ref().is_some_and(|one| one.digest.state() == DigestState::Real);
    if is_remote && is_real {
        warnings.push(Warning::look(
            format!("the server {} runs elsewhere: nobody can verify its package", server.name),
            "Rely on its lock: what it offers is held to what was accepted.",
        ));
    }
    let (state, problems) = match (report.comparison(), &world.lock) {
        (Comparison::Same, _) => ("as declared and accepted", Vec::new()),
        (Comparison::Unaccepted, None) => {
            warnings.push(Warning::look(
                format!("the server {}: nobody has accepted the definitions of its tools", server.name),
                "Look at them, and run `mcl-tools lock`.",
            ));
            ("as declared, not accepted", Vec::new())
        }
        (Comparison::Unaccepted, Some(_)) => ("not accepted", show::troubles(&report)),
        (Comparison::Drift, Some(_)) => ("something else", show::troubles(&report)),
        (Comparison::Drift, None) => ("something else", show::troubles(&without_lock(&report))),
    };
    Found { state, report: show::value(&report, &connection.discovered()), warnings, problems }
}
