//! Sessions among replicas: a request whose session runs elsewhere is passed there, and a session whose replica is gone
//! is taken over.

pub(super) mod exchange;
mod frame;
mod home;
mod homes;
mod tasks;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use http::request::Parts;
use http::{Response, StatusCode, header};
use tokio::sync::mpsc;

use super::Body;
use super::answers::{json, refusal, unavailable};
use super::inner::Inner;
use crate::backplane::{Receiver, SessionRecord, To, Unavailable, detach, may_be_noted};
use crate::errors;
use crate::protocol::server::Owner;
use crate::protocol::translate::is_unguessable;
use crate::serve::{Facts, Kept, Lane, route};
use crate::transport::spawn::spawn;
use exchange::{Exchange, Part, Passed};
use frame::{Frame, What};
use home::FromReplica;

/// How often a session is looked for that moves meanwhile.
const LOOKS: usize = 3;

/// How often a replica looks whether those are there that it waits for.
const LOOK: Duration = Duration::from_millis(500);

fn unreachable() -> Response<Body> {
    unavailable(&Unavailable("it does not answer".to_owned()))
}

impl Inner {
    /// Passes a request to the replica that runs its session. Returns `None` if that is this one, or there is no such
    /// session; one whose replica is gone is run here from now on.
    pub(super) async fn pass_on(
        self: &Arc<Self>,
        head: &Parts,
        session: &str,
        who: &Owner,
        body: &[u8],
    ) -> Option<Response<Body>> {
        let replica = &self.replica;
        if !replica.backplane.is_shared() || head.extensions.get::<FromReplica>().is_some() {
            return None;
        }
        self.look_after();
        if !replica.is_reachable() {
            return Some(unreachable());
        }
        for _ in 0..LOOKS {
            if self.runs(session) || !is_unguessable(session) {
                return None;
            }
            let known = replica.homes().get(session);
            if let Some(home) = known {
                match self.pass_to(&home, head, who, body).await {
                    Ok(None) => replica.homes().forget(session),
                    Ok(Some(response)) => return Some(response),
                    Err(why) => return Some(unavailable(&why)),
                }
            }
            let record = match replica.backplane.find(session).await {
                Ok(record) => record?,
                Err(why) => return Some(unavailable(&why)),
            };
            if *record.home != *replica.address {
                match self.pass_to(&record.home, head, who, body).await {
                    Ok(Some(response)) => {
                        replica.homes().insert(session, &record.home);
                        return Some(response);
                    }
                    Ok(None) => {}
                    Err(why) => return Some(unavailable(&why)),
                }
            }
            match self.take_over(session, record).await {
                Ok(true) => return None,
                Ok(false) => {}
                Err(why) => return Some(unavailable(&why)),
            }
        }
        Some(unavailable(&Unavailable(
            "the session moves between replicas".to_owned(),
        )))
    }

    /// Passes a request to the replica that keeps a suspended one. Returns `None` if it is gone, or this one.
    pub(super) async fn pass_ticket(
        self: &Arc<Self>,
        head: &Parts,
        ticket: u64,
        who: &Owner,
        body: &[u8],
    ) -> Option<Response<Body>> {
        let home = format!("{:08x}", ticket >> 32);
        let replica = &self.replica;
        if !replica.backplane.is_shared()
            || *home == *replica.address
            || head.extensions.get::<FromReplica>().is_some()
        {
            return None;
        }
        self.look_after();
        match self.pass_to(&home, head, who, body).await {
            Ok(Some(response)) => Some(response),
            Ok(None) => None,
            Err(why) => Some(unavailable(&why)),
        }
    }

    /// Passes a request to a replica. Returns `None` if none is at that address, or it does not run the session.
    async fn pass_to(
        &self,
        home: &str,
        head: &Parts,
        who: &Owner,
        body: &[u8],
    ) -> Result<Option<Response<Body>>, Unavailable> {
        let replica = &self.replica;
        if !replica.backplane.is_available() {
            return Err(Unavailable("it does not answer".to_owned()));
        }
        let number = replica.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (parts, mut waits) = mpsc::unbounded_channel();
        let passed = Passed {
            home: home.to_owned(),
            parts,
        };
        replica.passed().insert(number, passed);
        let mut exchange = Exchange::new(Arc::clone(replica), home, number);
        let request = frame::request(&replica.address, number, head, who, body);
        if !replica.backplane.send(To::One(home), request).await? {
            exchange.finish();
            replica.lost(|one| one == home);
            return Ok(None);
        }
        let request = mcp_wire::peek(body)
            .ok()
            .and_then(|message| message.id?.to_id());
        Ok(match waits.recv().await {
            Some(Part::NotHere) => {
                exchange.finish();
                None
            }
            Some(Part::Head {
                status,
                headers,
                body: Some(body),
            }) => {
                exchange.finish();
                let unread = self.unread_of(who.clone()).take(body.len());
                let mut response = match unread {
                    Ok(unread) => {
                        let text = String::from_utf8_lossy(&body).into_owned();
                        json(StatusCode::OK, text, Some(unread))
                    }
                    Err(full) => {
                        let refused = errors::too_much_unread(&full.to_string());
                        return Ok(Some(refusal(request.as_ref(), &refused)));
                    }
                };
                *response.status_mut() = status;
                *response.headers_mut() = headers;
                Some(response)
            }
            Some(Part::Head {
                status, headers, ..
            }) => {
                let is_events = (headers.get(header::CONTENT_TYPE))
                    .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
                let gone = request.filter(|_| is_events).map(|id| {
                    mcp_wire::envelope::write::error(Some(&id), &errors::replica_gone().error)
                });
                let mut response = Response::new(Body::passed(waits, exchange, gone));
                *response.status_mut() = status;
                *response.headers_mut() = headers;
                Some(response)
            }
            // Whether it was worked on is not known: it is not for this replica to run it again.
            _ => {
                exchange.finish();
                Some(match request {
                    Some(id) => refusal(Some(&id), &errors::replica_gone()),
                    None => unavailable(&Unavailable("a replica is gone".to_owned())),
                })
            }
        })
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

    /// Makes the lane of a session from its record.
    fn restore(self: &Arc<Self>, session: &str, record: SessionRecord) {
        let lane = self.new_lane();
        lane.owned_by(record.owner.clone());
        lane.count_from(record.generation);
        // Its client has had the answers.
        let (texts, _) = route(None);
        let say = |text: &str| {
            let looked = self.server.look_in_session(text.as_bytes());
            lane.take(None, looked, &texts, Facts::default());
        };
        let messages = record.messages.clone();
        let mut messages = messages.iter();
        if let Some(opened) = messages.next() {
            say(opened);
        }
        let session: Arc<str> = session.into();
        if self.keep(&session, &lane, record).is_err() {
            return lane.leave();
        }
        for text in messages {
            say(text);
        }
        lane.missed_changes();
    }

    /// Saves what others know of a session. `of` is its home before, if it was kept.
    pub(super) async fn save(
        &self,
        session: &str,
        record: &SessionRecord,
        of: Option<&str>,
    ) -> Result<(), Box<Response<Body>>> {
        let keep = self.keeps_records();
        let saved = self.replica.backplane.save(session, record, of, keep);
        match saved.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Box::new(unavailable(&Unavailable(
                "another replica runs the session".to_owned(),
            )))),
            Err(why) => Err(Box::new(unavailable(&why))),
        }
    }

    /// Takes note of a message that makes a session another one, before it is handled: what is acknowledged is not lost.
    pub(super) async fn note(
        &self,
        lane: &Lane,
        message: &mcp_wire::Peeked<'_>,
    ) -> Result<(), Box<Response<Body>>> {
        // Calls wait for no record of another session, and those of per-request clients for no backplane.
        if !may_be_noted(message) || !self.replica.backplane.is_shared() {
            return Ok(());
        }
        let _turn = self.replica.turn.lock().await;
        match lane.note(message) {
            Some((session, record)) => {
                self.save(&session, &record, Some(&self.replica.address))
                    .await
            }
            None => Ok(()),
        }
    }

    /// What is kept of a session outside of its lane.
    pub(super) fn kept(&self, session: &Arc<str>, record: SessionRecord, resumes: bool) -> Kept {
        Kept {
            session: Arc::clone(session),
            backplane: Arc::clone(&self.replica.backplane),
            record,
            resumes,
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
        for passed in replica.passed().values() {
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
        for (session, lane) in self.running() {
            let turn = self.replica.turn.lock().await;
            let Some(record) = lane.record() else {
                continue;
            };
            let keep = self.keeps_records();
            let me = Some(&*self.replica.address);
            let saved = (self.replica.backplane).save(&session, &record, me, keep);
            let saved = saved.await;
            drop(turn);
            if saved == Ok(false) {
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
        if let Some(task) = replica.changed_task(message) {
            return self.handler.task_changed(task);
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
        if let Some(passed) = replica.passed().get(&number) {
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
