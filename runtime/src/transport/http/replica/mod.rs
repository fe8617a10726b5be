//! Sessions among replicas: a request whose session runs elsewhere is passed there, and a session whose replica is gone
//! is taken over.

mod answer;
pub(super) mod exchange;
pub(super) mod frame;
mod home;
mod homes;
mod turns;
mod ways;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode, header};
use mcp_wire::MessageKind;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::answers::{HttpResult, refusal};
use super::body::Passing;
use super::inner::ServiceShared;
use super::{Body, text};
use crate::backplane::{Receiver, ReplicaTarget, SessionRecord, Unavailable, detach, may_be_noted};
use crate::serve::is_unguessable;
use crate::serve::{ExchangeFacts, ServerDriver, outbox};
use crate::transport::observe;
use crate::transport::panics::lock;
use crate::transport::spawn::{Boxed, boxed, spawn};
use exchange::{PIECE, PassedRequest, Replica, ReplicaExchange};
use frame::{FrameContent, ReplicaFrame, ResponsePart, UnreadableFrame, VERSION};
use home::FromReplica;
use mcp_revisions_core::headers;
use mcp_revisions_sansio::errors;
use mcp_revisions_sansio::server::Owner;

/// Maximum number of searches for a session that moves meanwhile.
const LOOKS: usize = 3;

/// Maximum number of records read or written at a time.
const AT_A_TIME: usize = 64;

/// Time between two looks of a replica at those that it waits for.
const LOOK: Duration = Duration::from_millis(500);

/// Time between two looks for a record that another replica saves again, and the number of looks.
const RESAVED: (Duration, usize) = (Duration::from_millis(50), 4);

impl ServiceShared {
    /// Passes a request to the replica that runs its session, and returns the response of that replica as the `Err`. Returns
    /// `Ok` if this replica runs the session, or none does. This replica takes over a session whose replica is gone.
    pub(super) async fn pass_on(
        self: &Arc<Self>,
        head: &Parts,
        who: &Owner,
        body: &[u8],
    ) -> HttpResult<()> {
        let replica = &self.replica;
        if !replica.backplane.is_shared() || head.extensions.get::<FromReplica>().is_some() {
            return Ok(());
        }
        self.look_after();
        replica.settled().await?;
        let session = text(&head.headers, headers::SESSION_ID).unwrap_or_default();
        for _ in 0..LOOKS {
            if self.runs(session) || !is_unguessable(session) {
                return Ok(());
            }
            let known = lock(&replica.homes).get(session);
            if let Some(home) = known {
                self.pass_to(&home, head, who, body).await?;
                lock(&replica.homes).forget(session);
            }
            let Some(record) = self.find(session).await? else {
                return Ok(());
            };
            if *record.home != *replica.address {
                lock(&replica.homes).insert(session, &record.home);
                self.pass_to(&record.home, head, who, body).await?;
                lock(&replica.homes).forget(session);
            }
            // A call that this replica began now it could not finish.
            self.takes_calls()?;
            if self.take_over(session, record).await? {
                return Ok(());
            }
        }
        let why = "the session moves between replicas";
        Err(Unavailable(why.to_owned()).into())
    }

    /// Passes a request to the replica that keeps a suspended one, which responds. Returns if it is gone, or this one.
    pub(super) async fn pass_ticket(
        self: &Arc<Self>,
        head: &Parts,
        ticket: u64,
        who: &Owner,
        body: &[u8],
    ) -> HttpResult<()> {
        let home = format!("{:08x}", ticket >> 32);
        let replica = &self.replica;
        if !replica.backplane.is_shared()
            || *home == *replica.address
            || head.extensions.get::<FromReplica>().is_some()
        {
            return Ok(());
        }
        self.look_after();
        replica.settled().await?;
        self.pass_to(&home, head, who, body).await
    }

    /// Returns the record of a session. One that is not found may have been evicted: the replica that runs the session is asked
    /// to save it again.
    async fn find(&self, session: &str) -> Result<Option<SessionRecord>, Unavailable> {
        let replica = &self.replica;
        let found = replica.backplane.find(session).await?;
        let Ok(_search) = replica.searches.try_acquire() else {
            return Ok(found);
        };
        if found.is_some() {
            return Ok(found);
        }
        let wanted = frame::wanted(&replica.address, session);
        replica.backplane.send(ReplicaTarget::All, wanted).await?;
        let (time, looks) = RESAVED;
        for _ in 0..looks {
            tokio::time::sleep(time).await;
            let found = replica.backplane.find(session).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Saves the record of a session that runs here again, because another replica does not find it.
    fn save_again(self: &Arc<Self>, session: String) {
        let driver = self.running_driver(&session);
        let Some(driver) = driver else { return };
        let inner = Arc::clone(self);
        spawn(async move {
            let _turn = inner.replica.turns.of(&session).await;
            if let Some(record) = driver.record() {
                let keep = inner.keeps_records();
                let saved = inner.replica.backplane.save(&session, &record, None, keep);
                // A replica that looks for it in vain says so to its client.
                let _ = saved.await;
            }
        });
    }

    /// Passes a request to a replica, which responds. Returns if none is at that address, or it does not run the session.
    async fn pass_to(&self, home: &str, head: &Parts, who: &Owner, body: &[u8]) -> HttpResult<()> {
        let replica = &self.replica;
        replica.backplane.available()?;
        let number = replica.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (parts, mut waits) = mpsc::unbounded_channel();
        let passed = PassedRequest {
            home: home.to_owned(),
            parts,
            is_stream: head.method == Method::GET,
            has_arrived: false,
            read: 0,
        };
        lock(&replica.passed).insert(number, passed);
        let mut exchange = ReplicaExchange::new(Arc::clone(replica), home, number);
        let mut pieces = body.chunks(PIECE);
        let first = (pieces.next().unwrap_or_default(), body.len() <= PIECE);
        let mut frame = frame::request(&replica.address, number, head, who, first);
        // An answer to a question of the server has an id, too, and is none of this client's requests.
        let request = || {
            let message = mcp_wire::peek(body).ok();
            let request = message.filter(|message| message.kind == MessageKind::Request);
            request.and_then(|message| message.id?.to_id())
        };
        loop {
            let piece = pieces.next();
            match replica.send_piece(home, frame).await {
                Ok(true) => exchange.has_arrived(),
                Ok(false) => {
                    exchange.finish();
                    replica.lost(&errors::replica_gone(), |one| one == home);
                    return Ok(());
                }
                // A request of which a part is missing does not run; a whole one may.
                Err(why) => {
                    let id = request().filter(|_| piece.is_none());
                    let ran = id.map(|id| refusal(Some(&id), &errors::replica_unreachable()));
                    return Err(ran.map_or_else(|| why.into(), Box::new));
                }
            }
            let Some(piece) = piece else { break };
            let piece = (piece, pieces.len() == 0);
            frame = frame::body(&replica.address, number, piece);
        }
        let (status, headers, whole, length) = match waits.recv().await {
            Some(ResponsePart::Head {
                status,
                headers,
                body,
                length,
            }) => (status, headers, body, length),
            Some(ResponsePart::NotHere) => {
                exchange.finish();
                return Ok(());
            }
            // The request may have been worked on: it is not for this replica to run it again.
            lost => {
                exchange.finish();
                let why = lost.map_or_else(errors::replica_gone, ResponsePart::failure);
                return Err(match request() {
                    Some(id) => refusal(Some(&id), &why).into(),
                    None => Unavailable("a replica is gone".to_owned()).into(),
                });
            }
        };
        let body = match whole {
            Some(whole) => {
                exchange.finish();
                let unread = self
                    .unread
                    .of(who.clone())
                    .take(whole.len())
                    .map_err(|full| {
                        let refused = errors::too_much_unread(&full.to_string());
                        refusal(request().as_ref(), &refused)
                    })?;
                Body::unread(String::from_utf8_lossy(&whole).into_owned(), Some(unread))
            }
            None => {
                let is_events = (headers.get(header::CONTENT_TYPE))
                    .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
                let answers = request().filter(|_| is_events);
                let passing = Passing::new(waits, exchange, length, answers);
                Body::passed(passing.resumable(self.resumes(&head.headers)))
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Err(response.into())
    }

    /// Runs a session here whose replica is gone, also if the client that asks for it hangs up meanwhile: a record that names
    /// this replica needs a driver here. Returns whether the session is to be looked for no longer: it is run here, or it has
    /// ended.
    async fn take_over(
        self: &Arc<Self>,
        session: &str,
        record: SessionRecord,
    ) -> Result<bool, Unavailable> {
        let (inner, session) = (Arc::clone(self), session.to_owned());
        let taken = spawn(async move { inner.take_over_in_turn(&session, record).await });
        let fails = || Unavailable("the session cannot be run here".to_owned());
        taken.await.unwrap_or_else(|_| Err(fails()))
    }

    async fn take_over_in_turn(
        self: &Arc<Self>,
        session: &str,
        mut record: SessionRecord,
    ) -> Result<bool, Unavailable> {
        let replica = &self.replica;
        let _turn = replica.turns.of(session).await;
        if self.runs(session) || *record.home == *replica.address {
            return Ok(true);
        }
        if !record.can_move {
            replica.backplane.end(session).await?;
            return Ok(true);
        }
        let home = std::mem::replace(&mut record.home, replica.address.to_string());
        record.generation = record.generation.saturating_add(1);
        let keep = self.keeps_records();
        let saved = replica.backplane.save(session, &record, Some(&home), keep);
        if !saved.await? {
            return Ok(false);
        }
        observe::session_taken_over(session);
        self.restore(session, record).await;
        Ok(true)
    }

    /// Makes the driver of a session from its record.
    async fn restore(self: &Arc<Self>, session: &str, record: SessionRecord) {
        let driver = self.new_driver();
        driver.opened_by(record.owner.clone(), None);
        driver.count_from(record.generation);
        // Its client has had the answers.
        let (texts, _) = outbox(None);
        let say = |text: &str| {
            let looked = self.server.look_in_session(text.as_bytes());
            driver.take(None, looked, &texts, ExchangeFacts::default())
        };
        let stored = record.messages.clone();
        let mut messages = stored.iter();
        if let Some(opened) = messages.next() {
            driver.settled(say(opened)).await;
        }
        let id: Arc<str> = session.into();
        if self.keep(&id, &driver, Some(Box::new(record))).is_err() {
            return driver.leave(&errors::replica_gone().error);
        }
        for text in messages {
            say(text);
        }
        driver.missed_changes();
    }

    /// Saves what others know of a session. `of` is its home before, if it was kept.
    pub(super) async fn save(
        &self,
        session: &str,
        record: &SessionRecord,
        of: Option<&str>,
    ) -> HttpResult<()> {
        let keep = self.keeps_records();
        let saved = self.replica.backplane.save(session, record, of, keep);
        if saved.await? {
            Ok(())
        } else {
            Err(Unavailable("another replica runs the session".to_owned()).into())
        }
    }

    /// Takes note of a message that makes a session another one, before it is handled: what is acknowledged is not lost.
    pub(super) async fn note(
        &self,
        driver: &ServerDriver,
        message: &mcp_wire::Peeked<'_>,
    ) -> HttpResult<()> {
        // Calls wait for no record of another session, and those of per-request clients for no backplane.
        if !may_be_noted(message) || !self.replica.backplane.is_shared() {
            return Ok(());
        }
        let Some(session) = driver.kept_session() else {
            return Ok(());
        };
        let _turn = self.replica.turns.of(&session).await;
        match driver.note(message) {
            Some(record) => {
                self.save(&session, &record, Some(&self.replica.address))
                    .await
            }
            None => Ok(()),
        }
    }

    /// Returns the lifetime of a record that no replica refreshes.
    fn keeps_records(&self) -> Duration {
        self.options.idle.saturating_add(self.options.idle / 4)
    }

    /// Sees to it, as long as the service is there, that records are kept, and that nothing waits for a replica that is gone.
    pub(super) fn look_after(self: &Arc<Self>) {
        if self.replica.is_looked_after.swap(true, Ordering::AcqRel) {
            return;
        }
        let me = Arc::downgrade(self);
        let every = (self.options.idle / 8).max(LOOK);
        spawn(async move {
            let mut refreshed = tokio::time::Instant::now();
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(inner) = me.upgrade() else { return };
                inner.look_for_homes().await;
                if *inner.replica.is_doubtful.borrow() {
                    inner.settle_doubts().await;
                }
                if refreshed.elapsed() >= every {
                    refreshed = tokio::time::Instant::now();
                    inner.refresh().await;
                }
            }
        });
    }

    /// Ends what waits for replicas that are gone or silent, and asks the others about what waits for them.
    async fn look_for_homes(&self) {
        let replica = &self.replica;
        if replica.backplane.available().is_err() {
            return replica.broken(|_| true);
        }
        for (home, requests) in replica.waits() {
            let waits = frame::waits(&replica.address, &requests);
            let to = ReplicaTarget::One(&home);
            match replica.backplane.send(to, waits).await {
                Ok(false) => replica.lost(&errors::replica_gone(), |one| one == home),
                Ok(true) if replica.is_silent(&home) => {
                    observe::replica_silent(&home);
                    replica.broken(|one| one == home);
                }
                // The backplane was away: the next look tells.
                Ok(true) | Err(_) => {}
            }
        }
    }

    /// Does something about each session that runs here, some at a time: each waits for the backplane. Returns whether all
    /// of it was done.
    async fn for_each_session(
        self: &Arc<Self>,
        act: fn(Arc<Self>, Arc<str>, Arc<ServerDriver>) -> Boxed<'static, bool>,
    ) -> bool {
        let (mut acts, mut are_done) = (JoinSet::new(), true);
        for (session, driver) in self.running() {
            if acts.len() >= AT_A_TIME {
                are_done &= matches!(acts.join_next().await, Some(Ok(true)));
            }
            acts.spawn(act(Arc::clone(self), session, driver));
        }
        while let Some(done) = acts.join_next().await {
            are_done &= matches!(done, Ok(true));
        }
        are_done
    }

    /// Keeps the records of sessions that are used.
    async fn refresh(self: &Arc<Self>) {
        self.for_each_session(|inner, session, driver| {
            boxed(async move {
                let _turn = inner.replica.turns.of(&session).await;
                let Some(record) = driver.record() else {
                    return true;
                };
                let (keep, me) = (inner.keeps_records(), Some(&*inner.replica.address));
                let saved = (inner.replica.backplane).save(&session, &record, me, keep);
                match saved.await {
                    Ok(true) => true,
                    Ok(false) => inner.settle(&session, &driver).await,
                    Err(_) => false,
                }
            })
        })
        .await;
    }

    /// Finds out which replica runs a session: it is left to another one that does, and saved again if the backplane lost
    /// it. Returns false if the backplane does not say.
    async fn settle(&self, session: &str, driver: &ServerDriver) -> bool {
        let Replica {
            backplane,
            address,
            is_emptied,
            ..
        } = &*self.replica;
        let Some(record) = driver.record() else {
            return true;
        };
        let mut runs_here = Ok(false);
        if is_emptied.load(Ordering::Acquire) {
            let keep = self.keeps_records();
            runs_here = backplane.save(session, &record, None, keep).await;
        }
        if runs_here == Ok(false) {
            let found = backplane.find(session).await;
            runs_here = found.map(|found| found.is_some_and(|found| *found.home == **address));
        }
        if runs_here == Ok(false) {
            self.leave(session);
        }
        runs_here.is_ok()
    }

    /// Settles which sessions run here, after others may have taken them over.
    async fn settle_doubts(self: &Arc<Self>) {
        let settled = self.for_each_session(|inner, session, driver| {
            boxed(async move {
                let _turn = inner.replica.turns.of(&session).await;
                inner.settle(&session, &driver).await
            })
        });
        // Otherwise it is tried again.
        if settled.await {
            self.replica.is_emptied.store(false, Ordering::Release);
            self.replica.is_doubtful.send_replace(false);
        }
    }

    /// Answers a frame of another build that cannot be read: its sender waits for nothing.
    fn refuse(&self, frame: UnreadableFrame) {
        let UnreadableFrame {
            from,
            number,
            version,
            kind,
        } = frame;
        observe::replica_not_understood(&from, &kind, version);
        if kind != "request" {
            // A response ends here, and other frames are of requests that end with theirs.
            if let Some(passed) = lock(&self.replica.passed).get(&number)
                && passed.home == from
            {
                let _ = passed.parts.send(ResponsePart::Broken);
            }
            return;
        }
        let why = format!(
            "the replica that runs the session cannot read this request: it understands version {VERSION} of messages \
             between replicas, and got {version}"
        );
        let refused = ResponsePart::Head {
            status: StatusCode::SERVICE_UNAVAILABLE,
            headers: HeaderMap::new(),
            body: Some(why.into()),
            length: None,
        };
        let refused = frame::response(&self.replica.address, number, &refused);
        detach(
            self.replica
                .backplane
                .send(ReplicaTarget::One(&from), refused),
        );
    }

    /// Serves no session until it is settled which ones run here.
    fn doubt(&self) {
        self.replica.is_doubtful.send_replace(true);
        let me = Weak::clone(&self.me);
        spawn(async move {
            if let Some(inner) = me.upgrade() {
                inner.look_after();
                inner.settle_doubts().await;
            }
        });
    }
}

impl Receiver for ServiceShared {
    fn receive(&self, message: &[u8]) {
        let replica = &self.replica;
        if self.handler.takes(message) {
            return;
        }
        let ReplicaFrame {
            from,
            number,
            version,
            what,
        } = match ReplicaFrame::read(message) {
            None => return,
            Some(Ok(frame)) => frame,
            Some(Err(unreadable)) => return self.refuse(unreadable),
        };
        replica.lives(&from, version > 0);
        let part = match what {
            FrameContent::Request(head, first) => {
                replica.arrived(&from, message.len());
                if let Some(inner) = self.me.upgrade() {
                    home::take(&inner, from, number, *head, first);
                }
                return;
            }
            FrameContent::Body(piece) => {
                replica.arrived(&from, message.len());
                return home::take_piece(replica, from, number, piece);
            }
            FrameContent::Arrived(bytes) => return replica.ways.free(&from, bytes),
            FrameContent::Read(bytes) => {
                home::read(replica, &from, number, bytes);
                return;
            }
            FrameContent::Waits(requests) => return home::answer(replica, &from, requests),
            FrameContent::Works => return,
            FrameContent::Wanted(session) => {
                if let Some(inner) = self.me.upgrade() {
                    inner.save_again(session);
                }
                return;
            }
            FrameContent::HungUp => return home::hung_up(replica, from, number),
            FrameContent::Response(part) => {
                replica.arrived(&from, message.len());
                part
            }
        };
        if let Some(passed) = lock(&replica.passed).get(&number) {
            // The client may have hung up, too.
            let _ = passed.parts.send(part);
        } else if matches!(part, ResponsePart::Head { .. } | ResponsePart::Data(_)) {
            // It was given up, and that was not heard.
            let hung_up = frame::hung_up(&replica.address, number);
            detach(replica.backplane.send(ReplicaTarget::One(&from), hung_up));
        }
    }

    fn reconnected(&self) {
        self.replica.broken(|_| true);
        home::end_all(&self.replica);
        self.doubt();
    }

    fn missed(&self) {
        self.doubt();
    }

    fn emptied(&self) {
        self.replica.is_emptied.store(true, Ordering::Release);
        self.doubt();
    }
}
