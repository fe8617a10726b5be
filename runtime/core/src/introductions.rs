//! The results of `initialize` and `server/discover`: a server's profile in the words of each revision.

use mcp_convert::Rule;
use mcp_revisions_tables::{
    Context, Extension, Lifecycle, Loss, Part, Revision, Severity, Subject, UnknownFields, methods,
};
use mcp_wire::{Direction, ErrorObject, Json, Map, meta};

use crate::RevisionSet;
use crate::diagnostic::conversion;
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
#[derive(Debug, Clone)]
pub struct Introductions {
    all: Vec<Introduction>,
    instructions: Option<String>,
    is_nameless: bool,
}

#[derive(Debug, Clone)]
struct Introduction {
    revision: Revision,
    info: Json,
    capabilities: Json,
    members: Map<Json>,
    /// What this revision has no words for.
    losses: Vec<Loss>,
}

impl Introductions {
    /// Converts the profile of an application that speaks `app` to each revision that can be negotiated.
    ///
    /// # Errors
    /// A part that is not valid in the application's revision, or that another revision cannot say.
    pub fn new(profile: Profile, app: Revision) -> Result<Self, ProfileError> {
        // A gateway hands on what it received, mistakes and all; those of an application are refused.
        let is_handed_on = profile.revision.is_some();
        let own = profile.revision.unwrap_or(app);
        let introduce = |revision| {
            let introduction = profile.introduction(own, revision)?;
            let mut losses = introduction.losses.iter();
            match losses.find(|loss| loss.severity() == Severity::Invalid) {
                Some(mistake) if !is_handed_on => Err(ProfileError {
                    part: part_of(mistake),
                    revision,
                    why: mistake.to_string(),
                }),
                _ => Ok(introduction),
            }
        };
        let all = RevisionSet::all()
            .iter()
            .map(introduce)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            all,
            instructions: profile.instructions,
            is_nameless: profile.is_nameless,
        })
    }

    /// Replaces the capabilities of each revision.
    #[doc(hidden)]
    pub fn change_capabilities(&mut self, change: impl Fn(Revision, &Json) -> Json) {
        for one in &mut self.all {
            one.capabilities = change(one.revision, &one.capabilities);
        }
    }

    fn in_revision(&self, revision: Revision) -> Option<&Introduction> {
        self.all
            .iter()
            .find(|one| one.revision.same_types(revision))
    }

    /// Returns the losses of the profile in a revision, and its parts that are not valid.
    #[doc(hidden)]
    #[must_use]
    pub fn losses(&self, revision: Revision) -> &[Loss] {
        self.in_revision(revision).map_or(&[], |one| &one.losses)
    }

    /// Returns the `ServerCapabilities` in a revision.
    #[doc(hidden)]
    #[must_use]
    pub fn capabilities(&self, revision: Revision) -> Option<&Json> {
        self.in_revision(revision).map(|one| &one.capabilities)
    }

    /// Returns whether the server declares log notifications in a revision.
    #[doc(hidden)]
    #[must_use]
    pub fn logs(&self, revision: Revision) -> bool {
        self.capabilities(revision)
            .is_some_and(|it| it.get("logging").is_some())
    }

    /// Returns the `Implementation` in a revision; `None` if it is [nameless](Profile::nameless) where no name is needed.
    #[doc(hidden)]
    #[must_use]
    pub fn info(&self, revision: Revision) -> Option<&Json> {
        let is_needed = revision.lifecycle() == Lifecycle::Handshake;
        let one = self.in_revision(revision);
        one.filter(|_| is_needed || !self.is_nameless)
            .map(|one| &one.info)
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
        Some(match self.info(revision) {
            Some(info) => meta::with(&result, meta::SERVER_INFO, info),
            None => result,
        })
    }
}

/// The rule by which an extension is left out.
static OTHER_LIFECYCLE: Rule = Rule::OTHER_LIFECYCLE;

impl Introduction {
    /// Leaves out the extensions that peers of the revision do not have, and records each.
    fn leave_out_extensions(&mut self) {
        for extension in Extension::ALL.iter().filter(|it| !it.is_for(self.revision)) {
            let Some(mut extensions) = self.capabilities.read_member::<Map<Json>>("extensions")
            else {
                return;
            };
            if let Some(settings) = extensions.remove(extension.identifier) {
                let outer = Context::new(UnknownFields::Drop).within("capabilities");
                let mut cx = outer.within("extensions");
                cx.enter(extension.name);
                cx.lose_member(&OTHER_LIFECYCLE, extension.identifier, Some(settings));
                self.losses.extend_from_slice(cx.losses());
                let mut capabilities: Map<Json> = self.capabilities.read().unwrap_or_default();
                capabilities.remove("extensions");
                if !extensions.is_empty() {
                    capabilities.insert("extensions", Json::of(&extensions));
                }
                self.capabilities = Json::of(&capabilities);
            }
        }
    }

    /// Returns a result of these members, and of the others that the profile adds.
    fn result<const N: usize>(&self, own: [(&'static str, Option<Json>); N]) -> Json {
        let mut all: Map<Json> = own
            .into_iter()
            .filter_map(|(name, it)| Some((name, it?)))
            .collect();
        for (name, value) in &self.members {
            if !all.contains_key(name) {
                all.insert(name, value.clone());
            }
        }
        Json::of(&all)
    }
}

/// Returns the type of the part that a loss is in.
fn part_of(loss: &Loss) -> &'static str {
    if loss.pointer().starts_with("/capabilities") {
        "ServerCapabilities"
    } else {
        "Implementation"
    }
}

impl Profile {
    /// Converts it from its own revision.
    fn introduction(
        &self,
        own: Revision,
        revision: Revision,
    ) -> Result<Introduction, ProfileError> {
        let (info, capabilities) = ("serverInfo", "capabilities");
        let part = |name, ty, json: &Json| {
            let cx = Context::new(UnknownFields::Drop).within(name);
            said_in(Subject::Type(ty), json, (own, revision), cx)
        };
        let mut all = Introduction {
            revision,
            info: self.info.clone(),
            capabilities: self.capabilities.clone(),
            members: self.members.clone(),
            losses: Vec::new(),
        };
        if !own.same_types(revision) {
            let lifecycles = (own.lifecycle(), revision.lifecycle());
            let has_whole = lifecycles == (Lifecycle::Handshake, Lifecycle::Handshake);
            if let Some(whole) = has_whole.then(|| self.handshake(own, revision)) {
                // A mistake in another member costs no more than the other members.
                if let Ok(mut whole) = whole {
                    whole.leave_out_extensions();
                    return Ok(whole);
                }
                all.members = Map::new();
            }
            let (said, lost) = part(info, "Implementation", &self.info)?;
            (all.info, all.losses) = (said, lost);
            let (said, lost) = part(capabilities, "ServerCapabilities", &self.capabilities)?;
            all.capabilities = said;
            all.losses.extend(lost);
        }
        all.leave_out_extensions();
        Ok(all)
    }

    /// Returns the result of `initialize` as another revision with that has it.
    fn handshake(&self, own: Revision, revision: Revision) -> Result<Introduction, ProfileError> {
        let mut result = self.members.clone();
        let version = Json::of(own.protocol_version());
        result.insert("protocolVersion", version);
        result.insert("serverInfo", self.info.clone());
        result.insert("capabilities", self.capabilities.clone());
        let sender = Some(Direction::ClientToServer);
        let subject = Subject::Method(methods::INITIALIZE, Part::Result, sender);
        let ends = (own, revision);
        let cx = Context::new(UnknownFields::Drop);
        let (said, losses) = said_in(subject, &Json::of(&result), ends, cx)?;
        let mut members: Map<Json> = said.read().unwrap_or_default();
        let capabilities = members.remove("capabilities").unwrap_or_default();
        Ok(Introduction {
            revision,
            info: members.remove("serverInfo").unwrap_or_default(),
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
    let converted = mcp_revisions_tables::values::convert(part, own, revision, json.text(), cx);
    let outcome = converted.map_err(|failure| error(failure.to_string()))?;
    conversion(outcome).map_err(|why| error(why.into_error(ErrorObject::INTERNAL_ERROR).message))
}
