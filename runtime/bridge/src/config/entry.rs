//! Reads an entry of a host's file.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use mcp_revisions::service::client::{Http, unix_socket};
use mcp_wire::{EXCERPT, Json, Kind, Map, excerpt};

use super::env_file;
use super::expand::References;
use super::server::{EntrySignIn, ServerEntry, ServerTarget};
use crate::ToolRules;

/// The members that hosts have for the URL of a server.
const URLS: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// Members that a bridge uses, beside those for the URL.
const MEMBERS: [&str; 27] = [
    "command",
    "args",
    "env",
    "envFile",
    "env_vars",
    "cwd",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
    "type",
    "source",
    "disabled",
    "enabled",
    "oauth",
    "auth",
    "scopes",
    "oauth_resource",
    "tools",
    "enabled_tools",
    "includeTools",
    "disabled_tools",
    "disabledTools",
    "excludeTools",
    "startup_timeout_sec",
    "startup_timeout_ms",
    "description",
];

/// The words of `type` for a server that is a process, and for one at a URL.
const PROCESS_TYPES: [&str; 2] = ["stdio", "local"];
const URL_TYPES: [&str; 6] = [
    "http",
    "streamable-http",
    "streamableHttp",
    "streamable_http",
    "sse",
    "remote",
];

/// A reader of one entry. It holds the mistakes and notes that it has found.
pub(super) struct EntryReader<'r> {
    pub(super) references: References<'r>,
    /// Set if values may have references.
    expands: bool,
    mistakes: Vec<String>,
    pub(super) notes: Vec<String>,
}

type EntryMembers = Map<Json>;

impl<'r> EntryReader<'r> {
    pub(super) fn new(references: References<'r>, expands: bool) -> Self {
        Self {
            references,
            expands,
            mistakes: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Reads the entry, without its mistakes. Returns `None` if it is disabled.
    pub(super) fn entry(&mut self, name: &str, definition: &Json) -> Option<ServerEntry> {
        let mut entry = ServerEntry::new(name, ServerTarget::Wrong(String::new()));
        let kind = definition.kind();
        match definition.read::<EntryMembers>() {
            _ if kind != Kind::Object => {
                self.mistake("", format!("expected an object, found {}", named(kind)));
            }
            Err(why) => self.mistake("", why),
            Ok(members) => {
                let is_set = |member: &str, value| {
                    members.get(member).and_then(Json::as_bool) == Some(value)
                };
                if is_set("disabled", true) || is_set("enabled", false) {
                    self.notes.push("it is disabled, and left out".to_owned());
                    return None;
                }
                self.tell_unknown(&members);
                if let Some(target) = self.target(&members) {
                    entry.target = target;
                }
                entry.sign_in = self.sign_in(&members);
                entry.tools = self.tools(&members);
                entry.start_timeout = self.start_timeout(&members);
            }
        }
        if !self.mistakes.is_empty() {
            entry.target = ServerTarget::Wrong(self.mistakes.join("; "));
        }
        entry.variables.clone_from(&self.references.named);
        Some(entry)
    }

    fn mistake(&mut self, member: &str, why: impl Display) {
        self.mistakes.push(match member {
            "" => why.to_string(),
            member => format!("`{member}`: {why}"),
        });
    }

    fn tell_unknown(&mut self, members: &EntryMembers) {
        let is_known = |member: &&str| MEMBERS.contains(member) || URLS.contains(member);
        let unknown: Vec<String> = members
            .keys()
            .filter(|member| !is_known(member))
            .map(|it| format!("`{}`", excerpt(it, EXCERPT)))
            .collect();
        if !unknown.is_empty() {
            self.notes
                .push(format!("{} has no effect here", unknown.join(", ")));
        }
    }

    fn target(&mut self, members: &EntryMembers) -> Option<ServerTarget> {
        let has = |member: &str| members.get(member).is_some_and(|it| !it.is_null());
        let url = URLS.into_iter().find(|member| has(member));
        let has_command = has("command");
        let given = match members.get("type").filter(|it| !it.is_null()) {
            None => None,
            Some(word) => match word.as_str() {
                Some(word) => Some(word.into_owned()),
                None => {
                    self.mistake("type", "expected a text");
                    return None;
                }
            },
        };
        let word = given.as_deref();
        let (is_process, is_url) = (
            word.is_some_and(|it| PROCESS_TYPES.contains(&it)),
            word.is_some_and(|it| URL_TYPES.contains(&it)),
        );
        match (word, url) {
            (Some(word), _) if !is_process && !is_url => {
                let word = excerpt(word, EXCERPT);
                self.mistake(
                    "type",
                    format!("expected `stdio`, `http` or `sse`, found `{word}`"),
                );
                None
            }
            (_, Some(url)) if has_command => {
                self.mistake(
                    url,
                    "the server has a `command` as well: remove one of the two",
                );
                None
            }
            (Some(word), _) if is_process && !has_command => {
                self.mistake("command", format!("a server of type `{word}` needs it"));
                None
            }
            (Some(word), None) if is_url => {
                self.mistake("url", format!("a server of type `{word}` needs it"));
                None
            }
            (_, Some(url)) => self.url(members, url),
            (_, None) if has_command => self.process(members),
            (_, None) => {
                self.mistake("", "expected a member `command` or `url`");
                None
            }
        }
    }

    fn process(&mut self, members: &EntryMembers) -> Option<ServerTarget> {
        // An editor once had the whole command in one object.
        let object = members
            .get("command")
            .filter(|it| it.kind() == Kind::Object);
        let nested = object.and_then(|it| it.read::<EntryMembers>().ok());
        let (of, program) = match &nested {
            Some(nested) => (nested, "path"),
            None => (members, "command"),
        };
        let before = self.mistakes.len();
        let program = self.required_text(of, program).unwrap_or_default();
        if program.is_empty() && self.mistakes.len() == before {
            self.mistake("command", "expected a program, found an empty text");
        }
        let mut command = vec![program];
        command.extend(self.array(of, "args"));
        let mut env = BTreeMap::new();
        for name in self.array(members, "env_vars") {
            if let Some(value) = self.references.variable(&name) {
                env.insert(name, Some(value));
            }
        }
        if let Some(file) = self.text(members, "envFile") {
            match std::fs::read_to_string(self.references.workspace.join(&file)) {
                Ok(text) => {
                    env.extend(env_file::read(&text).map(|(name, value)| (name, Some(value))))
                }
                Err(why) => self.mistake("envFile", why),
            }
        }
        env.extend(self.texts(of, "env"));
        let folder = self.text(members, "cwd");
        Some(ServerTarget::Process {
            command,
            env,
            folder,
        })
    }

    fn url(&mut self, members: &EntryMembers, member: &str) -> Option<ServerTarget> {
        let address = self.required_text(members, member)?;
        let wrong = match check_url(&address) {
            Err(why) => Some(why.to_owned()),
            // The URL may have a secret.
            Ok(_) => Http::new(&address)
                .err()
                .map(|why| why.to_string().replace(&address, "…")),
        };
        if let Some(why) = wrong {
            self.mistake(member, why);
        }
        let mut headers = self.texts(members, "headers");
        headers.extend(self.texts(members, "http_headers"));
        for (name, variable) in self.texts(members, "env_http_headers") {
            let value = variable.and_then(|it| self.references.variable(&it));
            headers.extend(value.map(|value| (name, Some(value))));
        }
        if let Some(variable) = self.text(members, "bearer_token_env_var") {
            match self.references.variable(&variable) {
                Some(token) => {
                    headers.push(("Authorization".to_owned(), Some(format!("Bearer {token}"))))
                }
                None => self.mistake(
                    "bearer_token_env_var",
                    format!("environment variable `{variable}` is not set"),
                ),
            }
        }
        let headers: Vec<(String, String)> = headers
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
        for (name, value) in &headers {
            // The value may be a secret.
            if let Err(why) = Http::check_header(name, value) {
                self.mistake(&format!("headers.{}", excerpt(name, EXCERPT)), why);
            }
        }
        Some(ServerTarget::Url {
            url: address,
            headers,
        })
    }

    /// Reads the sign-in of an entry: `oauth`, or `auth` with members in capital letters.
    fn sign_in(&mut self, members: &EntryMembers) -> EntrySignIn {
        let object = |member: &str| members.get(member)?.read::<EntryMembers>().ok();
        let mut sign_in = EntrySignIn {
            scopes: self.scopes(members),
            resource: self.text(members, "oauth_resource"),
            ..EntrySignIn::default()
        };
        if let Some(oauth) = object("oauth") {
            sign_in.client_id = self.text(&oauth, "clientId");
            sign_in.client_secret = self.text(&oauth, "clientSecret");
            sign_in.issuer = self.text(&oauth, "issuer");
            sign_in.resource = self.text(&oauth, "resource").or(sign_in.resource);
            sign_in.scopes.extend(self.scopes(&oauth));
            let port = oauth.get("callbackPort").map(Json::parse::<u16>);
            match port.transpose() {
                Ok(port) => sign_in.callback_port = port,
                Err(_) => self.mistake("oauth.callbackPort", "expected a port"),
            }
        }
        if let Some(auth) = object("auth") {
            sign_in.client_id = self.text(&auth, "CLIENT_ID").or(sign_in.client_id);
            sign_in.client_secret = self.text(&auth, "CLIENT_SECRET").or(sign_in.client_secret);
            sign_in.scopes.extend(self.scopes(&auth));
        }
        sign_in
    }

    /// Reads scopes: a list, or a text with spaces between them.
    fn scopes(&mut self, members: &EntryMembers) -> Vec<String> {
        match members.get("scopes").and_then(Json::as_str) {
            Some(text) => text.split_whitespace().map(str::to_owned).collect(),
            None => self.array(members, "scopes"),
        }
    }

    fn start_timeout(&mut self, members: &EntryMembers) -> Option<Duration> {
        for (member, unit) in [("startup_timeout_sec", 1.0), ("startup_timeout_ms", 0.001)] {
            let Some(value) = members.get(member).filter(|it| !it.is_null()) else {
                continue;
            };
            let seconds = value.parse::<f64>().ok();
            let time = seconds.and_then(|it| Duration::try_from_secs_f64(it * unit).ok());
            match time.filter(|it| !it.is_zero()) {
                Some(time) => return Some(time),
                None => self.mistake(member, "expected a number above 0"),
            }
        }
        None
    }

    /// Reads the rules of an entry's tools: of `tools`, and of the lists of names that hosts have.
    fn tools(&mut self, members: &EntryMembers) -> ToolRules {
        let mut rules = ToolRules::new();
        for (member, allows) in [
            ("enabled_tools", true),
            ("includeTools", true),
            ("disabled_tools", false),
            ("disabledTools", false),
            ("excludeTools", false),
        ] {
            if members.get(member).is_some_and(|it| !it.is_null()) {
                rules = self.patterns(rules, members, member, allows);
            }
        }
        let tools = members.get("tools").filter(|it| !it.is_null());
        match tools.map(Json::kind) {
            None => rules,
            Some(Kind::Array) => self.patterns(rules, members, "tools", true),
            Some(Kind::Object) => match tools.map(Json::read::<EntryMembers>) {
                Some(Ok(tools)) => self.tool_rules(rules, &tools),
                Some(Err(why)) => {
                    self.mistake("tools", why);
                    rules
                }
                None => rules,
            },
            Some(kind) => {
                self.mistake(
                    "tools",
                    format!("expected an object, found {}", named(kind)),
                );
                rules
            }
        }
    }

    fn patterns(
        &mut self,
        mut rules: ToolRules,
        members: &EntryMembers,
        member: &str,
        allows: bool,
    ) -> ToolRules {
        if allows {
            rules = rules.allow_only();
        }
        let patterns = self.array(members, member);
        patterns.iter().fold(rules, |rules, pattern| {
            if allows {
                rules.allow(pattern)
            } else {
                rules.deny(pattern)
            }
        })
    }

    fn tool_rules(&mut self, mut rules: ToolRules, tools: &EntryMembers) -> ToolRules {
        for member in tools.keys() {
            match member {
                "allow" | "deny" => rules = self.patterns(rules, tools, member, member == "allow"),
                "rename" => {
                    let mut names = std::collections::BTreeSet::new();
                    for (tool, name) in self.texts(tools, member) {
                        let Some(name) = name else { continue };
                        rules = rules.rename(&tool, &name);
                        if !names.insert(name.clone()) {
                            let name = excerpt(&name, EXCERPT);
                            self.mistake(
                                "tools.rename",
                                format!("`{name}` is the name of two tools"),
                            );
                        }
                    }
                }
                "describe" => {
                    for (tool, text) in self.texts(tools, member) {
                        rules = rules.describe(&tool, &text.unwrap_or_default());
                    }
                }
                "scopes" | "principals" => {
                    let conditions = tools.get(member).map(Json::read::<EntryMembers>);
                    let Some(Ok(conditions)) = conditions else {
                        let why = "expected an object of arrays of patterns";
                        self.mistake(&format!("tools.{member}"), why);
                        continue;
                    };
                    for condition in conditions.keys() {
                        for pattern in self.array(&conditions, condition) {
                            rules = match member {
                                "scopes" => rules.only_with_scope(condition, &pattern),
                                _ => rules.only_for(condition, &pattern),
                            };
                        }
                    }
                }
                other => {
                    let why =
                        "expected `allow`, `deny`, `rename`, `describe`, `scopes` or `principals`";
                    self.mistake(&format!("tools.{}", excerpt(other, EXCERPT)), why);
                }
            }
        }
        rules
    }

    /// Reads a text that is required, with its references.
    fn required_text(&mut self, members: &EntryMembers, member: &str) -> Option<String> {
        match members.get(member) {
            None => {
                self.mistake(member, "expected a text");
                None
            }
            Some(value) if value.kind() != Kind::String => {
                self.mistake(
                    member,
                    format!("expected a text, found {}", named(value.kind())),
                );
                None
            }
            Some(value) => self.scalar(member, value),
        }
    }

    /// Reads a text that may be absent or null.
    fn text(&mut self, members: &EntryMembers, member: &str) -> Option<String> {
        members.get(member).filter(|it| !it.is_null())?;
        self.required_text(members, member)
    }

    /// Reads an array of texts; empty if it is absent or null.
    fn array(&mut self, members: &EntryMembers, member: &str) -> Vec<String> {
        let Some(value) = members.get(member).filter(|it| !it.is_null()) else {
            return Vec::new();
        };
        let Ok(values) = value.read::<Vec<Json>>() else {
            let found = named(value.kind());
            self.mistake(member, format!("expected an array of texts, found {found}"));
            return Vec::new();
        };
        let numbered = values.iter().enumerate();
        numbered
            .filter_map(|(at, value)| self.scalar(&format!("{member}[{at}]"), value))
            .collect()
    }

    /// Reads an object of texts; `None` stands for null.
    fn texts(&mut self, members: &EntryMembers, member: &str) -> Vec<(String, Option<String>)> {
        let Some(value) = members.get(member).filter(|it| !it.is_null()) else {
            return Vec::new();
        };
        let entries = match value.read::<EntryMembers>() {
            Ok(entries) => entries,
            Err(why) if value.kind() == Kind::Object => {
                self.mistake(member, why);
                return Vec::new();
            }
            Err(_) => {
                let found = named(value.kind());
                self.mistake(
                    member,
                    format!("expected an object of texts, found {found}"),
                );
                return Vec::new();
            }
        };
        let mut texts = Vec::new();
        for (name, value) in entries.iter() {
            if value.is_null() {
                texts.push((name.to_owned(), None));
                continue;
            }
            let value = self.scalar(&format!("{member}.{}", excerpt(name, EXCERPT)), value);
            texts.extend(value.map(|value| (name.to_owned(), Some(value))));
        }
        texts
    }

    /// Reads a text with its references, or a number or boolean in place of one.
    fn scalar(&mut self, member: &str, value: &Json) -> Option<String> {
        match value.kind() {
            Kind::String => {
                let text = value.as_str().unwrap_or_default();
                if !self.expands {
                    return Some(text.into_owned());
                }
                match self.references.expand(&text) {
                    Ok(text) => Some(text),
                    Err(why) => {
                        self.mistake(member, why);
                        None
                    }
                }
            }
            Kind::Integer | Kind::Number | Kind::Boolean => Some(value.text().to_owned()),
            kind => {
                self.mistake(member, format!("expected a text, found {}", named(kind)));
                None
            }
        }
    }
}

/// Checks that a URL is one of HTTP with a host.
///
/// # Errors
/// Returns an error that says which part is wrong.
pub fn check_url(text: &str) -> Result<(), &'static str> {
    if unix_socket(text).is_some() {
        return Ok(());
    }
    let rest = ["http://", "https://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    match rest {
        Some(rest) if !rest.starts_with(['/', '?', '#']) && !rest.is_empty() => Ok(()),
        Some(_) => Err("the URL has no host"),
        None => Err("expected http://, https:// or unix:"),
    }
}

/// Returns the name of a JSON kind, for people.
fn named(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Boolean => "a boolean",
        Kind::Integer | Kind::Number => "a number",
        Kind::String => "a text",
        Kind::Array => "an array",
        Kind::Object => "an object",
    }
}
