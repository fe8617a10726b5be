//! The hook for losses of messages on their way through the bridge, and which losses are refused.

use mcp_revisions::sansio::LossHook;
use mcp_revisions::sansio::client::Client;
use mcp_revisions::sansio::server::Server;
use mcp_revisions_core::Severity;

use crate::measures;

/// The hook that losses are reported to, and the least severity of a loss for which an error is sent.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    pub(crate) hook: LossHook,
    pub(crate) rejected: Option<Severity>,
}

impl Losses {
    /// Sets hook and refusal of the end towards clients.
    pub(crate) fn of_server(&self, server: Server) -> Server {
        server
            .with_loss_hook(self.hook.clone())
            .with_rejected_loss(self.rejected)
    }

    /// Sets hook and refusal of the end towards the upstream server, whose losses are counted.
    pub(crate) fn of_client(&self, client: Client) -> Client {
        let hook = self.hook.clone();
        client
            .with_loss_hook(hook.behind(|message| measures::losses(message.losses)))
            .with_rejected_loss(self.rejected)
    }
}
