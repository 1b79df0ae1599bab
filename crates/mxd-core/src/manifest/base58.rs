//! Base 58 with the alphabet of Bitcoin, as multibase `z` has it.

const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The spelling of some bytes. Takes time by the square of their number: for keys, not for files.
pub(super) fn encode(bytes: &[u8]) -> String {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let mut digits: Vec<u8> = Vec::new();
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            carry += u32::from(*digit) << 8;
            *digit = (carry % 58) as u8;
            carry /= 58;
        }
        while carry > 0 {
            digits.push((carry % 58) as u8);
            carry /= 58;
        }
    }
    let ones = std::iter::repeat_n(0, zeros);
    ones.chain(digits.into_iter().rev()).map(|digit| char::from(ALPHABET[usize::from(digit)])).collect()
}

/// The bytes of a spelling; there is exactly one spelling for them.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let ones = text.bytes().take_while(|digit| *digit == b'1').count();
    let mut bytes: Vec<u8> = Vec::new();
    for digit in text.bytes() {
        let mut carry = ALPHABET.iter().position(|known| *known == digit)?;
        for byte in &mut bytes {
            carry += usize::from(*byte) * 58;
            *byte = (carry & 0xff) as u8;
            carry >>= 8;
        }
        while carry > 0 {
            bytes.push((carry & 0xff) as u8);
            carry >>= 8;
        }
    }
    bytes.extend(std::iter::repeat_n(0, ones));
    bytes.reverse();
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_spellings_come_out_and_read_back() {
        let cases: &[(&[u8], &str)] = &[
            (b"", ""),
            (b"\0", "1"),
            (b"Hello World!", "2NEpo7TZRRrLZSi2U"),
            (&[0x00, 0x00, 0x28, 0x7f, 0xb4, 0xcd], "11233QC4"),
        ];
        for (bytes, text) in cases {
            assert_eq!(encode(bytes), *text);
            assert_eq!(decode(text).as_deref(), Some(*bytes));
        }
        assert_eq!(decode("0OIl"), None);
    }
}
