//! The offer of a server: its facts, and the entries of its lists by name.

use mcp_wire::{EXCERPT, Json, excerpt, meta};
use serde_json::{Map, Value};

use crate::ListPage;
use crate::listing::entries;

/// A list of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfferList {
    /// The method that lists it.
    pub method: &'static str,
    /// The member of results and of the lock that has the entries.
    pub member: &'static str,
    /// The member that names an entry.
    pub key: &'static str,
    /// The capability that declares it.
    pub capability: &'static str,
    /// The word for an entry.
    pub noun: &'static str,
    /// The method that uses an entry, named by its key; `None` for templates, which clients fill in first.
    pub used_by: Option<&'static str>,
}

impl OfferList {
    /// Returns the list of this method.
    #[must_use]
    pub fn of_method(method: &str) -> Option<&'static Self> {
        LISTS.iter().find(|list| list.method == method)
    }

    /// Returns the list whose entries this method uses.
    #[must_use]
    pub fn used_by(method: &str) -> Option<&'static Self> {
        LISTS.iter().find(|list| list.used_by == Some(method))
    }

    /// Returns the name of an entry and the entry without it, as a lock has them; `None` for an entry without a name.
    #[must_use]
    pub fn keyed(&self, entry: Value) -> Option<(String, Value)> {
        let Value::Object(mut members) = entry else {
            return None;
        };
        match members.remove(self.key) {
            Some(Value::String(key)) => Some((key, members.into())),
            _ => None,
        }
    }
}

/// The lists of a server, in the order in which they are asked for.
pub const LISTS: [OfferList; 4] = [
    OfferList {
        method: "tools/list",
        member: "tools",
        key: "name",
        capability: "tools",
        noun: "tool",
        used_by: Some("tools/call"),
    },
    OfferList {
        method: "prompts/list",
        member: "prompts",
        key: "name",
        capability: "prompts",
        noun: "prompt",
        used_by: Some("prompts/get"),
    },
    OfferList {
        method: "resources/list",
        member: "resources",
        key: "uri",
        capability: "resources",
        noun: "resource",
        used_by: Some("resources/read"),
    },
    OfferList {
        method: "resources/templates/list",
        member: "resourceTemplates",
        key: "uriTemplate",
        capability: "resources",
        noun: "template",
        used_by: None,
    },
];

/// Members of the result of `initialize` or `server/discover` that are about the exchange, and not about the server.
const OF_THE_EXCHANGE: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// The offer of a server, as a lock has it: the facts of its introduction, and its lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerOffer(pub(crate) Map<String, Value>);

impl ServerOffer {
    /// Creates the offer of a server that speaks `version`, from its result of `initialize` or `server/discover` and from the
    /// pages of its lists. Returns it with a sentence for each entry that cannot be in a lock.
    ///
    /// # Errors
    /// Returns an error for a result that is not JSON of an object, or nested too deep.
    pub fn of(
        version: &str,
        introduction: &Json,
        pages: &[ListPage],
    ) -> Result<(Self, Vec<String>), serde_json::Error> {
        let mut members: Map<String, Value> = serde_json::from_str(introduction.text())?;
        OF_THE_EXCHANGE
            .iter()
            .for_each(|own| _ = members.remove(*own));
        let mut notes = Vec::new();
        for OfferList { member, .. } in &LISTS {
            if members.remove(*member).is_some() {
                notes.push(format!(
                    "left out of what the server says of itself: `{member}`"
                ));
            }
        }
        if let Some(Value::Object(meta)) = members.get_mut("_meta") {
            let info = meta.remove(meta::SERVER_INFO);
            if meta.is_empty() {
                members.remove("_meta");
            }
            if let Some(info) = info {
                members.insert("serverInfo".to_owned(), info);
            }
        }
        members.insert("protocolVersion".to_owned(), version.into());
        for page in pages {
            let list = members
                .entry(page.list.member)
                .or_insert_with(|| Map::new().into());
            let Some(entries) = entries(page) else {
                let shown = excerpt(page.result.text(), EXCERPT);
                let OfferList { method, member, .. } = page.list;
                notes.push(format!(
                    "{method}: a page without an array `{member}`: {shown}"
                ));
                continue;
            };
            for entry in entries {
                let value: Value = serde_json::from_str(entry.text())?;
                let Some((name, value)) = page.list.keyed(value) else {
                    let shown = excerpt(entry.text(), EXCERPT);
                    notes.push(format!(
                        "{}: left out, it has no `{}`: {shown}",
                        page.list.method, page.list.key
                    ));
                    continue;
                };
                if let Value::Object(entries) = list {
                    let key = free_key(entries, name, &mut notes, page);
                    entries.insert(key, value);
                }
            }
        }
        Ok((Self(members), notes))
    }

    /// Returns all of it as one value, as a lock has it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// Returns the facts of the server, by member, without its lists.
    pub fn facts(&self) -> impl Iterator<Item = (&str, &Value)> {
        let is_list = |name: &str| LISTS.iter().any(|list| list.member == name);
        (self.0.iter())
            .map(|(name, value)| (name.as_str(), value))
            .filter(move |(name, _)| !is_list(name))
    }

    /// Returns a fact of the server's introduction.
    #[must_use]
    pub fn fact(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns the entries of a list, by name.
    pub fn entries(&self, list: &OfferList) -> impl Iterator<Item = (&str, &Value)> {
        let entries = self.0.get(list.member).and_then(Value::as_object);
        (entries.into_iter().flatten()).map(|(name, entry)| (name.as_str(), entry))
    }

    /// Returns the entry of a list that has this name.
    #[must_use]
    pub fn entry(&self, list: &OfferList, name: &str) -> Option<&Value> {
        self.0.get(list.member)?.get(name)
    }
}

/// Returns the key of an entry: its name, with a number if an entry has that already.
fn free_key(
    entries: &Map<String, Value>,
    name: String,
    notes: &mut Vec<String>,
    page: &ListPage,
) -> String {
    if !entries.contains_key(&name) {
        return name;
    }
    let shown = excerpt(&name, EXCERPT);
    notes.push(format!(
        "{}: `{shown}` is listed more than once",
        page.list.method
    ));
    let mut numbers = 2..;
    let key = numbers.find_map(|number| {
        let key = format!("{name} #{number}");
        (!entries.contains_key(&key)).then_some(key)
    });
    key.unwrap_or(name)
}
