//! The offer of the upstream server, read without a client: the entry of a lock.

use std::sync::Arc;
use std::time::Duration;

use mcp_lock::{ServerOffer, read_lists};
use mcp_revisions::RevisionSet;
use mcp_revisions::client_transport::{Application, Driver, Handle, RequestReply};
use mcp_revisions::sansio::client::{Answer, Event, OutgoingRequest};
use mcp_revisions_core::errors::shortened;
use mcp_revisions_core::{Revision, methods};
use mcp_wire::{ErrorObject, Json, Map};

use crate::link::negotiate;
use crate::{Bridge, Error, identity};

/// Maximum time for an answer of the server.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Maximum time for all lists.
const READING: Duration = Duration::from_secs(180);

/// The application of a connection that only reads lists.
struct OfferReader;

impl Application for OfferReader {
    type Call = ();

    fn event(&mut self, server: &mut Driver<()>, event: Event) {
        let (token, method) = match &event {
            Event::Request(call) => (call.token, call.method),
            Event::CustomRequest(call) => (call.token, &*call.method),
            _ => return,
        };
        let answer = if method == methods::ROOTS_LIST {
            Ok(Json::of(&Map::from_iter([(
                "roots",
                Json::of(&Vec::<Json>::new()),
            )])))
        } else {
            let why = format!("the reader of lists answers no `{method}`");
            Err(ErrorObject::new(ErrorObject::METHOD_NOT_FOUND, why))
        };
        server.answer_with(token, None, async move { answer });
    }
}

impl Bridge {
    /// Starts or reaches the upstream server, reads its offer as the server sends it, and lets it end. Returns the entry of a lock,
    /// with a sentence for each part that cannot be in one. The rules of tools do not apply.
    ///
    /// The server is asked in the latest revision that it speaks, for a client with all capabilities, since servers may offer
    /// more to one.
    ///
    /// # Errors
    /// Returns an error if the server cannot be used, does not introduce itself, or has a list that cannot be read to its end.
    pub async fn offer(self) -> Result<(ServerOffer, Vec<String>), Error> {
        let settings = Arc::new(self.settings);
        let caller = identity::anyone();
        let options = |revisions| negotiate::options(&settings, &caller, revisions);
        let client = settings.first_client(Revision::LATEST, options(settings.upstream_revisions));
        let (handle, facts) = negotiate::connect(&settings, client, OfferReader).await?;
        let spoken = facts.revision;
        let client = settings.first_client(spoken, options(RevisionSet::none().with(spoken)));
        handle.continue_as(client);
        let read = async {
            let Some(introduction) = facts.result else {
                return Err(settings.silent(spoken));
            };
            let capabilities = introduction.get("capabilities").unwrap_or_default();
            let ask = async |method, params| ask(&handle, method, params).await;
            let listed = tokio::time::timeout(READING, read_lists(&capabilities, ask)).await;
            let late = |_| {
                settings.unusable(&format_args!(
                    "its lists took more than {} s",
                    READING.as_secs()
                ))
            };
            let pages = listed
                .map_err(late)?
                .map_err(|why| settings.unusable(&why))?;
            let offer = ServerOffer::of(spoken.protocol_version(), &introduction, &pages);
            offer.map_err(|why| settings.unusable(&why))
        };
        let offered = read.await;
        // However it ends.
        let _ = tokio::time::timeout(PATIENCE, handle.close()).await;
        offered
    }
}

/// Sends a request, and waits for its result; `None` if the server does not know the method.
async fn ask(
    handle: &Handle<()>,
    method: &'static str,
    params: Option<Json>,
) -> Result<Option<Json>, String> {
    let answered = async {
        let mut replies = handle.ask(OutgoingRequest::new(method, params), ()).await;
        loop {
            match replies.next().await {
                Some(RequestReply::Answered(answered)) => break Ok(answered.answer),
                Some(RequestReply::Refused(refused)) => break Err(refused.to_string()),
                Some(RequestReply::Notification(..) | RequestReply::Task(_)) => {}
                None => break Err("the server has ended".to_owned()),
            }
        }
    };
    let late = |_| Err(format!("no answer within {} s", PATIENCE.as_secs()));
    let answer = tokio::time::timeout(PATIENCE, answered).await;
    listed(answer.unwrap_or_else(late)?)
}

/// Returns the result in an answer to a list; `None` if the server does not know its method.
pub(crate) fn listed(answer: Answer) -> Result<Option<Json>, String> {
    match answer {
        Answer::Result(result) => Ok(Some(result)),
        Answer::Error(error) if error.code.as_i64() == Some(ErrorObject::METHOD_NOT_FOUND) => {
            Ok(None)
        }
        Answer::Error(error) => Err(format!(
            "error {}: {}",
            error.code,
            shortened(&error.message)
        )),
        Answer::Failed(failure) => Err(failure.to_string()),
        Answer::InputRequired(_) => Err("the server asks for input".to_owned()),
    }
}
