//! Texts that are no message: the request that one was to answer ends with the reason.

use std::time::Duration;

use super::Client;
use crate::protocol::unread::{answered, why};
use crate::protocol::{Connection, Exchange, Failure, Ignored, Output};

impl Connection<Client> {
    /// A text that is no message: it is reported, unless it is the answer to a request, which then ends with the reason.
    pub(in crate::protocol) fn take_unreadable(
        &mut self,
        exchange: Option<Exchange>,
        bytes: &[u8],
        ignored: Ignored,
        now: Duration,
    ) {
        let answered = answered(bytes).filter(|id| {
            let pending = self.state.pending.get(id);
            // Over HTTP a POST answers its own request and no other.
            pending.is_some_and(|it| exchange.is_none_or(|exchange| it.exchange == exchange))
        });
        let why = why(&ignored, bytes, self.role.options.limits.max_message_bytes);
        let (Some(id), Some(why)) = (answered, why) else {
            return self.ignore(ignored);
        };
        let sent_in = self.state.pending.get(&id).map(|pending| pending.exchange);
        if let Some(exchange) = sent_in.filter(|it| self.state.exchanges.contains_key(it)) {
            self.state.exchanges.remove(&exchange);
            self.put(Output::Close(exchange));
        }
        self.end_unanswered(id, None, &Failure::InvalidResult(why), now);
    }
}
