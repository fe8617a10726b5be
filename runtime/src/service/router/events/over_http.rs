//! Webhooks that are reached over HTTP. Feature `client-auth`.

use std::sync::Arc;

use super::webhook::{WebhookAddresses, WebhookFailure, WebhookReply, Webhooks};
use crate::service::Error;
use crate::transport::client::servers::{PostFailure, Poster};

impl Webhooks {
    /// Creates webhooks at these hosts, which are named as in [`new`](Self::new). Requests go directly to the address that was
    /// checked, without a proxy; no redirect is followed. Trusted are the certificates in the file that
    /// `SSL_CERT_FILE` names, besides those of web browsers. Features `client-auth` and `client-tls`.
    ///
    /// # Errors
    /// Returns an error if that file cannot be read, or if feature `client-tls` is missing.
    pub fn over_http<H: Into<String>>(
        hosts: impl IntoIterator<Item = H>,
        addresses: WebhookAddresses,
    ) -> Result<Self, Error> {
        let poster = Arc::new(Poster::new(addresses == WebhookAddresses::Private)?);
        Ok(Self::new(hosts, move |post| {
            let poster = Arc::clone(&poster);
            async move {
                let sent = poster.post(&post.url, post.headers, post.body).await;
                let (status, body) = sent.map_err(|failure| match failure {
                    PostFailure::NoConnection => WebhookFailure::ConnectionRefused,
                    PostFailure::Tls => WebhookFailure::TlsError,
                })?;
                Ok(WebhookReply { status, body })
            }
        }))
    }
}
