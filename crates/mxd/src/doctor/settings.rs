//! What the settings say: whether every layer can be read, and whether the models that agents ask can be asked.

use std::time::Duration;

use mxd_engine::config::{AgentModel, Config, Layer, Places, ReachError, Role};
use secrecy::SecretString;

use super::{Finding, machine};
use crate::command::config::places;
use crate::command::scope::In;

/// How long a provider may take to list its models.
const PATIENCE: Duration = Duration::from_secs(15);

pub(super) async fn look(scope: &In, reach: bool) -> Vec<Finding> {
    let places = match places(scope).await {
        Ok(places) => places,
        Err(failure) => {
            return vec![Finding::bad(
                "config",
                failure.to_string(),
                "`mxd list` shows the projects there are.",
            )];
        }
    };
    let config = match Config::load(&places) {
        Ok(config) => config,
        Err(problems) => {
            let count = problems.problems.len() + problems.more;
            let mut found = Finding::bad(
                "config",
                if count == 1 { "one problem".to_owned() } else { format!("{count} problems") },
                "Each problem says what to do; agents do not start before.",
            );
            found.notes = problems.problems.iter().map(ToString::to_string).collect();
            return vec![found];
        }
    };
    let mut findings = vec![layers(&places), machine::disk(&places.data, config.disk_watermark)];
    if let Some(repository) = &places.repository {
        findings.push(machine::disk(repository, config.disk_watermark));
    }
    findings.extend(models(&config, reach).await);
    findings
}

/// Whether the model of the root task answers and takes its key, by asking it for its list of models.
pub(crate) async fn ask_root_model(config: &Config) -> Result<String, String> {
    let root = config.agent_model(Role::Root).map_err(|error| error.to_string())?;
    let found = model(&root, true).await;
    if found.state == super::State::Good { Ok(found.what) } else { Err(found.what) }
}

/// Which layers there are.
fn layers(places: &Places) -> Finding {
    let there = Layer::ALL.into_iter().filter_map(|layer| places.file(layer)).filter(|file| file.is_file());
    let files: Vec<String> = there.map(|file| file.display().to_string()).collect();
    let what = match files.len() {
        0 => "no file yet; everything is as the program does by itself".to_owned(),
        1 => "one layer, sound".to_owned(),
        count => format!("{count} layers, sound"),
    };
    Finding { notes: files, ..Finding::good("config", what) }
}

/// The models that agents ask: of the root task, and of all others where it is another.
async fn models(config: &Config, reach: bool) -> Vec<Finding> {
    let root = match config.agent_model(Role::Root) {
        Ok(model) => model,
        Err(error) => {
            let mut found = Finding::weak("models", error.to_string(), error.hint());
            found.notes.push("Agents cannot work before; `mxd demo` needs no account.".to_owned());
            return vec![found];
        }
    };
    let mut findings = vec![model(&root, reach).await];
    match config.agent_model(Role::Child) {
        Ok(child) if child.group == root.group && child.model.name == root.model.name => {}
        Ok(child) => findings.push(model(&child, reach).await),
        Err(error) => findings.push(Finding::bad("models", error.to_string(), error.hint())),
    }
    findings
}

async fn model(model: &AgentModel, reach: bool) -> Finding {
    let what = format!("{} at {} ({})", model.model.name, model.base_url, model.group);
    let provider = match model.provider(&variable) {
        Ok(provider) => provider,
        Err(error) => {
            let mut found = Finding::bad("models", format!("{what}: {error}"), error.hint());
            found
                .notes
                .push("This is the environment of this shell; a daemon that runs has its own.".to_owned());
            return found;
        }
    };
    let key = if provider.key.is_some() { "a key is there" } else { "without a key" };
    if !reach {
        let notes = vec!["Nobody was asked: `mxd doctor --reach` asks.".to_owned()];
        return Finding { notes, ..Finding::good("models", format!("{what}, {key}")) };
    }
    match tokio::time::timeout(PATIENCE, model.listed(&variable)).await {
        Ok(Ok(listed)) if listed.is_empty() || listed.contains(&model.model.name) => {
            Finding::good("models", format!("{what}, {key}, it answers"))
        }
        Ok(Ok(listed)) => {
            let mut found = Finding::weak(
                "models",
                format!("{what} answers, and does not list this model"),
                "`mxd config set model NAME` chooses another; a server of one's own may have to fetch it first.",
            );
            found.notes = vec![format!("It has {}.", some_of(&listed))];
            found
        }
        Ok(Err(error)) => unreached(&what, &error),
        Err(_late) => Finding::bad(
            "models",
            format!("{what} does not answer within {} seconds", PATIENCE.as_secs()),
            "Check the network, the proxy and the address.",
        ),
    }
}

fn unreached(what: &str, error: &ReachError) -> Finding {
    if error.is_unlisted() {
        return Finding::good("models", format!("{what} answers, and has no list of its models"));
    }
    Finding::bad("models", format!("{what}: {error}"), error.hint())
}

/// A few names of a list that may be long.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).map(|name| mxd_core::show::one_line(name, 60));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        Some(more) => format!("{shown} and {more} more"),
        None => shown,
    }
}

fn variable(name: &str) -> Option<SecretString> {
    std::env::var(name).ok().map(SecretString::from)
}
