//! The file: the offers of servers by name.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{LISTS, ServerOffer, canonical_text};

/// The member that marks a lock file, and the format: it rises when a member is removed or changes, not when one is added.
const MARK: &str = "mcpLock";
const FORMAT: u64 = 1;

/// Maximum number of bytes of a file.
const BYTES: usize = 64 << 20;

/// The offers of servers, by the names that their users have for them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LockFile {
    /// The servers.
    pub servers: BTreeMap<String, ServerOffer>,
}

/// A text that is not a lock file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockFileError {
    /// It is not JSON.
    #[error("invalid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is too long.
    #[error("expected at most {BYTES} bytes, found {0}")]
    TooLong(usize),
    /// It is JSON of another kind.
    #[error("not a lock file: expected `\"{MARK}\": {FORMAT}`, as `mcp-rev lock` writes it")]
    Unmarked,
    /// A later program wrote it.
    #[error("format {0} of a lock file, and this program reads {FORMAT}: use a later one")]
    Later(u64),
    /// A part of it has another form.
    #[error("at {0}: expected an object: write the file again with `mcp-rev lock`")]
    Misshapen(String),
}

impl LockFile {
    /// Returns whether a value is a lock file, in any form.
    #[must_use]
    pub fn is_marked(document: &Value) -> bool {
        document.get(MARK).is_some()
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Returns an error for a text that `mcp-rev lock` did not write.
    pub fn parse(text: &str) -> Result<Self, LockFileError> {
        if text.len() > BYTES {
            return Err(LockFileError::TooLong(text.len()));
        }
        Self::of_value(serde_json::from_str(text)?)
    }

    /// Reads a file that was parsed.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn of_value(mut document: Value) -> Result<Self, LockFileError> {
        match document.get(MARK).and_then(Value::as_u64) {
            Some(FORMAT) => {}
            Some(later) if later > FORMAT => return Err(LockFileError::Later(later)),
            _ => return Err(LockFileError::Unmarked),
        }
        let Some(Value::Object(found)) = document.get_mut("servers").map(Value::take) else {
            return Err(LockFileError::Misshapen("/servers".to_owned()));
        };
        let mut servers = BTreeMap::new();
        for (name, offer) in found {
            let misshapen =
                |within: &str| LockFileError::Misshapen(format!("/servers/{name}{within}"));
            let Value::Object(members) = offer else {
                return Err(misshapen(""));
            };
            for list in &LISTS {
                let entries = members.get(list.member).map(Value::as_object);
                let are_objects = |all: Option<&Map<String, Value>>| {
                    all.is_some_and(|all| all.values().all(Value::is_object))
                };
                if !entries.is_none_or(are_objects) {
                    return Err(misshapen(&format!("/{}", list.member)));
                }
            }
            servers.insert(name, ServerOffer(members));
        }
        Ok(Self { servers })
    }

    /// Returns the text of the file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let servers: Map<String, Value> = (self.servers.iter())
            .map(|(name, offer)| (name.clone(), Value::Object(offer.0.clone())))
            .collect();
        canonical_text(&json!({ MARK: FORMAT, "servers": servers }))
    }

    /// Returns the offer of a server; that of the only one if there is none of this name.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&ServerOffer> {
        let only = || {
            self.servers
                .values()
                .next()
                .filter(|_| self.servers.len() == 1)
        };
        self.servers.get(name).or_else(only)
    }
}

#[cfg(test)]
mod tests {
    use mcp_wire::Json;

    use super::*;
    use crate::ListPage;

    #[test]
    fn a_server_is_one_text_however_it_spells_and_orders_its_lists() {
        let page = |text: &str| ListPage {
            list: &LISTS[0],
            result: Json::from_text(text).unwrap_or_default(),
        };
        let read = |introduction: &str, pages: &[ListPage]| {
            let introduction = Json::from_text(introduction).unwrap_or_default();
            let (offer, notes) =
                ServerOffer::of("2025-11-25", &introduction, pages).unwrap_or_default();
            let servers = BTreeMap::from([("s".to_owned(), offer)]);
            (LockFile { servers }, notes)
        };
        let (lock, notes) = read(
            r#"{"protocolVersion":"x","ttlMs":5,"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n"}}}"#,
            &[
                page(
                    r#"{"tools":[{"name":"b","inputSchema":{"type":"object"}},{"title":"T","name":"a"}],"nextCursor":"2"}"#,
                ),
                page(r#"{"tools":[{"name":"a"},7,{"name":8}]}"#),
            ],
        );
        let (same, _) = read(
            r#"{"serverInfo":{"name":"\u006e"},"capabilities":{"tools":{}}}"#,
            &[page(
                r#"{"tools":[{"name":"a","title":"\u0054"},{"name":"a"},{"inputSchema":{"type":"object"},"name":"b"}]}"#,
            )],
        );
        assert_eq!(lock.to_text(), same.to_text());
        let expected = json!({ "mcpLock": 1, "servers": { "s": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "n" },
            "tools": { "a": { "title": "T" }, "a #2": {}, "b": { "inputSchema": { "type": "object" } } },
        } } });
        assert_eq!(lock.to_text(), canonical_text(&expected));
        assert_eq!(LockFile::parse(&lock.to_text()).ok(), Some(lock));
        assert_eq!(
            notes,
            [
                "tools/list: `a` is listed more than once",
                "tools/list: left out, it has no `name`: 7",
                r#"tools/list: left out, it has no `name`: {"name":8}"#,
            ]
        );
    }

    #[test]
    fn another_file_is_refused_with_what_it_is_not() {
        for (text, why) in [
            ("{", "invalid JSON"),
            (r#"{"mcpServers":{}}"#, "not a lock file"),
            (r#"{"mcpLock":2,"servers":{}}"#, "format 2"),
            (r#"{"mcpLock":1}"#, "at /servers: expected"),
            (
                r#"{"mcpLock":1,"servers":{"a":7}}"#,
                "at /servers/a: expected",
            ),
            (
                r#"{"mcpLock":1,"servers":{"a":{"tools":{"t":1}}}}"#,
                "at /servers/a/tools: expected",
            ),
        ] {
            let found = LockFile::parse(text).map_err(|error| error.to_string());
            assert!(
                found.as_ref().is_err_and(|found| found.starts_with(why)),
                "{text}: {found:?}"
            );
        }
    }
}
