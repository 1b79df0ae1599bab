//! The assertions of test libraries.

use alloy_dyn_abi::DynSolValue;
use alloy_primitives::{I256, U256, U512};

use super::text::shown;
use super::{Refusal, Returned};

/// Checks an assertion by its name. Nothing when it is none.
pub(super) fn check(name: &str, arguments: &[DynSolValue]) -> Option<Returned> {
    let kind = name.strip_prefix("assert")?;
    let kind = kind.strip_suffix("Decimal").unwrap_or(kind);
    let operands = match kind {
        "True" | "False" => 1,
        "Eq" | "NotEq" | "Lt" | "Le" | "Gt" | "Ge" => 2,
        "ApproxEqAbs" | "ApproxEqRel" => 3,
        _ => return None,
    };
    let decimals = usize::from(name.ends_with("Decimal"));
    let message = arguments.get(operands + decimals).and_then(DynSolValue::as_str);
    Some(match holds(kind, arguments) {
        None => Err(Refusal::Unsupported(format!("the assertion {name}"))),
        Some(Ok(())) => Ok(vec![]),
        Some(Err(words)) => {
            let words = match (message, words.is_empty()) {
                (Some(message), true) => message.to_owned(),
                (Some(message), false) => format!("{message}: {words}"),
                (None, true) => "assertion failed".into(),
                (None, false) => format!("assertion failed: {words}"),
            };
            Err(Refusal::Words(words))
        }
    })
}

/// Whether it holds, or in words why not. Nothing for types nobody compares so.
fn holds(kind: &str, arguments: &[DynSolValue]) -> Option<Result<(), String>> {
    let (left, right) = (arguments.first()?, arguments.get(1));
    let verdict = |well: bool, words: String| Some(if well { Ok(()) } else { Err(words) });
    if let "True" | "False" = kind {
        return verdict(left.as_bool()? == (kind == "True"), String::new());
    }
    let right = right?;
    let words = |sign: &str| format!("{} {sign} {}", shown(left), shown(right));
    match kind {
        "Eq" => verdict(left == right, words("!=")),
        "NotEq" => verdict(left != right, words("==")),
        "Lt" | "Le" | "Gt" | "Ge" => {
            let order = order(left, right)?;
            let (well, sign) = match kind {
                "Lt" => (order.is_lt(), ">="),
                "Le" => (order.is_le(), ">"),
                "Gt" => (order.is_gt(), "<="),
                _ => (order.is_ge(), "<"),
            };
            verdict(well, words(sign))
        }
        _ => {
            let most = arguments.get(2)?.as_uint()?.0;
            let apart = distance(left, right)?;
            if kind == "ApproxEqAbs" {
                let words =
                    format!("{} !~= {} (max delta: {most}, real delta: {apart})", shown(left), shown(right));
                return verdict(apart <= most, words);
            }
            let well = relative(apart, right, most)?;
            let words = format!("{} !~= {} (max delta: {most} of 1e18)", shown(left), shown(right));
            verdict(well, words)
        }
    }
}

fn order(left: &DynSolValue, right: &DynSolValue) -> Option<std::cmp::Ordering> {
    match (left, right) {
        (DynSolValue::Uint(left, _), DynSolValue::Uint(right, _)) => Some(left.cmp(right)),
        (DynSolValue::Int(left, _), DynSolValue::Int(right, _)) => Some(left.cmp(right)),
        _ => None,
    }
}

/// How far apart two numbers are.
fn distance(left: &DynSolValue, right: &DynSolValue) -> Option<U256> {
    match (left, right) {
        (DynSolValue::Uint(left, _), DynSolValue::Uint(right, _)) => Some(left.abs_diff(*right)),
        (DynSolValue::Int(left, _), DynSolValue::Int(right, _)) => {
            let flipped = |number: &I256| -> U256 { number.into_raw() ^ (U256::from(1) << 255) };
            // Shifted by half the range, signed numbers keep their distances and order.
            Some(flipped(left).abs_diff(flipped(right)))
        }
        _ => None,
    }
}

/// Whether a distance is at most so many parts in 10¹⁸ of a number.
fn relative(apart: U256, of: &DynSolValue, most: U256) -> Option<bool> {
    let whole = match of {
        DynSolValue::Uint(number, _) => *number,
        DynSolValue::Int(number, _) => number.unsigned_abs(),
        _ => return None,
    };
    if whole.is_zero() {
        return Some(apart.is_zero());
    }
    let part = U512::from(apart) * U512::from(10u64.pow(18)) / U512::from(whole);
    Some(part <= U512::from(most))
}
