//! The life of one command: its output is pumped until it ends or is to end.

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

use super::end::Ending;
use super::limits::DRAIN;
use super::output::Sink;
use crate::sandbox::Child;

/// Bytes read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// Pumps until the command has ended, by itself or because it is told to. When this returns nothing of it is
/// left but what the sandbox needs a moment to end.
pub(super) async fn pump(mut child: Child, sink: &mut Sink, kill: &CancellationToken) -> Ending {
    let mut pipe = child.stdout.take();
    let mut buffer = vec![0; BUFFER_BYTES];
    let ending = {
        let end = child.wait();
        tokio::pin!(end);
        loop {
            tokio::select! {
                biased;
                () = kill.cancelled() => break Ending::Killed,
                end = &mut end => break end.map_or_else(|lost| Ending::Lost(lost.to_string()), Ending::Exit),
                read = read(&mut pipe, &mut buffer), if pipe.is_some() => sink.push(&buffer[..read]).await,
            }
        }
    };
    drop(child);
    let rest = async {
        while pipe.is_some() {
            let read = read(&mut pipe, &mut buffer).await;
            sink.push(&buffer[..read]).await;
        }
    };
    // The pipe closes with the last process that has it. Something that escaped may hold it for ever.
    let _held = tokio::time::timeout(DRAIN, rest).await;
    ending
}

/// Reads the next bytes; at the end of the pipe there are none, and it is gone.
async fn read(pipe: &mut Option<pipe::Receiver>, buffer: &mut [u8]) -> usize {
    let Some(open) = pipe else { return 0 };
    match open.read(buffer).await {
        Ok(0) | Err(_) => {
            *pipe = None;
            0
        }
        Ok(read) => read,
    }
}
