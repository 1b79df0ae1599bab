//! Chains: the embedded one that needs nothing, and nodes over JSON-RPC. Both answer the same questions.

pub(crate) mod embedded;
pub(crate) mod execute;
pub(crate) mod profile;
pub(crate) mod rpc;

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, Log, U256};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock;
use crate::fault::{Code, Fault};

/// What a transaction would do.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    pub(crate) from: Address,
    /// Nobody for a creation.
    pub(crate) to: Option<Address>,
    pub(crate) data: Bytes,
    pub(crate) value: U256,
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// What it returned; for a creation, the code of the contract.
    Done(Bytes),
    Reverted(Bytes),
    /// The machine stopped it.
    Halted(String),
}

/// What would happen.
#[derive(Debug, Clone)]
pub(crate) struct Simulation {
    /// On the state after this block.
    pub(crate) block: u64,
    pub(crate) outcome: Outcome,
    /// The gas limit with which it succeeds.
    pub(crate) gas: Option<u64>,
    /// The embedded chain knows them; a node does not tell.
    pub(crate) logs: Vec<Log>,
    pub(crate) trace: Option<Value>,
}

/// How much a simulation shall tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Result,
    Trace,
}

/// The state a simulation starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    Latest,
    Block(u64),
}

/// What became of a transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    pub(crate) tx_hash: B256,
    pub(crate) block_number: u64,
    pub(crate) block_hash: B256,
    pub(crate) from: Address,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<Address>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) contract_address: Option<Address>,
    /// Whether it did what it was sent for; a reverted transaction is mined too.
    pub(crate) succeeded: bool,
    pub(crate) gas_used: u64,
    pub(crate) gas_price: U256,
    #[serde(default)]
    pub(crate) logs: Vec<Log>,
}

impl Receipt {
    /// What the gas did cost.
    pub(crate) fn gas_cost(&self) -> U256 {
        U256::from(self.gas_used).saturating_mul(self.gas_price)
    }
}

/// What gas costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fees {
    Market {
        most: u128,
        tip: u128,
    },
    /// A chain from before base fees.
    Fixed {
        price: u128,
    },
}

impl Fees {
    /// The most a unit of gas can cost.
    pub(crate) fn ceiling(self) -> u128 {
        match self {
            Self::Market { most, .. } => most,
            Self::Fixed { price } => price,
        }
    }
}

/// A chain that can be used.
#[derive(Clone)]
pub(crate) enum Chain {
    Embedded(Arc<embedded::EmbeddedChain>),
    Rpc(Arc<rpc::RpcChain>),
}

impl Chain {
    pub(crate) fn id(&self) -> u64 {
        match self {
            Self::Embedded(_) => embedded::CHAIN_ID,
            Self::Rpc(chain) => chain.id(),
        }
    }

    /// What the chain is, whatever it is called: see [`profile::Profile::identity`].
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Embedded(_) => embedded::NAME.into(),
            Self::Rpc(chain) => format!("eip155:{}", chain.id()),
        }
    }

    pub(crate) fn is_embedded(&self) -> bool {
        matches!(self, Self::Embedded(_))
    }

    pub(crate) async fn simulate(
        &self,
        intent: &Intent,
        at: At,
        detail: Detail,
    ) -> Result<Simulation, Fault> {
        match self {
            Self::Embedded(chain) => {
                let (chain, intent) = (chain.clone(), intent.clone());
                aside(move || chain.simulate(&intent, at, detail)).await
            }
            Self::Rpc(chain) => chain.simulate(intent, at, detail).await,
        }
    }

    /// The next nonce of an account, counting what is waiting.
    pub(crate) async fn nonce(&self, account: Address) -> Result<u64, Fault> {
        match self {
            Self::Embedded(chain) => Ok(chain.account(account)?.nonce),
            Self::Rpc(chain) => chain.nonce_at(account, "pending").await,
        }
    }

    /// The next nonce of an account, counting only what is mined so deep that no node can be behind it.
    pub(crate) async fn settled_nonce(&self, account: Address) -> Result<u64, Fault> {
        match self {
            Self::Embedded(chain) => Ok(chain.account(account)?.nonce),
            Self::Rpc(chain) => chain.settled_nonce(account).await,
        }
    }

    pub(crate) async fn code(&self, account: Address) -> Result<Bytes, Fault> {
        match self {
            Self::Embedded(chain) => Ok(chain.account(account)?.code),
            Self::Rpc(chain) => chain.code(account).await,
        }
    }

    pub(crate) async fn fees(&self) -> Result<Fees, Fault> {
        match self {
            Self::Embedded(_) => Ok(embedded::FEES),
            Self::Rpc(chain) => chain.fees().await,
        }
    }

    /// Hands a signed transaction in. Handing it in twice does nothing more.
    pub(crate) async fn send(&self, raw: &Bytes) -> Result<(), Fault> {
        match self {
            Self::Embedded(chain) => {
                let (chain, raw) = (chain.clone(), raw.clone());
                aside(move || chain.mine(&raw, clock::unix_seconds())).await
            }
            Self::Rpc(chain) => chain.send(raw).await,
        }
    }

    pub(crate) async fn receipt(&self, hash: B256) -> Result<Option<Receipt>, Fault> {
        match self {
            Self::Embedded(chain) => chain.receipt(hash),
            Self::Rpc(chain) => chain.receipt(hash).await,
        }
    }

    /// Asks a node once more which chain it is.
    pub(crate) async fn verify(&self) -> Result<(), Fault> {
        match self {
            Self::Embedded(_) => Ok(()),
            Self::Rpc(chain) => chain.verify().await,
        }
    }
}

/// Work that keeps a thread busy, away from those that answer.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Fault::new(Code::InternalError, format!("a worker stopped: {error}"))))
}
