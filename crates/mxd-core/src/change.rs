//! A field of a patch: left alone, cleared or set.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a patch says about a field that may be empty.
///
/// In JSON a missing field keeps, `null` clears and a value sets, so fields of this type carry
/// `#[serde(default, skip_serializing_if = "Change::is_keep")]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// Leave it as it is.
    #[default]
    Keep,
    /// Make it empty.
    Clear,
    /// Give it this value.
    Set(T),
}

impl<T> Change<T> {
    /// Whether nothing is asked for.
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// Applies the change to the field.
    pub fn apply_to(self, field: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = Some(value),
        }
    }
}

impl<T: PartialEq> Change<T> {
    /// The same change, or `Keep` when the field already is what it asks for.
    #[must_use]
    pub fn against(self, field: Option<&T>) -> Self {
        match self {
            Self::Clear if field.is_none() => Self::Keep,
            Self::Set(value) if field == Some(&value) => Self::Keep,
            other @ (Self::Keep | Self::Clear | Self::Set(_)) => other,
        }
    }
}

impl<T: Serialize> Serialize for Change<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}
