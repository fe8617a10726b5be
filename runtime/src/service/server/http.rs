//! A server over streamable HTTP: on an address, or as a tower service.

use mcp_revisions_core::Spoken;

use super::McpServer;
use crate::serve::LayeredHandler;

impl<App: Spoken> McpServer<App> {
    /// Allows one more name of this server over HTTP, such as `mcp.example.com`; see
    /// [`Options::allow_host`](crate::http::Options::allow_host). Loopback names are allowed anyway.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.http.hosts.push(host.into());
        self
    }

    /// Allows one more origin whose pages may send requests over HTTP, such as `https://app.example.com`; see
    /// [`Options::allow_origin`](crate::http::Options::allow_origin). Loopback origins are allowed anyway.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.http.origins.push(origin.into());
        self
    }

    /// Serves streamable HTTP on an address, for ever: `("127.0.0.1", 8080)` is reached from this machine only. To be
    /// reached from others, take an address like `("0.0.0.0", 8080)`, and [allow](Self::allow_host) the names of the server.
    /// Dropping the future closes all connections at once.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound; see [`http::bind`](crate::http::bind).
    pub async fn http(self, address: impl tokio::net::ToSocketAddrs) -> std::io::Result<()> {
        let listener = crate::http::bind(address).await?;
        crate::http::serve(
            listener,
            self.into_http_service(crate::http::Options::default()),
        )
        .await;
        Ok(())
    }

    /// Returns a tower service, for axum, hyper, and layers. Hosts and origins that were allowed here are allowed there, too.
    #[must_use]
    pub fn into_http_service(self, options: crate::http::Options) -> crate::http::Service {
        let handlers = LayeredHandler::within(self.handlers, self.layers);
        let allowed = options.allowing(self.http.hosts, self.http.origins);
        let options = match &self.http.tools {
            Some(page) => allowed.with_known_tools(page),
            None => allowed,
        };
        crate::http::Service::with_options(self.server, handlers, options)
    }
}
