//! A request to a client: sent, and waited for until it is answered, or its future is dropped.

use std::sync::Arc;

use mcp_revisions_sansio::{Answer, Fate, Token};
use mcp_wire::{ErrorObject, Json};

use super::{ExchangeFacts, ServerDriver};

/// Sends a request to a client, and waits for its response.
pub(super) async fn ask(
    driver: &Arc<ServerDriver>,
    about: Option<(Token, &ExchangeFacts)>,
    method: &str,
    params: Option<&Json>,
) -> Result<Json, ErrorObject> {
    let gone = || mcp_revisions_sansio::errors::internal("the client is gone").error;
    let call = about.map(|(call, _)| call);
    if call.is_some() {
        driver.wait_until_found().await;
    }
    let asked = driver.in_turn(call, || driver.ask(about, method, params));
    match asked.await {
        Ok((ask, answer)) => {
            let _forget = Forget { driver, ask };
            match answer.await.map_err(|_| gone())?.answer {
                Answer::Result(result) => Ok(result),
                Answer::Error(error) => Err(error),
                // Only clients get these.
                Answer::InputRequired(_) | Answer::Failed(_) => Err(gone()),
            }
        }
        Err(Fate::Refused(error)) => Err(*error),
        Err(Fate::RequiresState(needs)) => {
            let why = format!("the request {needs}");
            Err(mcp_revisions_sansio::errors::internal(&why).error)
        }
        Err(_) => Err(gone()),
    }
}

/// Says that an answer is not waited for any more; once it has come, that changes nothing.
struct Forget<'a> {
    driver: &'a Arc<ServerDriver>,
    ask: Token,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.driver.forget(self.ask);
    }
}
