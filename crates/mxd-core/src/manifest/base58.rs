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
