//! What a typed reading leaves over, kept beside the typed form and merged back when it is written.
//!
//! The leftover is found by comparing the text that was read with the text that would be written. It is kept
//! as text, so that numbers no Rust type holds exactly come back as they were.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::raw::RawJson;

/// Typed forms are a few levels deep. Below this there is only text that is carried whole.
const DEEPEST: usize = 32;

/// The unknown fields of one event; empty for everything this version wrote itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extra(Option<Box<Leftover>>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Leftover {
    /// Of an object: members the typed form lacks, and leftovers inside members it has.
    Members(Vec<(String, Kept)>),
    /// Of an array: leftovers inside its elements, by index.
    Elements(Vec<(usize, Leftover)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    Whole(RawJson),
    Inside(Leftover),
}

impl Extra {
    /// Whether nothing was left over.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// What `read` says and `typed` does not.
    pub(super) fn between(read: &str, typed: &str) -> Result<Self, serde_json::Error> {
        Ok(Self(between(read, typed, 0)?.map(Box::new)))
    }

    /// The typed text with the leftover put back.
    pub(super) fn merged_into(&self, typed: String) -> Result<String, serde_json::Error> {
        let Some(leftover) = &self.0 else {
            return Ok(typed);
        };
        let mut out = String::with_capacity(typed.len() * 2);
        merge(&typed, leftover, &mut out)?;
        Ok(out)
    }
}

fn between(read: &str, typed: &str, depth: usize) -> Result<Option<Leftover>, serde_json::Error> {
    let (read, typed) = (read.trim_ascii(), typed.trim_ascii());
    if read == typed || depth > DEEPEST {
        return Ok(None);
    }
    match (read.as_bytes().first(), typed.as_bytes().first()) {
        (Some(b'{'), Some(b'{')) => in_object(read, typed, depth),
        (Some(b'['), Some(b'[')) => in_array(read, typed, depth),
        _ => Ok(None),
    }
}

fn in_object(read: &str, typed: &str, depth: usize) -> Result<Option<Leftover>, serde_json::Error> {
    let (read, typed): (Members<'_>, Members<'_>) =
        (serde_json::from_str(read)?, serde_json::from_str(typed)?);
    let mut kept = Vec::new();
    for (name, value) in read.0 {
        match typed.get(&name) {
            None => kept.push((name, Kept::Whole(RawJson::parse(value.get())?))),
            Some(known) => {
                if let Some(inside) = between(value.get(), known.get(), depth + 1)? {
                    kept.push((name, Kept::Inside(inside)));
                }
            }
        }
    }
    Ok((!kept.is_empty()).then_some(Leftover::Members(kept)))
}

/// Elements are matched by place, which says nothing once the lengths differ.
fn in_array(read: &str, typed: &str, depth: usize) -> Result<Option<Leftover>, serde_json::Error> {
    let (read, typed): (Vec<&RawValue>, Vec<&RawValue>) =
        (serde_json::from_str(read)?, serde_json::from_str(typed)?);
    if read.len() != typed.len() {
        return Ok(None);
    }
    let mut kept = Vec::new();
    for (index, (value, known)) in read.iter().zip(&typed).enumerate() {
        if let Some(inside) = between(value.get(), known.get(), depth + 1)? {
            kept.push((index, inside));
        }
    }
    Ok((!kept.is_empty()).then_some(Leftover::Elements(kept)))
}

fn merge(typed: &str, leftover: &Leftover, out: &mut String) -> Result<(), serde_json::Error> {
    match leftover {
        Leftover::Members(kept) => merge_object(typed, kept, out),
        Leftover::Elements(kept) => merge_array(typed, kept, out),
    }
}

fn merge_object(typed: &str, kept: &[(String, Kept)], out: &mut String) -> Result<(), serde_json::Error> {
    let members: Members<'_> = serde_json::from_str(typed)?;
    let mut list = Separated::open('{', out);
    for (name, value) in &members.0 {
        list.item();
        list.name(name)?;
        match kept.iter().find(|(kept_name, _)| kept_name == name) {
            Some((_, Kept::Inside(inside))) => merge(value.get(), inside, list.out)?,
            Some((_, Kept::Whole(_))) | None => list.out.push_str(value.get()),
        }
    }
    for (name, value) in kept {
        if let Kept::Whole(raw) = value
            && members.get(name).is_none()
        {
            list.item();
            list.name(name)?;
            list.out.push_str(raw.get());
        }
    }
    list.out.push('}');
    Ok(())
}

fn merge_array(typed: &str, kept: &[(usize, Leftover)], out: &mut String) -> Result<(), serde_json::Error> {
    let elements: Vec<&RawValue> = serde_json::from_str(typed)?;
    let mut kept = kept.iter().peekable();
    let mut list = Separated::open('[', out);
    for (index, value) in elements.iter().enumerate() {
        list.item();
        match kept.next_if(|(kept_index, _)| *kept_index == index) {
            Some((_, inside)) => merge(value.get(), inside, list.out)?,
            None => list.out.push_str(value.get()),
        }
    }
    list.out.push(']');
    Ok(())
}

/// Writes commas between items.
struct Separated<'a> {
    out: &'a mut String,
    first: bool,
}

impl<'a> Separated<'a> {
    fn open(bracket: char, out: &'a mut String) -> Self {
        out.push(bracket);
        Self { out, first: true }
    }

    fn item(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
    }

    fn name(&mut self, name: &str) -> Result<(), serde_json::Error> {
        self.out.push_str(&serde_json::to_string(name)?);
        self.out.push(':');
        Ok(())
    }
}

/// The members of an object in the order of the text, their values unread.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(InOrder).map(Self)
    }
}
