//! Parameters of tools that headers repeat: `Mcp-Param-<name>`, as `x-mcp-header` in the schema of the tool says.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use mcp_wire::{Json, JsonObject, Kind, Map};

/// The beginning of every such header.
pub const PREFIX: &str = "Mcp-Param-";

/// The word in a schema.
pub(crate) const WORD: &str = "x-mcp-header";

/// The keywords of a schema whose values are not schemas: the word means nothing in them.
const VALUES: [&str; 4] = ["default", "examples", "enum", "const"];

/// A parameter that a header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// The name of the header behind [`PREFIX`].
    pub name: String,
    /// The members that lead to it in the arguments.
    pub path: Vec<String>,
}

/// Returns the parameters of a tool that headers repeat, by its `inputSchema`. The error says why the schema says what it may
/// not.
fn of_schema(schema: &Json) -> Result<Vec<Param>, String> {
    let mut found = Vec::new();
    // Most schemas do not know the word.
    if !schema.text().contains(WORD) {
        return Ok(found);
    }
    let mut path = Vec::new();
    let placed = walk(schema.clone(), &mut path, &mut found)?;
    if placed != count(schema.clone()) {
        return Err(format!(
            "`{WORD}` stands where no chain of `properties` leads"
        ));
    }
    let mut names = BTreeSet::new();
    for param in &found {
        if !names.insert(param.name.to_ascii_lowercase()) {
            return Err(format!("`{WORD}` says `{}` twice", param.name));
        }
    }
    Ok(found)
}

/// Goes down the properties; how many words were found on the way. Of each level the text is dropped before the next.
fn walk(schema: Json, path: &mut Vec<String>, found: &mut Vec<Param>) -> Result<usize, String> {
    let mut placed = 0;
    let properties = schema.read_member::<Map<Json>>("properties");
    drop(schema);
    for (name, property) in properties.into_iter().flatten() {
        if property.kind() != Kind::Object {
            continue;
        }
        path.push(name);
        if let Some(header) = property.get(WORD) {
            let header_name = header.as_str().map(Cow::into_owned).unwrap_or_default();
            let kind = property.read_member::<String>("type");
            if !matches!(kind.as_deref(), Some("string" | "integer" | "boolean")) {
                return Err(format!(
                    "`{WORD}` at `{}`, which is not a string, an integer or a boolean",
                    path.join(".")
                ));
            }
            if !is_token(&header_name) {
                return Err(format!(
                    "`{WORD}` at `{}` is not a header name",
                    path.join(".")
                ));
            }
            placed += 1;
            found.push(Param {
                name: header_name,
                path: path.clone(),
            });
        }
        placed += walk(property, path, found)?;
        path.pop();
    }
    Ok(placed)
}

/// Returns the number of times that the word is a member in a schema. Of each level the text is dropped before the next.
fn count(json: Json) -> usize {
    match json.kind() {
        Kind::Object => {
            let members: Map<Json> = json.read().unwrap_or_default();
            drop(json);
            let schemas = members
                .into_iter()
                .filter(|(name, _)| !VALUES.contains(&name.as_str()));
            schemas
                .map(|(name, value)| usize::from(name == WORD) + count(value))
                .sum()
        }
        Kind::Array => {
            let items: Vec<Json> = json.read().unwrap_or_default();
            drop(json);
            items.into_iter().map(count).sum()
        }
        _ => 0,
    }
}

/// Returns whether a text can be the name of a header.
pub(crate) fn is_token(text: &str) -> bool {
    let is_char = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_char)
}

/// The parameters of tools that headers repeat, as lists of tools say; tools without any are not among them.
#[derive(Debug, Default)]
pub struct Learned {
    pub(super) tools: HashMap<String, Vec<Param>>,
    bytes: usize,
    /// Maximum number of bytes of remembered names; the parameters of other tools are not remembered.
    most: usize,
}

impl Learned {
    /// Creates an empty memory of so many bytes.
    pub fn within(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// Returns the parameters of a tool.
    pub fn of(&self, tool: &str) -> &[Param] {
        self.tools.get(tool).map_or(&[], Vec::as_slice)
    }

    /// Learns from a result of `tools/list`: returns its tools that keep the rule, and why others break it.
    pub fn learn(&mut self, page: &Json) -> (Vec<Json>, Vec<String>) {
        let listed = page
            .get("tools")
            .and_then(|tools| tools.read::<Vec<JsonObject>>().ok());
        let (mut kept, mut broken) = (Vec::new(), Vec::new());
        for tool in listed.into_iter().flatten() {
            let name = tool
                .as_json()
                .read_member::<String>("name")
                .unwrap_or_default();
            self.forget(&name);
            let params = tool.get("inputSchema").map(|schema| of_schema(&schema));
            match params.unwrap_or_else(|| Ok(Vec::new())) {
                Ok(params) => {
                    self.remember(name, params);
                    kept.push(Json::from(tool));
                }
                Err(why) => broken.push(format!("the tool `{name}` is left out: {why}")),
            }
        }
        (kept, broken)
    }

    fn remember(&mut self, name: String, params: Vec<Param>) {
        let bytes = cost(&name, &params);
        let has_room = self.tools.len() < TOOLS && self.bytes.saturating_add(bytes) <= self.most;
        if !params.is_empty() && has_room {
            self.bytes += bytes;
            self.tools.insert(name, params);
        }
    }

    fn forget(&mut self, name: &str) {
        if let Some(params) = self.tools.remove(name) {
            self.bytes -= cost(name, &params);
        }
    }
}

/// Maximum number of tools with such parameters that are remembered.
const TOOLS: usize = 10_000;

/// Returns the number of bytes of a tool's parameters.
fn cost(tool: &str, params: &[Param]) -> usize {
    let of = |param: &Param| {
        let path: usize = param.path.iter().map(String::len).sum();
        param.name.len() + path + PARAM_BYTES * (1 + param.path.len())
    };
    tool.len() + params.iter().map(of).sum::<usize>()
}

/// Number of bytes of a parameter beside its own, and of each member that leads to it.
const PARAM_BYTES: usize = 64;

impl Param {
    /// Returns the value in the arguments; `None` if there is no value.
    pub fn find(&self, arguments: &Json) -> Option<Json> {
        let mut at = arguments.clone();
        for name in &self.path {
            at = at.get(name)?;
        }
        (!at.is_null()).then_some(at)
    }
}

/// Returns a value as a header has it before it is encoded.
pub fn text_of(value: Json) -> String {
    match value.as_str() {
        Some(text) => text.into_owned(),
        None => value.into_text(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    fn schema(properties: &str) -> Json {
        Json::from_text(&format!(r#"{{"type":"object","properties":{properties}}}"#)).unwrap()
    }

    #[test]
    fn a_schema_says_which_parameters_headers_repeat() {
        let nested = schema(
            r#"{"region":{"type":"string","x-mcp-header":"Region"},"at":{"type":"object","properties":{"zone":{"type":"integer","x-mcp-header":"Zone"}}}}"#,
        );
        let params = of_schema(&nested).unwrap();
        let paths: Vec<_> = params
            .iter()
            .map(|param| (param.name.as_str(), param.path.join(".")))
            .collect();
        assert_eq!(
            paths,
            [
                ("Region", "region".to_owned()),
                ("Zone", "at.zone".to_owned())
            ]
        );
        for wrong in [
            r#"{"a":{"type":"string","x-mcp-header":""}}"#,
            r#"{"a":{"type":"string","x-mcp-header":"a b"}}"#,
            r#"{"a":{"type":"string","x-mcp-header":7}}"#,
            r#"{"a":{"type":"number","x-mcp-header":"A"}}"#,
            r#"{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}"#,
            r#"{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}"#,
            r#"{"a":{"anyOf":[{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}]}}"#,
        ] {
            assert!(of_schema(&schema(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn headers_of_tools_are_remembered_as_far_as_their_bytes_go() {
        const MOST: usize = 1 << 20;
        let mut learned = Learned::within(MOST);
        let page = |numbers: std::ops::Range<usize>, word: &str| {
            let name = "x".repeat(500);
            let tool = |number: usize| {
                format!(
                    r#"{{"name":"{number}","inputSchema":{{"properties":{{"{name}":{{"type":"string","{word}":"{name}"}}}}}}}}"#
                )
            };
            let tools: Vec<String> = numbers.map(tool).collect();
            Json::from_text(&format!(r#"{{"tools":[{}]}}"#, tools.join(","))).unwrap()
        };
        let (kept, broken) = learned.learn(&page(0..1_500, WORD));
        assert_eq!((kept.len(), broken.len()), (1_500, 0));
        assert!(learned.bytes <= MOST && learned.tools.len() < 1_000);
        assert_eq!((learned.of("7").len(), learned.of("1499").len()), (1, 0));
        // What a later list does not say is forgotten.
        learned.learn(&page(0..1_500, "title"));
        assert_eq!((learned.bytes, learned.tools.len()), (0, 0));
        learned.learn(&page(1_499..1_500, WORD));
        assert_eq!(learned.of("1499").len(), 1);
    }
}
