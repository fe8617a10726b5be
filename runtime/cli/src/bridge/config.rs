//! The servers of a configuration file of a host: its `mcpServers`.
//!
//! Hosts know more members than a bridge does. Those are passed over and logged; a member that the bridge needs and cannot read
//! is an error that names the file, the server and the member. All errors of a file are reported together.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use mcp_bridge::Gateway;
use mcp_revisions::service::client::Http;
use mcp_wire::{EXCERPT, excerpt};
use serde_json::{Map, Value};

/// The words for the object that holds the servers.
const SERVERS: [&str; 2] = ["mcpServers", "servers"];

/// The words for the URL of a server.
const URLS: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// Members that a bridge uses, beside those for the URL.
const MEMBERS: [&str; 8] = [
    "command", "args", "env", "cwd", "headers", "type", "disabled", "enabled",
];

/// The words of `type` for a server that is a process, and for one at a URL.
const PROCESS_TYPES: [&str; 1] = ["stdio"];
const URL_TYPES: [&str; 6] = [
    "http",
    "streamable-http",
    "streamableHttp",
    "streamable_http",
    "sse",
    "remote",
];

/// A server of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) server: ServerDefinition,
}

/// The command that starts a server, or its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerDefinition {
    Process {
        /// The program and its arguments.
        command: Vec<String>,
        env: BTreeMap<String, String>,
        folder: Option<String>,
    },
    Url {
        url: String,
        headers: Vec<(String, String)>,
    },
}

/// The servers of a file, and what was passed over in it.
#[derive(Debug, Default)]
pub(super) struct Config {
    pub(super) servers: Vec<Definition>,
    /// Sentences about what has no effect.
    pub(super) notes: Vec<String>,
}

/// The environment, by which tests stand in for that of the process.
type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error that names all mistakes of the file.
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let name = file.display();
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
        Self::parse(&text, &|variable| std::env::var(variable).ok()).map_err(|mistakes| {
            anyhow::anyhow!("{name}: {}", mistakes.join(&format!("\n{name}: ")))
        })
    }

    /// Reads the text of a file; the error has a line for each mistake.
    fn parse(text: &str, environment: Environment<'_>) -> Result<Self, Vec<String>> {
        let document = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value: Value = serde_json::from_str(document)
            .map_err(|why| vec![format!("invalid JSON: {why}; comments are not JSON")])?;
        let found = SERVERS.iter().find_map(|key| Some((*key, value.get(key)?)));
        let Some((key, servers)) = found else {
            return Err(vec![
                "expected an object with a member `mcpServers`".to_owned(),
            ]);
        };
        let Some(servers) = servers.as_object() else {
            return Err(vec![format!(
                "`{key}`: expected an object, found {}",
                kind(servers)
            )]);
        };
        let (mut config, mut mistakes) = (Self::default(), Vec::new());
        for (name, definition) in servers {
            let mut reader = ServerReader {
                name,
                environment,
                mistakes: &mut mistakes,
                notes: &mut config.notes,
            };
            if let Some(server) = reader.server(definition) {
                config.servers.push(Definition {
                    name: name.clone(),
                    server,
                });
            }
        }
        let mut prefixes = BTreeMap::new();
        for Definition { name, .. } in &config.servers {
            let shown = excerpt(name, EXCERPT);
            let Some(prefix) = Gateway::prefix(name) else {
                mistakes.push(format!(
                    "server `{shown}`: expected a name with letters or digits of ASCII"
                ));
                continue;
            };
            if let Some(other) = prefixes.insert(prefix.clone(), name) {
                let other = excerpt(other, EXCERPT);
                mistakes.push(format!("servers `{other}` and `{shown}`: both are written `{prefix}` in URLs and names: give one another name"));
            }
        }
        if mistakes.is_empty() && config.servers.is_empty() {
            mistakes.push(format!("`{key}` has no server that is enabled"));
        }
        if mistakes.is_empty() {
            Ok(config)
        } else {
            Err(mistakes)
        }
    }
}

/// Reads one server.
struct ServerReader<'r> {
    name: &'r str,
    environment: Environment<'r>,
    mistakes: &'r mut Vec<String>,
    notes: &'r mut Vec<String>,
}

impl ServerReader<'_> {
    fn mistake(&mut self, member: &str, why: impl std::fmt::Display) {
        let member = if member.is_empty() {
            String::new()
        } else {
            format!(", `{member}`")
        };
        self.mistakes.push(format!(
            "server `{}`{member}: {why}",
            excerpt(self.name, EXCERPT)
        ));
    }

    fn note(&mut self, note: String) {
        self.notes
            .push(format!("server `{}`: {note}", excerpt(self.name, EXCERPT)));
    }

    /// Returns the server; `None` if it is disabled, or wrong.
    fn server(&mut self, definition: &Value) -> Option<ServerDefinition> {
        let Some(definition) = definition.as_object() else {
            self.mistake(
                "",
                format!("expected an object, found {}", kind(definition)),
            );
            return None;
        };
        let is_set =
            |member: &str, value: bool| definition.get(member) == Some(&Value::Bool(value));
        if is_set("disabled", true) || is_set("enabled", false) {
            self.note("it is disabled, and left out".to_owned());
            return None;
        }
        let is_known = |member: &str| MEMBERS.contains(&member) || URLS.contains(&member);
        let unknown: Vec<String> = definition
            .keys()
            .filter(|member| !is_known(member))
            .map(|it| format!("`{}`", excerpt(it, EXCERPT)))
            .collect();
        if !unknown.is_empty() {
            self.note(format!("{} has no effect here", unknown.join(", ")));
        }
        let url = URLS
            .into_iter()
            .find(|member| definition.contains_key(*member));
        let has_command = definition.contains_key("command");
        match (definition.get("type").map(Value::as_str), url, has_command) {
            (_, Some(url), true) => {
                self.mistake(
                    url,
                    "the server has a `command` as well: remove one of the two",
                );
                None
            }
            (Some(Some(word)), _, _) if PROCESS_TYPES.contains(&word) && !has_command => {
                self.mistake("command", format!("a server of type `{word}` needs it"));
                None
            }
            (Some(Some(word)), None, _) if URL_TYPES.contains(&word) => {
                self.mistake("url", format!("a server of type `{word}` needs it"));
                None
            }
            (Some(Some(word)), _, _)
                if !PROCESS_TYPES.contains(&word) && !URL_TYPES.contains(&word) =>
            {
                self.mistake(
                    "type",
                    format!(
                        "expected `stdio`, `http` or `sse`, found `{}`",
                        excerpt(word, EXCERPT)
                    ),
                );
                None
            }
            (Some(None), _, _) => {
                self.mistake("type", "expected a text");
                None
            }
            (_, Some(url), false) => self.url(definition, url),
            (_, None, true) => self.process(definition),
            (_, None, false) => {
                self.mistake("", "expected a member `command` or `url`");
                None
            }
        }
    }

    fn process(&mut self, definition: &Map<String, Value>) -> Option<ServerDefinition> {
        let mistakes = self.mistakes.len();
        let program = self.text(definition, "command").unwrap_or_default();
        if program.is_empty() && self.mistakes.len() == mistakes {
            self.mistake("command", "expected a program, found an empty text");
        }
        let mut command = vec![program];
        match definition.get("args") {
            None | Some(Value::Null) => {}
            Some(Value::Array(arguments)) => {
                for (at, argument) in arguments.iter().enumerate() {
                    command.extend(self.scalar(&format!("args[{at}]"), argument));
                }
            }
            Some(other) => self.mistake(
                "args",
                format!("expected an array of texts, found {}", kind(other)),
            ),
        }
        let env = self.texts(definition, "env").into_iter().collect();
        let folder = match definition.get("cwd") {
            None | Some(Value::Null) => None,
            Some(_) => self.text(definition, "cwd"),
        };
        (self.mistakes.len() == mistakes).then_some(ServerDefinition::Process {
            command,
            env,
            folder,
        })
    }

    fn url(&mut self, definition: &Map<String, Value>, member: &str) -> Option<ServerDefinition> {
        let mistakes = self.mistakes.len();
        let url = self.text(definition, member).unwrap_or_default();
        if self.mistakes.len() == mistakes
            && let Err(why) = super::arguments::url(&url)
        {
            self.mistake(member, why);
        }
        let headers = self.texts(definition, "headers");
        for (name, value) in &headers {
            // The value may be a secret.
            if let Err(why) = Http::check_header(name, value) {
                self.mistake(&format!("headers.{}", excerpt(name, EXCERPT)), why);
            }
        }
        (self.mistakes.len() == mistakes).then_some(ServerDefinition::Url { url, headers })
    }

    /// Reads a member that is required, and expands the variables in it.
    fn text(&mut self, definition: &Map<String, Value>, member: &str) -> Option<String> {
        match definition.get(member) {
            Some(Value::String(text)) => self.expanded(member, text),
            Some(other) => {
                self.mistake(member, format!("expected a text, found {}", kind(other)));
                None
            }
            None => {
                self.mistake(member, "expected a text");
                None
            }
        }
    }

    /// Reads an object of texts.
    fn texts(&mut self, definition: &Map<String, Value>, member: &str) -> Vec<(String, String)> {
        match definition.get(member) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(entries)) => {
                let mut texts = Vec::new();
                for (name, value) in entries {
                    let value = self.scalar(&format!("{member}.{}", excerpt(name, EXCERPT)), value);
                    texts.extend(value.map(|value| (name.clone(), value)));
                }
                texts
            }
            Some(other) => {
                self.mistake(
                    member,
                    format!("expected an object of texts, found {}", kind(other)),
                );
                Vec::new()
            }
        }
    }

    /// Reads a text, or a number or boolean in place of one.
    fn scalar(&mut self, member: &str, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => self.expanded(member, text),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(is_set) => Some(is_set.to_string()),
            other => {
                self.mistake(member, format!("expected a text, found {}", kind(other)));
                None
            }
        }
    }

    /// Replaces `${VAR}`, `${VAR:-default}` and `${env:VAR}` by variables of the environment.
    fn expanded(&mut self, member: &str, text: &str) -> Option<String> {
        let (mut whole, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            whole.push_str(before);
            let Some((variable, after)) = after.split_once('}') else {
                self.mistake(member, "`${` without `}`");
                return None;
            };
            let (variable, default) = match variable.split_once(":-") {
                Some((variable, default)) => (variable, Some(default)),
                None => (variable, None),
            };
            let name = variable.strip_prefix("env:").unwrap_or(variable);
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(is_name) {
                let shown = excerpt(name, EXCERPT);
                self.mistake(
                    member,
                    format!(
                        "expected `${{VARIABLE}}` or `${{VARIABLE:-default}}`, found `${{{shown}}}`"
                    ),
                );
                return None;
            }
            let value = (self.environment)(name);
            match (
                value.filter(|value| !value.is_empty() || default.is_none()),
                default,
            ) {
                (Some(value), _) => whole.push_str(&value),
                (None, Some(default)) => whole.push_str(default),
                (None, None) => {
                    self.mistake(member, format!("environment variable `{name}` is not set: set it, or write `${{{variable}:-default}}`"));
                    return None;
                }
            }
            rest = after;
        }
        whole.push_str(rest);
        Some(whole)
    }
}

/// Returns what a JSON value is, for people.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    fn parse(text: &str) -> Result<Config, Vec<String>> {
        Config::parse(text, &|name| match name {
            "TOKEN" => Some("s3cret".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn the_files_of_hosts_are_read_with_their_variables() {
        let config = parse(
            r#"{ "theme": "dark", "mcpServers": {
                "git": { "command": "uvx", "args": ["mcp-server-git", "--repository", "${REPO:-/srv/${x", 7], "env": { "T": "${TOKEN}", "E": "${EMPTY:-e}", "N": 1 }, "cwd": "/tmp" },
                "far": { "type": "streamable-http", "url": "https://${HOST:-example.com}/mcp", "headers": { "Authorization": "Bearer ${env:TOKEN}" }, "alwaysAllow": [] },
                "off": { "disabled": true }
            } }"#,
        );
        // `${` within a default is part of it.
        let mistakes = config.unwrap_err();
        assert_eq!(mistakes, ["server `git`, `args[2]`: `${` without `}`"]);
        let config = parse(
            r#"{ "mcpServers": {
                "git": { "command": "uvx", "args": ["-q", 7], "env": { "T": "${TOKEN}", "E": "${EMPTY:-e}", "N": 1 }, "cwd": "/tmp" },
                "far": { "type": "streamable-http", "url": "https://${HOST:-example.com}/mcp", "headers": { "Authorization": "Bearer ${env:TOKEN}" }, "alwaysAllow": [] },
                "off": { "disabled": true }
            } }"#,
        )
        .unwrap();
        let env = [("E", "e"), ("N", "1"), ("T", "s3cret")];
        let git = ServerDefinition::Process {
            command: ["uvx", "-q", "7"].map(str::to_owned).to_vec(),
            env: env
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            folder: Some("/tmp".to_owned()),
        };
        let far = ServerDefinition::Url {
            url: "https://example.com/mcp".to_owned(),
            headers: vec![("Authorization".to_owned(), "Bearer s3cret".to_owned())],
        };
        let mut found: Vec<_> = config
            .servers
            .into_iter()
            .map(|it| (it.name, it.server))
            .collect();
        found.sort_by(|one, other| other.0.cmp(&one.0));
        assert_eq!(found, [("git".to_owned(), git), ("far".to_owned(), far)]);
        let notes = [
            "server `far`: `alwaysAllow` has no effect here",
            "server `off`: it is disabled, and left out",
        ];
        assert_eq!(config.notes, notes);
    }

    #[test]
    fn each_mistake_names_its_server_and_its_member() {
        let mistakes = parse(
            r#"{ "mcpServers": {
                "a": { "command": 7, "args": "x" },
                "b": { "url": "ftp://x", "headers": { "Host": "y", "X": ["secret"] } },
                "c": { "command": "x", "url": "http://x" },
                "d": { "type": "sse" },
                "e": { "type": "websocket", "url": "http://x" },
                "f": { "command": "x", "args": ["${UNSET}", "${input:key}"] },
                "g": [],
                "h": {}
            } }"#,
        )
        .unwrap_err();
        let expected = [
            "server `a`, `command`: expected a text, found a number",
            "server `a`, `args`: expected an array of texts, found a text",
            "server `b`, `url`: expected http:// or https://",
            "server `b`, `headers.X`: expected a text, found an array",
            "server `b`, `headers.Host`: ",
            "server `c`, `url`: the server has a `command` as well",
            "server `d`, `url`: a server of type `sse` needs it",
            "server `e`, `type`: expected `stdio`, `http` or `sse`, found `websocket`",
            "server `f`, `args[0]`: environment variable `UNSET` is not set",
            "server `f`, `args[1]`: expected `${VARIABLE}` or `${VARIABLE:-default}`, found `${input:key}`",
            "server `g`: expected an object, found an array",
            "server `h`: expected a member `command` or `url`",
        ];
        for (found, expected) in mistakes.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}\n{expected}");
        }
        assert_eq!(mistakes.len(), expected.len(), "{mistakes:#?}");
        let mistakes = parse(r#"{ "mcpServers": { "my server": { "command": "x" }, "my.server": { "command": "x" }, "日": { "command": "x" } } }"#).unwrap_err();
        assert_eq!(mistakes.len(), 2, "{mistakes:#?}");
        assert!(parse("{").unwrap_err()[0].starts_with("invalid JSON"));
        assert!(parse("{}").unwrap_err()[0].contains("`mcpServers`"));
        assert!(parse(r#"{ "mcpServers": {} }"#).unwrap_err()[0].contains("no server"));
    }
}
