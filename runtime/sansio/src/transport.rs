//! Helpers of a transport beside a connection: ids, quotable excerpts, and the meaning of a status or an error of a server.

pub use crate::ask::own_id;
#[cfg(feature = "server")]
pub use crate::input_required::server::{allowed, seal::canonical};
pub use crate::input_required::too_many_questions;
pub use crate::json::declares;
#[cfg(feature = "client")]
pub use crate::negotiate::client::{lifecycle::is_per_request_error, statuses::may_be_http_sse};
pub use crate::numbered::Numbered;
pub use crate::quote::quotable;
pub use crate::translate::{no_params, unguessable};
