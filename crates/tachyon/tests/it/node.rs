//! A node that does what the test wants: it mines at once, and lies, stalls or vanishes on demand.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use alloy_consensus::transaction::SignerRecoverable as _;
use alloy_consensus::{Transaction as _, TxEnvelope};
use alloy_eips::eip2718::Decodable2718 as _;
use alloy_primitives::{Address, B256, hex};
use serde_json::{Value, json};

/// The number of its chain.
pub(crate) const CHAIN: u64 = 4242;

/// What became of a request before it was answered.
pub(crate) enum Turn {
    /// Answer as a good node would.
    Honest,
    /// Answer this instead.
    Say(Value),
    /// Send these bytes as the whole answer.
    Bytes(Vec<u8>),
    /// Answer as a good node would, after the action, and never tell.
    Silence,
    /// Close the connection without an answer.
    Hang,
    /// Keep the connection and say nothing for as long as the other end waits.
    Stall,
    /// Promise an answer, send half of it and close.
    Half,
}

type Script = dyn Fn(&str, usize) -> Turn + Send + Sync;

/// What the node has seen.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Mined transactions in order.
    pub(crate) mined: Vec<(B256, Address, u64, Option<Address>)>,
    pub(crate) calls: BTreeMap<String, usize>,
    /// Whether transactions wait instead of being mined.
    pub(crate) holding: bool,
    held: Vec<Vec<u8>>,
}

pub(crate) struct Node {
    pub(crate) url: String,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    script: Arc<Mutex<Arc<Script>>>,
}

impl Node {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/secret-path", listener.local_addr().unwrap());
        let ledger: Arc<Mutex<Ledger>> = Arc::default();
        let honest: Arc<Script> = Arc::new(|_, _| Turn::Honest);
        let script = Arc::new(Mutex::new(honest));
        let (seen, told) = (ledger.clone(), script.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, told) = (seen.clone(), told.clone());
                std::thread::spawn(move || serve(stream, &seen, &told));
            }
        });
        Self { url, ledger, script }
    }

    /// From now on the node behaves so: by method, and how often it was asked for it.
    pub(crate) fn behave(&self, script: impl Fn(&str, usize) -> Turn + Send + Sync + 'static) {
        *self.script.lock().unwrap() = Arc::new(script);
    }

    pub(crate) fn mined(&self) -> usize {
        self.ledger.lock().unwrap().mined.len()
    }
}

fn serve(stream: TcpStream, ledger: &Mutex<Ledger>, script: &Mutex<Arc<Script>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(request) = read_request(&mut reader) {
        let method = request["method"].as_str().unwrap_or_default().to_owned();
        let count = {
            let mut ledger = ledger.lock().unwrap();
            let count = ledger.calls.entry(method.clone()).or_default();
            *count += 1;
            *count
        };
        let script = script.lock().unwrap().clone();
        let body = match script(&method, count) {
            Turn::Honest => answer(&request, ledger).to_string().into_bytes(),
            Turn::Say(mut said) => {
                said["id"] = request["id"].clone();
                said.to_string().into_bytes()
            }
            Turn::Bytes(bytes) => bytes,
            Turn::Silence => {
                answer(&request, ledger);
                return;
            }
            Turn::Hang => return,
            Turn::Stall => {
                let _ = reader.read_to_end(&mut Vec::new());
                return;
            }
            Turn::Half => {
                let body = answer(&request, ledger).to_string();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                let _ = stream.write_all(format!("{head}{}", &body[..body.len() / 2]).as_bytes());
                return;
            }
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn answer(request: &Value, ledger: &Mutex<Ledger>) -> Value {
    let mut ledger = ledger.lock().unwrap();
    let params = &request["params"];
    let address = || params[0].as_str().unwrap().parse::<Address>().unwrap();
    let result = match request["method"].as_str().unwrap() {
        "eth_chainId" => json!(format!("{CHAIN:#x}")),
        "eth_blockNumber" => json!(format!("{:#x}", ledger.mined.len())),
        "eth_gasPrice" | "eth_maxPriorityFeePerGas" => json!("0x1"),
        "eth_getBlockByNumber" => json!({ "baseFeePerGas": "0x7" }),
        "eth_estimateGas" => json!("0xea60"),
        "eth_call" => json!("0x602a"),
        "eth_getTransactionCount" => {
            let address = address();
            // A block by its number, or all there are.
            let block = params[1].as_str().unwrap().strip_prefix("0x");
            let blocks = block.map_or(usize::MAX, |digits| usize::from_str_radix(digits, 16).unwrap());
            let mined = ledger.mined.iter().take(blocks);
            let count = mined.filter(|(_, from, ..)| *from == address).count();
            json!(format!("{count:#x}"))
        }
        "eth_getCode" => {
            let address = address();
            let there = ledger.mined.iter().any(|(.., created)| *created == Some(address));
            json!(if there { "0x00" } else { "0x" })
        }
        "eth_sendRawTransaction" => {
            let raw = hex::decode(params[0].as_str().unwrap()).unwrap();
            return match ledger.take(raw) {
                Ok(hash) => json!({ "jsonrpc": "2.0", "id": request["id"], "result": hash }),
                Err(message) => {
                    let error = json!({ "code": -32000, "message": message });
                    json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })
                }
            };
        }
        "eth_getTransactionReceipt" => {
            let hash: B256 = params[0].as_str().unwrap().parse().unwrap();
            let found = ledger.mined.iter().position(|(mined, ..)| *mined == hash);
            found.map_or(Value::Null, |index| receipt(index, &ledger))
        }
        other => panic!("the node was asked {other}"),
    };
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })
}

fn receipt(index: usize, ledger: &Ledger) -> Value {
    let (hash, from, _, created) = &ledger.mined[index];
    json!({
        "transactionHash": hash, "blockNumber": format!("{:#x}", index + 1), "blockHash": B256::with_last_byte(1),
        "from": from, "to": null, "contractAddress": created, "status": "0x1", "gasUsed": "0xc350",
        "effectiveGasPrice": "0x8", "logs": [],
    })
}

impl Ledger {
    /// Takes a transaction as a node would: each once, and nonces in order.
    fn take(&mut self, raw: Vec<u8>) -> Result<B256, String> {
        let signed = TxEnvelope::decode_2718(&mut raw.as_slice()).map_err(|error| error.to_string())?;
        let (hash, from) = (*signed.tx_hash(), signed.recover_signer().unwrap());
        assert_eq!(signed.chain_id(), Some(CHAIN));
        if self.mined.iter().any(|(mined, ..)| *mined == hash) {
            return Err("already known".into());
        }
        if self.holding {
            self.held.push(raw);
            return Ok(hash);
        }
        let expected = self.mined.iter().filter(|(_, sender, ..)| *sender == from).count() as u64;
        if signed.nonce() != expected {
            return Err(format!("nonce too low: next nonce {expected}, tx nonce {}", signed.nonce()));
        }
        let created = signed.to().is_none().then(|| from.create(signed.nonce()));
        self.mined.push((hash, from, signed.nonce(), created));
        Ok(hash)
    }

    /// Mines what was held.
    pub(crate) fn release(&mut self) {
        self.holding = false;
        for raw in std::mem::take(&mut self.held) {
            let _ = self.take(raw);
        }
    }
}
