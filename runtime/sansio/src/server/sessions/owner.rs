//! The owner of a session, as far as a transport can tell.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// The owner of a session: one that opens too many makes room among its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Owner {
    /// The owner is not known.
    #[default]
    Unknown,
    /// The principal that a layer of authorisation has named.
    Principal(Arc<str>),
    /// All senders of an address; see [`Owner::at`].
    Address(IpAddr),
}

impl Owner {
    /// Returns the owner for an address. Of IPv6 the first half counts: the other half is chosen by one machine or network.
    #[must_use]
    pub fn at(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            address @ IpAddr::V4(_) => address,
        })
    }

    /// Returns whether `who` may use what this owner has opened: addresses change, and names do not.
    pub(super) fn lets_in(&self, who: &Self) -> bool {
        !matches!(self, Self::Principal(_)) || self == who
    }
}
