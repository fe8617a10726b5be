//! Servers and their connections, as the transports of `mcp-revisions` need them beyond the protocol.

use std::collections::BTreeSet;

use mcp_revisions_core::{Loss, MessageLosses, Revision};
use mcp_wire::{Direction, RequestId};

pub use crate::input_required::server::{allowed, seal::canonical};
use crate::server::Server;
use crate::subscriptions::Filter;
pub use crate::subscriptions::listen::change;
pub use crate::tasks::server::driver as tasks;
use crate::{Connection, Event, Ignored, To};

/// Returns the server, with tickets of suspended requests that begin with this number.
pub fn with_tickets_of(mut server: Server, number: u32) -> Server {
    server.seal.count_for(number);
    server
}

/// Adds a hook before the one of [`on_loss`](Server::on_loss).
pub fn with_loss_counter(
    mut server: Server,
    count: impl Fn(&MessageLosses<'_>) + Send + Sync + 'static,
) -> Server {
    server.translator.on_loss = std::mem::take(&mut server.translator.on_loss).behind(count);
    server
}

/// Reports the losses of a message of a client that its handler has read with its mistakes mended; `request` is its id.
pub fn tell_losses(
    server: &Server,
    method: &str,
    peer: Revision,
    request: Option<&RequestId>,
    losses: &[Loss],
) {
    (server.translator).tell_losses(method, peer, request, losses);
}

/// Reports a message of a client that its handler cannot read.
pub fn leave_out(server: &Server, ignored: Ignored) {
    server.on_mistake.report(&Event::Ignored(ignored));
}

/// Returns the name of an application's request in the revision of a client.
#[must_use]
pub fn name_for<'m>(server: &Server, peer: Revision, method: &'m str) -> &'m str {
    let sender = Direction::ClientToServer;
    server.translator.name_in(peer, method, sender)
}

/// Counts exchanges and requests of the server from here.
pub fn count_from(connection: &mut Connection<Server>, first: u64) {
    connection.state.last_exchange = first;
    connection.state.last_ask = i64::try_from(first).unwrap_or(i64::MAX >> 1);
    connection.state.first_ask = connection.state.last_ask;
}

/// Frees buffers that are empty.
pub fn rest(connection: &mut Connection<Server>) {
    connection.free_outputs();
    connection.state.rest();
}

/// Returns the bytes that are kept of the info and capabilities of the session's client.
#[must_use]
pub fn session_bytes(connection: &Connection<Server>) -> usize {
    let Some(session) = &connection.state.session else {
        return 0;
    };
    let upgraded = [
        &session.upgraded.client_capabilities,
        &session.upgraded.client_info,
    ]
    .into_iter()
    .flatten();
    session.caller.bytes() + upgraded.map(|said| said.text().len()).sum::<usize>()
}

/// Tells the client of a session that all it listens to may be another by now, as soon as the handlers tell of changes
/// to come; `uris` are the resources that it has subscribed to.
pub fn missed_changes(connection: &mut Connection<Server>, uris: &BTreeSet<String>) {
    if connection.role.is_per_request {
        return connection.miss_changes();
    }
    let declared = |path: &[&str]| connection.role.declares(path);
    for (method, params) in Filter::of_session(true, uris, declared).all() {
        let _ = connection.notify_one(To::Session, method, params.as_ref());
    }
}
