//! A limit of the requests of each client over time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::layer::LayerMessage;
use mcp_revisions::sansio::errors;
use mcp_revisions::sansio::server::Owner;
use mcp_revisions::service::lock;
use mcp_wire::{Direction, ErrorObject, Json};
use tokio::time::Instant;

/// Most clients whose requests are counted; beyond it, those that have sent nothing for longest are forgotten.
const CLIENTS: usize = 10_000;

/// A limit of the requests that a client may send in a minute; clones count together.
///
/// A client is a principal, else an address. A minute's requests may come at once; from then on they come back evenly.
#[derive(Clone)]
pub struct RateLimit {
    per_minute: u32,
    clients: Arc<Mutex<HashMap<Owner, Bucket>>>,
}

/// The requests that a client may still send, as of a time.
#[derive(Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

mcp_wire::debug_struct!([] RateLimit, "RateLimit", self, "per_minute": self.per_minute);

impl RateLimit {
    /// Creates a limit of so many requests in a minute, at least 1.
    #[must_use]
    pub fn per_minute(requests: u32) -> Self {
        Self {
            per_minute: requests.max(1),
            clients: Arc::default(),
        }
    }

    /// Passes a message on, unless it is a request of a client that has sent too many.
    pub(crate) async fn layer(self, message: LayerMessage) -> Result<Json, ErrorObject> {
        if message.is_request()
            && message.direction() == Direction::ClientToServer
            && let Some(session) = message.session()
        {
            self.admit(&session.owner())?;
        }
        message.forward().await
    }

    /// Counts a request. Returns the error for the client that has sent too many, with the time after which it may send
    /// another.
    pub(crate) fn admit(&self, client: &Owner) -> Result<(), ErrorObject> {
        let (now, most) = (Instant::now(), f64::from(self.per_minute));
        let each = Duration::from_secs(60) / self.per_minute;
        let mut clients = lock(&self.clients);
        if clients.len() >= CLIENTS && !clients.contains_key(client) {
            let oldest = clients.iter().min_by_key(|(_, bucket)| bucket.at);
            if let Some(oldest) = oldest.map(|(client, _)| client.clone()) {
                clients.remove(&oldest);
            }
        }
        let bucket = clients.entry(client.clone()).or_insert(Bucket {
            left: most,
            at: now,
        });
        let earned = now.duration_since(bucket.at).as_secs_f64() / each.as_secs_f64();
        *bucket = Bucket {
            left: (bucket.left + earned).min(most),
            at: now,
        };
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        let wait = each.mul_f64(1.0 - bucket.left).as_secs_f64();
        let why = format!(
            "too many requests: at most {} in a minute are accepted; try again in {wait:.1} s",
            self.per_minute
        );
        Err(errors::internal(&why).error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_too_much_waits_and_no_other_one_does() {
        let (limit, one) = (RateLimit::per_minute(60), Owner::Unknown);
        let other = Owner::at(std::net::Ipv4Addr::LOCALHOST.into());
        for _ in 0..60 {
            assert!(limit.admit(&one).is_ok());
        }
        let refused = limit.clone().admit(&one).map_err(|error| error.message);
        assert!(refused.is_err_and(|why| why.contains("60 in a minute") && why.contains("1.0 s")));
        assert!(limit.admit(&other).is_ok());
        tokio::time::advance(Duration::from_millis(1_001)).await;
        assert!(limit.admit(&one).is_ok());
        assert!(limit.admit(&one).is_err());
    }
}
