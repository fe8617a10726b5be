//! A handshake is over before anything else is sent: a gate, shut while the message that ends it is on its way.

use tokio::sync::watch;

/// A gate: open unless a request holds its key.
#[derive(Debug, Clone, Default)]
pub(super) struct Gate(Option<watch::Receiver<()>>);

/// Keeps a gate shut until it is dropped.
#[derive(Debug)]
pub(super) struct GateKey {
    _held: watch::Sender<()>,
}

impl Gate {
    pub(super) fn shut() -> (Self, GateKey) {
        let (held, waits) = watch::channel(());
        (Self(Some(waits)), GateKey { _held: held })
    }

    /// Waits until the gate is open.
    pub(super) async fn opened(self) {
        if let Some(mut waits) = self.0 {
            while waits.changed().await.is_ok() {}
        }
    }
}
