//! Whole numbers of 256 bits, exactly: decimal or hexadecimal text, or a JSON number that is exact itself.

use alloy_primitives::{I256, U256};
use serde_json::Value;

/// A number as people and programs write it, its sign apart.
struct Written<'a> {
    negative: bool,
    radix: u64,
    digits: &'a str,
}

fn split(text: &str) -> Result<Written<'_>, String> {
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let hexadecimal = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
    let (radix, digits) = hexadecimal.map_or((10, rest), |digits| (16, digits));
    let is_digit = |char: char| char.is_digit(radix as u32);
    if digits.is_empty() || !digits.chars().all(is_digit) {
        return Err(format!(
            "`{text}` is not a whole number; write decimal digits, or 0x and hexadecimal ones"
        ));
    }
    // Zeros in front mean nothing: 007 is seven, never octal.
    let digits = digits.trim_start_matches('0');
    Ok(Written { negative, radix, digits: if digits.is_empty() { "0" } else { digits } })
}

fn magnitude(written: &Written<'_>, text: &str) -> Result<U256, String> {
    U256::from_str_radix(written.digits, written.radix)
        .map_err(|_| format!("`{text}` needs more than 256 bits"))
}

/// The text of a number in JSON. Numbers that JSON readers round are refused, not guessed.
fn text_of(json: &Value) -> Result<String, String> {
    match json {
        Value::String(text) => Ok(text.trim().to_owned()),
        Value::Number(number) if number.is_u64() || number.is_i64() => Ok(number.to_string()),
        Value::Number(number) => {
            Err(format!("`{number}` is not exact as a JSON number; write it as a string of digits"))
        }
        other => Err(format!("`{other}` is not a number; write it as a string of digits")),
    }
}

/// A number that fits so many bits.
pub(super) fn parse_unsigned(json: &Value, bits: usize) -> Result<U256, String> {
    let text = text_of(json)?;
    let written = split(&text)?;
    let number = magnitude(&written, &text)?;
    if written.negative && !number.is_zero() {
        return Err(format!("`{text}` is negative; the type is uint{bits}"));
    }
    if number.bit_len() > bits {
        return Err(format!("`{text}` does not fit uint{bits}"));
    }
    Ok(number)
}

/// A number with a sign that fits so many bits.
pub(super) fn parse_signed(json: &Value, bits: usize) -> Result<I256, String> {
    let text = text_of(json)?;
    let written = split(&text)?;
    let number = magnitude(&written, &text)?;
    let half = U256::from(1) << (bits - 1);
    let fits = if written.negative { number <= half } else { number < half };
    if !fits {
        return Err(format!("`{text}` does not fit int{bits}"));
    }
    let raw = if written.negative { number.wrapping_neg() } else { number };
    Ok(I256::from_raw(raw))
}

/// An amount of wei.
pub(crate) fn parse_amount(json: &Value) -> Result<U256, String> {
    parse_unsigned(json, 256)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_read_exactly_or_refused() {
        let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        assert_eq!(parse_unsigned(&json!(most), 256), Ok(U256::MAX));
        assert_eq!(parse_unsigned(&json!(format!("0x{}", "f".repeat(64))), 256), Ok(U256::MAX));
        assert_eq!(parse_unsigned(&json!("0010"), 8), Ok(U256::from(10)));
        assert_eq!(parse_unsigned(&json!("0x10"), 8), Ok(U256::from(16)));
        assert_eq!(parse_unsigned(&json!(18_446_744_073_709_551_615u64), 64), Ok(U256::from(u64::MAX)));
        for wrong in ["", "0x", "-1", "1.0", "1e3", "256", "0x100", "٣", "+1", "1_0", "- 1"] {
            assert!(parse_unsigned(&json!(wrong), 8).is_err(), "{wrong}");
        }
        for wrong in [json!(1.5), json!(1e30), json!(-1), json!(null), json!(true), json!([1])] {
            assert!(parse_unsigned(&wrong, 256).is_err(), "{wrong}");
        }
    }

    #[test]
    fn signed_numbers_have_their_own_edges() {
        assert_eq!(parse_signed(&json!("-128"), 8), Ok(I256::try_from(-128).unwrap()));
        assert_eq!(parse_signed(&json!("-0x80"), 8), Ok(I256::try_from(-128).unwrap()));
        assert_eq!(parse_signed(&json!("127"), 8), Ok(I256::try_from(127).unwrap()));
        assert_eq!(parse_signed(&json!(-5), 256), Ok(I256::try_from(-5).unwrap()));
        let least = "-57896044618658097711785492504343953926634992332820282019728792003956564819968";
        assert_eq!(parse_signed(&json!(least), 256), Ok(I256::MIN));
        for (wrong, bits) in [("128", 8), ("-129", 8), (&least[1..], 256)] {
            assert!(parse_signed(&json!(wrong), bits).is_err(), "{wrong}");
        }
    }
}
