//! A client of a server over streamable HTTP. Feature `client-http`.

use mcp_revisions_core::Spoken;
use mcp_revisions_sansio::client::Channel;
use mcp_wire::service::{ClientSide, Serves};

use super::{Client, ClientBuilder, ClientContext, Http};
use crate::service::Error;
use crate::transport::client::Transport;
use crate::transport::spawn::in_runtime;

impl<App: Spoken, H> ClientBuilder<App, H>
where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    /// Connects to a server over Streamable HTTP at this URL.
    ///
    /// # Errors
    /// Returns an error if the URL is not a valid HTTP URL, if it needs TLS and feature `client-tls` is missing, or outside
    /// of a tokio runtime.
    pub fn url(self, url: &str) -> Result<Client<App>, Error> {
        let http = Http::new(url)?;
        in_runtime()?;
        Ok(self.http(http))
    }

    /// Connects to a server over Streamable HTTP with these options, such as an authorization.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn http(mut self, http: Http) -> Client<App> {
        let likely = http.likely_revisions();
        self.told.options = self.told.options.with_likely_revisions(likely);
        let carrier = Transport::http(http, self.message_limit());
        self.run(Channel::Http, carrier)
    }
}
