//! A gateway on a listener, or for one client over two streams of bytes.

use mcp_revisions::sansio::server::{Profile, Server};
use mcp_revisions::{
    http,
    service::{Boxed, boxed, until},
};
use mcp_revisions_core::Revision;
use mcp_wire::Json;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tracing::warn;

use super::Gateway;
use crate::ending::OneClient;
use crate::{Error, Service};

impl Gateway {
    /// Makes a tower service, for axum, hyper, or [`Service::serve`](crate::Service::serve).
    ///
    /// # Errors
    /// Returns an error if the gateway cannot be introduced: its info is not an `Implementation`.
    pub fn service(&self, options: http::Options) -> Result<Service, Error> {
        let gateway = self.clone();
        let grouped = options.with_tool_groups(move |name| gateway.tool_group(name));
        let service = http::Service::with_options(self.server()?, self.clone(), grouped);
        let (gateway, ending) = (self.clone(), &self.0.settings.clients.ending);
        Ok(Service::new(service, ending, move || {
            let ended = gateway.clone();
            async move { ended.shutdown().await }
        }))
    }

    /// Serves one client over two streams of bytes, such as standard input and output, until it hangs up, or `stop` is ready.
    /// From then on what is open has 5 seconds to finish, and gets an error after that.
    /// Dropping the future ends the server at once: open calls get no response.
    ///
    /// # Errors
    /// Returns an error if the gateway cannot be introduced, or if the client's streams fail, as when it reads nothing for 60
    /// seconds.
    pub async fn serve_stdio(
        &self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        let client: OneClient = (Box::new(input), Box::new(output));
        until(stop, |stopped| self.serve_client(client, stopped)).await
    }

    fn serve_client(
        &self,
        client: OneClient,
        stop: Boxed<'static, ()>,
    ) -> Boxed<'static, Result<(), Error>> {
        let gateway = self.clone();
        boxed(async move {
            let served = gateway.serve_one(client, stop).await;
            gateway.shutdown().await;
            served
        })
    }

    /// Serves one client of several: the connections to the servers stay when it leaves.
    pub(crate) async fn serve_one(
        &self,
        client: OneClient,
        stop: Boxed<'static, ()>,
    ) -> Result<(), Error> {
        let ended = async {
            stop.await;
            Ok(())
        };
        let (server, ending) = (self.server()?, &self.0.settings.clients.ending);
        ending.serve_one(server, self.clone(), client, ended).await
    }

    /// Returns the end towards clients. It offers what the servers may have: which of them have it is not known before they are
    /// started.
    fn server(&self) -> Result<Server, Error> {
        let settings = &self.0.settings;
        let capabilities = Json::from(json!({
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "resources": { "listChanged": true, "subscribe": true },
            "completions": {},
            "logging": {},
        }));
        let server = Server::new(
            Revision::LATEST,
            Profile::new(&settings.info, &capabilities),
        )
        .map_err(|why| Error::Name {
            name: settings.info.text().to_owned(),
            why: why.to_string(),
        })?;
        Ok((settings.clients.serve(server))
            .on_mistake(|mistake| warn!("a mistake of a client: {mistake}")))
    }
}
