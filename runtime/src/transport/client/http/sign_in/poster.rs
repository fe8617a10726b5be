//! Requests to URLs that a peer has named: directly, to addresses that are allowed, and without redirects.

use std::error::Error as _;
use std::io;

use ::http::Request;
use ::http::header::USER_AGENT;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use super::super::connect::{Connector, direct_connector};
use super::super::request::SENDER;
use super::super::tls::Trust;
use super::drive::address_rule;
use crate::service::Error;

/// Maximum size of the body of a response; of a longer one nothing is read.
const REPLY_BYTES: usize = 4 << 10;

/// Sends POST requests to URLs that a peer has named.
pub(crate) struct Poster {
    client: Client<Connector, Full<Bytes>>,
}

/// Reason why a request has no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostFailure {
    /// The address is not allowed, or its host accepts no connection.
    NoConnection,
    /// The certificate is not trusted, or the peer does not speak TLS.
    Tls,
}

impl Poster {
    /// Creates a sender to public addresses, or also to those of this machine and of private networks. It trusts the
    /// certificates in the file that `SSL_CERT_FILE` names, besides those of web browsers.
    ///
    /// # Errors
    /// Returns an error if that file cannot be read, or if feature `client-tls` is missing.
    pub(crate) fn new(allows_private: bool) -> Result<Self, Error> {
        if !Trust::HAS_TLS {
            return Err(Error::transport("https needs the feature `client-tls`"));
        }
        let rule = address_rule(allows_private, allows_private);
        let connector = direct_connector(&Trust::from_env()?, rule);
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
        })
    }

    /// Sends a request, and returns the status and the body of the response; a redirect is a response like others.
    pub(crate) async fn post(
        &self,
        url: &str,
        headers: Vec<(&'static str, String)>,
        body: String,
    ) -> Result<(u16, Vec<u8>), PostFailure> {
        let mut builder = Request::post(url).header(USER_AGENT, SENDER);
        for (name, value) in headers {
            builder = builder.header(name, value);
        }
        let request = builder
            .body(Full::new(Bytes::from(body)))
            .map_err(|_| PostFailure::NoConnection)?;
        let sent = self.client.request(request).await;
        let response = sent.map_err(|error| match error.source() {
            Some(cause) if is_of_tls(cause) => PostFailure::Tls,
            _ => PostFailure::NoConnection,
        })?;
        let status = response.status().as_u16();
        let reply = Limited::new(response.into_body(), REPLY_BYTES)
            .collect()
            .await;
        Ok((
            status,
            reply.map_or_else(|_| Vec::new(), |it| it.to_bytes().to_vec()),
        ))
    }
}

/// Returns whether an error is one of TLS, in one of the errors that it was wrapped in.
fn is_of_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    let failure = error.downcast_ref::<io::Error>();
    if failure.is_some_and(|it| it.kind() == io::ErrorKind::InvalidData) {
        return true;
    }
    match failure.and_then(io::Error::get_ref) {
        Some(inner) => is_of_tls(inner),
        None => error.source().is_some_and(is_of_tls),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_redirect_is_not_followed_and_an_address_inside_is_not_connected_to() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let served = tokio::spawn(async move {
            let mut requests = Vec::new();
            for _ in 0..2 {
                let (mut peer, _) = listener.accept().await.unwrap();
                let mut bytes = [0; 4096];
                let count = peer.read(&mut bytes).await.unwrap();
                requests.push(bytes[..count].to_vec());
                let location = format!("location: http://{at}/other");
                let head = format!("HTTP/1.1 307 Found\r\n{location}\r\ncontent-length: 0\r\n\r\n");
                peer.write_all(head.as_bytes()).await.unwrap();
            }
            requests
        });
        let post = async |allows_private, url: String| {
            let poster = Poster::new(allows_private).unwrap();
            let headers = vec![("webhook-id", "7".to_owned())];
            poster.post(&url, headers, "{}".to_owned()).await
        };
        for host in [
            "localhost",
            "127.0.0.1",
            "[::ffff:127.0.0.1]",
            "169.254.169.254",
        ] {
            let url = format!("http://{host}:{}/hook", at.port());
            assert_eq!(
                post(false, url).await,
                Err(PostFailure::NoConnection),
                "{host}"
            );
        }
        let plain = post(true, format!("http://{at}/hook")).await;
        assert_eq!(plain, Ok((307, Vec::new())));
        assert_eq!(
            post(true, format!("https://{at}/")).await,
            Err(PostFailure::Tls)
        );
        let requests = served.await.unwrap();
        let text = String::from_utf8_lossy(&requests[0]);
        assert!(
            text.starts_with("POST /hook ") && text.contains("webhook-id: 7"),
            "{text}"
        );
        // A record of TLS, and no request.
        assert_eq!(requests[1][0], 0x16);
    }
}
