//! The servers of a configuration file of a host, as that host reads it.
//!
//! A mistake in an entry costs only that entry, which is named. Members that only hosts know are skipped and logged.

mod clients;
mod entry;
mod env_file;
mod expand;
mod server;

use std::collections::BTreeSet;
use std::path::Path;

use mcp_wire::{EXCERPT, Json, JsonObject, Kind, excerpt};

use crate::Error;
pub use clients::Clients;
use entry::EntryReader;
pub use entry::check_url;
use expand::{Environment, References};
pub use server::{EntrySignIn, EntryVariables, ServerEntry, ServerTarget};

/// The names of the object of servers: in most hosts, VS Code, Zed and Codex.
const SERVERS: [&str; 4] = ["mcpServers", "servers", "context_servers", "mcp_servers"];

/// The folders of a project that hold a file of servers.
const FOLDERS: [&str; 3] = [".vscode", ".cursor", ".zed"];

/// The servers of a file, in its order. It also holds notes about the file, and the variables that it names.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Config {
    /// The servers, those included that cannot be used.
    pub servers: Vec<ServerEntry>,
    /// Sentences about members without an effect.
    pub notes: Vec<String>,
    /// The variables of the environment that the file names, in any of its entries.
    pub variables: BTreeSet<String>,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error if it has no object of servers. A mistake in an entry is not an error.
    pub fn read(file: &Path) -> Result<Self, Error> {
        let failed = |why: String| Error::Config {
            file: file.to_owned(),
            why,
        };
        let text = std::fs::read_to_string(file).map_err(|why| failed(why.to_string()))?;
        let is_toml = file.extension().is_some_and(|it| it == "toml");
        let environment = |variable: &str| std::env::var(variable).ok();
        Self::parse(&text, is_toml, &workspace(file), &environment).map_err(failed)
    }

    /// Returns the entry of this name.
    ///
    /// # Errors
    /// Returns an error, which names the entries, if there is none.
    pub fn server(mut self, name: &str) -> Result<ServerEntry, Error> {
        let at = self.servers.iter().position(|it| it.name == name);
        if let Some(at) = at {
            return Ok(self.servers.swap_remove(at));
        }
        let names: Vec<&str> = self.servers.iter().map(|it| &*it.name).collect();
        Err(Error::Name {
            name: name.to_owned(),
            why: format!("the file has {}", names.join(", ")),
        })
    }

    fn parse(
        text: &str,
        is_toml: bool,
        workspace: &Path,
        environment: Environment<'_>,
    ) -> Result<Self, String> {
        let invalid = |why: &dyn std::fmt::Display| format!("invalid JSON: {why}");
        let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document = if is_toml {
            let table: toml::Table = toml::from_str(unmarked).map_err(|why| {
                // The line itself may have a secret.
                let before = why.span().and_then(|at| unmarked.get(..at.start));
                let line = before.map_or(1, |before| before.matches('\n').count() + 1);
                format!("invalid TOML in line {line}: {}", why.message())
            })?;
            Json::from_value(&table).map_err(|why| why.to_string())?
        } else {
            // Editors write comments, and commas behind the last member.
            let mut plain = unmarked.to_owned();
            json_strip_comments::strip(&mut plain).map_err(|why| invalid(&why))?;
            serde_json::from_str::<&serde_json::value::RawValue>(&plain)
                .map_err(|why| invalid(&why))?;
            Json::from_text(&plain).map_err(|why| invalid(&why))?
        };
        // The settings of an editor have them one level deeper.
        let within = document.get("mcp").filter(|it| it.kind() == Kind::Object);
        let found = [Some(&document), within.as_ref()]
            .into_iter()
            .flatten()
            .find_map(|object| {
                SERVERS
                    .iter()
                    .find_map(|key| Some((*key, object.get(key)?)))
            });
        let Some((key, servers)) = found else {
            return Err("expected an object with a member `mcpServers`".to_owned());
        };
        let kind = servers.kind();
        let Ok(servers) = JsonObject::try_from(servers) else {
            return Err(format!("`{key}`: expected an object, found {kind}"));
        };
        let mut config = Self::default();
        for (name, definition) in servers.iter() {
            let shown = excerpt(&name, EXCERPT);
            let references = References {
                environment,
                workspace,
                named: BTreeSet::new(),
            };
            let mut reader = EntryReader::new(references, !is_toml);
            let entry = reader.entry(
                &name,
                &Json::from_text(definition).map_err(|why| invalid(&why))?,
            );
            config.variables.extend(reader.references.named);
            let notes = reader.notes.into_iter();
            config
                .notes
                .extend(notes.map(|note| format!("server `{shown}`: {note}")));
            let Some(entry) = entry else { continue };
            // Hosts use the last entry of a name.
            let before = config.servers.len();
            config.servers.retain(|it| it.name != entry.name);
            if config.servers.len() < before {
                let note = format!("server `{shown}`: it is there twice: the last one is used");
                config.notes.push(note);
            }
            config.servers.push(entry);
        }
        if config.servers.is_empty() {
            return Err(format!("`{key}` has no server that is enabled"));
        }
        Ok(config)
    }

    /// Replaces the entries that are served by those of this file. `remove` ends the server of an entry that is gone or has changed,
    /// by its name; `insert` starts one. Returns the errors of `insert`, whose entries are not served.
    pub fn serve(
        &self,
        served: &mut Vec<ServerEntry>,
        mut remove: impl FnMut(&str),
        mut insert: impl FnMut(&ServerEntry) -> Result<(), Error>,
    ) -> Vec<Error> {
        served.retain(|entry| {
            let stays = self.servers.contains(entry);
            if !stays {
                remove(&entry.name);
            }
            stays
        });
        let mut errors = Vec::new();
        for entry in &self.servers {
            if !served.contains(entry) {
                match insert(entry) {
                    Ok(()) => served.push(entry.clone()),
                    Err(why) => errors.push(why),
                }
            }
        }
        errors
    }

    /// Returns the mistakes of entries, by name.
    pub fn mistakes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.servers.iter().filter_map(|it| match &it.target {
            ServerTarget::Wrong(why) => Some((&*it.name, &**why)),
            _ => None,
        })
    }
}

/// Returns the workspace of a file: its folder, or the one above the folder of an editor.
fn workspace(file: &Path) -> std::path::PathBuf {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().unwrap_or(&file);
    let is_settings = FOLDERS.iter().any(|it| folder.ends_with(it));
    let project = folder.parent().filter(|_| is_settings);
    project.unwrap_or(folder).to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::ServerTarget::{Process, Url};
    use super::*;
    use crate::ToolRules;

    fn read(text: &str, is_toml: bool) -> Result<Config, String> {
        Config::parse(text, is_toml, Path::new("/work"), &|name| match name {
            "TOKEN" => Some("s3cret".to_owned()),
            "EMPTY" => Some(String::new()),
            "INPUT_KEY" => Some("k3y".to_owned()),
            _ => None,
        })
    }

    fn parse(text: &str) -> Config {
        read(text, false).unwrap()
    }

    fn process(
        command: &[&str],
        env: &[(&str, Option<&str>)],
        folder: Option<&str>,
    ) -> ServerTarget {
        let owned = |it: &str| it.to_owned();
        Process {
            command: command.iter().copied().map(owned).collect(),
            env: env
                .iter()
                .map(|(name, value)| (owned(name), value.map(owned)))
                .collect(),
            folder: folder.map(owned),
        }
    }

    fn url(url: &str, headers: &[(&str, &str)]) -> ServerTarget {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Url {
            url: url.to_owned(),
            headers: headers.collect(),
        }
    }

    fn targets(config: &Config) -> Vec<(&str, &ServerTarget)> {
        config
            .servers
            .iter()
            .map(|it| (&*it.name, &it.target))
            .collect()
    }

    #[test]
    fn the_files_of_hosts_are_read_with_their_variables_and_in_their_order() {
        let config = parse(
            r#"{ "theme": "dark", "mcpServers": {
                "git": { "command": "uvx", "args": ["-q", 7], "env": { "T": "${TOKEN}", "E": "${EMPTY:-e}", "N": 1, "U": null }, "cwd": "/tmp" },
                "far": { "type": "streamable-http", "url": "https://${HOST:-example.com}/mcp", "headers": { "Authorization": "Bearer ${env:TOKEN}", "X": null }, "alwaysAllow": [] },
                "off": { "disabled": true }
            } }"#,
        );
        let env = [
            ("E", Some("e")),
            ("N", Some("1")),
            ("T", Some("s3cret")),
            ("U", None),
        ];
        let git = process(&["uvx", "-q", "7"], &env, Some("/tmp"));
        let far = url(
            "https://example.com/mcp",
            &[("Authorization", "Bearer s3cret")],
        );
        assert_eq!(targets(&config), [("git", &git), ("far", &far)]);
        let notes = [
            "server `far`: `alwaysAllow` has no effect here",
            "server `off`: it is disabled, and left out",
        ];
        assert_eq!(config.notes, notes);
        assert_eq!(
            Vec::from_iter(&config.variables),
            ["EMPTY", "HOST", "TOKEN"]
        );
        assert_eq!(
            Vec::from_iter(&config.servers[0].variables),
            ["EMPTY", "TOKEN"]
        );
    }

    #[test]
    fn each_host_writes_servers_in_its_own_way() {
        // VS Code, its settings, Copilot, Zed, Windsurf, Cursor.
        for (text, expected) in [
            (
                "{ // c\n \"inputs\": [{ \"id\": \"key\" }], \"servers\": { \"a\": { \"command\": \"x\", \"args\": [\"${workspaceFolder}/y\", \"${input:key}\"], /* c */ }, }, }",
                process(&["x", "/work/y", "k3y"], &[], None),
            ),
            (
                r#"{ "mcp": { "servers": { "a": { "type": "stdio", "command": "x" } } } }"#,
                process(&["x"], &[], None),
            ),
            (
                r#"{ "mcpServers": { "a": { "type": "local", "command": "x", "args": [], "tools": ["*"] } } }"#,
                process(&["x"], &[], None),
            ),
            (
                r#"{ "context_servers": { "a": { "source": "custom", "command": { "path": "x", "args": ["y"], "env": { "K": "v" } } } } }"#,
                process(&["x", "y"], &[("K", Some("v"))], None),
            ),
            (
                r#"{ "mcpServers": { "a": { "serverUrl": "https://x/mcp", "disabledTools": [] } } }"#,
                url("https://x/mcp", &[]),
            ),
            (
                r#"{ "mcpServers": { "a": { "url": "https://x/mcp", "auth": { "CLIENT_ID": "c" } } } }"#,
                url("https://x/mcp", &[]),
            ),
        ] {
            assert_eq!(targets(&parse(text)), [("a", &expected)], "{text}");
        }
        let codex = "[mcp_servers.a]\ncommand = \"x\"\nargs = [\"${HOME}\"]\nstartup_timeout_sec = 7\nenabled_tools = [\"t\"]\nenv_vars = [\"TOKEN\"]\n[mcp_servers.b]\nurl = \"https://x/mcp\"\nbearer_token_env_var = \"TOKEN\"\n[mcp_servers.c]\ncommand = \"x\"\nenabled = false\n";
        let config = read(codex, true).unwrap();
        // There are no references in its values.
        let a = process(&["x", "${HOME}"], &[("TOKEN", Some("s3cret"))], None);
        let b = url("https://x/mcp", &[("Authorization", "Bearer s3cret")]);
        assert_eq!(targets(&config), [("a", &a), ("b", &b)]);
        assert_eq!(
            config.servers[0].start_timeout,
            Some(std::time::Duration::from_secs(7))
        );
        assert_eq!(
            config.servers[0].tools,
            ToolRules::new().allow_only().allow("t")
        );
    }

    #[test]
    fn a_mistake_in_a_file_is_told_by_its_line_without_what_is_in_it() {
        for (text, is_toml, told) in [
            (
                "[mcp_servers.a]\ncommand = \"x\"\nenv = { T = \"secret\n",
                true,
                "in line 3",
            ),
            (
                "{\"mcpServers\": {\n\"a\": {\"env\": {\"T\": \"secret\"}}",
                false,
                "line 2",
            ),
        ] {
            let why = Config::parse(text, is_toml, Path::new("/w"), &|_| None).unwrap_err();
            assert!(why.contains(told) && !why.contains("secret"), "{why}");
        }
    }

    #[test]
    fn a_mistake_costs_its_entry_and_names_the_member_without_its_value() {
        let entries = [
            (
                r#"{ "command": 7, "args": "x" }"#,
                "`command`: expected a text, found a number; `args`: expected an array of texts, found a text",
            ),
            (
                r#"{ "url": "ftp://x", "headers": { "Host": "y", "X": ["secret"] } }"#,
                "`url`: expected http://, https:// or unix:",
            ),
            (r#"{ "url": "http://x y/${TOKEN}" }"#, "`url`: "),
            (
                r#"{ "command": "x", "url": "http://x" }"#,
                "`url`: the server has a `command` as well",
            ),
            (
                r#"{ "type": "sse" }"#,
                "`url`: a server of type `sse` needs it",
            ),
            (
                r#"{ "type": "websocket", "url": "http://x" }"#,
                "`type`: expected `stdio`, `http` or `sse`, found `websocket`",
            ),
            (
                r#"{ "command": "x", "args": ["${UNSET}", null] }"#,
                "`args[0]`: environment variable `UNSET` is not set",
            ),
            (
                r#"{ "command": "x", "env": { "A": "${input:other}" } }"#,
                "`env.A`: `${input:other}` is not asked for here",
            ),
            (
                r#"{ "command": "x", "command": "y" }"#,
                "at /command: expected each member once",
            ),
            (
                r#"{ "command": "x", "tools": { "alow": ["a"] } }"#,
                "`tools.alow`: expected",
            ),
            (
                r#"{ "command": "x", "tools": { "rename": { "a": "c", "b": "c" } } }"#,
                "`tools.rename`: `c` is the name of two tools",
            ),
            ("[]", "expected an object, found an array"),
            ("null", "expected an object, found null"),
            ("{}", "expected a member `command` or `url`"),
        ];
        for (entry, expected) in entries {
            let config = parse(&format!(
                r#"{{ "mcpServers": {{ "good": {{ "command": "x" }}, "bad": {entry} }} }}"#
            ));
            assert_eq!(targets(&config)[0], ("good", &process(&["x"], &[], None)));
            let found: Vec<_> = config.mistakes().collect();
            assert_eq!(found.len(), 1, "{entry}");
            assert!(
                found[0].0 == "bad" && found[0].1.starts_with(expected),
                "{entry}: {found:?}"
            );
            assert!(!found[0].1.contains("s3cret"), "{found:?}");
        }
        let twice =
            parse(r#"{ "mcpServers": { "a": { "command": "x" }, "a": { "command": "y" } } }"#);
        assert_eq!(targets(&twice), [("a", &process(&["y"], &[], None))]);
        assert_eq!(
            twice.notes,
            ["server `a`: it is there twice: the last one is used"]
        );
        for (text, why) in [
            ("{", "invalid JSON"),
            ("{}", "`mcpServers`"),
            (r#"{ "mcpServers": {} }"#, "no server"),
        ] {
            assert!(read(text, false).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn the_tools_of_an_entry_have_rules() {
        let config = parse(
            r#"{ "mcpServers": { "a": { "command": "x", "tools": {
                "allow": ["read_*"], "deny": ["read_secret"], "rename": { "read_file": "read" }, "describe": { "read_file": "Reads" },
                "scopes": { "files:write": ["write_*"] }, "principals": { "alice": ["admin"] }
            } }, "b": { "command": "x", "tools": [] } } }"#,
        );
        let rules = ToolRules::new()
            .allow_only()
            .allow("read_*")
            .deny("read_secret");
        let rules = rules
            .rename("read_file", "read")
            .describe("read_file", "Reads");
        let rules = rules
            .only_with_scope("files:write", "write_*")
            .only_for("alice", "admin");
        assert_eq!(config.servers[0].tools, rules);
        assert_eq!(config.servers[1].tools, ToolRules::new().allow_only());
    }
}
