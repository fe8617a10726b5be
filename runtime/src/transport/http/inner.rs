//! The shared parts of all clones of a service: its server, its sessions, its listening clients, and suspended requests.

use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use http::request::Parts;
use http::{HeaderMap, StatusCode};
use mcp_revisions_core::{ProtocolRule, Revision};
use mcp_wire::{RawId, peek};

use super::answers::{HttpResult, refusal, refused};
use super::card::CachedCard;
use super::counters::Counters;
use super::replica::exchange::Replica;
use super::stage::{Stage, Stages};
use super::tools::CallerTools;
use super::{Options, PeerAddress, Principal, text};
use crate::Limits;
use crate::backplane::{Memory, SessionRecord};
use crate::serve::{
    AnyHandler, Budget, ByTicket, Handler, Permit, Replicas, Reservation, SUSPENDED_BYTES,
    ServerDriver, StoredSession, started, with_tasks,
};
use crate::transport::observe;
use crate::transport::panics::lock;
use crate::transport::spawn::spawn_if_possible;
use mcp_revisions_core::headers;
use mcp_revisions_sansio::driver::server::{with_loss_counter, with_tickets_of};
use mcp_revisions_sansio::driver::unguessable;
use mcp_revisions_sansio::errors::{self, Refusal};
use mcp_revisions_sansio::server::{NewSession, Owner, Server, Sessions};

pub(super) struct ServiceShared {
    pub(super) server: Arc<Server>,
    pub(super) options: Options,
    pub(super) start: Instant,
    pub(super) requests: Arc<Budget>,
    suspended: Arc<Budget>,
    suspensions: Arc<Budget>,
    pub(super) unread: Arc<Budget>,
    pub(super) tools: CallerTools,
    pub(super) card: CachedCard,
    pub(super) handler: Arc<dyn AnyHandler>,
    sessions: Mutex<Sessions<Arc<ServerDriver>>>,
    by_ticket: Arc<ByTicket>,
    /// Those in which clients of the per-request lifecycle listen.
    listening: Mutex<Vec<Weak<ServerDriver>>>,
    pub(super) stages: Arc<Stages>,
    /// Starts the task that looks for idle sessions.
    looks: OnceLock<()>,
    pub(super) replica: Arc<Replica>,
    pub(super) me: Weak<Self>,
}

/// The budgets of a service, or of several that share them, each with a share per owner.
#[derive(Clone)]
pub(super) struct Budgets {
    /// The bytes of requests while they are read and worked on.
    requests: Arc<Budget>,
    /// The bytes of suspended requests.
    suspended: Arc<Budget>,
    /// The number of suspended requests.
    suspensions: Arc<Budget>,
    /// The bytes of answers that clients have not read.
    unread: Arc<Budget>,
}

impl Budgets {
    fn new(options: &Options, limits: &Limits) -> Self {
        // One message always fits into a share.
        let message = limits.max_message_bytes;
        let suspended = message.saturating_add(SUSPENDED_BYTES);
        Self {
            requests: Budget::new(options.body_bytes, message),
            suspended: Budget::new(options.body_bytes / SUSPENDED, suspended),
            suspensions: Budget::new(limits.max_suspended_requests_in_total, 1),
            unread: Budget::new(options.unread_bytes, message),
        }
    }
}

/// Suspended requests may take up one of so many parts of what requests may: handlers have copies of what they wait with.
const SUSPENDED: usize = 4;

/// Time between two looks of a service that ends at its calls.
const LOOK: Duration = Duration::from_millis(50);

/// Time between two searches for idle sessions.
const IDLE_LOOK: Duration = Duration::from_secs(1);

/// For how long a session is safe that was used, however many others are opened.
const SPARED: Duration = Duration::from_secs(60);

impl ServiceShared {
    pub(super) fn new(server: Server, handler: impl Handler, options: Options) -> Arc<Self> {
        Arc::new_cyclic(|me| {
            let me: Weak<Self> = Weak::clone(me);
            let backplane = options
                .backplane
                .clone()
                .unwrap_or_else(|| Arc::new(Memory::new()));
            let address = backplane.join(me.clone());
            // A replica that gets a ticket reads from it which replica keeps the request.
            let of_replica =
                with_tickets_of(server, u32::from_str_radix(&address, 16).unwrap_or(0));
            let own = || Budgets::new(&options, of_replica.limits());
            let shared = options.budgets.as_deref();
            let budgets = shared.map_or_else(own, |it| it.get_or_init(own).clone());
            let handler = observe::metrics::server::observed(Arc::new(handler), "tcp");
            let counted = with_loss_counter(of_replica, observe::metrics::server::lost);
            let (server, start) = started(counted);
            let replicas = Replicas {
                backplane: Arc::clone(&backplane),
                address: Arc::clone(&address),
            };
            Self {
                requests: budgets.requests,
                suspended: budgets.suspended,
                suspensions: budgets.suspensions,
                unread: budgets.unread,
                sessions: Mutex::new(Sessions::new(server.limits())),
                by_ticket: Arc::new(ByTicket::new(replicas.clone())),
                handler: with_tasks(handler, &server, Some(replicas)),
                start,
                tools: CallerTools::default(),
                card: CachedCard::default(),
                options,
                server,
                listening: Mutex::default(),
                stages: Arc::default(),
                looks: OnceLock::new(),
                replica: Arc::new(Replica::new(backplane, address)),
                me,
            }
        })
    }

    /// Returns the counters of the service.
    pub(super) fn counters(&self) -> Counters {
        Counters {
            sessions: lock(&self.sessions).len(),
            suspended_requests: self.suspensions.amount(),
            request_bytes: self.requests.amount(),
            unread_bytes: self.unread.amount(),
        }
    }

    /// Returns the reservation for the bytes of a request that was read, until all work on it is done.
    pub(super) fn reservation(&self, permit: Permit, owner: Owner) -> Arc<Reservation> {
        let bytes = self.suspended.of(owner.clone());
        Arc::new(Reservation::new(permit, bytes, self.suspensions.of(owner)))
    }

    pub(super) fn is_closing(&self) -> bool {
        self.stages.has_reached(Stage::Closing)
    }

    /// Takes no new calls from now on, and ends the streams of subscriptions, and those of sessions without a call.
    pub(super) fn close(&self) {
        self.stages.reach(Stage::Closing);
        let listening = std::mem::take(&mut *lock(&self.listening));
        for driver in listening.iter().filter_map(Weak::upgrade) {
            driver.end_streams();
        }
        self.replica.end_streams();
        self.end_idle_streams();
    }

    /// Ends the streams of sessions without a call.
    fn end_idle_streams(&self) {
        for (_, driver) in self.running() {
            driver.end_idle_stream();
        }
    }

    /// Waits until no call is at work: of those that came here, that other replicas have passed here, that wait for their
    /// client's input, and that are tasks.
    pub(super) async fn drained(&self) {
        loop {
            self.end_idle_streams();
            let has_calls = || {
                let mut sessions = self.running().into_iter();
                sessions.any(|(_, driver)| driver.is_at_work())
            };
            let is_at_work = self.suspensions.amount() > 0
                || self.handler.has_tasks()
                || self.replica.has_calls()
                || has_calls();
            if !is_at_work {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    pub(super) fn end_sessions(&self) {
        let drivers = lock(&self.sessions).end_all();
        for driver in drivers {
            driver.close();
        }
    }

    /// Ends what runs here, with an error for calls; sessions that can go on at another replica do.
    pub(super) fn leave_sessions(&self) {
        self.stages.reach(Stage::Over);
        self.replica.lost(&errors::server_ended(), |_| true);
        let is_shared = self.replica.backplane.is_shared();
        let ended = errors::server_ended().error;
        let drivers = lock(&self.sessions).end_all();
        for driver in drivers {
            match driver.record() {
                Some(record) if is_shared && record.can_move => driver.leave(&ended),
                _ => {
                    driver.end_calls(&ended);
                    driver.close();
                }
            }
        }
        self.replica.end();
    }

    /// Waits until tasks have failed that are not done, and the answers to other replicas are on their way.
    pub(super) async fn say_last(&self) {
        let ended = errors::server_ended().error;
        Arc::clone(&self.handler).end_tasks(ended).await;
        let Replica {
            backplane, address, ..
        } = &*self.replica;
        // Requests that others have passed here by then are answered that it is not here.
        if backplane.is_shared() {
            let _ = backplane.leave(address).await;
        }
        while self.replica.has_calls() {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Returns the sessions that run here.
    pub(super) fn running(&self) -> Vec<(Arc<str>, Arc<ServerDriver>)> {
        let sessions = lock(&self.sessions);
        let all = sessions.iter();
        all.map(|(id, driver)| (Arc::clone(id), Arc::clone(driver)))
            .collect()
    }

    /// Returns whether a session runs here.
    pub(super) fn runs(&self, session: &str) -> bool {
        self.running_driver(session).is_some()
    }

    /// Returns the driver of a session that runs here.
    pub(super) fn running_driver(&self, session: &str) -> Option<Arc<ServerDriver>> {
        let sessions = lock(&self.sessions);
        let driver = sessions.get(session).map(Arc::clone);
        driver.filter(|driver| !driver.was_closed())
    }

    /// Returns whether requests of a session are served here: once the service is closing, those that belong to its open calls.
    pub(super) fn serves(&self, session: &str) -> bool {
        let driver = self.running_driver(session);
        driver.is_some_and(|driver| !self.is_closing() || driver.is_at_work())
    }

    /// Returns whether the client of a request resumes a stream of its session that breaks off.
    pub(super) fn resumes(&self, headers: &HeaderMap) -> bool {
        let named = text(headers, headers::PROTOCOL_VERSION);
        let revision = named.and_then(Revision::from_protocol_version);
        let polls = |it: Revision| it.has_rule(ProtocolRule::PollingStreams);
        self.options.resumes && revision.is_some_and(polls)
    }

    /// Leaves a session to the replica that has taken it over.
    pub(super) fn leave(&self, session: &str) {
        let driver = lock(&self.sessions).end(session);
        if let Some(driver) = driver {
            driver.leave(&errors::session_moved().error);
        }
    }

    /// Ends sessions on which nothing was said for too long, now and each second from the first request on.
    pub(super) fn retire_idle(&self) {
        self.looks.get_or_init(|| {
            let service = Weak::clone(&self.me);
            spawn_if_possible(async move {
                loop {
                    tokio::time::sleep(IDLE_LOOK).await;
                    let Some(service) = service.upgrade() else {
                        return;
                    };
                    service.retire();
                }
            });
        });
        self.retire();
    }

    fn retire(&self) {
        let now = self.start.elapsed();
        let Some(since) = now.checked_sub(self.options.idle) else {
            return;
        };
        let may_go = |driver: &Arc<ServerDriver>| driver.is_idle();
        let gone = lock(&self.sessions).retire(since, now, may_go);
        for driver in gone {
            driver.close();
        }
    }

    /// Returns a driver of a connection on which nothing has been said.
    pub(super) fn new_driver(&self) -> Arc<ServerDriver> {
        ServerDriver::new(
            Arc::clone(&self.server),
            Arc::clone(&self.handler),
            self.start,
            Some(Arc::clone(&self.by_ticket)),
        )
    }

    /// Streams end with the server, so it has to know them; those that are gone are forgotten when there is no room.
    pub(super) fn remember_stream(&self, driver: &Arc<ServerDriver>) {
        let mut listening = lock(&self.listening);
        if listening.len() == listening.capacity() {
            listening.retain(|driver| driver.strong_count() > 0);
        }
        listening.push(Arc::downgrade(driver));
        drop(listening);
        // It may have been asked for while the server began to stop.
        if self.is_closing() {
            driver.end_streams();
        }
    }

    /// Returns the driver whose call was suspended with this ticket.
    pub(super) fn driver_of(&self, ticket: u64) -> Option<Arc<ServerDriver>> {
        self.by_ticket.driver(ticket)
    }

    /// Keeps the driver of a session that was opened, by this message if by one. Returns the id of the session, which is new.
    pub(super) async fn open(
        self: &Arc<Self>,
        driver: &Arc<ServerDriver>,
        message: Option<&[u8]>,
    ) -> HttpResult<Arc<str>> {
        let opening = message.and_then(|message| peek(message).ok());
        let request = (opening.as_ref()).and_then(|opening| opening.id.and_then(RawId::to_id));
        let full = |full: Box<Refusal>| refusal(request.as_ref(), &full);
        let id = unguessable().ok_or_else(|| {
            let refused = errors::internal("no randomness for the id of a session");
            let status = StatusCode::INTERNAL_SERVER_ERROR.as_u16();
            refusal(None, &Refusal { status, ..*refused })
        })?;
        if !self.replica.backplane.is_shared() {
            self.keep(&id, driver, None).map_err(full)?;
            return Ok(id);
        }
        let mut record = SessionRecord::new(&*self.replica.address, driver.owner());
        record.can_move = self.options.can_move && driver.only_stream().is_none();
        if let Some(opening) = &opening {
            record.note(opening);
        }
        let turn = self.replica.turns.of(&id).await;
        let kept = self.keep(&id, driver, Some(Box::new(record.clone())));
        kept.map_err(full)?;
        self.look_after();
        let saved = self.save(&id, &record, None).await;
        saved.inspect_err(|_| self.leave(&id))?;
        drop(turn);
        Ok(id)
    }

    /// Keeps the driver of a session under its id; one that is kept already counts with what is known of its client now.
    pub(super) fn keep(
        &self,
        id: &Arc<str>,
        driver: &Arc<ServerDriver>,
        record: Option<Box<SessionRecord>>,
    ) -> Result<(), Box<Refusal>> {
        let new = NewSession::new(Arc::clone(id), Arc::clone(driver))
            .with_bytes(driver.session_bytes())
            .with_owner(driver.owner());
        let may_go = |driver: &Arc<ServerDriver>| driver.is_idle();
        let opened = (lock(&self.sessions)).open(new, self.start.elapsed(), SPARED, may_go);
        let gone = opened.map_err(|full| full.refusal)?;
        for gone in gone.iter().filter(|gone| !Arc::ptr_eq(gone, driver)) {
            gone.close();
        }
        driver.keep_with(StoredSession {
            session: Arc::clone(id),
            backplane: Arc::clone(&self.replica.backplane),
            share: self.unread.of(driver.owner()),
            record,
            // Events of an only stream cannot be had again: the session ends with it.
            resumes: self.options.resumes && driver.only_stream().is_none(),
        });
        Ok(())
    }

    /// Returns the session that a request names.
    pub(super) fn session(
        &self,
        headers: &HeaderMap,
        who: &Owner,
    ) -> HttpResult<Arc<ServerDriver>> {
        let id = text(headers, headers::SESSION_ID).ok_or_else(|| {
            let why = "Mcp-Session-Id is missing: open a session with `initialize`";
            refused(StatusCode::BAD_REQUEST, why)
        })?;
        let now = self.start.elapsed();
        let mut sessions = lock(&self.sessions);
        let mut driver = sessions
            .use_by(who, id, now)
            .map(|driver| Arc::clone(driver));
        // Handlers may end a session, too.
        if driver.take_if(|driver| driver.was_closed()).is_some() {
            sessions.end(id);
        }
        drop(sessions);
        let gone = "no such session: open one with `initialize`";
        driver.ok_or_else(|| refused(StatusCode::NOT_FOUND, gone).into())
    }

    /// Ends the session of this id.
    pub(super) fn end(&self, id: &str) {
        let driver = lock(&self.sessions).end(id);
        if let Some(driver) = driver {
            driver.close();
        }
    }
}

/// Returns the owner of the session that a request opens: the principal of a layer, else the address.
pub(super) fn owner(parts: &Parts) -> Owner {
    if let Some(Principal(name)) = parts.extensions.get() {
        return Owner::Principal(name.as_str().into());
    }
    let address = parts.extensions.get();
    address.map_or(Owner::Unknown, |PeerAddress(address)| Owner::at(*address))
}
