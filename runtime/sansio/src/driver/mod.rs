//! What the transports of `mcp-revisions` need of connections beyond the protocol. It changes with them: another driver has
//! [`Connection`](crate::Connection), and needs none of it.

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;

pub use crate::ask::own_id;
pub use crate::input_required::too_many_questions;
pub use crate::json::declares;
pub use crate::numbered::Numbered;
pub use crate::params;
pub use crate::quote::quotable;
pub use crate::subscriptions::{Filter, about, names_stream};
pub use crate::time::{millis, now_ms, timestamp};
pub use crate::translate::{no_params, unguessable};
