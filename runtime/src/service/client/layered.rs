//! Layers around the messages of a client.

use mcp_revisions_core::Spoken;
use mcp_wire::{Direction, Json};

use super::{CallOptions, Client};
use crate::layer::{LayerMessage, params_to_send};
use crate::service::Error;

impl<App: Spoken> Client<App> {
    fn message(
        &self,
        is_request: bool,
        method: &'static str,
        params: Option<Json>,
    ) -> LayerMessage {
        let spoken = self.handle.server().map(|facts| facts.revision);
        let (direction, params) = (Direction::ClientToServer, params.unwrap_or_default());
        LayerMessage::new(direction, is_request, method, params).with_sender(spoken, None)
    }

    /// Sends a request through the layers. An error that is not of the server stays what it is if the layers return it.
    pub(super) async fn request_through_layers(
        &self,
        method: &'static str,
        params: Option<Json>,
    ) -> Result<Json, Error> {
        let has_params = params.is_some();
        let message = self.message(true, method, params);
        let (client, outcome) = (self.clone(), message.outcome());
        let running = self.how.layers.run(message, move |message| {
            let (client, outcome) = (client.clone(), message.outcome());
            async move {
                let params = params_to_send(message.into_params(), has_params);
                let answer = client.send(method, params).await;
                if let Some(facts) = client.handle.server() {
                    outcome.set_revision(facts.revision);
                }
                answer.map_err(|error| match error {
                    Error::Rpc(error) => error,
                    error => outcome.fail(error),
                })
            }
        });
        running.await.map_err(|object| match outcome.failure() {
            Some(error)
                if mcp_revisions_sansio::errors::internal(&error.to_string()).error == object =>
            {
                error
            }
            _ => Error::Rpc(object),
        })
    }

    /// Passes a notification of the application through the layers, and returns its params as they are sent; `None` if a layer
    /// does not forward it.
    pub(super) async fn pass_notification(
        &self,
        method: &'static str,
        params: Option<Json>,
    ) -> Option<Option<Json>> {
        if self.how.layers.is_empty() {
            return Some(params);
        }
        let has_params = params.is_some();
        let message = self.message(false, method, params);
        let passed = self.how.layers.pass(message).await?;
        Some(params_to_send(passed, has_params))
    }
}

impl CallOptions {
    /// Passes a notification of the server through the layers, and returns its params as they are handed on; `None` if a layer
    /// does not forward it.
    pub(super) async fn admit(&self, method: &str, params: Json) -> Option<Json> {
        if self.layers.is_empty() {
            return Some(params);
        }
        let direction = Direction::ServerToClient;
        let message = LayerMessage::new(direction, false, method.to_owned(), params);
        self.layers.pass(message).await
    }
}
