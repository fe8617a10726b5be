//! The application of a client, the same in every world: what it asks, what it hears, and what must be true of that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::Revision;
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::client::{Client, OutgoingRequest, Post};
use mcp_revisions::sansio::server::{Connection, Event, Token};
use serde_json::{Value, json};

use crate::worlds::talk::{Ends, SUBSCRIPTION, asks};

/// How often something may be asked in a walk, and how often something may go wrong.
const MOST: (usize, usize) = (12, 4);

/// A client with its application, in a world of moves of that kind.
pub(crate) struct Asker<M> {
    /// The revision of the application.
    app: Revision,
    pub(crate) client: Connection<Client>,
    /// What was asked, by its place among [`asks`].
    pub(crate) asked: BTreeMap<Token, usize>,
    pub(crate) answered: BTreeMap<Token, usize>,
    /// What the application is asked itself.
    pub(crate) questions: Vec<Token>,
    /// Whether each request on the wire claims a revision, by its id.
    claims: BTreeMap<String, bool>,
    /// The ids of subscriptions on the wire.
    subscribing: BTreeSet<String>,
    /// What differs from one replay to the next, and means the same.
    names: Vec<String>,
    pub(crate) done: Vec<M>,
    /// Whether everything may happen again and again.
    is_walk: bool,
}

impl<M: PartialEq + Debug> Asker<M> {
    pub(crate) fn new(ends: &Ends, is_walk: bool) -> Self {
        Self {
            app: ends.apps.0,
            client: Connection::<Client>::new(Arc::clone(&ends.client)),
            asked: BTreeMap::new(),
            answered: BTreeMap::new(),
            questions: Vec::new(),
            claims: BTreeMap::new(),
            subscribing: BTreeSet::new(),
            names: Vec::new(),
            done: Vec::new(),
            is_walk,
        }
    }

    pub(crate) fn count(&self, is_it: impl Fn(&M) -> bool) -> usize {
        self.done.iter().filter(|done| is_it(done)).count()
    }

    /// Whether something that is done once may be done now.
    pub(crate) fn never(&self, one: &M) -> bool {
        self.is_walk || !self.done.contains(one)
    }

    /// Which of [`asks`] may be asked now, each in a move of its own.
    pub(crate) fn may_ask(&self, ask: fn(usize) -> M) -> impl Iterator<Item = M> {
        let moves = || (0..asks(self.app).len()).map(ask);
        let asked: usize = moves().map(|one| self.count(|done| *done == one)).sum();
        let may = asked < MOST.0;
        moves().filter(move |one| may && self.never(one))
    }

    /// How many things may go wrong: few, so that there is something that can.
    pub(crate) fn most_faults(&self) -> usize {
        if self.is_walk { MOST.1 } else { 1 }
    }

    pub(crate) fn ask(&mut self, index: usize, now: Duration) {
        let (method, params) = asks(self.app)[index].clone();
        let ask = OutgoingRequest::new(method, Some(Json::from(params)));
        let token = self.client.ask(ask, now).unwrap();
        assert!(self.asked.insert(token, index).is_none());
    }

    /// It gives up its latest call.
    pub(crate) fn cancel(&mut self, now: Duration) {
        let call = self.asked.iter().rfind(|(_, index)| **index == 0);
        self.client.cancel(*call.unwrap().0, None, now);
    }

    /// It answers the oldest question.
    pub(crate) fn reply(&mut self, now: Duration) {
        let question = self.questions.remove(0);
        let roots = Json::from(json!({"roots": []}));
        let _ = self.client.answer(question, Ok(roots), now);
    }

    /// Its client sends something.
    pub(crate) fn sends(&mut self, post: &Post) {
        let message: Value = serde_json::from_str(&post.text).unwrap();
        if message.get("method").is_some() && message.get("id").is_some() {
            let meta = &message["params"]["_meta"];
            let claims = !meta["io.modelcontextprotocol/protocolVersion"].is_null();
            self.claims.insert(message["id"].to_string(), claims);
            if message["method"] == "resources/subscribe" {
                self.subscribing.insert(message["id"].to_string());
            }
        }
    }

    /// Its client tells it something: nothing is answered twice.
    pub(crate) fn hears(&mut self, event: Event) {
        match event {
            Event::Answered(answered) => {
                *self.answered.entry(answered.token).or_default() += 1;
                assert_eq!(self.answered[&answered.token], 1, "{:?}", self.done);
                assert!(self.asked.contains_key(&answered.token), "{:?}", self.done);
            }
            Event::Request(call) => self.questions.push(call.token),
            Event::Cancelled(cancelled) => {
                self.questions.retain(|token| *token != cancelled.token);
            }
            _ => {}
        }
    }

    /// A text reaches its client: an answer is in the revision of its request.
    pub(crate) fn reached_by(&mut self, text: &str) {
        let Ok(message) = serde_json::from_str::<Value>(text) else {
            return assert!(text.is_empty(), "{text}");
        };
        if let Some(state) = message["result"]["requestState"].as_str() {
            self.names.push(state.to_owned());
        }
        let claims = self.claims.get(&message["id"].to_string());
        if let (Some(result), Some(claims)) = (message.get("result"), claims) {
            let is_per_request = result.get("resultType").is_some();
            assert_eq!(is_per_request, *claims, "{text} after {:?}", self.done);
        }
    }

    /// Whether a text is the result of a subscription.
    pub(crate) fn is_subscribed_by(&self, text: &str) -> bool {
        let message: Value = serde_json::from_str(text).unwrap_or_default();
        message.get("result").is_some() && self.subscribing.contains(&message["id"].to_string())
    }

    /// A number that is another one in each replay.
    pub(crate) fn is_named(&mut self, ticket: u64) {
        self.names.push(ticket.to_string());
    }

    /// The print of a state, the same in every replay.
    pub(crate) fn without_names(&self, mut text: String) -> String {
        for (index, name) in self.names.iter().enumerate() {
            text = text.replace(name, &format!("name {index}"));
        }
        text
    }

    /// All but streams, which stay open, has its answer.
    pub(crate) fn has_its_answers(&self) {
        let open: Vec<usize> = (self.asked.iter())
            .filter(|(token, _)| !self.answered.contains_key(token))
            .map(|(_, index)| *index)
            .collect();
        assert!(
            open.iter().all(|index| *index == SUBSCRIPTION),
            "no answer to {open:?} after {:?}\n{:?}",
            self.done,
            self.client,
        );
    }

    /// Everything has its answer, and nothing is left.
    pub(crate) fn is_done(&self) {
        let asked: Vec<_> = self.asked.keys().collect();
        let answered: Vec<_> = self.answered.keys().collect();
        assert_eq!(asked, answered, "{:?}", self.done);
        assert_eq!(self.client.pending(), 0, "{:?}", self.done);
    }
}
