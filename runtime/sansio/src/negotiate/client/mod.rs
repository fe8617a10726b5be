//! From the first request to a settled revision: the probe, the handshake, and what follows when the server refuses one.

mod facts;
pub mod lifecycle;
pub(crate) mod stage;
pub(crate) mod statuses;

use std::time::Duration;

use mcp_revisions_core::{Lifecycle, Revision, RevisionSet, methods};
use mcp_wire::{ErrorObject, Json};

use crate::ask::outcome;
use crate::client::requests::{RequestPurpose, Waiting};
use crate::client::{Channel, Client};
use crate::json::object;
use crate::limits::deadline;
use crate::quote::quotable;
use crate::translate::no_params;
use crate::{Answer, Connection, Event, Failure, Output, ServerFacts};
use lifecycle::{Evidence, ProbeOutcome, choose, judge, order, supported};
use stage::{NegotiationStage, Settled, Starting};
use statuses::is_evidence;

/// Factor of the time that a server may be silent about `initialize`, against the probe, before it gets the other message.
/// Some handshake servers end on a request between `initialize` and `notifications/initialized`; nearly all servers that
/// are silent about `initialize` are only slow to start.
const INITIALIZE_WAITS: u32 = 3;

impl Connection<Client> {
    /// Goes on from wherever the client is: sends what waits, or finds out how.
    pub(crate) fn start(&mut self, now: Duration) {
        match &self.state.stage {
            NegotiationStage::Unknown(Some(verdict))
                if self.role.options.revisions.contains(verdict.0) =>
            {
                let revision = verdict.0;
                match revision.lifecycle() {
                    Lifecycle::PerRequest => {
                        self.state.stage = NegotiationStage::Settled(Settled {
                            confirmed: false,
                            ..Settled::on(revision)
                        });
                        self.tell(Event::Settled(ServerFacts::unknown(revision)));
                        self.send_waiting();
                    }
                    Lifecycle::Handshake => self.begin(revision, now),
                }
            }
            NegotiationStage::Unknown(_) => match self.preferred(|_| true) {
                Some(revision) => self.begin(revision, now),
                None => self.no_common_revision(Vec::new()),
            },
            NegotiationStage::Settled(_) => self.send_waiting(),
            NegotiationStage::Starting(_) => {}
        }
    }

    /// Returns the revision that is preferred among those that the client may speak and `is_wanted` picks.
    fn preferred(&self, is_wanted: impl Fn(Revision) -> bool) -> Option<Revision> {
        let order = order(self.role.own(), self.role.options.revisions);
        order.into_iter().find(|&revision| is_wanted(revision))
    }

    /// Sends the first message, which is of this revision.
    pub(crate) fn begin(&mut self, revision: Revision, now: Duration) {
        self.forget_first();
        self.state.stage = NegotiationStage::Starting(Starting {
            probe: None,
            handshake: None,
            tried: RevisionSet::none(),
            refusal: None,
            silent_until: None,
            until: deadline(now, self.role.options.start_timeout),
        });
        self.send_first(revision, now);
    }

    /// Sends the message by which a server of this revision is found.
    fn send_first(&mut self, revision: Revision, now: Duration) {
        match revision.lifecycle() {
            Lifecycle::PerRequest => self.probe(revision, now),
            Lifecycle::Handshake => self.initialize(revision, now),
        }
    }

    /// Returns when a server that is silent about a message of this lifecycle is sent one of the other as well.
    fn silent_until(&self, lifecycle: Lifecycle, now: Duration) -> Option<Duration> {
        let options = &self.role.options;
        let tried = self.state.stage.starting()?.tried;
        let is_other = |it: Revision| it.lifecycle() != lifecycle && !tried.has(it.lifecycle());
        let may_be_silent = options.channel == Channel::Stdio;
        may_be_silent.then_some(())?;
        self.preferred(is_other)?;
        let waits = match lifecycle {
            Lifecycle::PerRequest => options.probe_timeout,
            Lifecycle::Handshake => options.probe_timeout.saturating_mul(INITIALIZE_WAITS),
        };
        Some(deadline(now, waits))
    }

    fn probe(&mut self, claim: Revision, now: Duration) {
        let params = self.stamped(None, claim, None);
        let id = self.post_request(
            methods::SERVER_DISCOVER,
            params,
            claim,
            RequestPurpose::Probe,
        );
        let silent_until = self.silent_until(Lifecycle::PerRequest, now);
        if let Some(starting) = self.state.stage.starting_mut() {
            starting.probe = Some((id, claim));
            starting.tried = starting.tried.with(claim);
            starting.silent_until = silent_until;
        }
    }

    fn initialize(&mut self, offer: Revision, now: Duration) {
        let (profile, translator) = (&self.role.options.profile, &self.role.translator);
        let capabilities = translator.capabilities_of(profile, offer);
        let info = translator.info_of(profile, offer);
        let params = object([
            ("protocolVersion", Json::of(offer.protocol_version())),
            ("capabilities", capabilities.unwrap_or_else(no_params)),
            // An identity that cannot be carried over is named all the same: the member must be there.
            ("clientInfo", info.unwrap_or_else(|| profile.info().clone())),
        ]);
        let method = methods::INITIALIZE;
        let id = self.post_request(method, Some(params), offer, RequestPurpose::Initialize);
        let silent_until = self.silent_until(Lifecycle::Handshake, now);
        if let Some(starting) = self.state.stage.starting_mut() {
            starting.handshake = Some(id);
            starting.tried = starting.tried.with(offer);
            starting.silent_until = silent_until;
        }
    }

    /// The probe's answer, or that there is none.
    pub(crate) fn probed(&mut self, evidence: Evidence<'_>, now: Duration) {
        let Some(starting) = self.state.stage.starting_mut() else {
            return;
        };
        let Some((_, claim)) = starting.probe.take() else {
            return;
        };
        starting.silent_until = None;
        let tried = starting.tried;
        match judge(evidence) {
            ProbeOutcome::Handshake => {
                let failure = refusal_of(evidence);
                self.refused(Lifecycle::PerRequest, Vec::new(), failure, now);
            }
            ProbeOutcome::Nothing => {
                let failure = match evidence {
                    Evidence::Answer {
                        status: Some(status),
                        ..
                    } => Failure::Http(status, String::new()),
                    _ => Failure::Closed,
                };
                self.unsettle(&failure);
            }
            ProbeOutcome::PerRequest(versions) => {
                // A revision that was offered in vain is not the one that it means.
                let is_open = |revision: &Revision| {
                    revision.lifecycle() == Lifecycle::PerRequest || !tried.contains(*revision)
                };
                let ours = self.role.options.revisions.iter().filter(is_open).collect();
                match choose(&versions, self.role.own(), ours) {
                    Some(revision) if revision.lifecycle() == Lifecycle::PerRequest => {
                        let facts = self.facts_of(evidence, revision);
                        self.settle(Settled::on(revision), facts);
                    }
                    _ => {
                        let failure = Failure::NoCommonRevision(versions.clone());
                        self.refused(Lifecycle::PerRequest, versions, failure, now);
                    }
                }
            }
            ProbeOutcome::PerRequestError(versions) => {
                let names_claim = versions.iter().any(|wire| wire == claim.protocol_version());
                let others = choose(&versions, self.role.own(), self.left(tried));
                // The server is of the lifecycle, and does not object to the revision, or names what it refuses: the requests
                // themselves show which of the two it means.
                if versions.is_empty() || (names_claim && others.is_none()) {
                    return self.settle(Settled::on(claim), ServerFacts::unknown(claim));
                }
                let failure = Failure::NoCommonRevision(versions.clone());
                self.refused(Lifecycle::PerRequest, versions, failure, now);
            }
        }
    }

    /// The server has refused a first message of this lifecycle, and names these versions, if any: the other one goes on, the
    /// next revision is tried, or none is left.
    fn refused(
        &mut self,
        lifecycle: Lifecycle,
        versions: Vec<String>,
        failure: Failure,
        now: Duration,
    ) {
        let Some(starting) = self.state.stage.starting_mut() else {
            return;
        };
        let awaits_other = starting.probe.is_some() || starting.handshake.is_some();
        let (tried, until) = (starting.tried, starting.until);
        // A refusal of `initialize` tells more than that the probe is not known.
        if lifecycle == Lifecycle::Handshake || starting.refusal.is_none() {
            starting.refusal = Some(failure.clone());
        }
        let failure = starting.refusal.clone().unwrap_or(failure);
        let left = self.left(tried);
        let named = choose(&versions, self.role.own(), left);
        // Only the per-request lifecycle has an error that names all versions of a server.
        let is_named = !versions.is_empty() && lifecycle == Lifecycle::PerRequest;
        let next = match named {
            None if !is_named => {
                self.preferred(|it| left.contains(it) && it.lifecycle() != lifecycle)
            }
            named => named,
        };
        match next {
            _ if awaits_other => {}
            Some(_) if until <= now => self.late(),
            Some(revision) => self.send_first(revision, now),
            None if versions.is_empty() => self.unsettle(&failure),
            None => self.no_common_revision(versions),
        }
    }

    /// Returns the revisions that have not been tried.
    pub(crate) fn left(&self, tried: RevisionSet) -> RevisionSet {
        self.role
            .options
            .revisions
            .iter()
            .filter(|&revision| !tried.contains(revision))
            .collect()
    }

    /// Sends a server over stdio that is silent the first message of the other lifecycle as well, and gives up one that has had
    /// its time. Whichever is answered first settles the revision.
    pub(crate) fn late_start(&mut self, now: Duration) {
        let Some(starting) = self.state.stage.starting_mut() else {
            return;
        };
        if starting.until <= now {
            return self.late();
        }
        if starting.silent_until.is_some_and(|silent| silent <= now) {
            starting.silent_until = None;
            let tried = starting.tried;
            if let Some(revision) = self.preferred(|it| !tried.has(it.lifecycle())) {
                self.send_first(revision, now);
            }
        }
    }

    /// The server has had its time.
    fn late(&mut self) {
        let time = self.role.options.start_timeout.as_secs();
        let why = format!("did not say which revision it speaks within {time} s");
        self.unsettle(&Failure::NotStarted(why));
    }

    /// Ends the connection, because the server sends nothing any more.
    pub fn closed(&mut self, now: Duration) {
        self.closed_for(&Failure::Closed, now);
    }

    /// Returns whether it is not known yet which revision to speak with the server.
    pub fn is_starting(&self) -> bool {
        self.state.stage.starting().is_some()
    }

    /// Ends the connection for this reason.
    pub fn closed_for(&mut self, failure: &Failure, now: Duration) {
        if let Some(Starting {
            probe: Some(_),
            refusal: None,
            ..
        }) = self.state.stage.starting()
        {
            // A handshake server may die of a request before `initialize`: one of this lifecycle is started again for it.
            let handshake = self.preferred(|it| it.lifecycle() == Lifecycle::Handshake);
            if let Some(revision) = handshake {
                self.put(Output::Restart);
                self.begin(revision, now);
                // The probe may have ended it: it is not sent again.
                if let Some(starting) = self.state.stage.starting_mut() {
                    starting.silent_until = None;
                }
                return;
            }
        }
        if self.is_starting() {
            self.tell(Event::NotSettled(failure.clone()));
        }
        self.state.stage = NegotiationStage::Unknown(self.verdict());
        let calls: Vec<_> = self.state.calls.keys().copied().collect();
        for call in calls {
            self.call_off(call, None);
        }
        let pending = std::mem::take(&mut self.state.pending).into_values();
        let mut left: Vec<Waiting> = pending
            .filter_map(|pending| match pending.purpose {
                RequestPurpose::Application(request) => Some(*request),
                _ => None,
            })
            .collect();
        left.extend(self.state.changes.drain());
        self.state.session.end();
        left.extend(self.end_rounds());
        left.extend(self.end_tasks());
        left.extend(self.state.tools.drain());
        left.extend(std::mem::take(&mut self.state.waiting));
        self.fail(left, failure);
    }

    /// Forgets the first messages: a response to one is one to nothing.
    fn forget_first(&mut self) {
        let withdrawn = &mut self.state.withdrawn;
        self.state.pending.retain(|id, pending| {
            let is_first = matches!(
                pending.purpose,
                RequestPurpose::Probe | RequestPurpose::Initialize
            );
            if is_first {
                withdrawn.insert(*id);
            }
            !is_first
        });
    }

    /// Does not wait for the first messages any more: a response to one means nothing now.
    fn overtake(&mut self) {
        for pending in self.state.pending.values_mut() {
            if matches!(
                pending.purpose,
                RequestPurpose::Probe | RequestPurpose::Initialize
            ) {
                pending.purpose = RequestPurpose::Adapter;
            }
        }
    }

    /// The result of `initialize`.
    pub(crate) fn initialized(&mut self, result: &Json, now: Duration) {
        let version = result.get("protocolVersion");
        let Some(version) = version.as_ref().and_then(Json::as_str) else {
            let found = version.map_or_else(|| "nothing".to_owned(), |it| quotable(it.text()));
            return self.unsettle(&Failure::InvalidResult(format!(
                "at /result/protocolVersion of the answer to `initialize`: expected a string, found {found}"
            )));
        };
        let protocol_version = version.into_owned();
        let known = self.role.options.revisions.iter().find(|revision| {
            revision.lifecycle() == Lifecycle::Handshake
                && revision.protocol_version() == protocol_version
        });
        let Some(revision) = known else {
            let failure = Failure::NoCommonRevision(vec![protocol_version.clone()]);
            return self.handshake_failed(None, Vec::new(), failure, now);
        };
        self.overtake();
        let facts = self.facts(result, revision, result.get("serverInfo"));
        let logging = result
            .get("capabilities")
            .is_some_and(|it| it.get("logging").is_some());
        let session = self.state.session_to_be.take();
        self.state.sessions += u64::from(session.is_some());
        let number = session.as_ref().map_or(0, |_| self.state.sessions);
        self.state.stage = NegotiationStage::Settled(Settled {
            session,
            number,
            logging,
            ..Settled::on(revision)
        });
        self.post_notification(methods::NOTIFICATIONS_INITIALIZED, None, revision);
        self.settled_now(facts);
    }

    /// An error in answer to `initialize`, over HTTP with its status: the server may speak another revision.
    pub(crate) fn handshake_refused(
        &mut self,
        status: Option<u16>,
        error: ErrorObject,
        now: Duration,
    ) {
        let versions = supported(&error);
        self.handshake_failed(status, versions, Failure::HandshakeRefused(error), now);
    }

    /// There is no result of `initialize`.
    pub(crate) fn handshake_failed(
        &mut self,
        status: Option<u16>,
        versions: Vec<String>,
        failure: Failure,
        now: Duration,
    ) {
        let Some(starting) = self.state.stage.starting_mut() else {
            return;
        };
        starting.handshake = None;
        starting.silent_until = None;
        if status.is_some_and(|status| !is_evidence(status)) {
            return self.unsettle(&failure);
        }
        self.refused(Lifecycle::Handshake, versions, failure, now);
    }

    fn settle(&mut self, settled: Settled, facts: ServerFacts) {
        self.overtake();
        self.state.stage = NegotiationStage::Settled(settled);
        self.settled_now(facts);
    }

    fn settled_now(&mut self, facts: ServerFacts) {
        self.tell(Event::Settled(facts));
        if let Some(revision) = self.state.stage.revision() {
            self.restore_session(revision);
        }
        let level = self.state.session.log_level.clone();
        self.apply_log_level(level.as_deref());
        if self.role.options.adapts {
            self.listen();
        }
        self.send_waiting();
    }

    /// The server speaks another per-request revision than the one that is settled, or wants a handshake.
    pub(crate) fn resettle(&mut self, revision: Revision, now: Duration) {
        match revision.lifecycle() {
            Lifecycle::PerRequest => {
                self.settle(Settled::on(revision), ServerFacts::unknown(revision))
            }
            Lifecycle::Handshake => self.begin(revision, now),
        }
    }

    /// Forgets what was settled and starts over.
    pub(crate) fn start_over(&mut self, now: Duration) {
        self.state.stage = NegotiationStage::Unknown(None);
        self.start(now);
    }

    fn no_common_revision(&mut self, versions: Vec<String>) {
        self.unsettle(&Failure::NoCommonRevision(versions));
    }

    /// Nothing could be settled: every request that waits fails, and the next one starts over.
    pub(crate) fn unsettle(&mut self, failure: &Failure) {
        self.forget_first();
        self.state.stage = NegotiationStage::Unknown(None);
        self.tell(Event::NotSettled(failure.clone()));
        let waiting = std::mem::take(&mut self.state.waiting);
        self.fail(waiting, failure);
    }

    fn fail(&mut self, requests: impl IntoIterator<Item = Waiting>, failure: &Failure) {
        for request in requests {
            self.tell_answer(request, Answer::Failed(failure.clone()));
        }
    }
}

/// Returns the failure of requests, if nothing but this answer to the probe comes of a server that does not know it.
fn refusal_of(evidence: Evidence<'_>) -> Failure {
    let Evidence::Answer { status, message } = evidence else {
        return Failure::Closed;
    };
    match (message.map(outcome), status) {
        (Some(Err(error)), _) if error.code.as_i64() != Some(ErrorObject::METHOD_NOT_FOUND) => {
            Failure::DiscoverRefused(error)
        }
        (None, Some(status)) => Failure::Http(status, String::new()),
        _ => Failure::NoCommonRevision(Vec::new()),
    }
}
