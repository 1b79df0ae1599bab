//! Each cheatcode by its name. The names and types come from the compiled sources, so they are always those of the test.

use alloy_dyn_abi::DynSolValue;
use alloy_json_abi::Function;
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use revm::bytecode::Bytecode;
use revm::context_interface::JournalTr as _;
use revm::context_interface::journaled_state::account::JournaledAccountTr as _;
use revm::interpreter::InstructionResult;

use super::expect::{ExpectedCall, ExpectedEmit, ExpectedRevert, WantedRevert};
use super::mock::Mock;
use super::text::shown;
use super::{Accesses, Cheats, Prank, Refusal, Returned, asserts};
use crate::policy::signer::Key;
use crate::runner::machine::Ctx;

/// A cheatcode that was called.
pub(super) struct Call<'a> {
    pub(super) function: &'a Function,
    pub(super) arguments: Vec<DynSolValue>,
    /// Who called it.
    pub(super) caller: Address,
}

impl Call<'_> {
    pub(super) fn name(&self) -> &str {
        &self.function.name
    }

    pub(super) fn wrong(&self) -> Refusal {
        Refusal::Unsupported(format!("the cheatcode {}", self.function.signature()))
    }

    fn at(&self, index: usize) -> Result<&DynSolValue, Refusal> {
        self.arguments.get(index).ok_or_else(|| self.wrong())
    }

    fn address(&self, index: usize) -> Result<Address, Refusal> {
        self.at(index)?.as_address().ok_or_else(|| self.wrong())
    }

    pub(super) fn number(&self, index: usize) -> Result<U256, Refusal> {
        self.at(index)?.as_uint().map(|(number, _)| number).ok_or_else(|| self.wrong())
    }

    fn small(&self, index: usize) -> Result<u64, Refusal> {
        u64::try_from(self.number(index)?).map_err(|_| Refusal::Words("a number of more than 64 bits".into()))
    }

    fn flag(&self, index: usize) -> Result<bool, Refusal> {
        self.at(index)?.as_bool().ok_or_else(|| self.wrong())
    }

    fn word(&self, index: usize) -> Result<B256, Refusal> {
        match self.at(index)? {
            DynSolValue::FixedBytes(word, 32) => Ok(*word),
            _ => Err(self.wrong()),
        }
    }

    /// Bytes of any length, `bytes4` too.
    fn bytes(&self, index: usize) -> Result<Bytes, Refusal> {
        match self.at(index)? {
            DynSolValue::Bytes(bytes) => Ok(bytes.clone().into()),
            DynSolValue::FixedBytes(word, size) => Ok(word[..*size].to_vec().into()),
            _ => Err(self.wrong()),
        }
    }

    fn types(&self) -> Vec<&str> {
        self.function.inputs.iter().map(|input| input.ty.as_str()).collect()
    }
}

pub(super) fn nothing() -> Returned {
    Ok(vec![])
}

pub(super) fn number(value: U256) -> DynSolValue {
    DynSolValue::Uint(value, 256)
}

fn word(value: B256) -> DynSolValue {
    DynSolValue::FixedBytes(value, 32)
}

/// Loading from a state in memory does not fail.
fn broken<E>(_: E) -> Refusal {
    Refusal::Words("the state cannot be read".into())
}

impl Cheats {
    pub(super) fn dispatch(&mut self, context: &mut Ctx, call: &Call<'_>) -> Returned {
        if let Some(checked) = asserts::check(call.name(), &call.arguments) {
            return checked;
        }
        match call.name() {
            "prank" | "startPrank" | "stopPrank" | "readCallers" => self.pranks(context, call),
            "expectRevert" | "expectPartialRevert" | "expectEmit" | "expectCall" => {
                self.expect(context, call)
            }
            "mockCall" | "mockCalls" | "mockCallRevert" | "clearMockedCalls" => self.mock(context, call),
            "warp" | "roll" | "fee" | "chainId" | "coinbase" | "prevrandao" | "difficulty" | "txGasPrice"
            | "getBlockNumber" | "getBlockTimestamp" | "getChainId" => surroundings(context, call),
            "deal" | "etch" | "store" | "load" | "getNonce" | "setNonce" | "setNonceUnsafe"
            | "resetNonce" => state(context, call),
            "addr" | "sign" | "computeCreateAddress" | "computeCreate2Address" | "toString" | "getLabel" => {
                self.compute(call)
            }
            "snapshot"
            | "snapshotState"
            | "revertTo"
            | "revertToState"
            | "revertToAndDelete"
            | "revertToStateAndDelete"
            | "deleteSnapshot"
            | "deleteStateSnapshot"
            | "deleteSnapshots"
            | "deleteStateSnapshots"
            | "startSnapshotGas"
            | "stopSnapshotGas"
            | "snapshotGasLastCall"
            | "lastCallGas"
            | "snapshotValue" => self.snapshots.run(context, call),
            "recordLogs" | "getRecordedLogs" | "record" | "accesses" | "stopRecord" => self.records(call),
            "assume" | "skip" | "label" | "randomUint" | "randomAddress" | "randomBool" => self.steer(call),
            // What they change is not looked at here.
            "pauseGasMetering" | "resumeGasMetering" | "resetGasMetering" | "breakpoint"
            | "allowCheatcodes" | "makePersistent" | "noAccessList" => nothing(),
            _ => Err(call.wrong()),
        }
    }

    fn pranks(&mut self, context: &mut Ctx, call: &Call<'_>) -> Returned {
        if call.name() == "stopPrank" {
            if let Some(prank) = self.prank.take() {
                context.tx.caller = prank.former_origin;
            }
            return nothing();
        }
        let origin = context.tx.caller;
        if call.name() == "readCallers" {
            let (mode, sender, origin) = match &self.prank {
                None => (0, origin, origin),
                Some(prank) => {
                    (if prank.single { 3 } else { 4 }, prank.caller, prank.origin.unwrap_or(origin))
                }
            };
            return Ok(vec![
                DynSolValue::Uint(U256::from(mode), 8),
                DynSolValue::Address(sender),
                DynSolValue::Address(origin),
            ]);
        }
        let single = call.name() == "prank";
        let new_origin = match call.types().as_slice() {
            ["address"] => None,
            ["address", "address"] => Some(call.address(1)?),
            _ => return Err(call.wrong()),
        };
        let mut former_origin = origin;
        if let Some(ongoing) = &self.prank {
            if !ongoing.used {
                return Err("cannot overwrite a prank until it is applied at least once".into());
            }
            if ongoing.single != single {
                return Err("cannot override an ongoing prank with a single vm.prank; \
                            use vm.startPrank to override the current prank"
                    .into());
            }
            former_origin = ongoing.former_origin;
        }
        // Value can only come from an account that is there.
        let mut account = context.journaled_state.load_account_mut(call.address(0)?).map_err(broken)?;
        account.touch();
        self.prank = Some(Prank {
            who: call.caller,
            depth: context.journaled_state.depth(),
            caller: call.address(0)?,
            origin: new_origin,
            former_origin,
            single,
            used: false,
        });
        nothing()
    }

    fn expect(&mut self, context: &mut Ctx, call: &Call<'_>) -> Returned {
        let depth = context.journaled_state.depth();
        let types = call.types();
        match (call.name(), types.as_slice()) {
            ("expectEmit", []) => self.expect_emit(depth, [true; 4], None),
            ("expectEmit", ["address"]) => self.expect_emit(depth, [true; 4], Some(call.address(0)?)),
            ("expectEmit", ["bool", "bool", "bool", "bool", rest @ ..]) => {
                let by = match rest {
                    [] => None,
                    ["address"] => Some(call.address(4)?),
                    _ => return Err(call.wrong()),
                };
                self.expect_emit(depth, [call.flag(0)?, call.flag(1)?, call.flag(2)?, call.flag(3)?], by)
            }
            ("expectCall", ["address", rest @ ..]) => {
                let (value, data) = match rest {
                    ["bytes", ..] => (None, call.bytes(1)?),
                    ["uint256", "bytes", ..] => (Some(call.number(1)?), call.bytes(2)?),
                    _ => return Err(call.wrong()),
                };
                let times = match rest {
                    ["bytes", "uint64"] => Some(call.small(2)?),
                    ["uint256", "bytes", "uint64"] => Some(call.small(3)?),
                    ["bytes"] | ["uint256", "bytes"] => None,
                    _ => return Err(call.wrong()),
                };
                self.expected_calls.push(ExpectedCall {
                    target: call.address(0)?,
                    value,
                    data,
                    times,
                    seen: 0,
                });
                nothing()
            }
            (name, types) => {
                let by = match types {
                    [.., "address"] => Some(call.address(types.len() - 1)?),
                    _ => None,
                };
                let what = if by.is_some() { &types[..types.len() - 1] } else { types };
                let wanted = match (name, what) {
                    ("expectRevert", []) => WantedRevert::Anything,
                    ("expectRevert", ["bytes" | "bytes4"]) => WantedRevert::Exactly(call.bytes(0)?),
                    ("expectPartialRevert", ["bytes4"]) => {
                        WantedRevert::Beginning(call.bytes(0)?.as_ref().try_into().map_err(|_| call.wrong())?)
                    }
                    _ => return Err(call.wrong()),
                };
                if self.expected_revert.is_some() {
                    return Err("you must call another function prior to expecting a second revert".into());
                }
                let internal = self.internal_reverts;
                self.expected_revert =
                    Some(ExpectedRevert { depth, deepest: depth, internal, wanted, by, reverter: None });
                nothing()
            }
        }
    }

    fn expect_emit(&mut self, depth: usize, checks: [bool; 4], by: Option<Address>) -> Returned {
        self.expected_emits.push(ExpectedEmit { depth, checks, by, template: None, found: false });
        nothing()
    }

    fn mock(&mut self, context: &mut Ctx, call: &Call<'_>) -> Returned {
        if call.name() == "clearMockedCalls" {
            self.mocks.clear();
            return nothing();
        }
        let target = call.address(0)?;
        let (value, place) = match call.types().get(1) {
            Some(&"uint256") => (Some(call.number(1)?), 2),
            _ => (None, 1),
        };
        let data = call.bytes(place)?;
        let answers = match call.at(place + 1)? {
            DynSolValue::Array(answers) => {
                answers.iter().filter_map(DynSolValue::as_bytes).map(Bytes::copy_from_slice).collect()
            }
            _ => vec![call.bytes(place + 1)?],
        };
        let reverts = call.name() == "mockCallRevert";
        let result = if reverts { InstructionResult::Revert } else { InstructionResult::Return };
        self.mocks.retain(|mock| (mock.target, mock.value, &mock.data) != (target, value, &data));
        self.mocks.push(Mock { target, value, data, answers, result });
        // Compilers check that there is code before they call.
        let mut account = context.journaled_state.load_account_with_code_mut(target).map_err(broken)?;
        if account.code().is_none_or(Bytecode::is_empty) {
            account.set_code_and_hash_slow(Bytecode::new_raw(Bytes::from_static(&[0])));
            account.touch();
        }
        nothing()
    }

    fn records(&mut self, call: &Call<'_>) -> Returned {
        match call.name() {
            "recordLogs" => {
                self.recorded_logs = Some(vec![]);
                nothing()
            }
            "getRecordedLogs" => {
                let logs = self.recorded_logs.replace(vec![]).unwrap_or_default();
                let logs = logs.into_iter().map(|log| {
                    let topics = log.data.topics().iter().map(|topic| word(*topic)).collect();
                    let data = DynSolValue::Bytes(log.data.data.to_vec());
                    DynSolValue::Tuple(vec![
                        DynSolValue::Array(topics),
                        data,
                        DynSolValue::Address(log.address),
                    ])
                });
                Ok(vec![DynSolValue::Array(logs.collect())])
            }
            "record" => {
                self.accesses = Some(Default::default());
                nothing()
            }
            "stopRecord" => {
                self.accesses = None;
                nothing()
            }
            _ => {
                let address = call.address(0)?;
                let known = self.accesses.as_ref().and_then(|accesses| accesses.get(&address));
                let Accesses { reads, writes } = known.cloned().unwrap_or_default();
                let words = |slots: Vec<U256>| {
                    DynSolValue::Array(slots.into_iter().map(|slot| word(slot.into())).collect())
                };
                Ok(vec![words(reads), words(writes)])
            }
        }
    }

    fn steer(&mut self, call: &Call<'_>) -> Returned {
        match (call.name(), call.types().as_slice()) {
            ("assume", _) if call.flag(0)? => nothing(),
            ("assume", _) => {
                self.rejected = true;
                Err("the input was rejected".into())
            }
            ("skip", _) if !call.flag(0)? => nothing(),
            ("skip", _) => {
                let why = call.arguments.get(1).and_then(DynSolValue::as_str).unwrap_or_default();
                self.skipped = Some(why.to_owned());
                Err("the test was skipped".into())
            }
            ("label", _) => {
                let label = call.at(1)?.as_str().unwrap_or_default().to_owned();
                self.labels.insert(call.address(0)?, label);
                nothing()
            }
            ("randomBool", []) => Ok(vec![DynSolValue::Bool(self.random.bool())]),
            ("randomAddress", []) => {
                let bytes: [u8; 20] = std::array::from_fn(|_| self.random.u8(..));
                Ok(vec![DynSolValue::Address(bytes.into())])
            }
            ("randomUint", []) => Ok(vec![number(self.random_word())]),
            ("randomUint", ["uint256", "uint256"]) => {
                let (low, high) = (call.number(0)?, call.number(1)?);
                let span = high.checked_sub(low).ok_or(Refusal::Words("min must be less than max".into()))?;
                let drawn = self.random_word();
                let inside = span.checked_add(U256::from(1)).map_or(drawn, |span| drawn % span);
                Ok(vec![number(low + inside)])
            }
            _ => Err(call.wrong()),
        }
    }

    fn random_word(&mut self) -> U256 {
        U256::from_be_bytes::<32>(std::array::from_fn(|_| self.random.u8(..)))
    }

    fn compute(&mut self, call: &Call<'_>) -> Returned {
        match (call.name(), call.types().as_slice()) {
            ("addr", ["uint256"]) => Ok(vec![DynSolValue::Address(key(call.number(0)?)?.address())]),
            ("sign", ["uint256", "bytes32"]) => {
                let signature = key(call.number(0)?)?.sign_hash(&call.word(1)?);
                let signature = signature.map_err(|error| Refusal::Words(error.to_string()))?;
                let parity = DynSolValue::Uint(U256::from(27 + u8::from(signature.v())), 8);
                Ok(vec![parity, word(signature.r().into()), word(signature.s().into())])
            }
            ("computeCreateAddress", ["address", "uint256"]) => {
                Ok(vec![DynSolValue::Address(call.address(0)?.create(call.small(1)?))])
            }
            ("computeCreate2Address", ["bytes32", "bytes32", rest @ ..]) => {
                let deployer = match rest {
                    [] => crate::chain::embedded::accounts::CREATE2_DEPLOYER,
                    _ => call.address(2)?,
                };
                Ok(vec![DynSolValue::Address(deployer.create2(call.word(0)?, call.word(1)?))])
            }
            ("toString", [_]) => Ok(vec![DynSolValue::String(shown(call.at(0)?))]),
            ("getLabel", ["address"]) => {
                let address = call.address(0)?;
                let label = self.labels.get(&address).cloned();
                Ok(vec![DynSolValue::String(label.unwrap_or_else(|| format!("unlabeled:{address}")))])
            }
            _ => Err(call.wrong()),
        }
    }
}

fn key(secret: U256) -> Result<Key, Refusal> {
    Key::from_bytes(&secret.to_be_bytes::<32>())
        .ok_or("private key must be less than the secp256k1 curve order".into())
}

/// The block and the chain a test sees.
fn surroundings(context: &mut Ctx, call: &Call<'_>) -> Returned {
    match call.name() {
        "warp" => context.block.timestamp = call.number(0)?,
        "roll" => context.block.number = call.number(0)?,
        "fee" => context.block.basefee = call.small(0)?,
        "chainId" => context.cfg.chain_id = call.small(0)?,
        "coinbase" => context.block.beneficiary = call.address(0)?,
        "prevrandao" | "difficulty" => {
            let seed = match call.at(0)? {
                DynSolValue::Uint(number, _) => B256::from(*number),
                _ => call.word(0)?,
            };
            context.block.prevrandao = Some(seed);
        }
        "txGasPrice" => context.tx.gas_price = u128::from(call.small(0)?),
        "getBlockNumber" => return Ok(vec![number(context.block.number)]),
        "getBlockTimestamp" => return Ok(vec![number(context.block.timestamp)]),
        "getChainId" => return Ok(vec![number(U256::from(context.cfg.chain_id))]),
        _ => return Err(call.wrong()),
    }
    nothing()
}

/// Accounts, their code and their storage.
fn state(context: &mut Ctx, call: &Call<'_>) -> Returned {
    let address = call.address(0)?;
    let journal = &mut context.journaled_state;
    match call.name() {
        "deal" => {
            let mut account = journal.load_account_mut(address).map_err(broken)?;
            account.set_balance(call.number(1)?);
            account.touch();
        }
        "etch" => {
            let code = call.bytes(1)?;
            let mut account = journal.load_account_with_code_mut(address).map_err(broken)?;
            account.set_code(keccak256(&code), Bytecode::new_raw(code));
            account.touch();
        }
        "store" => {
            let (slot, value) = (call.word(1)?, call.word(2)?);
            journal.load_account(address).map_err(broken)?;
            journal.touch_account(address);
            journal.sstore(address, slot.into(), value.into()).map_err(broken)?;
        }
        "load" => {
            let slot = call.word(1)?;
            journal.load_account(address).map_err(broken)?;
            let value = journal.sload(address, slot.into()).map_err(broken)?;
            return Ok(vec![word(value.data.into())]);
        }
        "getNonce" => {
            let account = journal.load_account(address).map_err(broken)?;
            return Ok(vec![DynSolValue::Uint(U256::from(account.info.nonce), 64)]);
        }
        "setNonce" | "setNonceUnsafe" => {
            let (nonce, mut account) = (call.small(1)?, journal.load_account_mut(address).map_err(broken)?);
            if call.name() == "setNonce" && nonce < account.nonce() {
                let words = format!(
                    "new nonce ({nonce}) must be strictly equal to or higher than the account's current nonce"
                );
                return Err(words.into());
            }
            account.set_nonce(nonce);
            account.touch();
        }
        "resetNonce" => {
            let mut account = journal.load_account_with_code_mut(address).map_err(broken)?;
            let nonce = u64::from(account.code().is_some_and(|code| !code.is_empty()));
            account.set_nonce(nonce);
            account.touch();
        }
        _ => return Err(call.wrong()),
    }
    nothing()
}
