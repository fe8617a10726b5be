//! From the first request to a settled revision: the probe, the handshake, what follows when the server refuses one, and what
//! the server states of itself in its answer.

pub mod lifecycle;
pub(crate) mod stage;
pub(crate) mod statuses;

use std::time::Duration;

use mcp_revisions_core::{Lifecycle, Revision, RevisionSet, methods};
use mcp_wire::{ErrorObject, Json, meta::SERVER_INFO};

use crate::ask::outcome;
use crate::client::requests::{AppRequest, RequestPurpose};
use crate::client::translate::facts;
use crate::client::{Channel, Client, Options};
use crate::json::object;
use crate::limits::deadline;
use crate::quote::quotable;
use crate::translate::no_params;
use crate::{Answer, Connection, Event, Failure, MendedMessage, Output, ServerFacts};
use lifecycle::{Evidence, ProbeOutcome, choose, judge, ladder, order, supported};
use stage::{NegotiationStage, Settled, Starting};
use statuses::is_evidence;

/// Factor of the time that a server may be silent about `initialize`, against the probe, before the next step.
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
            NegotiationStage::Unknown(_) => match self.first() {
                Some(revision) => self.begin(revision, now),
                None => self.no_common_revision(Vec::new()),
            },
            NegotiationStage::Settled(_) => self.send_waiting(),
            NegotiationStage::Starting(_) => {}
        }
    }

    /// Returns the revision of the first message to a server that has not said anything.
    fn first(&self) -> Option<Revision> {
        let likely = self.role.options.likely;
        let preferred = self.preferred(|revision| likely.contains(revision));
        preferred.or_else(|| self.preferred(|_| true))
    }

    /// Returns the revision that is preferred among those that the client may speak and `is_wanted` picks.
    fn preferred(&self, is_wanted: impl Fn(Revision) -> bool) -> Option<Revision> {
        let order = order(self.role.own(), self.role.options.revisions);
        order.into_iter().find(|&revision| is_wanted(revision))
    }

    /// Sends the first message, which is of this revision; the others that the client may speak follow where it is refused.
    pub(crate) fn begin(&mut self, revision: Revision, now: Duration) {
        self.forget_first();
        self.state.stage = NegotiationStage::Starting(Starting {
            steps: ladder(self.role.own(), revision, self.role.options.revisions),
            tried: Vec::new(),
            awaited: RevisionSet::none(),
            discovered: None,
            refusal: None,
            fallback: None,
            silent_until: None,
            until: deadline(now, self.role.options.start_timeout),
        });
        self.send_first(revision, now);
    }

    /// Sends the message by which a server of this revision is found.
    fn send_first(&mut self, revision: Revision, now: Duration) {
        match revision.lifecycle() {
            Lifecycle::PerRequest => self.probe(revision),
            Lifecycle::Handshake => self.initialize(revision),
        }
        if let Some(starting) = self.state.stage.starting_mut() {
            starting.send(revision);
        }
        self.wait_for_first(now);
    }

    /// Sets when a server over stdio that is silent about a first message is sent the next one as well, or is taken at its
    /// answer to `server/discover`.
    fn wait_for_first(&mut self, now: Duration) {
        let Options {
            channel,
            probe_timeout,
            ..
        } = self.role.options;
        let Some(starting) = self.state.stage.starting_mut() else {
            return;
        };
        let waits = if starting.waits_for_initialize() {
            probe_timeout.saturating_mul(INITIALIZE_WAITS)
        } else {
            probe_timeout
        };
        let has_next = starting.discovered.is_some() || starting.next_step().is_some();
        starting.silent_until =
            (channel == Channel::Stdio && has_next).then(|| deadline(now, waits));
    }

    fn probe(&mut self, claim: Revision) {
        let params = self.stamped(None, claim, None);
        let purpose = RequestPurpose::Probe;
        self.post_request(methods::SERVER_DISCOVER, params, claim, purpose);
    }

    fn initialize(&mut self, offer: Revision) {
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
        self.post_request(method, Some(params), offer, RequestPurpose::Initialize);
    }

    /// Takes the answer to the probe, or that there is none; `failure` says why if no message answers.
    pub(crate) fn probed(
        &mut self,
        evidence: Evidence<'_>,
        failure: Option<&Failure>,
        now: Duration,
    ) {
        let starting = self.state.stage.starting_mut();
        let Some(claim) = starting.and_then(|it| it.take(Lifecycle::PerRequest)) else {
            return;
        };
        let refusal = failure.cloned().unwrap_or_else(|| refusal_of(evidence));
        let (own, ours) = (self.role.own(), self.role.options.revisions);
        match judge(evidence) {
            ProbeOutcome::Handshake => self.refused(claim, &[], refusal, now),
            ProbeOutcome::NoSuchMethod => {
                if let Some(starting) = self.state.stage.starting_mut() {
                    starting.fallback = Some(claim);
                }
                self.refused(claim, &[], refusal, now);
            }
            ProbeOutcome::Nothing => self.unsettle(&refusal),
            ProbeOutcome::PerRequest(versions) => {
                // A revision that was offered in vain is not the one that it means.
                let steps = self.steps();
                let is_open = |revision: &Revision| {
                    revision.lifecycle() == Lifecycle::PerRequest || steps.contains(*revision)
                };
                match choose(&versions, own, ours.iter().filter(is_open).collect()) {
                    Some(revision) if revision.lifecycle() == Lifecycle::PerRequest => {
                        let facts = self.facts_of(evidence, revision);
                        self.discovered(facts, now);
                    }
                    _ => {
                        let failure = Failure::NoCommonRevision(versions.clone());
                        self.refused(claim, &versions, failure, now);
                    }
                }
            }
            ProbeOutcome::PerRequestError(versions) => {
                let names_claim = versions.iter().any(|wire| wire == claim.protocol_version());
                let others = choose(&versions, own, self.steps());
                // The server is of the lifecycle, and does not object to the revision, or names what it refuses: the requests
                // themselves show which of the two it means.
                if versions.is_empty() || (names_claim && others.is_none()) {
                    return self.discovered(ServerFacts::unknown(claim), now);
                }
                let failure = Failure::NoCommonRevision(versions.clone());
                self.refused(claim, &versions, failure, now);
            }
        }
    }

    /// Settles what a good answer to the probe says, unless `initialize` was sent as well: a server that takes that is in a
    /// session from then on, so its answer counts.
    fn discovered(&mut self, facts: ServerFacts, now: Duration) {
        let starting = self.state.stage.starting_mut();
        match starting.filter(|it| it.awaited.has(Lifecycle::Handshake)) {
            Some(starting) => {
                starting.discovered = Some(Box::new(facts));
                self.wait_for_first(now);
            }
            None => self.settle(Settled::on(facts.revision), facts),
        }
    }

    /// Returns the revisions whose first message is still to be sent.
    fn steps(&self) -> RevisionSet {
        let starting = self.state.stage.starting();
        let steps = starting.into_iter().flat_map(|it| &it.steps);
        steps.copied().collect()
    }

    /// Takes note that the first message of this revision was answered by nothing that settles one: the server refused it, and
    /// named these versions, if any.
    fn refused(&mut self, refused: Revision, versions: &[String], failure: Failure, now: Duration) {
        let own = self.role.own();
        let Some(starting) = self.state.stage.starting_mut() else {
            return;
        };
        // The first refusal of `initialize` tells more than that the probe is not known, and versions more than that.
        let mut tried = starting.tried.iter();
        let first = tried.find(|it| it.lifecycle() == Lifecycle::Handshake);
        if starting.refusal.is_none() || first == Some(&refused) || !versions.is_empty() {
            starting.refusal = Some(failure);
        }
        if !versions.is_empty() {
            starting.keep_named(versions, own, refused.lifecycle());
        }
        self.take_step(refused, now);
    }

    /// Goes on after the answer to the first message of this revision: waits for the other one that was sent, takes the next
    /// step, or gives up.
    fn take_step(&mut self, answered: Revision, now: Duration) {
        let Some(starting) = self.state.stage.starting_mut() else {
            return;
        };
        let next = starting.next_step();
        if !starting.awaited.is_empty() && (next.is_none() || !starting.has_skipped(answered)) {
            return self.wait_for_first(now);
        }
        if let Some(facts) = starting.discovered.take() {
            return self.settle(Settled::on(facts.revision), *facts);
        }
        match (next, starting.fallback) {
            (Some(_), _) if starting.until <= now => self.late(),
            (Some(revision), _) => self.send_first(revision, now),
            (None, Some(claim)) => {
                self.settle(Settled::on(claim), ServerFacts::unknown(claim));
            }
            (None, None) => {
                let failure = starting.failure();
                self.unsettle(&failure);
            }
        }
    }

    /// Sends a server over stdio that is silent about a first message the next one as well, and gives up one that has had its
    /// time.
    pub(crate) fn late_start(&mut self, now: Duration) {
        let Some(starting) = self.state.stage.starting_mut() else {
            return;
        };
        let is_silent = starting.silent_until.take_if(|it| *it <= now).is_some();
        let is_late = starting.until <= now;
        if !is_silent && !is_late {
            return;
        }
        let next = starting.next_step();
        match (starting.discovered.take(), next) {
            (Some(facts), _) => self.settle(Settled::on(facts.revision), *facts),
            _ if is_late => self.late(),
            (None, Some(revision)) => self.send_first(revision, now),
            (None, None) => {}
        }
    }

    /// The server has had its time.
    fn late(&mut self) {
        let time = self.role.options.start_timeout.as_secs();
        let why = format!("did not say which revision it speaks within {time} s");
        let failure = Failure::NotStarted(why);
        let starting = self.state.stage.starting();
        let failure = starting.map_or(failure.clone(), |it| it.having_tried(failure));
        self.unsettle(&failure);
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
        // A per-request server may die of the `initialize` beside the probe: it is started again without.
        let discovered = self.state.stage.starting_mut();
        if let Some(facts) = discovered.and_then(|it| it.discovered.take()) {
            self.put(Output::Restart);
            return self.settle(Settled::on(facts.revision), *facts);
        }
        let starting = self.state.stage.starting();
        if starting.is_some_and(|it| it.awaited.has(Lifecycle::PerRequest) && it.refusal.is_none())
        {
            // A handshake server may die of a request before `initialize`: one of this lifecycle is started again for it.
            let handshake = self.preferred(|it| it.lifecycle() == Lifecycle::Handshake);
            if let Some(revision) = handshake {
                self.put(Output::Restart);
                self.begin(revision, now);
                // The probe may have ended it: it is not sent again.
                if let Some(starting) = self.state.stage.starting_mut() {
                    starting.silent_until = None;
                    (starting.steps).retain(|it| it.lifecycle() == Lifecycle::Handshake);
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
        let mut left: Vec<AppRequest> = pending
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
        let named = version.as_ref().and_then(Json::as_str);
        let known = self.role.options.revisions.iter().find(|revision| {
            revision.lifecycle() == Lifecycle::Handshake
                && named.as_deref() == Some(revision.protocol_version())
        });
        let Some(revision) = known else {
            let failure = match named {
                Some(named) => Failure::NoCommonRevision(vec![named.into_owned()]),
                None => {
                    let found =
                        version.map_or_else(|| "nothing".to_owned(), |it| quotable(it.text()));
                    Failure::InvalidResult(format!(
                        "at /result/protocolVersion of the answer to `initialize`: expected a string, found {found}"
                    ))
                }
            };
            return self.handshake_failed(None, &[], failure, now);
        };
        let revision = self.revision_of_session(revision);
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

    /// Returns the revision of the session that a server opens by a result which names this one: what it was offered, if it has
    /// refused the one that it names.
    fn revision_of_session(&mut self, named: Revision) -> Revision {
        let starting = self.state.stage.starting();
        let refused = starting.filter(|it| it.tried.contains(&named));
        let offer = refused.and_then(|it| it.awaited.latest(Lifecycle::Handshake));
        let Some(offer) = offer.filter(|offer| *offer != named) else {
            return named;
        };
        let why = format!(
            "at /result/protocolVersion: expected {offer}, found {named}, which was refused"
        );
        self.tell(Event::Mended(MendedMessage::new(methods::INITIALIZE, why)));
        offer
    }

    /// An error in answer to `initialize`, over HTTP with its status: the server may speak another revision.
    pub(crate) fn handshake_refused(
        &mut self,
        status: Option<u16>,
        error: ErrorObject,
        now: Duration,
    ) {
        let versions = supported(&error);
        let failure = if versions.is_empty() {
            Failure::StartRefused(methods::INITIALIZE, error)
        } else {
            Failure::NoCommonRevision(versions.clone())
        };
        self.handshake_failed(status, &versions, failure, now);
    }

    /// There is no result of `initialize` that settles a revision.
    pub(crate) fn handshake_failed(
        &mut self,
        status: Option<u16>,
        versions: &[String],
        failure: Failure,
        now: Duration,
    ) {
        let starting = self.state.stage.starting_mut();
        let Some(offer) = starting.and_then(|it| it.take(Lifecycle::Handshake)) else {
            return;
        };
        if status.is_some_and(|status| !is_evidence(status)) {
            return self.unsettle(&failure);
        }
        self.refused(offer, versions, failure, now);
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

    fn fail(&mut self, requests: impl IntoIterator<Item = AppRequest>, failure: &Failure) {
        for request in requests {
            self.tell_answer(request, Answer::Failed(failure.clone()));
        }
    }
}

impl Connection<Client> {
    /// Returns the facts of the server in a `DiscoverResult`.
    fn facts_of(&mut self, evidence: Evidence<'_>, revision: Revision) -> ServerFacts {
        let Some(result) = evidence.message.and_then(|it| outcome(it).ok()) else {
            return ServerFacts::unknown(revision);
        };
        let info = result.get("_meta").and_then(|meta| meta.get(SERVER_INFO));
        self.facts(&result, revision, info)
    }

    /// Returns the facts of the server in a result; `info` is its name.
    fn facts(&mut self, result: &Json, revision: Revision, info: Option<Json>) -> ServerFacts {
        self.state.changes.capabilities = result.get("capabilities");
        let method = match revision.lifecycle() {
            Lifecycle::Handshake => methods::INITIALIZE,
            Lifecycle::PerRequest => methods::SERVER_DISCOVER,
        };
        let mut carry = |name, json: Json| {
            let carried = facts(&self.role.translator, method, name, &json, revision);
            if let Err(stopped) = &carried {
                self.tell(Event::stopped(stopped, method));
            }
            carried.ok()
        };
        ServerFacts {
            revision,
            info: info.and_then(|info| carry("Implementation", info)),
            capabilities: result
                .get("capabilities")
                .and_then(|it| carry("ServerCapabilities", it)),
            instructions: result.read_member("instructions"),
            result: Some(result.clone()),
        }
    }
}

impl ServerFacts {
    /// Returns a server of which nothing is known but the revision.
    fn unknown(revision: Revision) -> Self {
        Self {
            revision,
            info: None,
            capabilities: None,
            instructions: None,
            result: None,
        }
    }
}

/// Returns the failure of requests, if nothing but this answer to the probe comes of a server that does not know it.
fn refusal_of(Evidence { status, message }: Evidence<'_>) -> Failure {
    match (message.map(outcome), status) {
        (Some(Err(error)), _) if error.code.as_i64() != Some(ErrorObject::METHOD_NOT_FOUND) => {
            Failure::StartRefused(methods::SERVER_DISCOVER, error)
        }
        (None, Some(status)) => Failure::Http(status, String::new()),
        _ => Failure::NoCommonRevision(Vec::new()),
    }
}
