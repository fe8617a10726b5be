//! Names of servers as the addresses that a client may connect to.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

use crate::transport::BoxError;

/// A connection or an address, on its way.
pub(super) type ConnectFuture<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// Says whether a connection to an address is allowed.
pub(super) type AddressRule = fn(IpAddr) -> bool;

/// Resolves names to the addresses that are allowed.
#[derive(Clone)]
pub(super) struct Resolver(pub(super) AddressRule);

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = ConnectFuture<std::vec::IntoIter<SocketAddr>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let rule = self.0;
        Box::pin(async move {
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let allowed: Vec<SocketAddr> =
                found.iter().filter(|it| rule(it.ip())).copied().collect();
            if allowed.is_empty() && !found.is_empty() {
                Err(format!("the address of {name} is not allowed here").into())
            } else {
                Ok(allowed.into_iter())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_name_is_judged_by_its_addresses_each_time_that_it_is_connected_to() {
        static IS_PUBLIC: AtomicBool = AtomicBool::new(true);
        let mut resolver =
            Resolver(|address| IS_PUBLIC.load(Ordering::SeqCst) || !address.is_loopback());
        let name = || "localhost".parse::<Name>().unwrap();
        assert!(resolver.call(name()).await.unwrap().next().is_some());
        // The same name is another place now: what was found before opens no way to it.
        IS_PUBLIC.store(false, Ordering::SeqCst);
        let why = resolver.call(name()).await.unwrap_err().to_string();
        assert!(
            why.contains("the address of localhost is not allowed here"),
            "{why}"
        );
    }
}
