//! A chain behind a JSON-RPC node. Nothing the node says is believed where it can be checked.

mod guard;
mod wire;

use std::time::Duration;

use alloy_primitives::{Address, B256, Bytes, LogData, U256, keccak256};
use serde::Deserialize;
use serde_json::{Value, json};

use super::profile::Profile;
use super::{At, Detail, Fees, Intent, Outcome, Receipt, Simulation};
use crate::fault::{Code, Fault};
use crate::limits;
pub(crate) use guard::Reach;
use wire::{AnswerError, Wire, WireError};

/// What a node is called that nobody registered.
pub(crate) const INLINE: &str = "inline";
/// A tip that gets a transaction mined on a chain whose node does not suggest one.
const USUAL_TIP: u128 = 1_000_000_000;

/// How nodes are asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking {
    pub(crate) reach: Reach,
    /// How long one answer may take.
    pub(crate) patience: Duration,
}

/// A node that proved to be of the right chain.
pub(crate) struct RpcChain {
    name: String,
    chain_id: u64,
    wire: Wire,
}

impl RpcChain {
    /// Connects, and checks that the node is of the chain the profile says.
    pub(crate) async fn connect(profile: &Profile, asking: Asking) -> Result<Self, Fault> {
        let chain = Self::reach(profile, asking).await?;
        chain.verify().await?;
        Ok(chain)
    }

    /// Connects to a node of whatever chain it says it is of.
    pub(crate) async fn inline(url: &str, asking: Asking) -> Result<Self, Fault> {
        let (id, name, rpc_url) = (INLINE.into(), INLINE.into(), url.to_owned());
        let mut chain =
            Self::reach(&Profile { id, name, chain_id: 0, rpc_url, explorer: None }, asking).await?;
        chain.chain_id = chain.said_id().await?;
        Ok(chain)
    }

    async fn reach(profile: &Profile, asking: Asking) -> Result<Self, Fault> {
        let not_found =
            |what: String| Fault::new(Code::ChainNotFound, format!("chain `{}`: {what}", profile.id));
        let address = profile.address().map_err(|error| not_found(error.to_string()))?;
        let place =
            guard::resolve(&address, asking.reach).await.map_err(|error| not_found(error.to_string()))?;
        let wire = Wire::new(place, asking.patience).map_err(|error| Fault::internal(error.to_string()))?;
        Ok(Self { name: profile.id.clone(), chain_id: profile.chain_id, wire })
    }

    async fn said_id(&self) -> Result<u64, Fault> {
        let said: U256 = self.ask("eth_chainId", json!([])).await?;
        u64::try_from(said).map_err(|_| self.nonsense("eth_chainId", "a number of more than 64 bits"))
    }

    pub(crate) fn id(&self) -> u64 {
        self.chain_id
    }

    /// Asks the node which chain it is.
    pub(crate) async fn verify(&self) -> Result<(), Fault> {
        let said = self.said_id().await?;
        if said != self.chain_id {
            let message = format!(
                "the node of chain `{}` is of chain {said}, not {}; nothing was sent, correct the registration",
                self.name, self.chain_id
            );
            let mut fault = Fault::new(Code::ChainRpcFailed, message);
            fault.retry = false;
            return Err(fault);
        }
        Ok(())
    }

    pub(crate) async fn nonce_at(&self, account: Address, at: &str) -> Result<u64, Fault> {
        let nonce: U256 = self.ask("eth_getTransactionCount", json!([account, at])).await?;
        u64::try_from(nonce)
            .map_err(|_| self.nonsense("eth_getTransactionCount", "a nonce of more than 64 bits"))
    }

    /// Of nodes behind one address some are late. One may know that a nonce is used while another does not know by which
    /// transaction; blocks this deep are known to all.
    pub(crate) async fn settled_nonce(&self, account: Address) -> Result<u64, Fault> {
        match self.head().await?.checked_sub(limits::SETTLED_BLOCKS) {
            Some(block) => self.nonce_at(account, &format!("{block:#x}")).await,
            None => Ok(0),
        }
    }

    async fn head(&self) -> Result<u64, Fault> {
        let head: U256 = self.ask("eth_blockNumber", json!([])).await?;
        u64::try_from(head).map_err(|_| self.nonsense("eth_blockNumber", "a number of more than 64 bits"))
    }

    pub(crate) async fn code(&self, account: Address) -> Result<Bytes, Fault> {
        self.ask("eth_getCode", json!([account, "latest"])).await
    }

    pub(crate) async fn fees(&self) -> Result<Fees, Fault> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Head {
            base_fee_per_gas: Option<U256>,
        }
        let head: Head = self.ask("eth_getBlockByNumber", json!(["latest", false])).await?;
        let small = |fee: U256, what: &str| {
            u128::try_from(fee).map_err(|_| self.nonsense(what, "a fee beyond reason"))
        };
        let Some(base) = head.base_fee_per_gas else {
            let price: U256 = self.ask("eth_gasPrice", json!([])).await?;
            return Ok(Fees::Fixed { price: small(price, "eth_gasPrice")? });
        };
        let base = small(base, "eth_getBlockByNumber")?;
        let tip = match self.try_ask::<U256>("eth_maxPriorityFeePerGas", json!([])).await {
            Ok(tip) => small(tip, "eth_maxPriorityFeePerGas")?,
            Err(WireError::Answer(_)) => USUAL_TIP,
            Err(error) => return Err(self.failed("eth_maxPriorityFeePerGas", error)),
        };
        Ok(Fees::Market { most: base.saturating_mul(2).saturating_add(tip), tip })
    }

    pub(crate) async fn simulate(
        &self,
        intent: &Intent,
        at: At,
        detail: Detail,
    ) -> Result<Simulation, Fault> {
        let block = match at {
            At::Block(block) => block,
            At::Latest => self.head().await?,
        };
        let (request, tag) = (request(intent), format!("{block:#x}"));
        let outcome = match self.try_ask::<Bytes>("eth_call", json!([request, tag])).await {
            Ok(output) => Outcome::Done(output),
            Err(WireError::Answer(error)) => self.judge(error)?,
            Err(error) => return Err(self.failed("eth_call", error)),
        };
        let mut simulation = Simulation { block, outcome, gas: None, logs: vec![], trace: None };
        if let Outcome::Done(_) = simulation.outcome {
            match self.try_ask::<U256>("eth_estimateGas", json!([request, tag])).await {
                Ok(gas) => simulation.gas = u64::try_from(gas).ok(),
                Err(WireError::Answer(error)) => simulation.outcome = self.judge(error)?,
                Err(error) => return Err(self.failed("eth_estimateGas", error)),
            }
        }
        if detail == Detail::Trace {
            let params = json!([request, tag, { "tracer": "callTracer" }]);
            let traced = self.try_ask::<Value>("debug_traceCall", params).await;
            let trace = traced.unwrap_or_else(|error| json!({ "unavailable": error.to_string() }));
            simulation.trace = Some(trace);
        }
        Ok(simulation)
    }

    /// Hands a signed transaction to the node; one it knows already is fine.
    pub(crate) async fn send(&self, raw: &Bytes) -> Result<(), Fault> {
        let hash = keccak256(raw);
        match self.try_ask::<B256>("eth_sendRawTransaction", json!([raw])).await {
            Ok(said) if said == hash => Ok(()),
            Ok(said) => {
                let what = format!("it took transaction {hash} and calls it {said}");
                Err(self.nonsense("eth_sendRawTransaction", &what))
            }
            Err(WireError::Answer(error)) if error.says_known() => Ok(()),
            Err(WireError::Answer(error)) => {
                let message = format!("the node of chain `{}` refused the transaction: {error}", self.name);
                Err(Fault::new(Code::CallFailed, message))
            }
            Err(error) => Err(self.failed("eth_sendRawTransaction", error)),
        }
    }

    pub(crate) async fn receipt(&self, hash: B256) -> Result<Option<Receipt>, Fault> {
        let told: Option<ToldReceipt> = self.ask("eth_getTransactionReceipt", json!([hash])).await?;
        let Some(told) = told else { return Ok(None) };
        if told.transaction_hash != hash {
            return Err(self.nonsense("eth_getTransactionReceipt", "the receipt of another transaction"));
        }
        told.believed().map(Some).map_err(|what| self.nonsense("eth_getTransactionReceipt", what))
    }

    /// An error that a node answers an execution with: a revert, a stop, or no execution at all.
    fn judge(&self, error: AnswerError) -> Result<Outcome, Fault> {
        let message = error.message.to_lowercase();
        if let Some(data) = error.revert_data() {
            return Ok(Outcome::Reverted(data));
        }
        if error.code == 3 || message.contains("revert") {
            return Ok(Outcome::Reverted(Bytes::new()));
        }
        if ["out of gas", "invalid opcode", "stack", "invalid jump"].iter().any(|word| message.contains(word))
        {
            return Ok(Outcome::Halted(error.message));
        }
        let what = format!("the node of chain `{}` could not execute it: {error}", self.name);
        Err(Fault::new(Code::SimulateFailed, what))
    }

    async fn ask<T: serde::de::DeserializeOwned>(&self, method: &str, params: Value) -> Result<T, Fault> {
        self.try_ask(method, params).await.map_err(|error| self.failed(method, error))
    }

    async fn try_ask<T: serde::de::DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
    ) -> Result<T, WireError> {
        let answer = self.wire.ask(method, params).await?;
        serde_json::from_str(answer.get()).map_err(|error| WireError::Nonsense(error.to_string()))
    }

    fn failed(&self, method: &str, error: WireError) -> Fault {
        Fault::new(Code::ChainRpcFailed, format!("{method} on chain `{}`: {error}", self.name))
    }

    fn nonsense(&self, method: &str, what: &str) -> Fault {
        let message =
            format!("the node of chain `{}` answered {method} with {what}; do not trust it", self.name);
        Fault::new(Code::ChainRpcFailed, message)
    }
}

fn request(intent: &Intent) -> Value {
    let mut request = json!({
        "from": intent.from,
        "data": intent.data,
        "value": format!("{:#x}", intent.value),
    });
    if let Some(to) = intent.to {
        request["to"] = json!(to);
    }
    request
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToldReceipt {
    transaction_hash: B256,
    block_number: U256,
    block_hash: B256,
    from: Address,
    to: Option<Address>,
    contract_address: Option<Address>,
    status: Option<U256>,
    gas_used: U256,
    effective_gas_price: Option<U256>,
    #[serde(default)]
    logs: Vec<ToldLog>,
}

#[derive(Deserialize)]
struct ToldLog {
    address: Address,
    topics: Vec<B256>,
    data: Bytes,
}

impl ToldReceipt {
    fn believed(self) -> Result<Receipt, &'static str> {
        let status = self.status.ok_or("a receipt that does not say whether it succeeded")?;
        let logs = self.logs.into_iter().map(|log| {
            let data = LogData::new(log.topics, log.data).ok_or("an event with more than four topics")?;
            Ok::<_, &'static str>(alloy_primitives::Log { address: log.address, data })
        });
        Ok(Receipt {
            tx_hash: self.transaction_hash,
            block_number: u64::try_from(self.block_number)
                .map_err(|_| "a block number of more than 64 bits")?,
            block_hash: self.block_hash,
            from: self.from,
            to: self.to,
            contract_address: self.contract_address,
            succeeded: status == U256::from(1),
            gas_used: u64::try_from(self.gas_used).map_err(|_| "gas of more than 64 bits")?,
            gas_price: self.effective_gas_price.unwrap_or_default(),
            logs: logs.collect::<Result<_, _>>()?,
        })
    }
}
