//! Plays the story in every scene and writes the table; see `cargo xtask world`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers that says what it does"
)]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use world::{Outcome, Program, Scene, conditions, play, projects, table};

/// The file in the folder of packages that says what became of every scene.
const OUTCOMES: &str = "outcomes.tsv";

/// Plays the story in real repositories.
#[derive(Debug, Parser)]
#[command(name = "world", bin_name = "cargo xtask world")]
struct Arguments {
    /// The program `mxd` that is tried
    #[arg(long)]
    mxd: PathBuf,
    /// The folder for the homes of users
    #[arg(long)]
    ground: PathBuf,
    /// The folder for what is fetched, which is kept
    #[arg(long)]
    packages: PathBuf,
    /// Writes the table to this file
    #[arg(long)]
    write: Option<PathBuf>,
    /// Plays only those whose name contains one of these
    only: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything was as expected.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let file = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(&arguments.ground).map_err(file)?;
    let mxd = std::fs::canonicalize(&arguments.mxd).map_err(file)?;
    let packages = std::path::absolute(&arguments.packages).map_err(file)?;
    let program = Program { mxd, ground: arguments.ground.clone(), packages, path: None };
    // Projects are played with the git of the system where there is another one before it: an older one, as most have.
    let path = std::env::var("PATH").unwrap_or_default();
    let system = Program { path: Some(format!("/usr/bin:/bin:{path}").into()), ..program.clone() };
    let chosen = |scene: &Scene| {
        arguments.only.is_empty() || arguments.only.iter().any(|word| scene.id.contains(word.as_str()))
    };
    let mut outcomes = remembered(&arguments.packages);
    let mut as_expected = true;
    let tables = [(&program, conditions::all()), (&system, projects::all())];
    for (program, scenes) in tables {
        for scene in scenes.iter().filter(|scene| chosen(scene)) {
            let outcome = play_one(program, scene)?;
            as_expected &= outcome.fits(scene.expected);
            outcomes.insert(scene.id.to_owned(), outcome.to_string());
            remember(&arguments.packages, &outcomes).map_err(file)?;
        }
    }
    if let Some(path) = &arguments.write {
        write(path, &table::page(&outcomes)).map_err(file)?;
    }
    Ok(as_expected)
}

/// What became of every scene when it was last played, so that one can be played again without all the others.
fn remembered(packages: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(packages.join(OUTCOMES)).unwrap_or_default();
    let rows = text.lines().filter_map(|line| line.split_once('\t'));
    rows.map(|(id, outcome)| (id.to_owned(), outcome.to_owned())).collect()
}

fn remember(packages: &Path, outcomes: &BTreeMap<String, String>) -> std::io::Result<()> {
    let rows: String = outcomes.iter().map(|(id, outcome)| format!("{id}\t{outcome}\n")).collect();
    std::fs::create_dir_all(packages)?;
    write(&packages.join(OUTCOMES), &rows)
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::File::create(path)?.write_all(text.as_bytes())
}

#[expect(clippy::disallowed_methods, reason = "how long a scene took is for the developer to read")]
fn play_one(program: &Program, scene: &Scene) -> Result<Outcome, String> {
    let begin = Instant::now();
    let (outcome, evidence) = play(program, scene)?;
    let mark = if outcome.fits(scene.expected) { "as expected" } else { "NOT AS EXPECTED" };
    println!("{:24} {:6.1} s  {mark}: {outcome}", scene.id, begin.elapsed().as_secs_f64());
    if !evidence.is_empty() {
        eprintln!("--- {}\n{evidence}\n---", scene.id);
    }
    Ok(outcome)
}
