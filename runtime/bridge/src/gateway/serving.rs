//! A gateway on a listener, or for one client over two streams of bytes.

use std::time::Duration;

use mcp_revisions::sansio::server::{Profile, Server};
use mcp_revisions::{
    http,
    service::{Boxed, boxed, until},
};
use mcp_revisions_core::Revision;
use mcp_wire::Json;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tracing::warn;

use super::Gateway;
use crate::Error;
use crate::ending::LAST_ANSWERS;

impl Gateway {
    /// Makes a tower service, for axum, hyper, or a listener of your own. Connections to the servers end with
    /// [`shutdown`](Self::shutdown).
    ///
    /// # Errors
    /// Returns an error if the gateway cannot be introduced: its info is not an `Implementation`.
    pub fn service(&self, options: http::Options) -> Result<http::Service, Error> {
        let gateway = self.clone();
        let grouped = options.with_tool_groups(move |name| gateway.tool_group(name));
        Ok(http::Service::with_options(
            self.server()?,
            self.clone(),
            grouped,
        ))
    }

    /// Serves HTTP/1.1 on a listener until `stop` is ready; then new calls get status 503, what is open has `grace` to finish,
    /// and gets an error after that. Then the connections to the servers end.
    /// Dropping the future closes all connections at once.
    ///
    /// # Errors
    /// As [`service`](Self::service).
    pub async fn serve(
        &self,
        listener: TcpListener,
        options: http::Options,
        stop: impl Future<Output = ()>,
        grace: Duration,
    ) -> Result<(), Error> {
        let time = options.lame_duck().saturating_add(grace);
        let service = self.service(options)?;
        let idle = service.clone();
        let looks = tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                idle.end_idle_sessions();
            }
        });
        let mut ending = JoinSet::new();
        let stop = async {
            stop.await;
            let gateway = self.clone();
            ending
                .spawn(async move { gateway.0.settings.clients.ending.give_up_after(time).await });
        };
        let linger = grace.saturating_add(LAST_ANSWERS);
        http::serve_until(listener, service, stop, linger).await;
        drop(ending);
        looks.abort();
        self.shutdown().await;
        Ok(())
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
        let (input, output) = (Box::new(input), Box::new(output));
        until(stop, |stopped| self.serve_streams(input, output, stopped)).await
    }

    fn serve_streams(
        &self,
        input: Box<dyn AsyncRead + Send + Unpin>,
        output: Box<dyn AsyncWrite + Send + Unpin>,
        stop: Boxed<'static, ()>,
    ) -> Boxed<'static, Result<(), Error>> {
        let gateway = self.clone();
        boxed(async move {
            let served = gateway.serve_one(input, output, stop).await;
            gateway.shutdown().await;
            served
        })
    }

    /// Serves one client of several: the connections to the servers stay when it leaves.
    pub(crate) async fn serve_one(
        &self,
        input: Box<dyn AsyncRead + Send + Unpin>,
        output: Box<dyn AsyncWrite + Send + Unpin>,
        stop: Boxed<'static, ()>,
    ) -> Result<(), Error> {
        let ended = async {
            stop.await;
            Ok(())
        };
        let (server, ending) = (self.server()?, &self.0.settings.clients.ending);
        let streams = (input, output);
        ending.serve_one(server, self.clone(), streams, ended).await
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
