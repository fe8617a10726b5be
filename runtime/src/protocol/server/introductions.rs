//! A server's profile in the words of each revision.

use mcp_protocol::{Context, Loss, LossKind, Outcome, Revision, Subject, UnknownFields};
use mcp_wire::{Json, Map};

use crate::RevisionSet;
use crate::meta;
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
    /// What is not valid in the profile, and was mended.
    mistakes: Vec<Loss>,
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
        // A gateway hands on what it received, mistakes and all; those of an application are refused.
        let is_handed_on = own.is_some() || !members.is_empty();
        let app = own.unwrap_or(app);
        let introduce = |revision| {
            let mut mistakes = Vec::new();
            let mut said = |part, json| {
                let (json, losses) = said_in(part, json, app, revision)?;
                let invalid = losses
                    .into_iter()
                    .filter(|loss| loss.kind() == LossKind::Invalid);
                mistakes.extend(invalid);
                match mistakes.first() {
                    Some(mistake) if !is_handed_on => Err(ProfileError {
                        part,
                        revision,
                        why: mistake.to_string(),
                    }),
                    _ => Ok(json),
                }
            };
            let capabilities = said("ServerCapabilities", &capabilities)?;
            let info = said("Implementation", &info)?;
            Ok(Introduction {
                revision,
                info,
                logs: capabilities.get("logging").is_some(),
                capabilities,
                members: match same(app, revision) {
                    true => members.clone(),
                    false => Map::new(),
                },
                mistakes,
            })
        };
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

    /// `ServerCapabilities` in a revision.
    pub(crate) fn capabilities(&self, revision: Revision) -> Option<&Json> {
        self.in_revision(revision).map(|one| &one.capabilities)
    }

    /// What is not valid in the profile, as a revision is told it.
    pub(crate) fn mistakes(&self, revision: Revision) -> &[Loss] {
        self.in_revision(revision).map_or(&[], |one| &one.mistakes)
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

fn said_in(
    part: &'static str,
    json: &Json,
    app: Revision,
    revision: Revision,
) -> Result<(Json, Vec<Loss>), ProfileError> {
    let error = |why: String| ProfileError {
        part,
        revision,
        why,
    };
    let cx = Context::new(UnknownFields::Drop);
    match mcp_protocol::convert(Subject::Type(part), app, revision, json.text(), cx) {
        Ok(Outcome::Exact(json)) => Ok((json, Vec::new())),
        Ok(Outcome::Reversible(json, losses) | Outcome::Lossy(json, losses)) => Ok((json, losses)),
        Ok(Outcome::Rejected(problem)) => Err(error(problem.error.message)),
        Ok(Outcome::RequiresState(needs)) => Err(error(needs.to_string())),
        Ok(Outcome::Dropped(dropped)) => Err(error(dropped.to_string())),
        Err(failure) => Err(error(failure.to_string())),
    }
}
