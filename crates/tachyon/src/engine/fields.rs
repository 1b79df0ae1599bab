//! The small types of requests: amounts, addresses, bytes and chains, checked when they are read.

use std::borrow::Cow;

use alloy_primitives::{Address, B256, Bytes, U256};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::abi;

/// An amount of wei, or another whole number of 256 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount(pub(crate) U256);

/// Twenty bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AddressField(pub(crate) Address);

/// Bytes in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HexField(pub(crate) Bytes);

/// Thirty-two bytes in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordField(pub(crate) B256);

/// A chain by name or by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainRef(pub(crate) String);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        abi::parse_amount(&Value::deserialize(source)?).map(Self).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for AddressField {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        abi::address(&Value::deserialize(source)?).map(Self).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for HexField {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let bytes = abi::bytes(&Value::deserialize(source)?).map_err(D::Error::custom)?;
        Ok(Self(bytes.into()))
    }
}

impl<'de> Deserialize<'de> for WordField {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let bytes = abi::bytes(&Value::deserialize(source)?).map_err(D::Error::custom)?;
        let word = B256::try_from(bytes.as_slice());
        word.map(Self)
            .map_err(|_| D::Error::custom(format!("{} bytes, exactly 32 are expected", bytes.len())))
    }
}

impl<'de> Deserialize<'de> for ChainRef {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        match Value::deserialize(source)? {
            Value::String(name) => Ok(Self(name)),
            Value::Number(number) if number.is_u64() => Ok(Self(number.to_string())),
            other => Err(D::Error::custom(format!("`{other}` is not the name or number of a chain"))),
        }
    }
}

macro_rules! schemas {
    ($($type:ident $name:literal $schema:tt)*) => { $(
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )* };
}

schemas! {
    Amount "Amount" {
        "type": ["string", "integer"],
        "description": "a whole number: decimal digits, or 0x and hexadecimal ones, as a string"
    }
    AddressField "Address" { "type": "string", "pattern": "^0x[0-9a-fA-F]{40}$" }
    HexField "Hex" { "type": "string", "pattern": "^0x([0-9a-fA-F]{2})*$" }
    WordField "Word" { "type": "string", "pattern": "^0x[0-9a-fA-F]{64}$" }
    ChainRef "Chain" { "type": ["string", "integer"], "description": "the id or the number of a chain" }
}
