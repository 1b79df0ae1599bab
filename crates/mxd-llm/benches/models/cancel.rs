//! How long a call goes on after it was told to stop: for who reads it, and for the server.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use mxd_llm::{Backoff, Chunk, Class, Provider, ProviderConfig, Wire};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::row::{Row, median};
use crate::{prefix_of, streams};

/// After this a call that goes on is taken for one that never ends.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where a call is when it is cancelled.
#[derive(Clone, Copy)]
enum Place {
    BeforeTheFirstByte,
    InTheMiddle,
    BetweenAttempts,
}

/// What one cancelled call showed, in milliseconds.
struct Times {
    ended: f64,
    /// Between attempts no connection is open.
    hung_up: Option<f64>,
}

pub(crate) fn run(tries: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for place in [Place::BeforeTheFirstByte, Place::InTheMiddle, Place::BetweenAttempts] {
        let wire = |number: usize| Wire::ALL[number % Wire::ALL.len()];
        let times: Vec<Times> = (0..tries).map(|number| cancelled(&runtime, place, wire(number))).collect();
        let name = match place {
            Place::BeforeTheFirstByte => "before the first byte",
            Place::InTheMiddle => "in the middle of the answer",
            Place::BetweenAttempts => "between two attempts",
        };
        tell(&format!("cancelled {name}, until the stream ends"), times.iter().map(|times| times.ended));
        tell(
            &format!("cancelled {name}, until the server sees it"),
            times.iter().filter_map(|times| times.hung_up),
        );
    }
}

fn tell(metric: &str, times: impl Iterator<Item = f64>) {
    let times: Vec<f64> = times.collect();
    let Some(slowest) = times.iter().copied().reduce(f64::max) else { return };
    for (which, value) in [("median", median(times)), ("slowest", slowest)] {
        let metric = format!("{metric}: {which}");
        Row { metric, unit: "ms", value, baseline: None, bar: Some("<= 50") }.tell();
    }
}

fn cancelled(runtime: &Runtime, place: Place, wire: Wire) -> Times {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = ProviderConfig::new(wire, None);
    config.base_url = format!("http://{}", listener.local_addr().unwrap());
    let hour = Duration::from_secs(3_600);
    config.backoff = Backoff { attempts: 2, base: hour, cap: hour, longest_retry_after: hour };
    let provider = Provider::new(config).unwrap();
    let (tell_asked, asked) = sync_channel(1);
    let (tell_hung_up, hung_up) = sync_channel(1);
    let answer = answer(place, wire);
    let server = std::thread::spawn(move || serve(&listener, &answer, (&tell_asked, &tell_hung_up)));

    let cancel = CancellationToken::new();
    let mut stream = provider.stream(prefix_of(wire, 1).request(), cancel.clone());
    let (tell_first, first) = sync_channel(1);
    let reader = runtime.spawn(async move {
        while let Some(chunk) = stream.next().await {
            match chunk {
                Ok(Chunk::End { .. }) => panic!("the answer ended by itself"),
                Ok(_) => drop(tell_first.try_send(())),
                Err(error) => assert_eq!(error.class, Class::Cancelled),
            }
        }
        Instant::now()
    });
    reached(place, &asked, &first);
    let told = Instant::now();
    cancel.cancel();
    let ended = runtime.block_on(reader).unwrap();
    let since = |then: Instant| (then - told).as_secs_f64() * 1e3;
    let hung_up: Instant = hung_up.recv().unwrap();
    server.join().unwrap();
    let open = !matches!(place, Place::BetweenAttempts);
    Times { ended: since(ended), hung_up: open.then(|| since(hung_up)) }
}

/// Waits until the call is at its place.
fn reached(place: Place, asked: &Receiver<()>, first: &Receiver<()>) {
    match place {
        Place::BeforeTheFirstByte => asked.recv().unwrap(),
        // The chunk that tells of the retry is the first one, too.
        Place::InTheMiddle | Place::BetweenAttempts => first.recv().unwrap(),
    }
}

fn answer(place: Place, wire: Wire) -> Vec<u8> {
    match place {
        Place::BeforeTheFirstByte => Vec::new(),
        Place::InTheMiddle => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            format!("{head}{}", streams::stream(wire, 3)).into_bytes()
        }
        Place::BetweenAttempts => {
            b"HTTP/1.1 529 X\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}".to_vec()
        }
    }
}

/// Answers one request, and tells when it came and when its client hung up.
fn serve(listener: &TcpListener, answer: &[u8], (asked, hung_up): (&SyncSender<()>, &SyncSender<Instant>)) {
    let (mut client, _) = listener.accept().unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    read_request(&mut client);
    client.write_all(answer).unwrap();
    asked.send(()).unwrap();
    let mut rest = [0; 64];
    while matches!(client.read(&mut rest), Ok(1..)) {}
    hung_up.send(Instant::now()).unwrap();
}

fn read_request(client: &mut TcpStream) {
    let mut bytes = Vec::new();
    let mut piece = [0; 4_096];
    // The body of a request ends its only list and its object.
    while !bytes.ends_with(b"]}") {
        let length = client.read(&mut piece).unwrap();
        assert!(length > 0, "the client hung up before it had asked");
        bytes.extend_from_slice(&piece[..length]);
    }
}
