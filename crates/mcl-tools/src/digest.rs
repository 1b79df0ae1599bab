//! `digest`: which digests packages have, and writing them into a manifest.

use std::fmt::Write as _;
use std::path::Path;

use mxd_core::json::{self, Kind, Node};
use mxd_core::manifest::{AgentManifest, Package, Placeholders, Program, ServerSpec, Transport, limits};
use mxd_core::tool::Digest;
use mxd_tools::builtin;
use mxd_tools::package::{Measured, PackageError, Packages, definitions_digest, is_companion};
use serde_json::{Value, json};

use crate::answer::{Answer, BAD, Failure, GOOD, Trouble, WEAK, Warning};
use crate::cli::{self, Common, LiveArgs};
use crate::code::Code;
use crate::live::{self, World, package_code, wait_for};
use crate::progress::Progress;
use crate::{files, inspect};

pub(crate) fn run(common: &Common, args: &cli::Digest) -> Result<Answer, Failure> {
    let packages = live::to_measure(common, &args.with)?;
    let wrong = |error: PackageError| Trouble::new(package_code(&error), &error, error.hint());
    match (&args.path, args.command.split_first()) {
        (Some(path), _) => {
            let start = std::env::current_dir().unwrap_or_default();
            Ok(one(&packages.measure_path(&start.join(path)).map_err(wrong)?))
        }
        (None, Some((command, words))) => {
            let program = Program { command: command.clone(), args: words.to_vec(), env: Vec::new() };
            Ok(one(&packages.measure(&program).map_err(wrong)?))
        }
        (None, None) => of_manifest(common, args, &packages),
    }
}

fn one(measured: &Measured) -> Answer {
    let Measured { digest, kind, files, version } = measured;
    let of_version = version.as_ref().map_or_else(String::new, |version| format!(", version {version}"));
    let text = format!("sha256:{digest}\t{kind}, {files} files{of_version}\n");
    let digest = format!("sha256:{digest}");
    let result = json!({ "digest": digest, "kind": kind.name(), "files": files, "version": version });
    Answer { result, text, ..Answer::default() }
}

/// What a server's digest would be.
struct Row<'a> {
    server: &'a ServerSpec,
    found: Result<Found, Trouble>,
}

enum Found {
    Package(Measured),
    Definitions(Digest),
    Elsewhere,
}

impl Found {
    fn digest(&self) -> Option<Digest> {
        match self {
            Self::Package(measured) => Some(measured.digest),
            Self::Definitions(digest) => Some(*digest),
            Self::Elsewhere => None,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Package(measured) => measured.kind.name(),
            Self::Definitions(_) => "definitions",
            Self::Elsewhere => "elsewhere",
        }
    }
}

fn of_manifest(common: &Common, args: &cli::Digest, packages: &Packages) -> Result<Answer, Failure> {
    let manifest = files::manifest(&common.manifest, Placeholders::Allow)?;
    let mut answer = Answer::default();
    let mut rows = Vec::new();
    for server in &manifest.servers {
        Progress::of(common).tell(format!("hashing {} …", server.name));
        rows.push(Row { server, found: measured(common, &args.with, (server, packages)) });
    }
    let mut servers = Vec::new();
    for row in &rows {
        servers.push(told(row, &mut answer, args.update));
    }
    answer.result = json!({ "servers": servers, "updated": false });
    if !args.update || !answer.problems.is_empty() {
        answer.warnings = inspect::warnings(&manifest);
    }
    if args.update && answer.problems.is_empty() {
        let changed = update(&common.manifest, &manifest, &rows)?;
        answer.result["updated"] = changed.into();
        let what = if changed { "has the new digests" } else { "has them already" };
        let _ = writeln!(answer.text, "{} {what}.", common.manifest.display());
        if changed && files::signature_path(&common.manifest).exists() {
            answer.warnings.push(Warning::look(
                "the manifest was changed, so its signature is about another one",
                "Sign it again with `mcl-tools sign`.",
            ));
        }
    }
    Ok(answer)
}

fn measured(
    common: &Common,
    with: &LiveArgs,
    (server, packages): (&ServerSpec, &Packages),
) -> Result<Found, Trouble> {
    if builtin::is_built_in(server) {
        return Ok(Found::Definitions(definitions_digest(&builtin::definitions())));
    }
    let Transport::Stdio(program) = &server.transport else { return Ok(Found::Elsewhere) };
    if is_companion(program) {
        return companion(common, with, server);
    }
    let wrong = |error: PackageError| {
        Trouble::new(package_code(&error), &error, error.hint()).of_server(&server.name)
    };
    packages.measure_server(server, program).map(Found::Package).map_err(wrong)
}

/// A program that came with this one is asked for its definitions.
fn companion(common: &Common, with: &LiveArgs, server: &ServerSpec) -> Result<Found, Trouble> {
    let common = Common { allow_placeholders: true, ..common.clone() };
    let asked = wait_for(async {
        let world = World::open(&common, with).await?;
        let unheld = crate::init::unheld(server);
        let connection = world.connect(&unheld).await?;
        let digest = definitions_digest(&connection.discovered());
        connection.close().await;
        Ok(Found::Definitions(digest))
    });
    asked.map_err(|mut failure| failure.swap_remove(0))
}

/// One line, and the problem when it is not as declared and not to be written.
fn told(row: &Row<'_>, answer: &mut Answer, is_updated: bool) -> Value {
    let Row { server, found } = row;
    let declared = server.package.as_ref().map(|package| package.digest);
    let found = match found {
        Ok(found) => found,
        Err(problem) => {
            let _ = writeln!(answer.text, "{BAD}  bad{BAD:#}  {:<12} {}", server.name, problem.message);
            answer.problems.push(problem.clone());
            return json!({ "alias": server.name, "found": null });
        }
    };
    let digest = found.digest();
    let is_same = digest.is_none() || declared.map(|declared| declared.digest()) == digest;
    let shown = digest.map_or_else(|| "runs elsewhere".to_owned(), |digest| format!("sha256:{digest}"));
    let (style, word) = match (is_same, is_updated) {
        (true, _) => (GOOD, "same"),
        (false, true) => (WEAK, "new"),
        (false, false) => (BAD, "other"),
    };
    let _ = writeln!(answer.text, "{style}{word:>5}{style:#}  {:<12} {shown} {}", server.name, found.kind());
    if let (false, false, Some(declared)) = (is_same, is_updated, declared) {
        let name = &server.name;
        let what = match inspect::state(&declared) {
            "real" => format!("the package of {name} is {shown}, the manifest says {declared}"),
            _ => format!("the package of {name} is {shown}, the manifest has a placeholder"),
        };
        let hint = "Find out why; if it is what you want, run `mcl-tools digest --update`.";
        answer.problems.push(Trouble::new(Code::Digest, what, hint).of_server(&server.name));
    }
    json!({
        "alias": server.name,
        "kind": found.kind(),
        "declared": declared.map(|declared| declared.to_string()),
        "found": digest.map(|digest| format!("sha256:{digest}")),
        "same": is_same,
    })
}

/// Writes digests where they stand in the text, which otherwise stays as it is.
fn update(path: &Path, manifest: &AgentManifest, rows: &[Row<'_>]) -> Result<bool, Failure> {
    let bytes = files::read(path, limits::MANIFEST.bytes)?;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    let unread = |error: &dyn std::error::Error| live::trouble("the manifest cannot be changed", error);
    let root = json::read(&text, limits::MANIFEST).map_err(|error| unread(&error))?;
    let mut places: Vec<(usize, String, Digest)> = Vec::new();
    let servers = member(&root, "servers").and_then(items).unwrap_or_default();
    for (node, row) in servers.iter().zip(rows) {
        let Some(Package { digest: declared, .. }) = &row.server.package else { continue };
        let found = row.found.as_ref().ok().and_then(Found::digest);
        if let (Some(place), Some(found)) = (member(node, "package_digest"), found)
            && found != declared.digest()
        {
            places.push((place.at, format!("\"{declared}\""), found));
        }
    }
    let is_changed = !places.is_empty();
    for (at, was, now) in places.into_iter().rev() {
        if text.get(at..at + was.len()) == Some(&was) {
            text.replace_range(at..at + was.len(), &format!("\"sha256:{now}\""));
        }
    }
    if is_changed {
        let after = AgentManifest::parse(text.as_bytes(), Placeholders::Allow);
        let after = after.map_err(|problems| Trouble::of_file(&path.to_string_lossy(), &problems))?;
        if after.address() == manifest.address() {
            let what = format!("{}: its digests are spelt in a way that cannot be replaced", path.display());
            return Err(Trouble::new(Code::Trouble, what, "Write them by hand.").into());
        }
        files::write(path, &text)?;
    }
    Ok(is_changed)
}

fn member<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    match &node.kind {
        Kind::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
        _ => None,
    }
}

fn items<'n, 'a>(node: &'n Node<'a>) -> Option<&'n [Node<'a>]> {
    match &node.kind {
        Kind::Array(items) => Some(items),
        _ => None,
    }
}
