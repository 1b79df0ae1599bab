//! The funded accounts of the embedded chain. Their keys are published everywhere and are worth nothing elsewhere.

use std::sync::LazyLock;

use alloy_primitives::{Address, U256, address, hex};

use crate::policy::signer::Key;

/// The keys every development chain derives from the same twelve words.
const KEYS: [[u8; 32]; 8] = [
    hex!("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"),
    hex!("59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"),
    hex!("5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"),
    hex!("7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6"),
    hex!("47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a"),
    hex!("8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba"),
    hex!("92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e"),
    hex!("4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356"),
];

/// What each of them has in the beginning: 10,000 ether.
pub(crate) const BALANCE: U256 = U256::from_limbs([0x19e0c9bab2400000, 0x21e, 0, 0]);

/// The contract that creates others at addresses known before.
pub(crate) const CREATE2_DEPLOYER: Address = address!("4e59b44847b379578588920cA78FbF26c0B4956C");
/// Its code, the same on every chain.
pub(crate) const CREATE2_CODE: &[u8] = &hex!(
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3"
);

static ACCOUNTS: LazyLock<Vec<Key>> = LazyLock::new(|| KEYS.iter().filter_map(Key::from_bytes).collect());

/// All of them, in their usual order.
pub(crate) fn all() -> &'static [Key] {
    &ACCOUNTS
}

/// Whether everybody knows the key of this account.
pub(crate) fn is_public(address: Address) -> bool {
    all().iter().any(|key| key.address() == address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accounts_are_the_usual_ones() {
        assert_eq!(all().len(), KEYS.len());
        assert_eq!(all()[0].address(), address!("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266"));
        assert_eq!(all()[1].address(), address!("70997970C51812dc3A010C7d01b50e0d17dc79C8"));
        assert_eq!(all()[7].address(), address!("14dC79964da2C08b23698B3D3cc7Ca32193d9955"));
        assert_eq!(BALANCE.to_string(), "10000000000000000000000");
    }
}
