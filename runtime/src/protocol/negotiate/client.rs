//! From the first request to a settled revision: the probe, its retry, and the handshake.

use std::time::Duration;

use mcp_protocol::{Lifecycle, Revision};
use mcp_wire::{ErrorObject, Json, MessageKind};

use super::lifecycle::{Evidence, Finding, choose, judge, supported};
use crate::RevisionSet;
use crate::meta::SERVER_INFO;
use crate::methods;
use crate::protocol::ask::outcome;
use crate::protocol::client::requests::{Purpose, Waiting};
use crate::protocol::client::{Channel, Client, Verdict};
use crate::protocol::json::object;
use crate::protocol::translate::{Way, no_params};
use crate::protocol::{Answer, Connection, Event, Failure, Output, ServerFacts};

/// How far the client has come with the server.
#[derive(Debug, Clone)]
pub(in crate::protocol) enum Stage {
    /// Nothing is known, or what is known was handed in.
    Unknown(Option<Verdict>),
    /// The probe is on its way.
    Probing {
        claim: Revision,
        deadline: Option<Duration>,
        tried: RevisionSet,
    },
    /// `initialize` is on its way.
    Initializing { tried: RevisionSet },
    /// A revision is spoken.
    Settled(Settled),
}

/// What was settled.
#[derive(Debug, Clone)]
pub(in crate::protocol) struct Settled {
    pub(in crate::protocol) revision: Revision,
    /// The `Mcp-Session-Id` of a handshake server.
    pub(in crate::protocol) session: Option<String>,
    /// Whether the server itself said so; a verdict that was handed in is not.
    pub(in crate::protocol) confirmed: bool,
    /// Whether a handshake server has the `logging` capability.
    pub(in crate::protocol) logging: bool,
    /// The log level of a session.
    pub(in crate::protocol) log_level: Option<String>,
}

impl Settled {
    fn on(revision: Revision) -> Self {
        Self {
            revision,
            session: None,
            confirmed: true,
            logging: false,
            log_level: None,
        }
    }
}

impl Default for Stage {
    fn default() -> Self {
        Self::Unknown(None)
    }
}

impl Stage {
    pub(in crate::protocol) fn settled(&self) -> Option<&Settled> {
        match self {
            Self::Settled(settled) => Some(settled),
            Self::Unknown(_) | Self::Probing { .. } | Self::Initializing { .. } => None,
        }
    }

    /// The revision that is spoken.
    pub(in crate::protocol) fn revision(&self) -> Option<Revision> {
        self.settled().map(|settled| settled.revision)
    }

    pub(in crate::protocol) fn deadline(&self) -> Option<Duration> {
        match self {
            Self::Probing { deadline, .. } => *deadline,
            Self::Unknown(_) | Self::Initializing { .. } | Self::Settled(_) => None,
        }
    }

    /// The server has answered in the revision that is settled.
    pub(in crate::protocol) fn confirm(&mut self) {
        if let Self::Settled(settled) = self {
            settled.confirmed = true;
        }
    }

    /// Takes note of a log level; the revision to ask for it in, if the session has another one.
    pub(in crate::protocol) fn new_log_level(&mut self, level: &str) -> Option<Revision> {
        let Self::Settled(settled) = self else {
            return None;
        };
        if !settled.logging || settled.log_level.as_deref() == Some(level) {
            return None;
        }
        settled.log_level = Some(level.to_owned());
        Some(settled.revision)
    }
}

impl Connection<Client> {
    /// Goes on from wherever the client is: sends what waits, or finds out how.
    pub(in crate::protocol) fn start(&mut self, now: Duration) {
        match &self.state.stage {
            Stage::Unknown(Some(verdict)) if self.role.options.revisions.contains(verdict.0) => {
                let revision = verdict.0;
                match revision.lifecycle() {
                    Lifecycle::PerRequest => {
                        self.state.stage = Stage::Settled(Settled {
                            confirmed: false,
                            ..Settled::on(revision)
                        });
                        self.tell(Event::Settled(ServerFacts::unknown(revision)));
                        self.send_waiting();
                    }
                    Lifecycle::Handshake => self.initialize(revision, RevisionSet::none()),
                }
            }
            Stage::Unknown(_) => match self.role.options.revisions.latest(Lifecycle::PerRequest) {
                Some(revision) => self.probe(revision, RevisionSet::none(), now),
                None => self.fall_back(),
            },
            Stage::Settled(_) => self.send_waiting(),
            Stage::Probing { .. } | Stage::Initializing { .. } => {}
        }
    }

    fn probe(&mut self, claim: Revision, tried: RevisionSet, now: Duration) {
        let tried = tried.with(claim);
        let deadline = match self.role.options.channel {
            Channel::Stdio => Some(now + self.role.options.probe_timeout),
            Channel::Http => None,
        };
        self.state.stage = Stage::Probing {
            claim,
            deadline,
            tried,
        };
        let params = self.stamped(None, claim, None);
        self.post_request(methods::SERVER_DISCOVER, params, claim, Purpose::Probe);
    }

    /// The probe's answer, or that there is none.
    pub(in crate::protocol) fn probed(&mut self, evidence: Evidence<'_>, now: Duration) {
        let Stage::Probing { claim, tried, .. } = self.state.stage else {
            return;
        };
        match judge(evidence) {
            Finding::Handshake => self.fall_back(),
            Finding::Nothing => {
                self.state.stage = Stage::Unknown(None);
                let failure = match evidence {
                    Evidence::Answer {
                        status: Some(status),
                        ..
                    } => Failure::Http(status),
                    _ => Failure::Closed,
                };
                self.fail_waiting(&failure);
            }
            Finding::PerRequest(versions) => match choose(&versions, self.role.options.revisions) {
                Some(revision) if revision.lifecycle() == Lifecycle::PerRequest => {
                    let facts = self.facts_of(evidence, revision);
                    self.settle(Settled::on(revision), facts);
                }
                Some(revision) => self.initialize(revision, RevisionSet::none()),
                None => self.no_common_revision(versions),
            },
            Finding::PerRequestError(versions) if versions.is_empty() => {
                // The server is of the lifecycle, and does not object to the revision.
                self.settle(Settled::on(claim), ServerFacts::unknown(claim));
            }
            Finding::PerRequestError(versions) => self.retry_in(versions, claim, tried, now),
        }
    }

    /// The server does not speak the revision that was claimed, but these.
    fn retry_in(
        &mut self,
        versions: Vec<String>,
        claim: Revision,
        tried: RevisionSet,
        now: Duration,
    ) {
        let left = self.left(tried);
        match choose(&versions, left) {
            Some(revision) if revision.lifecycle() == Lifecycle::PerRequest => {
                self.probe(revision, tried, now)
            }
            Some(revision) => self.initialize(revision, RevisionSet::none()),
            // It names what it refuses: the requests themselves show which of the two it means.
            None if versions.iter().any(|wire| wire == claim.protocol_version()) => {
                self.settle(Settled::on(claim), ServerFacts::unknown(claim));
            }
            None => self.no_common_revision(versions),
        }
    }

    /// The revisions that have not been tried.
    pub(in crate::protocol) fn left(&self, tried: RevisionSet) -> RevisionSet {
        self.role
            .options
            .revisions
            .iter()
            .filter(|&revision| !tried.contains(revision))
            .collect()
    }

    /// A server over stdio that keeps silent has had its time.
    pub(in crate::protocol) fn probe_timeout(&mut self, now: Duration) {
        if self
            .state
            .stage
            .deadline()
            .is_some_and(|deadline| deadline <= now)
        {
            self.drop_settling();
            self.probed(Evidence::Silence(self.role.options.channel), now);
        }
    }

    /// Ends the connection, because the server sends nothing any more.
    pub fn closed(&mut self, now: Duration) {
        if matches!(self.state.stage, Stage::Probing { .. }) {
            self.drop_settling();
            self.put(Output::Restart);
            self.probed(Evidence::Ended(self.role.options.channel), now);
            return;
        }
        self.state.stage = Stage::Unknown(self.verdict());
        let calls: Vec<_> = self.state.calls.keys().copied().collect();
        for call in calls {
            self.call_off(call, None);
        }
        let pending = std::mem::take(&mut self.state.pending).into_values();
        let mut left: Vec<Waiting> = pending
            .filter_map(|pending| match pending.purpose {
                Purpose::Application(request) => Some(*request),
                _ => None,
            })
            .collect();
        left.extend(self.state.changes.drain());
        self.state.session.end();
        left.extend(self.end_rounds());
        left.extend(self.end_tasks());
        left.extend(self.state.tools.drain());
        left.extend(std::mem::take(&mut self.state.waiting));
        self.fail(left, &Failure::Closed);
    }

    /// Forgets the probe or `initialize`; an answer that still comes is one to nothing.
    fn drop_settling(&mut self) {
        self.state
            .pending
            .retain(|_, pending| !matches!(pending.purpose, Purpose::Probe | Purpose::Initialize));
    }

    /// The handshake with the latest revision that has one.
    fn fall_back(&mut self) {
        match self.role.options.revisions.latest(Lifecycle::Handshake) {
            Some(revision) => self.initialize(revision, RevisionSet::none()),
            None => self.no_common_revision(Vec::new()),
        }
    }

    pub(in crate::protocol) fn initialize(&mut self, offer: Revision, tried: RevisionSet) {
        let tried = tried.with(offer);
        self.state.stage = Stage::Initializing { tried };
        let (profile, translator) = (&self.role.options.profile, &self.role.translator);
        let capabilities = translator.capabilities_of(profile, offer);
        let info = translator.info_of(profile, offer);
        let params = object([
            ("protocolVersion", Json::of(offer.protocol_version())),
            ("capabilities", capabilities.unwrap_or_else(no_params)),
            // What cannot be carried over is named all the same: the member must be there.
            ("clientInfo", info.unwrap_or_else(|| profile.info.clone())),
        ]);
        self.post_request(
            methods::INITIALIZE,
            Some(params),
            offer,
            Purpose::Initialize,
        );
    }

    /// The result of `initialize`.
    pub(in crate::protocol) fn initialized(&mut self, result: &Json) {
        let version = result.read_member::<String>("protocolVersion");
        let Some(version) = version else {
            let failure = Failure::InvalidResult(
                "the answer to `initialize` names no protocolVersion".to_owned(),
            );
            return self.unsettle(&failure);
        };
        let known = self.role.options.revisions.iter().find(|revision| {
            revision.lifecycle() == Lifecycle::Handshake && revision.protocol_version() == version
        });
        let Some(revision) = known else {
            return self.no_common_revision(vec![version]);
        };
        let facts = self.facts(result, revision, result.get("serverInfo"));
        let logging = result
            .get("capabilities")
            .is_some_and(|it| it.get("logging").is_some());
        let session = self.state.session_to_be.take();
        self.state.stage = Stage::Settled(Settled {
            session,
            logging,
            ..Settled::on(revision)
        });
        self.post_notification(methods::NOTIFICATIONS_INITIALIZED, None, revision);
        self.settled_now(facts);
    }

    /// An error in answer to `initialize`: once more with a revision that it names, if there is one.
    pub(in crate::protocol) fn handshake_refused(&mut self, error: ErrorObject) {
        let Stage::Initializing { tried } = self.state.stage else {
            return;
        };
        let versions = supported(&error);
        let left = self.left(tried);
        match choose(&versions, left) {
            Some(revision) if revision.lifecycle() == Lifecycle::Handshake => {
                self.initialize(revision, tried)
            }
            // It speaks a per-request revision after all: the verdict that led here was stale, or the probe got lost.
            Some(revision) => self.settle(
                Settled {
                    confirmed: false,
                    ..Settled::on(revision)
                },
                ServerFacts::unknown(revision),
            ),
            None if versions.is_empty() => self.unsettle(&Failure::HandshakeRefused(error)),
            None => self.no_common_revision(versions),
        }
    }

    fn settle(&mut self, settled: Settled, facts: ServerFacts) {
        self.state.stage = Stage::Settled(settled);
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
    pub(in crate::protocol) fn resettle(&mut self, revision: Revision) {
        match revision.lifecycle() {
            Lifecycle::PerRequest => {
                self.settle(Settled::on(revision), ServerFacts::unknown(revision))
            }
            Lifecycle::Handshake => self.initialize(revision, RevisionSet::none()),
        }
    }

    /// Forgets what was settled and starts over.
    pub(in crate::protocol) fn start_over(&mut self, now: Duration) {
        self.state.stage = Stage::Unknown(None);
        self.start(now);
    }

    fn no_common_revision(&mut self, versions: Vec<String>) {
        self.unsettle(&Failure::NoCommonRevision(versions));
    }

    /// Nothing could be settled: every request that waits fails, and the next one starts over.
    pub(in crate::protocol) fn unsettle(&mut self, failure: &Failure) {
        self.state.stage = Stage::Unknown(None);
        self.fail_waiting(failure);
    }

    fn fail_waiting(&mut self, failure: &Failure) {
        let waiting = std::mem::take(&mut self.state.waiting);
        self.fail(waiting, failure);
    }

    fn fail(&mut self, requests: impl IntoIterator<Item = Waiting>, failure: &Failure) {
        for request in requests {
            self.tell_answer(request, Answer::Failed(failure.clone()));
        }
    }

    /// What a `DiscoverResult` says of the server.
    fn facts_of(&mut self, evidence: Evidence<'_>, revision: Revision) -> ServerFacts {
        let result = match evidence {
            Evidence::Answer {
                message: Some(message),
                ..
            } if message.kind == MessageKind::Response => outcome(message),
            _ => return ServerFacts::unknown(revision),
        };
        let Ok(result) = result else {
            return ServerFacts::unknown(revision);
        };
        let info = result.get("_meta").and_then(|meta| meta.get(SERVER_INFO));
        self.facts(&result, revision, info)
    }

    fn facts(&mut self, result: &Json, revision: Revision, info: Option<Json>) -> ServerFacts {
        self.state.changes.capabilities = result.get("capabilities");
        let carry = |name, json: Json| {
            self.role
                .translator
                .definition(Way::In, name, &json, revision)
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
    /// A server of which nothing is known but the revision.
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
