//! The sandbox's end of the proxy: a loopback port whose bytes go to the proxy's socket file.
//!
//! It runs in a process of its own that does nothing else, so it blocks and uses threads.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Connections at once. Further ones wait until one ends.
const CONNECTIONS: usize = 128;

/// Bytes of the stack of a thread, which only copies.
const STACK: usize = 128 << 10;

/// Bytes that are copied at once.
const PIECE: usize = 32 << 10;

/// Passes every connection on, until the listener fails for good; then it says why.
pub fn forward(listener: TcpListener, socket: PathBuf) -> io::Error {
    let seats = Arc::new(Seats::default());
    let socket: Arc<Path> = socket.into();
    loop {
        let seat = Seats::take(&seats);
        match listener.accept() {
            Ok((client, _)) => {
                let socket = Arc::clone(&socket);
                let connection = move || {
                    pass(&client, &socket);
                    drop(seat);
                };
                // Without a thread the connection is dropped, and so is its seat.
                let _ = thread::Builder::new().stack_size(STACK).spawn(connection);
            }
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
            // Out of files, say. One that ends gives some back; without any, there is no hope.
            Err(error) => {
                drop(seat);
                if !seats.wait_for_an_end() {
                    return error;
                }
            }
        }
    }
}

/// Passes bytes both ways until both sides have closed or one has failed.
fn pass(client: &TcpStream, socket: &Path) {
    let Ok(proxy) = UnixStream::connect(socket) else { return };
    // Only a matter of speed: a stream without it works.
    let _ = client.set_nodelay(true);
    thread::scope(|scope| {
        let up = || copy(client, &proxy);
        if thread::Builder::new().stack_size(STACK).spawn_scoped(scope, up).is_ok() {
            copy(&proxy, client);
        }
    });
}

/// A side of a connection, to be closed in part.
trait Side {
    fn close(&self, how: Shutdown);
}

impl Side for TcpStream {
    fn close(&self, how: Shutdown) {
        // It may be closed already, which is as good.
        let _ = self.shutdown(how);
    }
}

impl Side for UnixStream {
    fn close(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }
}

/// Copies until the end, and passes the end on. A failure ends this direction on both sides: the other one may
/// still hold an answer that says why.
fn copy<'a, A: Side, B: Side>(from: &'a A, to: &'a B)
where
    &'a A: Read,
    &'a B: Write,
{
    if copy_all(from, to).is_err() {
        from.close(Shutdown::Read);
    }
    to.close(Shutdown::Write);
}

fn copy_all(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(length) => to.write_all(&piece[..length])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// How many connections there are.
#[derive(Debug, Default)]
struct Seats {
    taken: Mutex<usize>,
    freed: Condvar,
}

/// One of them.
#[derive(Debug)]
struct Seat(Arc<Seats>);

impl Seats {
    /// Waits for a free seat.
    fn take(seats: &Arc<Self>) -> Seat {
        let full = |taken: &mut usize| *taken >= CONNECTIONS;
        let taken = seats.freed.wait_while(seats.taken(), full);
        *taken.unwrap_or_else(PoisonError::into_inner) += 1;
        Seat(Arc::clone(seats))
    }

    /// Waits until a connection ends; says whether there was one.
    fn wait_for_an_end(&self) -> bool {
        let taken = self.taken();
        let before = *taken;
        if before > 0 {
            drop(self.freed.wait_while(taken, |taken| *taken >= before));
        }
        before > 0
    }

    fn taken(&self) -> MutexGuard<'_, usize> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        *self.0.taken() -= 1;
        self.0.freed.notify_all();
    }
}
