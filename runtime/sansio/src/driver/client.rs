//! Connections of clients, as the transports of `mcp-revisions` need them beyond the protocol.

use mcp_revisions_core::methods;
use mcp_wire::Json;

use crate::client::Client;
use crate::client::peer::numbered;
pub use crate::negotiate::client::{lifecycle::is_per_request_error, statuses::may_be_http_sse};
use crate::quote::quotable;
use crate::{Connection, Event, Ignored, MendedMessage, MistakeHook};

/// Reports a message of the server that the application cannot use.
pub fn leave_out(connection: &mut Connection<Client>, ignored: Ignored) {
    connection.ignore(ignored);
}

/// Reports a mistake in how the server writes its messages, which are read all the same.
pub fn misframed(connection: &mut Connection<Client>, why: impl Into<String>) {
    connection.tell(Event::Mended(MendedMessage::new("", why)));
}

/// Takes note that the process of the server was started again: the session that is opened next gets what the application
/// had asked for.
pub fn server_restarted(connection: &mut Connection<Client>) {
    connection.state.session.is_lost = true;
}

/// Reports a notification of progress that names no request and is of no use to the application. One about a request
/// that is over may have crossed that on its way, and is not a mistake.
pub fn leave_out_progress(connection: &mut Connection<Client>, params: &Json) {
    let method = methods::NOTIFICATIONS_PROGRESS.to_owned();
    let token = params.get("progressToken");
    let number = token.as_ref().and_then(numbered);
    connection.ignore(match number {
        Some(id) if (1..=connection.state.next_id).contains(&id) => Ignored::Late(method),
        _ => {
            let found = token.map_or_else(|| "nothing".to_owned(), |it| quotable(it.text()));
            let why = "at /params/progressToken: expected the token of a request that waits";
            Ignored::Invalid(method, format!("{why}, found {found}"))
        }
    });
}

/// Sets the hook that hears of mistakes of the server; see [`on_mistake`](Client::on_mistake).
pub fn with_mistake_hook(mut client: Client, on_mistake: MistakeHook) -> Client {
    client.on_mistake = on_mistake;
    client
}
