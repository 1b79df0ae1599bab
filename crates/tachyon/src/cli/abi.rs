//! `tachyon abi`: values to bytes and back, for scripts and for those who check us.

use std::io::{self, BufRead as _, Write as _};

use alloy_json_abi::Param;
use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::abi;
use crate::fault::Fault;

/// Encodes and decodes ABI values.
#[derive(Debug, Args)]
#[command(
    after_help = "Each line is {\"types\":[…],\"values\":[…]} to encode, {\"types\":[…],\"data\":\"0x…\"} to decode. A type is its \
    name, or an ABI parameter with `components`."
)]
pub(super) struct Abi {
    direction: Direction,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Direction {
    Encode,
    Decode,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    types: Vec<Type>,
    #[serde(default)]
    values: Vec<Value>,
    #[serde(default)]
    data: Value,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Type {
    Named(String),
    Whole(Param),
}

impl Abi {
    pub(super) fn run(&self) -> io::Result<bool> {
        let mut all_well = true;
        let mut out = io::stdout().lock();
        for line in io::stdin().lock().lines() {
            let answer = match self.answer(&line?) {
                Ok(answer) => answer,
                Err(fault) => {
                    all_well = false;
                    json!({ "error": fault.message })
                }
            };
            writeln!(out, "{answer}")?;
        }
        Ok(all_well)
    }

    fn answer(&self, line: &str) -> Result<Value, Fault> {
        let question: Question =
            serde_json::from_str(line).map_err(|error| Fault::invalid(error.to_string()))?;
        let params = question.types.into_iter().map(Type::param).collect::<Result<Vec<_>, _>>()?;
        match self.direction {
            Direction::Encode => {
                let data = abi::arguments(&params, &question.values)?;
                Ok(json!({ "data": format!("0x{}", hex::encode(data)) }))
            }
            Direction::Decode => {
                let data = abi::bytes(&question.data).map_err(Fault::invalid)?;
                let values = abi::decoded_values(&params, &data)?;
                Ok(json!({ "values": values.into_iter().map(|one| one.value).collect::<Vec<_>>() }))
            }
        }
    }
}

impl Type {
    fn param(self) -> Result<Param, Fault> {
        match self {
            Self::Whole(param) => Ok(param),
            Self::Named(name) => {
                let function = abi::function_from_signature(&format!("f({name})"))?;
                let mut inputs = function.inputs;
                match (inputs.pop(), inputs.is_empty()) {
                    (Some(param), true) => Ok(param),
                    _ => Err(Fault::invalid(format!("`{name}` is not one type"))),
                }
            }
        }
    }
}
