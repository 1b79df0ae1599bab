//! Cheatcodes: calls to one address that change the rules of the machine for tests.

mod asserts;
mod dispatch;
mod expect;
mod mock;
mod snapshots;
mod text;

use std::collections::HashMap;
use std::sync::Arc;

use alloy_dyn_abi::{DynSolValue, JsonAbiExt as _};
use alloy_json_abi::{Function, JsonAbi};
use alloy_primitives::{Address, Bytes, Log, Selector, U256, address};
use revm::Inspector;
use revm::context_interface::JournalTr as _;
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::{InputsTr as _, Jumps as _};
use revm::interpreter::{
    CallInputs, CallOutcome, CreateInputs, CreateOutcome, Gas, InstructionResult, Interpreter,
    InterpreterResult,
};

use super::machine::{Ctx, SENDER};
use crate::limits;
use crate::registry::Artifact;
use expect::{ExpectedCall, ExpectedEmit, ExpectedRevert};
use mock::Mock;
use snapshots::Snapshots;

/// Where cheatcodes live.
pub(super) const VM: Address = address!("7109709ECfa91a80626fF3989D68f67F5b1DD12D");
/// Where tests print to. What is printed is nobody's business here, and counts for nothing that is expected of a call.
const CONSOLE: Address = address!("000000000000000000636F6e736F6c652e6c6f67");
/// The selector of `CheatcodeError(string)`.
const CHEATCODE_ERROR: [u8; 4] = [0xee, 0xaa, 0x9e, 0x6f];
const SLOAD: u8 = 0x54;
const SSTORE: u8 = 0x55;

/// What the compiled sources call the cheatcodes, and every interface that may explain a revert.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    functions: HashMap<Selector, Function>,
    pub(super) abis: Vec<JsonAbi>,
    /// Creation codes with the places of their artifacts, to know a contract when it is created.
    codes: Vec<(Bytes, usize)>,
}

impl Vocabulary {
    pub(super) fn of(artifacts: &[Artifact]) -> Arc<Self> {
        let mut vocabulary = Self::default();
        for (index, artifact) in artifacts.iter().enumerate() {
            let Ok(abi) = artifact.parsed_abi() else { continue };
            // Interfaces of cheatcodes have no code; contracts that happen to be called so have.
            if artifact.bytecode.len() <= 2
                && matches!(artifact.name.as_str(), "Vm" | "VmSafe" | "Hevm" | "CheatCodes")
            {
                let functions = abi.functions().map(|function| (function.selector(), function.clone()));
                vocabulary.functions.extend(functions);
            }
            if let Ok(code) = artifact.linked(&Default::default()) {
                vocabulary.codes.push((code, index));
            }
            vocabulary.abis.push(abi);
        }
        if let Ok(error) = alloy_json_abi::Error::parse("CheatcodeError(string message)") {
            vocabulary
                .abis
                .push(JsonAbi { errors: [(error.name.clone(), vec![error])].into(), ..JsonAbi::default() });
        }
        Arc::new(vocabulary)
    }

    /// Which artifact this creation code is of.
    pub(super) fn artifact_of(&self, init: &[u8]) -> Option<usize> {
        let fitting = self.codes.iter().filter(|(code, _)| init.starts_with(code));
        fitting.max_by_key(|(code, _)| code.len()).map(|(_, index)| *index)
    }
}

/// Why a cheatcode did not do it.
pub(super) enum Refusal {
    /// The test sees a revert with these words.
    Words(String),
    /// This runner cannot do it, so the test says nothing.
    Unsupported(String),
}

impl From<&str> for Refusal {
    fn from(words: &str) -> Self {
        Self::Words(words.into())
    }
}

impl From<String> for Refusal {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

/// What a cheatcode returns.
type Returned = Result<Vec<DynSolValue>, Refusal>;

/// Somebody who pretends to be somebody else.
#[derive(Debug, Clone)]
struct Prank {
    /// Who pretends.
    who: Address,
    depth: usize,
    caller: Address,
    origin: Option<Address>,
    former_origin: Address,
    single: bool,
    used: bool,
}

/// The slots a contract read and wrote.
#[derive(Debug, Clone, Default)]
struct Accesses {
    reads: Vec<U256>,
    writes: Vec<U256>,
}

/// Everything tests asked for.
#[derive(Clone)]
pub(super) struct Cheats {
    pub(super) vocabulary: Arc<Vocabulary>,
    prank: Option<Prank>,
    expected_revert: Option<ExpectedRevert>,
    expected_emits: Vec<ExpectedEmit>,
    expected_calls: Vec<ExpectedCall>,
    mocks: Vec<Mock>,
    recorded_logs: Option<Vec<Log>>,
    accesses: Option<HashMap<Address, Accesses>>,
    labels: HashMap<Address, String>,
    snapshots: Snapshots,
    random: fastrand::Rng,
    /// Whether a revert may be expected of the test's own code.
    pub(super) internal_reverts: bool,
    /// How many bytes cheatcodes were given in this call of the test.
    given: usize,
    /// What this runner was asked for and cannot do.
    pub(super) unsupported: Option<String>,
    /// Whether the test asked to be skipped, and why.
    pub(super) skipped: Option<String>,
    /// Whether the input was not wanted.
    pub(super) rejected: bool,
    /// What was created, with its creation code.
    pub(super) created: Vec<(Address, usize)>,
}

impl Cheats {
    pub(super) fn new(vocabulary: Arc<Vocabulary>, seed: u64) -> Self {
        Self {
            vocabulary,
            prank: None,
            expected_revert: None,
            expected_emits: vec![],
            expected_calls: vec![],
            mocks: vec![],
            recorded_logs: None,
            accesses: None,
            labels: HashMap::new(),
            snapshots: Snapshots::default(),
            random: fastrand::Rng::with_seed(seed),
            internal_reverts: false,
            given: 0,
            unsupported: None,
            skipped: None,
            rejected: false,
            created: vec![],
        }
    }

    /// Forgets what belongs to one call of a test.
    pub(super) fn begin(&mut self) {
        self.rejected = false;
        self.given = 0;
    }

    /// What was expected and did not come, at the end of a test.
    pub(super) fn disappointment(&self) -> Option<String> {
        if self.expected_revert.is_some() {
            return Some("expected a revert, but nothing was called".into());
        }
        if self.expected_emits.iter().any(|emit| !emit.found) {
            return Some("expected an emit, but no logs were emitted afterwards".into());
        }
        self.expected_calls.iter().find_map(ExpectedCall::disappointment)
    }

    /// A call to the cheatcodes.
    fn cheat(&mut self, context: &mut Ctx, inputs: &CallInputs) -> CallOutcome {
        let data = inputs.input.bytes(context);
        self.given = self.given.saturating_add(data.len());
        let (result, output) = match self.answer(context, inputs, &data) {
            Ok(output) => (InstructionResult::Return, output),
            Err(Refusal::Words(words)) => (InstructionResult::Revert, cheatcode_error(&words)),
            Err(Refusal::Unsupported(what)) => {
                let words = format!("{what} is not supported by the built-in runner");
                self.unsupported.get_or_insert_with(|| words.clone());
                (InstructionResult::Revert, cheatcode_error(&words))
            }
        };
        let result = InterpreterResult::new(result, output, Gas::new(inputs.gas_limit));
        CallOutcome::new(result, inputs.return_memory_offset.clone())
    }

    fn answer(&mut self, context: &mut Ctx, inputs: &CallInputs, data: &Bytes) -> Result<Bytes, Refusal> {
        let Some((selector, body)) = data.split_first_chunk::<4>() else {
            return Err("a cheatcode without a selector".into());
        };
        if self.given > limits::CHEAT_BYTES {
            return Err(Refusal::Unsupported(format!(
                "more than {} bytes for cheatcodes",
                limits::CHEAT_BYTES
            )));
        }
        let vocabulary = self.vocabulary.clone();
        let function = vocabulary.functions.get(&Selector::from(*selector));
        let unknown = || Refusal::Unsupported(format!("the cheatcode 0x{}", hex::encode(selector)));
        let function = function.ok_or_else(unknown)?;
        let arguments = function.abi_decode_input(body);
        let arguments = arguments.map_err(|error| Refusal::Words(format!("{}: {error}", function.name)))?;
        let call = dispatch::Call { function, arguments, caller: inputs.caller };
        let values = self.dispatch(context, &call)?;
        Ok(DynSolValue::Tuple(values).abi_encode_params().into())
    }

    /// Lets somebody pretend, where it is their turn.
    fn pretend(&mut self, context: &mut Ctx, caller: Address) -> Option<Address> {
        let depth = context.journaled_state.depth();
        let prank = self.prank.as_mut().filter(|prank| prank.who == caller && prank.depth == depth)?;
        prank.used = true;
        if let Some(origin) = prank.origin {
            context.tx.caller = origin;
        }
        Some(prank.caller)
    }

    /// Ends a pretence that was for one call.
    fn stop_pretending(&mut self, context: &mut Ctx) {
        let depth = context.journaled_state.depth();
        if self.prank.as_ref().is_some_and(|prank| prank.single && prank.used && prank.depth == depth)
            && let Some(prank) = self.prank.take()
        {
            context.tx.caller = prank.former_origin;
        }
    }

    /// Judges what a call or creation ended with: expectations about reverts first, then about events.
    fn judge(&mut self, context: &mut Ctx, ended: &mut InterpreterResult, frame: &Frame) -> Judged {
        let depth = context.journaled_state.depth();
        if let Some(expected) = self.expected_revert.take_if(|expected| depth <= expected.depth) {
            return match expected.judge(ended) {
                Ok(()) => {
                    ended.result = InstructionResult::Return;
                    ended.output = frame.dummy.clone();
                    Judged::AsExpected
                }
                Err(words) => {
                    fail(ended, &words);
                    Judged::Other
                }
            };
        }
        if ended.result.is_ok()
            && frame.may_emit
            && self.expected_emits.iter().any(|emit| emit.depth == depth)
        {
            if self.expected_emits.iter().filter(|emit| emit.depth == depth).all(|emit| emit.found) {
                self.expected_emits.retain(|emit| emit.depth != depth);
            } else {
                let words = "log != expected log";
                self.expected_emits.clear();
                fail(ended, words);
            }
        }
        Judged::Other
    }
}

/// What kind of call or creation came to its end.
struct Frame {
    /// What its caller gets where a revert was expected.
    dummy: Bytes,
    /// Calls that change nothing emit nothing; a test may make some while it says what it expects.
    may_emit: bool,
}

/// What judging found.
#[derive(PartialEq, Eq)]
enum Judged {
    AsExpected,
    Other,
}

fn fail(ended: &mut InterpreterResult, words: &str) {
    ended.result = InstructionResult::Revert;
    ended.output = cheatcode_error(words);
}

fn cheatcode_error(words: &str) -> Bytes {
    let body = DynSolValue::Tuple(vec![DynSolValue::String(words.to_owned())]).abi_encode_params();
    [CHEATCODE_ERROR.as_slice(), &body].concat().into()
}

/// Enough zeros for whatever a caller decodes from a call that was expected to revert.
fn dummy_output() -> Bytes {
    Bytes::from_static(&[0; 8192])
}

impl Inspector<Ctx> for Cheats {
    fn initialize_interp(&mut self, _: &mut Interpreter<EthInterpreter>, context: &mut Ctx) {
        if let Some(expected) = &mut self.expected_revert {
            expected.deepest = expected.deepest.max(context.journaled_state.depth());
        }
    }

    fn step(&mut self, interpreter: &mut Interpreter<EthInterpreter>, _: &mut Ctx) {
        let Some(accesses) = &mut self.accesses else { return };
        let opcode = interpreter.bytecode.opcode();
        if !matches!(opcode, SLOAD | SSTORE) {
            return;
        }
        let Ok(slot) = interpreter.stack.peek(0) else { return };
        let seen = accesses.entry(interpreter.input.target_address()).or_default();
        seen.reads.push(slot);
        if opcode == SSTORE {
            seen.writes.push(slot);
        }
    }

    fn step_end(&mut self, interpreter: &mut Interpreter<EthInterpreter>, context: &mut Ctx) {
        if self.snapshots.is_counting() {
            self.snapshots.stepped(context.journaled_state.depth(), interpreter.gas.total_gas_spent());
        }
    }

    fn log(&mut self, _: &mut Ctx, log: Log) {
        if let Some(logs) = &mut self.recorded_logs {
            logs.push(log.clone());
        }
        if let Some(emit) = self.expected_emits.iter_mut().find(|emit| emit.template.is_none()) {
            emit.template = Some(log);
        } else if let Some(emit) = self.expected_emits.iter_mut().find(|emit| !emit.found) {
            emit.found = emit.fits(&log);
        }
    }

    fn call(&mut self, context: &mut Ctx, inputs: &mut CallInputs) -> Option<CallOutcome> {
        if inputs.target_address == VM {
            return Some(self.cheat(context, inputs));
        }
        if inputs.target_address == CONSOLE {
            return None;
        }
        let data = inputs.input.bytes(context);
        let (target, value) = (inputs.bytecode_address, inputs.call_value());
        for expected in &mut self.expected_calls {
            expected.see(target, value, &data);
        }
        let mocked = mock::find(&mut self.mocks, target, value, &data);
        if let Some((result, output)) = mocked {
            if self.prank.as_ref().is_some_and(|prank| prank.who == inputs.caller) {
                self.pretend(context, inputs.caller);
            }
            let result = InterpreterResult::new(result, output, Gas::new(inputs.gas_limit));
            return Some(CallOutcome::new(result, inputs.return_memory_offset.clone()));
        }
        // Borrowed code runs as its borrower; there is nobody to pretend to be.
        if !inputs.scheme.is_delegate_call()
            && let Some(caller) = self.pretend(context, inputs.caller)
        {
            inputs.caller = caller;
        }
        None
    }

    fn call_end(&mut self, context: &mut Ctx, inputs: &CallInputs, outcome: &mut CallOutcome) {
        if matches!(inputs.target_address, VM | CONSOLE) {
            return;
        }
        self.snapshots.call_ended(&outcome.result.gas);
        self.stop_pretending(context);
        if outcome.result.result.is_revert()
            && let Some(expected) = &mut self.expected_revert
        {
            expected.reverter.get_or_insert(inputs.target_address);
        }
        self.judge(
            context,
            &mut outcome.result,
            &Frame { dummy: dummy_output(), may_emit: !inputs.is_static },
        );
    }

    fn create(&mut self, context: &mut Ctx, inputs: &mut CreateInputs) -> Option<CreateOutcome> {
        if let Some(caller) = self.pretend(context, inputs.caller()) {
            inputs.set_call(caller);
        }
        None
    }

    fn create_end(&mut self, context: &mut Ctx, inputs: &CreateInputs, outcome: &mut CreateOutcome) {
        self.stop_pretending(context);
        if let Some(address) = outcome.address.filter(|_| outcome.result.result.is_ok())
            && let Some(artifact) = self.vocabulary.artifact_of(inputs.init_code())
            && inputs.caller() != SENDER
        {
            self.created.push((address, artifact));
        }
        let frame = Frame { dummy: Bytes::new(), may_emit: true };
        if self.judge(context, &mut outcome.result, &frame) == Judged::AsExpected {
            // Not the zero address, which callers take for a failure.
            outcome.address = Some(Address::with_last_byte(1));
        }
    }
}
