//! Every limit of the toolbox, in one place.

use std::time::Duration;

/// The longest line an MCP client may send, and the largest body of an HTTP request.
pub(crate) const MESSAGE_BYTES: usize = 32 << 20;
/// Source files of one compilation, imports included.
pub(crate) const SOURCE_FILES: usize = 2_000;
/// One source file.
pub(crate) const SOURCE_FILE_BYTES: usize = 4 << 20;
/// All source files of one compilation together.
pub(crate) const SOURCE_BYTES: usize = 24 << 20;
/// What a compiler may print.
pub(crate) const COMPILER_OUTPUT_BYTES: usize = 64 << 20;
/// How long a compiler may run.
pub(crate) const COMPILE_TIME: Duration = Duration::from_secs(300);
/// Memory a compiler may use, where the system can hold it to that.
pub(crate) const COMPILER_MEMORY_BYTES: u64 = 4 << 30;
/// The largest file a compiler may write; it has no reason to write any.
pub(crate) const COMPILER_FILE_BYTES: u64 = 1 << 20;
/// Compilers at work at the same time.
pub(crate) const COMPILERS_AT_ONCE: usize = 2;
/// How deep values of an ABI may nest.
pub(crate) const ABI_DEPTH: usize = 16;
/// Items of one array argument.
pub(crate) const ABI_ITEMS: usize = 100_000;
/// Functions, errors and events of one ABI.
pub(crate) const ABI_ENTRIES: usize = 5_000;
/// An idempotency key.
pub(crate) const KEY_BYTES: usize = 200;
/// The name of a chain, a project, a tenant or a policy.
pub(crate) const NAME_BYTES: usize = 64;
/// Chains one tenant may register.
pub(crate) const CHAINS: usize = 100;
/// Gas of one transaction on the embedded chain; the protocol's own cap.
pub(crate) const TRANSACTION_GAS: u64 = 1 << 24;
/// Gas of one block of the embedded chain.
pub(crate) const BLOCK_GAS: u64 = 60_000_000;
/// How long a JSON-RPC node may take to answer one request.
pub(crate) const RPC_TIME: Duration = Duration::from_secs(20);
/// What a JSON-RPC node may answer.
pub(crate) const RPC_ANSWER_BYTES: usize = 32 << 20;
/// How long to wait for a receipt.
pub(crate) const RECEIPT_TIME: Duration = Duration::from_secs(120);
/// How often to ask for a receipt.
pub(crate) const RECEIPT_PAUSE: Duration = Duration::from_millis(300);
/// How many blocks back a used nonce must be before a transaction that has none of them is given up.
pub(crate) const SETTLED_BLOCKS: u64 = 12;
/// Gas one test case may use.
pub(crate) const TEST_GAS: u64 = 1 << 30;
/// Memory the machine may use within one test case.
pub(crate) const TEST_MEMORY_BYTES: u64 = 128 << 20;
/// What the cheatcodes of one test may be given: some keep it, and none of it costs gas.
pub(crate) const CHEAT_BYTES: usize = 256 << 20;
/// How long all tests of one request may run.
pub(crate) const TEST_TIME: Duration = Duration::from_secs(300);
/// How long another test runner may take to compile and judge what ours cannot.
pub(crate) const FORGE_TIME: Duration = Duration::from_secs(300);
/// What it may print.
pub(crate) const FORGE_OUTPUT_BYTES: usize = 256 << 20;
/// The largest file it may write.
pub(crate) const FORGE_FILE_BYTES: u64 = 512 << 20;
/// Runs of one fuzz test.
pub(crate) const FUZZ_RUNS: u32 = 256;
/// The most fuzz runs a caller may ask for.
pub(crate) const FUZZ_RUNS_MOST: u32 = 20_000;
/// How many inputs a fuzz test may reject with `assume`.
pub(crate) const FUZZ_REJECTS: u32 = 65_536;
/// Sequences of one invariant test.
pub(crate) const INVARIANT_RUNS: u32 = 32;
/// Calls in one sequence of an invariant test.
pub(crate) const INVARIANT_DEPTH: u32 = 32;
/// HTTP connections at the same time.
pub(crate) const CONNECTIONS: usize = 256;
/// The head of an HTTP request.
pub(crate) const HEADER_BYTES: usize = 64 << 10;
/// How long an HTTP client may take for the head of a request, and again for its body.
pub(crate) const CLIENT_TIME: Duration = Duration::from_secs(30);
/// How long one HTTP connection may last, whatever happens on it.
pub(crate) const CONNECTION_TIME: Duration = Duration::from_secs(3_600);
/// How long to wait when a connection could not be taken.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long requests under way may take when the server is told to end.
pub(crate) const SHUTDOWN_TIME: Duration = Duration::from_secs(10);
/// Requests of one MCP client that may wait for their answers.
pub(crate) const REQUESTS_WAITING: usize = 1_024;
/// Calls a tenant may have at work at the same time.
pub(crate) const CALLS_AT_ONCE: usize = 64;
/// The most sequences, and calls in one, that a test may ask for.
pub(crate) const INVARIANT_MOST: u32 = 1_000;
/// Characters of one error message; a longer one is cut.
pub(crate) const MESSAGE_CHARS: usize = 4_000;
/// Frames of one call trace.
pub(crate) const TRACE_FRAMES: usize = 5_000;
