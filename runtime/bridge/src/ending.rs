//! The end of a bridge: open calls have a grace, and get an error after it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::layer::Layers;
use mcp_revisions::sansio::server::Server;
use mcp_revisions::serve::Handler;
use mcp_revisions::{
    sansio::errors,
    service::{Boxed, lock},
    stdio,
};
use mcp_wire::ErrorObject;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tracing::info;

use crate::Error;
use crate::patient::Patient;

/// Time that open calls over stdio have to finish once the bridge is to end.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Maximum time to send the errors that end open calls.
pub(crate) const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Maximum number of a client's bytes that wait to be read: beyond that its end is not noticed until some of them are.
const PIPE: usize = 1 << 20;

/// The input and the output of the one client over two streams of bytes.
pub(crate) type OneClient = (
    Box<dyn AsyncRead + Send + Unpin>,
    Box<dyn AsyncWrite + Send + Unpin>,
);

/// The end of the grace of open calls, and the signal that ends it early.
pub(crate) struct BridgeEnding {
    is_over: watch::Sender<bool>,
    early: Mutex<Option<Boxed<'static, ()>>>,
}

impl Default for BridgeEnding {
    fn default() -> Self {
        Self {
            is_over: watch::Sender::new(false),
            early: Mutex::new(None),
        }
    }
}

mcp_wire::debug_struct!([] BridgeEnding, "BridgeEnding", self, "is_over": self.is_over);

impl BridgeEnding {
    /// Sets what ends the grace early.
    pub(crate) fn early(early: Boxed<'static, ()>) -> Self {
        Self {
            early: Mutex::new(Some(early)),
            ..Self::default()
        }
    }

    /// Waits for the grace, or for what ends it early, and gives open calls up.
    pub(crate) async fn give_up_after(&self, grace: Duration) {
        let taken = lock(&self.early).take();
        let early = taken.unwrap_or_else(|| Box::pin(std::future::pending()));
        tokio::select! {
            () = early => info!("what is still open is given up before the time is over"),
            () = tokio::time::sleep(grace) => {
                info!("{} s are over: what is still open is given up", grace.as_secs());
            }
        }
        self.is_over.send_replace(true);
    }

    /// Serves one client over two streams of bytes until they end, or `ended` is ready, which ends the client's input. From
    /// then on open calls have [`GRACE`], and get an error after it. Returns an error if the streams fail, as when the client
    /// reads nothing for 60 seconds, else that of `ended`.
    pub(crate) async fn serve_one(
        &self,
        server: Server,
        handler: impl Handler,
        (mut input, output): OneClient,
        ended: impl Future<Output = Result<(), Error>>,
    ) -> Result<(), Error> {
        // The pipe ends with the input, or earlier; what was read is answered.
        let (mut to, piped) = tokio::io::duplex(PIPE);
        let copied = async move {
            let _ = tokio::io::copy(&mut input, &mut to).await;
        };
        // Open calls end with the bridge.
        let output = Patient::new(output);
        let served = stdio::serve_on_within(server, handler, piped, output, Duration::MAX);
        let mut served = std::pin::pin!(served);
        let ended = async {
            tokio::select! {
                () = copied => Ok(()),
                ended = ended => ended,
            }
        };
        let ended = tokio::select! {
            served = &mut served => return served.map_err(Error::Client),
            ended = ended => ended,
        };
        let over = async {
            self.give_up_after(GRACE).await;
            tokio::time::sleep(LAST_ANSWERS).await;
        };
        let served = tokio::select! {
            served = served => served.map_err(Error::Client),
            () = over => Ok(()),
        };
        served.and(ended)
    }

    /// Adds a layer that gives requests up once the grace is over.
    pub(crate) fn add_layer(self: &Arc<Self>, layers: &mut Layers) {
        let ending = Arc::clone(self);
        layers.add(move |message| {
            let ending = Arc::clone(&ending);
            async move { ending.unless_over(message.forward()).await? }
        });
    }

    /// Does work for a call. Returns an error for the client if the call is given up first.
    pub(crate) async fn unless_over<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, ErrorObject> {
        let mut is_over = self.is_over.subscribe();
        let over = is_over.wait_for(|is_over| *is_over);
        tokio::select! {
            biased;
            done = work => Ok(done),
            _ = over => {
                let why = "the bridge has ended before the server answered: whether the request took effect is not known";
                Err(errors::internal(why).error)
            }
        }
    }
}
