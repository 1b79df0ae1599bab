//! Who called whom in one execution, in the shape of geth's call tracer.

use alloy_primitives::{Address, Bytes, U256};
use revm::Inspector;
use revm::context_interface::ContextTr;
use revm::interpreter::{
    CallInputs, CallOutcome, CallScheme, CreateInputs, CreateOutcome, InstructionResult,
};
use serde_json::{Value, json};

use crate::limits;

/// Collects the frames of an execution.
#[derive(Debug, Default)]
pub(crate) struct Tracer {
    open: Vec<Frame>,
    finished: Option<Frame>,
    frames: usize,
}

#[derive(Debug)]
struct Frame {
    kind: &'static str,
    from: Address,
    to: Option<Address>,
    value: U256,
    input: Bytes,
    output: Bytes,
    gas_used: u64,
    error: Option<String>,
    calls: Vec<Frame>,
}

impl Frame {
    fn into_json(self) -> Value {
        let mut json = json!({
            "type": self.kind,
            "from": self.from.to_checksum(None),
            "to": self.to.map(|to| to.to_checksum(None)),
            "value": format!("{:#x}", self.value),
            "gasUsed": format!("{:#x}", self.gas_used),
            "input": self.input.to_string(),
            "output": self.output.to_string(),
        });
        if let Some(error) = self.error {
            json["error"] = error.into();
        }
        if !self.calls.is_empty() {
            json["calls"] = self.calls.into_iter().map(Frame::into_json).collect();
        }
        json
    }
}

impl Tracer {
    /// The outermost frame with all others inside.
    pub(crate) fn finish(self) -> Value {
        self.finished.map(Frame::into_json).unwrap_or_default()
    }

    fn enter(&mut self, frame: Frame) {
        self.frames += 1;
        self.open.push(frame);
    }

    fn leave(&mut self, result: InstructionResult, output: &Bytes, gas_used: u64) {
        let Some(mut frame) = self.open.pop() else { return };
        frame.output = output.clone();
        frame.gas_used = gas_used;
        frame.error = (!result.is_ok()).then(|| format!("{result:?}"));
        match self.open.last_mut() {
            // Beyond the limit the shape stays right and only leaves are missing.
            Some(parent) if self.frames <= limits::TRACE_FRAMES => parent.calls.push(frame),
            Some(_) => {}
            None => self.finished = Some(frame),
        }
    }
}

impl<CTX: ContextTr> Inspector<CTX> for Tracer {
    fn call(&mut self, context: &mut CTX, inputs: &mut CallInputs) -> Option<CallOutcome> {
        let kind = match inputs.scheme {
            CallScheme::Call => "CALL",
            CallScheme::CallCode => "CALLCODE",
            CallScheme::DelegateCall => "DELEGATECALL",
            CallScheme::StaticCall => "STATICCALL",
        };
        self.enter(Frame {
            kind,
            from: inputs.caller,
            to: Some(inputs.bytecode_address),
            value: inputs.call_value(),
            input: inputs.input.bytes(context),
            output: Bytes::new(),
            gas_used: 0,
            error: None,
            calls: vec![],
        });
        None
    }

    fn call_end(&mut self, _: &mut CTX, _: &CallInputs, outcome: &mut CallOutcome) {
        self.leave(outcome.result.result, &outcome.result.output, outcome.result.gas.total_gas_spent());
    }

    fn create(&mut self, _: &mut CTX, inputs: &mut CreateInputs) -> Option<CreateOutcome> {
        self.enter(Frame {
            kind: "CREATE",
            from: inputs.caller(),
            to: None,
            value: inputs.value(),
            input: inputs.init_code().clone(),
            output: Bytes::new(),
            gas_used: 0,
            error: None,
            calls: vec![],
        });
        None
    }

    fn create_end(&mut self, _: &mut CTX, _: &CreateInputs, outcome: &mut CreateOutcome) {
        if let Some(frame) = self.open.last_mut() {
            frame.to = outcome.address;
        }
        self.leave(outcome.result.result, &outcome.result.output, outcome.result.gas.total_gas_spent());
    }
}
