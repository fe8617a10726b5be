//! The client endpoint: the application speaks one revision, the server any.
//!
//! No sockets and no clock: the application asks ([`Client::call`]), the driver hands in what came
//! ([`Client::receive`], [`Client::answered`]) and the time, and both take what is to be done from [`Client::poll`]
//! until there is nothing more.
//!
//! The server's era is found by `server/discover`, over both channels: it is a request without effects,
//! so that a server which knows no such method is not made to do something twice.
//! Requests wait until the verdict is in; [`Client::verdict`] can be kept for the next client of the same server.
//!
//! ```
//! use std::time::Duration;
//! use mcp_revisions::client::{Answer, Call, Channel, Client, Event, Options, Output, Profile};
//! use mcp_revisions::{V2025_11_25, v2025_11_25 as app};
//!
//! let profile = Profile::new(
//!     &app::Implementation::new("probe", "1.0"),
//!     &app::ClientCapabilities::new(),
//! );
//! let mut client = Client::<V2025_11_25>::new(Options::new(Channel::Stdio, profile));
//! let now = Duration::ZERO;
//! client.call(Call::new("tools/list", None), now)?;
//!
//! // What the server gets first is the probe.
//! let Some(Output::Send(probe)) = client.poll() else { panic!("nothing to send") };
//! assert!(probe.text.contains(r#""method":"server/discover""#));
//!
//! // A server of the handshake era does not know it: `initialize` follows, then what the application asked.
//! client.receive(None, br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}"#, now);
//! let Some(Output::Send(initialize)) = client.poll() else { panic!("nothing to send") };
//! assert!(initialize.text.contains(r#""protocolVersion":"2025-11-25""#));
//! # Ok::<(), mcp_revisions::client::Refused>(())
//! ```

mod answer;
mod changes;
pub mod era;
mod options;
mod output;
mod peer;
mod post;
mod rounds;
mod send;
mod settle;
mod stamp;
mod translate;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::marker::PhantomData;
use std::time::Duration;

use mcp_registry::{Era, Loss, Revision};
use mcp_wire::{ErrorObject, Json, RequestId};

use crate::{RevisionSet, Spoken};

pub use options::{Channel, Options, Profile, Verdict};
pub use output::{
    Answer, Call, Event, Failure, Ignored, InputRequired, Output, Post, Question, Refused, Retry,
    Send, ServerFacts, ServerRequest, Token,
};

use changes::Changes;
use rounds::Rounds;
use settle::State;
use translate::Translator;

/// The client endpoint of an application that speaks `App`.
#[derive(Debug)]
pub struct Client<App> {
    options: Options,
    translator: Translator,
    state: State,
    next_token: u64,
    next_id: i64,
    next_post: u64,
    /// Requests of the application that wait until the revision is settled.
    waiting: VecDeque<Waiting>,
    /// Requests on their way, by JSON-RPC id.
    pending: BTreeMap<i64, Pending>,
    /// Over HTTP, what each open POST carries.
    posts: HashMap<Post, Option<i64>>,
    /// Requests of the server that the application has not answered, with their method.
    from_server: HashMap<RequestId, String>,
    log_level: Option<String>,
    /// The `Mcp-Session-Id` that came with the answer to `initialize`, until that is read.
    session_to_be: Option<String>,
    /// Calls whose server asks back.
    rounds: Rounds,
    /// What the application wants to be told of.
    changes: Changes,
    /// The time, as it was told last.
    now: Duration,
    outputs: VecDeque<Output>,
    app: PhantomData<App>,
}

/// A request of the application that is not on its way.
#[derive(Debug)]
struct Waiting {
    token: Token,
    call: Call,
    retry: Option<Resumed>,
    /// How often it was sent already, to servers that turned out to be others than thought.
    sent: u8,
    /// How often its server asked back.
    rounds: u32,
}

/// What a retry of a multi round-trip adds, in the server's revision.
#[derive(Debug, Clone)]
struct Resumed {
    responses: Option<Json>,
    state: Option<Json>,
    revision: Revision,
}

/// A request on its way.
#[derive(Debug)]
struct Pending {
    purpose: Purpose,
    /// The revision that it was written in.
    revision: Revision,
    post: Post,
}

#[derive(Debug)]
enum Purpose {
    Probe,
    Initialize,
    LogLevel,
    /// A subscription of an adapter: nobody waits for the answer.
    Adapter,
    /// The request by which an adapter listens.
    Listen,
    Application {
        request: Box<Waiting>,
        progress_token: Option<Json>,
        losses: Vec<Loss>,
    },
}

impl<App: Spoken> Client<App> {
    /// A client that has sent nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let mut translator = Translator {
            inner: crate::protocol::translate::Translator {
                app: App::REVISION,
                policy: options.policy,
            },
            capabilities: None,
        };
        let capabilities = options.profile.capabilities.text();
        let newest = RevisionSet::modern().newest(Era::PerRequest);
        translator.capabilities = newest.and_then(|newest| {
            translator.definition_out("ClientCapabilities", newest, capabilities)
        });
        Self {
            translator,
            state: State::of(options.verdict),
            options,
            next_token: 0,
            next_id: 0,
            next_post: 0,
            waiting: VecDeque::new(),
            pending: BTreeMap::new(),
            posts: HashMap::new(),
            from_server: HashMap::new(),
            log_level: None,
            session_to_be: None,
            rounds: Rounds::default(),
            changes: Changes::default(),
            now: Duration::ZERO,
            outputs: VecDeque::new(),
            app: PhantomData,
        }
    }

    /// Settles the revision before the application asks anything; [`Event::Settled`] says what came of it.
    ///
    /// # Errors
    /// A client that speaks no revision.
    pub fn connect(&mut self, now: Duration) -> Result<(), Refused> {
        if self.options.revisions.is_empty() {
            return Err(Refused::NoRevisions);
        }
        self.start(now);
        Ok(())
    }

    /// Sends a request, at once or as soon as the revision is settled; exactly one [`Event::Answer`] follows.
    ///
    /// # Errors
    /// Too many requests without an answer, and a client that speaks no revision.
    pub fn call(&mut self, call: Call, now: Duration) -> Result<Token, Refused> {
        self.enqueue(call, None, now)
    }

    /// Sends a request again with the answers to the server's questions, which are results of the questions' methods.
    ///
    /// An answer under a key that was not asked for is left out; so is one that cannot be carried over,
    /// and the server then asks again.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn retry(
        &mut self,
        retry: Retry,
        answers: impl IntoIterator<Item = (String, Json)>,
        now: Duration,
    ) -> Result<Token, Refused> {
        let Retry {
            call,
            state,
            methods,
            revision,
        } = retry;
        let responses = self.responses(&methods, answers, revision);
        self.enqueue(
            call,
            Some(Resumed {
                responses,
                state,
                revision,
            }),
            now,
        )
    }

    fn enqueue(
        &mut self,
        call: Call,
        retry: Option<Resumed>,
        now: Duration,
    ) -> Result<Token, Refused> {
        if self.pending() >= self.options.limits.pending {
            return Err(Refused::TooManyPending);
        }
        if self.options.revisions.is_empty() {
            return Err(Refused::NoRevisions);
        }
        self.now = now;
        self.next_token += 1;
        let token = Token(self.next_token);
        self.waiting.push_back(Waiting {
            token,
            call,
            retry,
            sent: 0,
            rounds: 0,
        });
        self.start(now);
        Ok(token)
    }

    /// Sends a notification, if the revision is settled and the server's has it.
    ///
    /// # Errors
    /// Why it was not sent.
    pub fn notify(&mut self, method: &str, params: Option<Json>) -> Result<Vec<Loss>, Failure> {
        self.send_notification(method, params)
    }

    /// Gives up a request: its answer is [`Failure::Cancelled`], and the server is told.
    ///
    /// Over HTTP a per-request server is told by closing the stream ([`Output::Close`]).
    pub fn cancel(&mut self, token: Token, reason: Option<&str>) {
        self.give_up(token, reason);
    }

    /// Answers a request of the server.
    ///
    /// # Errors
    /// A request that has been answered, or a server that has been left.
    pub fn respond(
        &mut self,
        request: ServerRequest,
        answer: Result<Json, ErrorObject>,
    ) -> Result<(), Refused> {
        self.answer_server(request, answer)
    }

    /// Asks for log messages from this level on, of every request; `None` asks for none.
    ///
    /// Towards a handshake server this sends `logging/setLevel`, which cannot be taken back.
    pub fn set_log_level(&mut self, level: Option<&str>) {
        self.log_level = level.map(str::to_owned);
        self.apply_log_level(level);
    }

    /// A message that came: over stdio (`post` is none), or in the response stream of a POST.
    pub fn receive(&mut self, post: Option<Post>, bytes: &[u8], now: Duration) {
        self.now = now;
        self.take(post, bytes, now);
    }

    /// The HTTP answer to a POST: its status, its `Mcp-Session-Id`, and its whole body; none if it is a stream of events,
    /// whose messages then go to [`receive`](Self::receive) until [`ended`](Self::ended).
    pub fn answered(
        &mut self,
        post: Post,
        status: u16,
        session: Option<&str>,
        body: Option<&[u8]>,
        now: Duration,
    ) {
        self.now = now;
        self.take_http(post, status, session, body, now);
    }

    /// The response stream of a POST is over, or there was no response.
    pub fn ended(&mut self, post: Post, now: Duration) {
        self.now = now;
        self.end_of_post(post, now);
    }

    /// The server over stdio ended.
    pub fn closed(&mut self, now: Duration) {
        self.now = now;
        self.end_of_server(now);
    }

    /// When [`tick`](Self::tick) has something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let adapters = [self.rounds.deadline(), self.changes.deadline()];
        self.state
            .deadline()
            .into_iter()
            .chain(adapters.into_iter().flatten())
            .min()
    }

    /// Tells the time: a probe without an answer may be over, and so may a question that the application does not answer.
    pub fn tick(&mut self, now: Duration) {
        self.now = now;
        self.probe_timeout(now);
        self.late_rounds(now);
        self.listen_again(now);
    }

    /// What is to be done next, in order; none if there is nothing to do until something comes.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// What was found out about the server, for the next client of the same process or origin.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.state
            .settled()
            .map(|settled| Verdict(settled.revision))
    }

    /// The requests without an answer.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.waiting.len() + self.pending.len() + self.rounds.len() + self.changes.len()
    }

    /// Hands something to the application.
    fn tell(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }

    /// The one answer to a request.
    fn tell_answer(&mut self, request: Waiting, answer: Answer, losses: Vec<Loss>) {
        let Waiting {
            token,
            call: Call { method, .. },
            ..
        } = request;
        self.tell(Event::Answer {
            token,
            method,
            answer,
            losses,
        });
    }
}
