//! `mxd config model`: models that the program does not know, with their windows and prices.

use clap::{Args, Subcommand};
use mxd_engine::config::{self, Layer, Places};
use serde_json::{Value, json};

use super::config::{change, done};
use super::scope::In;
use crate::client::Failure;
use crate::say::{self, DIM};

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  mxd config model add qwen3-coder:30b --window 65536             a model of one's own server: it costs nothing
  mxd config model add big-1 --window 200000 --price 3 --price-out 15
  mxd config model list")]
pub(crate) enum ModelCommand {
    /// Adds a model, or replaces what is known of one, for all projects of this user.
    Add(Add),
    /// Lists the models that were added.
    List,
    /// Removes a model that was added.
    Remove {
        /// Its name.
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// Its name, as its server calls it.
    name: String,
    /// Tokens that it has before its eyes, its answer included. For Ollama that is what `num_ctx` is set to.
    #[arg(long, value_name = "TOKENS")]
    window: u64,
    /// Tokens that it writes at most.
    #[arg(long, value_name = "TOKENS", default_value_t = 8_192)]
    output: u32,
    /// It sees images.
    #[arg(long)]
    images: bool,
    /// Dollars for a million tokens that it reads.
    #[arg(long, value_name = "USD", default_value_t = 0.0)]
    price: f64,
    /// Dollars for a million tokens that it writes.
    #[arg(long, value_name = "USD", default_value_t = 0.0)]
    price_out: f64,
    /// Makes it the model that agents use.
    #[arg(long)]
    default: bool,
}

impl Add {
    fn entry(&self) -> Value {
        json!({
            "name": self.name,
            "vendor": "own",
            "contextWindow": self.window,
            "maxOutputTokens": self.output,
            "thinking": "none",
            "images": self.images,
            "prices": {
                "input": self.price, "output": self.price_out,
                "cacheRead": self.price, "cacheWrite5m": self.price, "cacheWrite1h": self.price,
            },
        })
    }
}

impl ModelCommand {
    pub(super) async fn run(self, scope: &In, places: &Places) -> Result<(), Failure> {
        let mut models = added(places)?;
        match self {
            Self::List => {
                list(scope, &models);
                Ok(())
            }
            Self::Add(add) => {
                models.retain(|model| model["name"] != add.name.as_str());
                models.push(add.entry());
                change(places, Layer::User, "models", models.into())?;
                if add.default {
                    change(places, Layer::User, "model", add.name.clone().into())?;
                }
                done(scope, Layer::User, &add.name, "is added").await
            }
            Self::Remove { name } => {
                let before = models.len();
                models.retain(|model| model["name"] != name.as_str());
                if models.len() == before {
                    return Err(Failure::not_found(format!("no model `{name}` was added"))
                        .hint("`mxd config model list` shows them."));
                }
                change(places, Layer::User, "models", models.into())?;
                done(scope, Layer::User, &name, "is removed").await
            }
        }
    }
}

/// The models of the user's own layer.
fn added(places: &Places) -> Result<Vec<Value>, Failure> {
    let wrong = |problems: config::Problems| {
        Failure::new(problems.to_string())
            .hint("`mxd doctor` lists everything that is wrong with the settings.")
    };
    let layer = config::shown(places, Layer::User).map_err(wrong)?;
    Ok(layer["models"].as_array().cloned().unwrap_or_default())
}

fn list(scope: &In, models: &[Value]) {
    if scope.json {
        say::line(json!({ "models": models }).to_string());
        return;
    }
    if models.is_empty() {
        say::note("No model was added; those of the program itself need no entry.");
    }
    for model in models {
        let name = model["name"].as_str().unwrap_or_default();
        let prices = &model["prices"];
        say::line(format!(
            "{name}  {DIM}window {}, answers {}, ${} and ${} for a million tokens{DIM:#}",
            model["contextWindow"], model["maxOutputTokens"], prices["input"], prices["output"]
        ));
    }
}
