//! Whose a session is, as far as a transport can tell.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// Whose a session is: whoever opens too many makes room among its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Owner {
    /// Nobody can tell.
    #[default]
    Unknown,
    /// Whom a layer of authorisation has named.
    Principal(Arc<str>),
    /// Whoever sends from there; see [`Owner::at`].
    Address(IpAddr),
}

impl Owner {
    /// Whoever sends from an address. Of the new kind the first half counts: the other half is for one machine, or for
    /// whoever has a network, to choose.
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

    /// Whether somebody may use what this one has opened: addresses change, and names do not.
    pub(super) fn lets_in(&self, who: &Self) -> bool {
        !matches!(self, Self::Principal(_)) || self == who
    }
}
