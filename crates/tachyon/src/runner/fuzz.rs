//! Random inputs: small numbers, edges and what the code itself mentions come more often than chance would have it.

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::{Address, B256, Function, I256, U256};

/// Makes values of any type. The same seed makes the same values.
pub(super) struct Source {
    random: fastrand::Rng,
    /// Numbers that the code mentions.
    mentioned: Vec<U256>,
}

/// Items of an array that nobody bounded.
const ITEMS: usize = 8;

impl Source {
    pub(super) fn new(seed: u64, code: &[u8]) -> Self {
        Self { random: fastrand::Rng::with_seed(seed), mentioned: mentioned(code) }
    }

    pub(super) fn values(&mut self, types: &[DynSolType]) -> Vec<DynSolValue> {
        types.iter().map(|ty| self.value(ty)).collect()
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.random.usize(..limit.max(1))
    }

    pub(super) fn address(&mut self) -> Address {
        Address::from(std::array::from_fn::<u8, 20, _>(|_| self.random.u8(..)))
    }

    fn word(&mut self) -> U256 {
        U256::from_be_bytes::<32>(std::array::from_fn(|_| self.random.u8(..)))
    }

    /// A number of so many bits.
    fn number(&mut self, bits: usize) -> U256 {
        let most = U256::MAX >> (256 - bits);
        let drawn = match self.random.u8(..10) {
            0 => U256::from(self.random.u8(..4)),
            1 => most - U256::from(self.random.u8(..4)),
            2 | 3 if !self.mentioned.is_empty() => {
                let near = self.mentioned[self.random.usize(..self.mentioned.len())];
                near.wrapping_add(U256::from(self.random.u8(..3))).wrapping_sub(U256::from(1))
            }
            // Numbers of every size are as likely as large ones.
            4..=6 => self.word() >> self.random.usize(..256),
            _ => self.word(),
        };
        drawn & most
    }

    fn value(&mut self, ty: &DynSolType) -> DynSolValue {
        match ty {
            DynSolType::Bool => DynSolValue::Bool(self.random.bool()),
            DynSolType::Uint(bits) => DynSolValue::Uint(self.number(*bits), *bits),
            DynSolType::Int(bits) => {
                let half = self.number(bits - 1);
                let raw = if self.random.bool() { half } else { !half };
                DynSolValue::Int(I256::from_raw(raw), *bits)
            }
            DynSolType::FixedBytes(size) => {
                let mut word = B256::from(self.number(256));
                word[*size..].fill(0);
                DynSolValue::FixedBytes(word, *size)
            }
            DynSolType::Address => DynSolValue::Address(self.address()),
            DynSolType::Function => {
                DynSolValue::Function(Function::from(std::array::from_fn::<u8, 24, _>(|_| {
                    self.random.u8(..)
                })))
            }
            DynSolType::Bytes => {
                let length = self.random.usize(..=64);
                DynSolValue::Bytes((0..length).map(|_| self.random.u8(..)).collect())
            }
            DynSolType::String => {
                let length = self.random.usize(..=32);
                DynSolValue::String((0..length).map(|_| self.random.char(' '..'\u{2ff}')).collect())
            }
            DynSolType::Array(item) => {
                let length = self.random.usize(..=ITEMS);
                DynSolValue::Array((0..length).map(|_| self.value(item)).collect())
            }
            DynSolType::FixedArray(item, size) => {
                DynSolValue::FixedArray((0..*size).map(|_| self.value(item)).collect())
            }
            DynSolType::Tuple(fields) => DynSolValue::Tuple(self.values(fields)),
        }
    }
}

/// The numbers that PUSH instructions hold.
fn mentioned(code: &[u8]) -> Vec<U256> {
    const PUSH1: u8 = 0x60;
    const PUSH32: u8 = 0x7f;
    const MOST: usize = 2_000;
    let mut found = Vec::new();
    let mut at = 0;
    while let (Some(opcode), true) = (code.get(at), found.len() < MOST) {
        at += 1;
        if (PUSH1..=PUSH32).contains(opcode) {
            let size = usize::from(opcode - PUSH1) + 1;
            if let Some(bytes) = code.get(at..at + size) {
                found.push(U256::from_be_slice(bytes));
            }
            at += size;
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
