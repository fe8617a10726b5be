//! A server's profile in the words of each revision.

use mcp_protocol::{Context, Lifecycle, Loss, Outcome, Part, Revision, Subject, UnknownFields};
use mcp_wire::{Direction, Json, Map};

use crate::RevisionSet;
use crate::meta;
use crate::methods;
use crate::protocol::Profile;
use crate::protocol::revisions::same;

/// Why a profile is none of the application's revision.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the profile's `{part}` cannot be said in revision {revision}: {why}")]
pub struct ProfileError {
    part: &'static str,
    revision: Revision,
    why: String,
}

/// The profile of a server in the words of each revision: worked out once, when the server is made.
#[derive(Debug)]
pub(crate) struct Introductions {
    all: Vec<Introduction>,
    instructions: Option<String>,
}

#[derive(Debug)]
struct Introduction {
    revision: Revision,
    info: Json,
    capabilities: Json,
    logs: bool,
    members: Map<Json>,
    /// What this revision has no words for.
    losses: Vec<Loss>,
}

impl Introductions {
    pub(crate) fn new(profile: Profile, app: Revision) -> Result<Self, ProfileError> {
        let Profile {
            info,
            capabilities,
            instructions,
            revision: own,
            members,
        } = profile;
        let app = own.unwrap_or(app);
        let own = Own {
            info,
            capabilities,
            members,
            revision: app,
        };
        let introduce = |revision| own.introduction(revision);
        let all = RevisionSet::all()
            .iter()
            .map(introduce)
            .collect::<Result<_, _>>()?;
        Ok(Self { all, instructions })
    }

    /// Changes the capabilities that it has in each revision.
    #[cfg(feature = "ext-tasks")]
    pub(crate) fn change_capabilities(&mut self, change: impl Fn(Revision, &Json) -> Json) {
        for one in &mut self.all {
            one.capabilities = change(one.revision, &one.capabilities);
        }
    }

    fn in_revision(&self, revision: Revision) -> Option<&Introduction> {
        self.all.iter().find(|one| same(one.revision, revision))
    }

    /// What a revision has no words for.
    pub(crate) fn losses(&self, revision: Revision) -> &[Loss] {
        self.in_revision(revision).map_or(&[], |one| &one.losses)
    }

    /// `ServerCapabilities` in a revision.
    pub(crate) fn capabilities(&self, revision: Revision) -> Option<&Json> {
        self.in_revision(revision).map(|one| &one.capabilities)
    }

    /// Whether the server offers log notifications, as a revision has it.
    pub(crate) fn logs(&self, revision: Revision) -> bool {
        self.in_revision(revision).is_some_and(|one| one.logs)
    }

    /// The server as `Implementation` of a revision.
    pub(crate) fn info(&self, revision: Revision) -> Option<&Json> {
        self.in_revision(revision).map(|one| &one.info)
    }

    /// The result of `initialize`.
    pub(crate) fn handshake(&self, revision: Revision) -> Option<Json> {
        let one = self.in_revision(revision)?;
        let version = one.revision.protocol_version();
        Some(one.result([
            ("protocolVersion", Some(Json::of(version))),
            ("capabilities", Some(one.capabilities.clone())),
            ("serverInfo", Some(one.info.clone())),
            ("instructions", self.instructions.as_ref().map(Json::of)),
        ]))
    }

    /// The result of `server/discover`.
    pub(crate) fn discovery(&self, revision: Revision, served: RevisionSet) -> Option<Json> {
        let one = self.in_revision(revision)?;
        let result = one.result([
            ("resultType", Some(Json::of("complete"))),
            (
                "supportedVersions",
                Some(Json::of(&served.protocol_versions())),
            ),
            ("capabilities", Some(one.capabilities.clone())),
            ("instructions", self.instructions.as_ref().map(Json::of)),
            // What a server says of itself may change with its next start, and with who asks.
            ("ttlMs", Some(Json::from(0))),
            ("cacheScope", Some(Json::of("private"))),
        ]);
        Some(meta::with(&result, meta::SERVER_INFO, &one.info))
    }
}

impl Introduction {
    /// A result of these members, and of the others that the profile adds.
    fn result<const N: usize>(&self, own: [(&'static str, Option<Json>); N]) -> Json {
        let own = own.into_iter();
        let mut all: Map<Json> = own.filter_map(|(name, it)| Some((name, it?))).collect();
        for (name, value) in &self.members {
            if !all.contains_key(name) {
                all.insert(name, value.clone());
            }
        }
        Json::of(&all)
    }
}

/// The profile of a server in its own words.
struct Own {
    info: Json,
    capabilities: Json,
    members: Map<Json>,
    revision: Revision,
}

impl Own {
    fn introduction(&self, revision: Revision) -> Result<Introduction, ProfileError> {
        let (info, capabilities) = ("serverInfo", "capabilities");
        let part = |name, ty, json: &Json| {
            let cx = Context::new(UnknownFields::Drop).within(name);
            said_in(Subject::Type(ty), json, (self.revision, revision), cx)
        };
        let mut all = Introduction {
            revision,
            info: self.info.clone(),
            capabilities: self.capabilities.clone(),
            logs: false,
            members: self.members.clone(),
            losses: Vec::new(),
        };
        if !same(self.revision, revision) {
            let lifecycles = (self.revision.lifecycle(), revision.lifecycle());
            let has_whole = lifecycles == (Lifecycle::Handshake, Lifecycle::Handshake);
            if let Some(whole) = has_whole.then(|| self.handshake(revision)) {
                // A mistake in another member costs no more than the other members.
                if whole.is_ok() {
                    return whole;
                }
                all.members = Map::new();
            }
            let (said, lost) = part(info, "Implementation", &self.info)?;
            (all.info, all.losses) = (said, lost);
            let (said, lost) = part(capabilities, "ServerCapabilities", &self.capabilities)?;
            all.capabilities = said;
            all.losses.extend(lost);
        }
        all.logs = all.capabilities.get("logging").is_some();
        Ok(all)
    }

    /// The result of `initialize` as another revision with that has it.
    fn handshake(&self, revision: Revision) -> Result<Introduction, ProfileError> {
        let mut result = self.members.clone();
        let version = Json::of(self.revision.protocol_version());
        result.insert("protocolVersion", version);
        result.insert("serverInfo", self.info.clone());
        result.insert("capabilities", self.capabilities.clone());
        let sender = Some(Direction::ClientToServer);
        let subject = Subject::Method(methods::INITIALIZE, Part::Result, sender);
        let ends = (self.revision, revision);
        let cx = Context::new(UnknownFields::Drop);
        let (said, losses) = said_in(subject, &Json::of(&result), ends, cx)?;
        let mut members: Map<Json> = said.read().unwrap_or_default();
        let capabilities = members.remove("capabilities").unwrap_or_default();
        Ok(Introduction {
            revision,
            info: members.remove("serverInfo").unwrap_or_default(),
            logs: capabilities.get("logging").is_some(),
            capabilities,
            members,
            losses,
        })
    }
}

fn said_in(
    part: Subject<'_>,
    json: &Json,
    (own, revision): (Revision, Revision),
    cx: Context,
) -> Result<(Json, Vec<Loss>), ProfileError> {
    let error = |why: String| ProfileError {
        part: match part {
            Subject::Type("Implementation") => "Implementation",
            Subject::Type(_) => "ServerCapabilities",
            Subject::Method(..) => "InitializeResult",
        },
        revision,
        why,
    };
    match mcp_protocol::convert(part, own, revision, json.text(), cx) {
        Ok(Outcome::Exact(json)) => Ok((json, Vec::new())),
        Ok(Outcome::Reversible(json, losses) | Outcome::Lossy(json, losses)) => Ok((json, losses)),
        Ok(Outcome::Rejected(problem)) => Err(error(problem.error.message)),
        Ok(Outcome::RequiresState(needs)) => Err(error(needs.to_string())),
        Ok(Outcome::Dropped(dropped)) => Err(error(dropped.to_string())),
        Err(failure) => Err(error(failure.to_string())),
    }
}
