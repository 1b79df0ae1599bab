//! A bar: the bound a metric has promised to keep.

use std::str::FromStr;

/// `<= 1.2` or `>= 15`; the bound itself still passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

impl Bar {
    pub(super) fn holds(self, measured: f64) -> bool {
        match self {
            Self::AtMost(limit) => measured <= limit,
            Self::AtLeast(limit) => measured >= limit,
        }
    }
}

impl FromStr for Bar {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refusal = || format!("bar {text:?} is not `<= number` or `>= number`");
        let (kind, number) = match (text.strip_prefix("<="), text.strip_prefix(">=")) {
            (Some(number), _) => (Self::AtMost as fn(f64) -> Self, number),
            (_, Some(number)) => (Self::AtLeast as fn(f64) -> Self, number),
            (None, None) => return Err(refusal()),
        };
        let limit: f64 = number.trim().parse().map_err(|_| refusal())?;
        if limit.is_finite() { Ok(kind(limit)) } else { Err(refusal()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_are_read() {
        assert_eq!("<= 1.2".parse(), Ok(Bar::AtMost(1.2)));
        assert_eq!(">=15".parse(), Ok(Bar::AtLeast(15.0)));
    }

    #[test]
    fn anything_else_is_refused_with_the_text() {
        for text in ["", "1.2", "< 1", "== 1", "<= fast", ">= NaN", "<= inf", ">="] {
            let error = text.parse::<Bar>().expect_err(text);
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
    }

    #[test]
    fn the_bound_itself_passes() {
        assert!(Bar::AtMost(1.2).holds(1.2));
        assert!(!Bar::AtMost(1.2).holds(1.21));
        assert!(Bar::AtLeast(15.0).holds(15.0));
        assert!(!Bar::AtLeast(15.0).holds(14.9));
    }
}
