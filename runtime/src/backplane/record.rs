//! The record of a session that a replica needs to run it: the messages that made it.

use std::sync::Arc;

use mcp_wire::{Json, Map};

use mcp_revisions_sansio::server::Owner;

/// The version of the records that this build writes. Those of the build before this number have none, and are read as well.
const VERSION: i64 = 1;

/// A session, as a replica that takes it over needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionRecord {
    /// The address of the replica that runs it.
    pub home: String,
    /// Number of times that it was taken over.
    pub generation: u32,
    /// The owner.
    pub owner: Owner,
    /// Set if another replica may run it; else it ends with its home.
    pub can_move: bool,
    /// The messages of its client that made it what it is, in order: `initialize`, `notifications/initialized`, the last
    /// `logging/setLevel`, and its subscriptions; at most 256 KiB of them. Copies of a record share them.
    pub messages: Vec<Arc<str>>,
}

/// A text that is the record of no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a record of a session: {0}")]
pub struct BrokenRecord(String);

impl SessionRecord {
    /// Creates the record of a session that is opened.
    #[must_use]
    pub fn new(home: impl Into<String>, owner: Owner) -> Self {
        Self {
            home: home.into(),
            generation: 0,
            owner,
            can_move: true,
            messages: Vec::new(),
        }
    }

    /// Returns the record as JSON.
    #[must_use]
    pub fn to_text(&self) -> String {
        let owner = match &self.owner {
            Owner::Unknown => String::new(),
            Owner::Principal(name) => format!("principal:{name}"),
            Owner::Address(address) => format!("address:{address}"),
        };
        let messages: Vec<&str> = self.messages.iter().map(|text| &**text).collect();
        let members = [
            ("version", Json::of(&VERSION)),
            ("home", Json::of(self.home.as_str())),
            ("generation", Json::of(&i64::from(self.generation))),
            ("owner", Json::of(owner.as_str())),
            ("canMove", Json::of(&self.can_move)),
            ("messages", Json::of(&messages)),
        ];
        Json::of(&Map::from_iter(members)).text().to_owned()
    }

    /// Reads the record out of JSON.
    ///
    /// # Errors
    /// Returns an error if the text is not one that [`to_text`](Self::to_text) writes.
    pub fn from_text(text: &str) -> Result<Self, BrokenRecord> {
        let broken = |why: &dyn std::fmt::Display| BrokenRecord(why.to_string());
        let json = Json::from_text(text).map_err(|error| broken(&error))?;
        let members: Map<Json> = json.read().map_err(|error| broken(&error))?;
        let member = |name: &str| {
            let member = members.get(name);
            member.ok_or_else(|| broken(&format_args!("`{name}` is missing")))
        };
        let text_of = |name: &str| {
            let text = member(name)?.as_str().map(std::borrow::Cow::into_owned);
            text.ok_or_else(|| broken(&format_args!("`{name}` is not a string")))
        };
        let version: i64 = members.get("version").map_or(Ok(0), |version| {
            version.text().parse().map_err(|error| broken(&error))
        })?;
        if version > VERSION + 1 {
            let why = format_args!(
                "version {version}, and this replica reads up to {}",
                VERSION + 1
            );
            return Err(broken(&why));
        }
        let owner = text_of("owner")?;
        let owner = match owner.split_once(':') {
            Some(("principal", name)) => Owner::Principal(name.into()),
            Some(("address", address)) => {
                Owner::Address(address.parse().map_err(|error| broken(&error))?)
            }
            _ => Owner::Unknown,
        };
        let generation = member("generation")?.text().parse();
        let messages: Vec<String> = (member("messages")?.read()).map_err(|error| broken(&error))?;
        Ok(Self {
            home: text_of("home")?,
            generation: generation.map_err(|error| broken(&error))?,
            owner,
            can_move: member("canMove")?.text() == "true",
            messages: messages.into_iter().map(Arc::from).collect(),
        })
    }
}
