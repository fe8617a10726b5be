//! The results of `initialize` and `server/discover`: a server's profile in the words of each revision.

use mcp_protocol::{Context, Loss, LossKind, Outcome, Revision, Subject, UnknownFields};
use mcp_wire::{Json, Map, meta};

use crate::RevisionSet;
use crate::methods::same;
use crate::profile::Profile;

/// A part of a profile that cannot be converted to a revision.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the profile's `{part}` cannot be said in revision {revision}: {why}")]
pub struct ProfileError {
    part: &'static str,
    revision: Revision,
    why: String,
}

/// The profile of a server in the words of each revision, made once per server.
///
/// ```
/// use mcp_revisions_core::{Introductions, Profile, Revision};
/// use mcp_wire::{Json, JsonObject};
///
/// let info = Json::from_text(r#"{"name":"adder","version":"1.0"}"#)?;
/// let profile = Profile::new(&info, &JsonObject::new());
/// let introductions = Introductions::new(profile, Revision::LATEST)?;
/// let result = introductions.initialize_result(Revision::V2025_06_18);
/// assert_eq!(
///     result.map(|result| result.to_string()).unwrap_or_default(),
///     r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"adder","version":"1.0"}}"#,
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Introductions {
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
    /// Converts the profile of an application that speaks `app` to each revision that can be negotiated.
    ///
    /// # Errors
    /// A part that is not valid in the application's revision, or that another revision cannot say.
    pub fn new(profile: Profile, app: Revision) -> Result<Self, ProfileError> {
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

    /// Replaces the capabilities of each revision.
    pub fn change_capabilities(&mut self, change: impl Fn(Revision, &Json) -> Json) {
        for one in &mut self.all {
            one.capabilities = change(one.revision, &one.capabilities);
        }
    }

    fn in_revision(&self, revision: Revision) -> Option<&Introduction> {
        self.all.iter().find(|one| same(one.revision, revision))
    }

    /// Returns the `ServerCapabilities` in a revision.
    #[must_use]
    pub fn capabilities(&self, revision: Revision) -> Option<&Json> {
        self.in_revision(revision).map(|one| &one.capabilities)
    }

    /// Returns what is not valid in the profile, as losses of its conversion to a revision.
    #[must_use]
    pub fn mistakes(&self, revision: Revision) -> &[Loss] {
        self.in_revision(revision).map_or(&[], |one| &one.mistakes)
    }

    /// Returns whether the server declares log notifications in a revision.
    #[must_use]
    pub fn logs(&self, revision: Revision) -> bool {
        self.in_revision(revision).is_some_and(|one| one.logs)
    }

    /// Returns the `Implementation` in a revision.
    #[must_use]
    pub fn info(&self, revision: Revision) -> Option<&Json> {
        self.in_revision(revision).map(|one| &one.info)
    }

    /// Returns the result of `initialize` in a revision.
    #[must_use]
    pub fn initialize_result(&self, revision: Revision) -> Option<Json> {
        let one = self.in_revision(revision)?;
        let version = one.revision.protocol_version();
        Some(one.result([
            ("protocolVersion", Some(Json::of(version))),
            ("capabilities", Some(one.capabilities.clone())),
            ("serverInfo", Some(one.info.clone())),
            ("instructions", self.instructions.as_ref().map(Json::of)),
        ]))
    }

    /// Returns the result of `server/discover` in a revision, of a server that speaks `served`.
    #[must_use]
    pub fn discover_result(&self, revision: Revision, served: RevisionSet) -> Option<Json> {
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
