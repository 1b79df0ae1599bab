//! A tunnel: bytes pass both ways, and nobody looks at them.

use std::sync::Arc;
use std::time::Duration;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use super::meter::{Meter, Metered};

/// A tunnel whose far end is connected.
pub(super) struct Tunnel {
    /// The client's end, once it has heard that the tunnel is there.
    pub(super) client: OnUpgrade,
    pub(super) host: TcpStream,
    pub(super) meter: Arc<Meter>,
    pub(super) idle: Duration,
}

impl Tunnel {
    /// Passes bytes until both ends have closed, one has failed, or both are silent for too long.
    pub(super) async fn run(self) {
        let mut host = Metered::new(self.host, &self.meter);
        let pass = async {
            let Ok(client) = self.client.await else { return };
            // How a tunnel ends is between its two ends.
            let _ = copy_bidirectional(&mut TokioIo::new(client), &mut host).await;
        };
        tokio::select! {
            // What has come is passed on, before it is asked whether nothing came.
            biased;
            () = pass => {}
            () = self.meter.silence(self.idle) => {}
        }
    }
}
