//! Sessions among replicas: a request whose session runs elsewhere is passed there, and a session whose replica is gone
//! is taken over.

pub(super) mod exchange;
pub(super) mod frame;
mod home;
mod homes;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use http::request::Parts;
use http::{Response, header};
use mcp_wire::envelope::write;
use tokio::sync::mpsc;

use super::answers::{Answered, refusal};
use super::inner::Inner;
use super::{Body, text};
use crate::backplane::{Receiver, SessionRecord, To, Unavailable, detach, may_be_noted};
use crate::protocol::server::Owner;
use crate::serve::is_unguessable;
use crate::serve::{Facts, ServerDriver, outbox};
use crate::transport::panics::lock;
use crate::transport::spawn::spawn;
use crate::{errors, headers};
use exchange::{Exchange, Passed};
use frame::{Frame, Part, What};
use home::FromReplica;

/// How often a session is looked for that moves meanwhile.
const LOOKS: usize = 3;

/// How often a replica looks whether those are there that it waits for.
const LOOK: Duration = Duration::from_millis(500);

fn unreachable() -> Unavailable {
    Unavailable("it does not answer".to_owned())
}

impl Inner {
    /// Passes a request to the replica that runs its session, and returns the response of that replica as the `Err`. Returns
    /// `Ok` if this replica runs the session, or none does. This replica takes over a session whose replica is gone.
    pub(super) async fn pass_on(
        self: &Arc<Self>,
        head: &Parts,
        who: &Owner,
        body: &[u8],
    ) -> Answered<()> {
        let replica = &self.replica;
        if !replica.backplane.is_shared() || head.extensions.get::<FromReplica>().is_some() {
            return Ok(());
        }
        self.look_after();
        if !replica.is_reachable() {
            return Err(unreachable().into());
        }
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
            let Some(record) = replica.backplane.find(session).await? else {
                return Ok(());
            };
            if *record.home != *replica.address {
                lock(&replica.homes).insert(session, &record.home);
                self.pass_to(&record.home, head, who, body).await?;
                lock(&replica.homes).forget(session);
            }
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
    ) -> Answered<()> {
        let home = format!("{:08x}", ticket >> 32);
        let replica = &self.replica;
        if !replica.backplane.is_shared()
            || *home == *replica.address
            || head.extensions.get::<FromReplica>().is_some()
        {
            return Ok(());
        }
        self.look_after();
        self.pass_to(&home, head, who, body).await
    }

    /// Passes a request to a replica, which responds. Returns if none is at that address, or it does not run the session.
    async fn pass_to(&self, home: &str, head: &Parts, who: &Owner, body: &[u8]) -> Answered<()> {
        let replica = &self.replica;
        if !replica.backplane.is_available() {
            return Err(unreachable().into());
        }
        let number = replica.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (parts, mut waits) = mpsc::unbounded_channel();
        let passed = Passed {
            home: home.to_owned(),
            parts,
        };
        lock(&replica.passed).insert(number, passed);
        let mut exchange = Exchange::new(Arc::clone(replica), home, number);
        let request = frame::request(&replica.address, number, head, who, body);
        if !replica.backplane.send(To::One(home), request).await? {
            exchange.finish();
            replica.lost(|one| one == home);
            return Ok(());
        }
        let request = mcp_wire::peek(body)
            .ok()
            .and_then(|message| message.id?.to_id());
        let (status, headers, whole) = match waits.recv().await {
            Some(Part::Head {
                status,
                headers,
                body,
            }) => (status, headers, body),
            Some(Part::NotHere) => {
                exchange.finish();
                return Ok(());
            }
            // Whether it was worked on is not known: it is not for this replica to run it again.
            _ => {
                exchange.finish();
                return Err(match request {
                    Some(id) => refusal(Some(&id), &errors::replica_gone()).into(),
                    None => Unavailable("a replica is gone".to_owned()).into(),
                });
            }
        };
        let body = match whole {
            Some(whole) => {
                exchange.finish();
                let unread = self.unread.of(who.clone()).take(whole.len());
                let unread = unread.map_err(|full| {
                    let refused = errors::too_much_unread(&full.to_string());
                    refusal(request.as_ref(), &refused)
                })?;
                Body::unread(String::from_utf8_lossy(&whole).into_owned(), Some(unread))
            }
            None => {
                let is_events = (headers.get(header::CONTENT_TYPE))
                    .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
                let gone = request.filter(|_| is_events);
                let gone = gone.map(|id| write::error(Some(&id), &errors::replica_gone().error));
                Body::passed(waits, exchange, gone)
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Err(response.into())
    }

    /// Runs a session here whose replica is gone. Returns whether it is to be looked for no longer: it is run here, or it
    /// has ended.
    async fn take_over(
        self: &Arc<Self>,
        session: &str,
        mut record: SessionRecord,
    ) -> Result<bool, Unavailable> {
        let replica = &self.replica;
        let _turn = replica.turn.lock().await;
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
        self.restore(session, record);
        Ok(true)
    }

    /// Makes the driver of a session from its record.
    fn restore(self: &Arc<Self>, session: &str, record: SessionRecord) {
        let driver = self.new_driver();
        driver.opened_by(record.owner.clone(), None);
        driver.count_from(record.generation);
        // Its client has had the answers.
        let (texts, _) = outbox(None);
        let say = |text: &str| {
            let looked = self.server.look_in_session(text.as_bytes());
            driver.take(None, looked, &texts, Facts::default());
        };
        let messages = record.messages.clone();
        let mut messages = messages.iter();
        if let Some(opened) = messages.next() {
            say(opened);
        }
        let session: Arc<str> = session.into();
        if self
            .keep(&session, &driver, Some(Box::new(record)))
            .is_err()
        {
            return driver.leave();
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
    ) -> Answered<()> {
        let keep = self.keeps_records();
        let saved = self.replica.backplane.save(session, record, of, keep);
        match saved.await? {
            true => Ok(()),
            false => Err(Unavailable("another replica runs the session".to_owned()).into()),
        }
    }

    /// Takes note of a message that makes a session another one, before it is handled: what is acknowledged is not lost.
    pub(super) async fn note(
        &self,
        driver: &ServerDriver,
        message: &mcp_wire::Peeked<'_>,
    ) -> Answered<()> {
        // Calls wait for no record of another session, and those of per-request clients for no backplane.
        if !may_be_noted(message) || !self.replica.backplane.is_shared() {
            return Ok(());
        }
        let _turn = self.replica.turn.lock().await;
        match driver.note(message) {
            Some((session, record)) => {
                self.save(&session, &record, Some(&self.replica.address))
                    .await
            }
            None => Ok(()),
        }
    }

    /// How long a record is kept that no replica refreshes.
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
                if refreshed.elapsed() >= every {
                    refreshed = tokio::time::Instant::now();
                    inner.refresh().await;
                }
            }
        });
    }

    /// Ends what waits for replicas that are gone.
    async fn look_for_homes(&self) {
        let replica = &self.replica;
        if !replica.backplane.is_available() {
            return replica.lost(|_| true);
        }
        let mut homes: Vec<String> = Vec::new();
        for passed in lock(&replica.passed).values() {
            if !homes.contains(&passed.home) {
                homes.push(passed.home.clone());
            }
        }
        for home in homes {
            if let Ok(false) = replica.backplane.send(To::One(&home), Vec::new()).await {
                replica.lost(|one| one == home);
            }
        }
    }

    /// Keeps the records of sessions that are used; a session that another replica has taken over is left to it.
    async fn refresh(&self) {
        for (session, driver) in self.running() {
            let _turn = self.replica.turn.lock().await;
            let Some(record) = driver.record() else {
                continue;
            };
            let keep = self.keeps_records();
            let me = Some(&*self.replica.address);
            let saved = (self.replica.backplane).save(&session, &record, me, keep);
            if saved.await == Ok(false) {
                self.leave(&session);
            }
        }
    }

    /// Looks which sessions others have taken over while the backplane could not be reached.
    async fn settle_doubts(&self) {
        let replica = &self.replica;
        for (session, _) in self.running() {
            match replica.backplane.find(&session).await {
                Ok(Some(record)) if *record.home == *replica.address => {}
                Ok(_) => self.leave(&session),
                // It is gone again, and comes again.
                Err(_) => return,
            }
        }
        replica.is_doubtful.store(false, Ordering::Release);
    }
}

impl Receiver for Inner {
    fn receive(&self, message: &[u8]) {
        let replica = &self.replica;
        if self.handler.takes(message) {
            return;
        }
        let Some(Frame { from, number, what }) = Frame::read(message) else {
            return;
        };
        let part = match what {
            What::Request(head, body) => {
                if let Some(inner) = self.me.upgrade() {
                    home::take(&inner, from, number, *head, body);
                }
                return;
            }
            What::Read(bytes) => return home::read(replica, from, number, bytes),
            What::HungUp => return home::hung_up(replica, from, number),
            What::Response(part) => part,
        };
        if let Some(passed) = lock(&replica.passed).get(&number) {
            // The client may have hung up, too.
            let _ = passed.parts.send(part);
        } else if matches!(part, Part::Head { .. } | Part::Data(_)) {
            // It was given up, and that was not heard.
            let hung_up = frame::hung_up(&replica.address, number);
            detach(replica.backplane.send(To::One(&from), hung_up));
        }
    }

    fn reconnected(&self) {
        let replica = &self.replica;
        replica.lost(|_| true);
        home::end_all(replica);
        replica.is_doubtful.store(true, Ordering::Release);
        let me = Weak::clone(&self.me);
        spawn(async move {
            if let Some(inner) = me.upgrade() {
                inner.settle_doubts().await;
            }
        });
    }
}
