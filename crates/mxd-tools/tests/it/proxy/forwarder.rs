//! From a loopback port through the forwarder and the proxy to a host.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

use mxd_tools::proxy::forward;
use tempfile::TempDir;

use super::{Fixture, Origin, SITE, body, get, rules_for, status};

/// Forwards to a socket, in a thread that ends with the process.
fn forward_to(socket: &Path) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let socket = socket.to_owned();
    thread::spawn(move || forward(listener, socket));
    address
}

fn far_end() -> (TempDir, UnixListener, SocketAddr) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("far.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    (folder, listener, forward_to(&socket))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_goes_all_the_way() {
    let origin = Origin::hello().await;
    let fixture = Fixture::new(rules_for(&origin)).await;
    let address = forward_to(&super::socket(&fixture.folder));
    for (host, expected) in [(format!("{SITE}:{}", origin.port), 200), ("denied.test".to_owned(), 403)] {
        let client = tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(get(&host).as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        });
        let answer = client.await.unwrap();
        assert_eq!(status(&answer), expected, "{answer}");
        assert!(body(&answer).contains(if expected == 200 { "hello" } else { "denied.test" }), "{answer}");
    }
}

#[test]
fn bytes_pass_exactly_and_each_side_closes_for_itself() {
    let (_folder, listener, address) = far_end();
    let data: Vec<u8> = (0..3 << 20).map(|index: usize| (index * 13 % 251) as u8).collect();
    for client_first in [true, false] {
        let mut client = TcpStream::connect(address).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let sent = data.clone();
        let (mut arrived, mut back) = (Vec::new(), Vec::new());
        if client_first {
            let writer = thread::spawn(move || {
                client.write_all(&sent).unwrap();
                client.shutdown(Shutdown::Write).unwrap();
                client
            });
            far.read_to_end(&mut arrived).unwrap();
            let mut client = writer.join().unwrap();
            far.write_all(b"answer").unwrap();
            drop(far);
            client.read_to_end(&mut back).unwrap();
        } else {
            let writer = thread::spawn(move || {
                far.write_all(&sent).unwrap();
                far.shutdown(Shutdown::Write).unwrap();
                far
            });
            client.read_to_end(&mut arrived).unwrap();
            let mut far = writer.join().unwrap();
            client.write_all(b"answer").unwrap();
            drop(client);
            far.read_to_end(&mut back).unwrap();
        }
        assert!(arrived == data && back == b"answer");
    }
}

#[test]
fn an_answer_arrives_although_the_request_is_no_longer_read() {
    let (_folder, listener, address) = far_end();
    let mut client = TcpStream::connect(address).unwrap();
    let (mut far, _) = listener.accept().unwrap();
    far.shutdown(Shutdown::Read).unwrap();
    client.write_all(b"request").unwrap();
    // So long that the request has failed long before the answer is complete.
    let answer = vec![7; 8 << 20];
    let sent = answer.clone();
    let writer = thread::spawn(move || far.write_all(&sent));
    let mut arrived = Vec::new();
    client.read_to_end(&mut arrived).unwrap();
    writer.join().unwrap().unwrap();
    assert!(arrived == answer);
}

#[test]
fn without_a_proxy_clients_are_hung_up_on() {
    let folder = tempfile::tempdir().unwrap();
    let address = forward_to(&folder.path().join("nobody.sock"));
    for _ in 0..2 {
        let mut client = TcpStream::connect(address).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        assert_eq!(answer, b"");
    }
}

#[test]
fn more_connections_than_there_are_places_wait_for_one() {
    let (_folder, listener, address) = far_end();
    let connect = || TcpStream::connect(address).unwrap();
    let mut held: Vec<_> = (0..128).map(|_| (connect(), listener.accept().unwrap().0)).collect();
    let mut late = connect();
    late.write_all(b"late").unwrap();
    // All the others are served meanwhile.
    for (client, far) in &mut held {
        client.write_all(b"x").unwrap();
        far.read_exact(&mut [0]).unwrap();
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
    listener.set_nonblocking(false).unwrap();
    drop(held.pop());
    let (mut far, _) = listener.accept().unwrap();
    let mut word = [0; 4];
    far.read_exact(&mut word).unwrap();
    assert_eq!(&word, b"late");
}
