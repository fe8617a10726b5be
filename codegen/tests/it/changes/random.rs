//! Changes of a schema at random, one at a time, as revisions change: the same on every run.

use mcp_revisions_schema::pointer::escaped;
use serde_json::Value;

use super::apply;

/// A generator of choices; the same seed gives the same choices.
pub(crate) struct Random(fastrand::Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }

    pub(crate) fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    pub(crate) fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        (!items.is_empty()).then(|| &items[self.below(items.len())])
    }
}

/// A number from the environment, such as a seed.
pub(crate) fn number_from(variable: &str, default: u64) -> u64 {
    let value = std::env::var(variable).ok();
    let number = value.map(|value| value.parse().expect("a number"));
    number.unwrap_or(default)
}

/// The places of a schema at which a kind of change can be made, each a pointer below `$defs`.
type Places = fn(&Value) -> Vec<String>;

/// A kind of change: its name, its places, and its steps.
///
/// In the steps, `$at` is the place, `$def` the definition that it is in, `$member` what it is called there, `$other`
/// the union of what the other side sends, `$new` a name that the schema does not have, `$type` some type.
pub(crate) type Kind = (&'static str, Places, &'static str);

/// Every kind of change.
pub(crate) const KINDS: &[Kind] = &[
    (
        "optional member added",
        objects,
        "put $at/properties/$new $type",
    ),
    (
        "required member added",
        objects,
        "put $at/properties/$new $type\nrequire $at $new",
    ),
    (
        "required member with a default added",
        objects,
        "put $at/properties/$new {\"type\": \"string\", \"default\": \"usual\"}\nrequire $at $new",
    ),
    ("optional member removed", optional, "take $at"),
    (
        "required member removed",
        required,
        "take $at\nrelease $def $member",
    ),
    (
        "optional member renamed",
        optional,
        "move $at $def/properties/$new",
    ),
    (
        "required member renamed",
        required,
        "move $at $def/properties/$new\nrelease $def $member\nrequire $def $new",
    ),
    ("optional member retyped", optional, "put $at $type"),
    ("required member retyped", required, "put $at $type"),
    ("member required", optional, "require $def $member"),
    ("member made optional", required, "release $def $member"),
    (
        "choice added",
        unions,
        "put $new {\"type\": \"object\", \"properties\": {\"type\": {\"type\": \"string\", \"const\": \"$new\"}, \"data\": {\"type\": \"string\"}}, \"required\": [\"type\", \"data\"]}\nput $at/anyOf/- \"@$new\"",
    ),
    (
        "choice removed",
        |schema| items(schema, unions(schema), "anyOf"),
        "take $at",
    ),
    ("value added", enums, "put $at/enum/- \"$new\""),
    (
        "value removed",
        |schema| items(schema, enums(schema), "enum"),
        "take $at",
    ),
    (
        "method added",
        |_| NOTIFICATIONS.map(str::to_owned).to_vec(),
        "notification $newNotification notifications/$new\nput $at/anyOf/- \"@$newNotification\"",
    ),
    ("method removed", notifications, "take $at"),
    (
        "method moved to the other side",
        one_sided,
        "move $at $other/anyOf/-",
    ),
    (
        "list limited",
        |schema| of_type(schema, "array"),
        "put $at/maxItems 3",
    ),
    (
        "number limited",
        |schema| of_type(schema, "integer"),
        "put $at/maximum 3",
    ),
    ("constant changed", constants, "put $at/const \"$new\""),
    (
        "constant freed",
        constants,
        "put $at {\"type\": \"string\"}",
    ),
    (
        "value made constant",
        texts,
        "put $at {\"type\": \"string\", \"const\": \"only\"}",
    ),
    (
        "object closed",
        objects,
        "put $at/additionalProperties false",
    ),
    (
        "unknown members typed",
        objects,
        "put $at/additionalProperties {\"type\": \"string\"}",
    ),
    ("definition renamed", objects, "rename $at Renamed$new"),
    (
        "member beside the params required",
        messages,
        "put $at/properties/$new {\"type\": \"integer\"}\nrequire $at $new",
    ),
    (
        "id of a request narrowed",
        requests,
        "put $at/properties/id {\"type\": \"string\"}",
    ),
];

/// What messages are made of; a change there is another protocol.
const FRAME: &[&str] = &[
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "_meta",
    "resultType",
];

const NOTIFICATIONS: [&str; 2] = ["ClientNotification", "ServerNotification"];

const TYPES: &[&str] = &[
    r#"{"type": "string"}"#,
    r#"{"type": "integer"}"#,
    r#"{"type": "boolean"}"#,
    r#"{"type": "array", "items": {"type": "string"}}"#,
    r#"{"type": "object"}"#,
    r#""@Annotations""#,
    r#"{"type": "array", "items": "@Icon"}"#,
];

/// Makes a change, if the schema has a place for it, and says in its steps which one.
pub(crate) fn change(kind: &Kind, schema: &mut Value, random: &mut Random) -> Option<String> {
    let (_, places, steps) = kind;
    let place = random.pick(&places(schema))?.clone();
    let text = schema.to_string();
    let new = (1..).map(|at| format!("new{at}"));
    let new = new.into_iter().find(|name| !text.contains(name))?;
    let (def, member) = (place.split('/').next()?, place.rsplit('/').next()?);
    let [client, server] = NOTIFICATIONS;
    let steps = (steps.replace("$at", &place).replace("$def", def))
        .replace("$member", &member.replace("~1", "/"))
        .replace("$other", if def == client { server } else { client })
        .replace("$new", &new)
        .replace("$type", random.pick(TYPES)?);
    apply(schema, &steps);
    Some(steps)
}

fn definitions(schema: &Value, wanted: impl Fn(&Value) -> bool) -> Vec<String> {
    let all = schema["$defs"].as_object().unwrap();
    let envelope = |name: &str| {
        name.starts_with("JSONRPC") || name.ends_with("Request") || name.ends_with("Notification")
    };
    (all.iter())
        .filter(|(name, def)| !envelope(name) && wanted(def))
        .map(|(name, _)| name.clone())
        .collect()
}

/// The messages that a side sends by themselves, in a revision that defines them with their envelope.
fn messages(schema: &Value) -> Vec<String> {
    let lists = ["ClientRequest", "ClientNotification", "ServerNotification"];
    let listed = (lists.iter()).flat_map(|list| schema["$defs"][list]["anyOf"].as_array());
    let names = listed
        .flatten()
        .filter_map(|one| one["$ref"].as_str()?.rsplit('/').next());
    names
        .filter(|name| schema["$defs"][name]["properties"]["jsonrpc"].is_object())
        .map(str::to_owned)
        .collect()
}

fn requests(schema: &Value) -> Vec<String> {
    let mut messages = messages(schema);
    messages.retain(|name| name.ends_with("Request"));
    messages
}

fn objects(schema: &Value) -> Vec<String> {
    definitions(schema, |def| def["properties"].is_object())
}

fn members(schema: &Value, wanted: impl Fn(bool, &Value) -> bool) -> Vec<String> {
    let mut all = Vec::new();
    for name in objects(schema) {
        let def = &schema["$defs"][&name];
        for (member, value) in def["properties"].as_object().unwrap() {
            let mut required = def["required"].as_array().into_iter().flatten();
            if !FRAME.contains(&member.as_str()) && wanted(required.any(|it| it == member), value) {
                all.push(format!("{name}/properties/{}", escaped(member)));
            }
        }
    }
    all
}

fn optional(schema: &Value) -> Vec<String> {
    members(schema, |required, value| {
        !required && value.get("const").is_none()
    })
}

fn required(schema: &Value) -> Vec<String> {
    members(schema, |required, value| {
        required && value.get("const").is_none()
    })
}

fn constants(schema: &Value) -> Vec<String> {
    members(schema, |_, value| value["const"].is_string())
}

fn texts(schema: &Value) -> Vec<String> {
    members(schema, |_, value| {
        *value == serde_json::json!({"type": "string"})
    })
}

fn of_type(schema: &Value, name: &str) -> Vec<String> {
    members(schema, |_, value| value["type"] == name)
}

/// Unions whose choices are definitions with a constant `type`.
fn unions(schema: &Value) -> Vec<String> {
    let tagged = |choice: &Value| {
        let target = choice["$ref"].as_str();
        let name = target.and_then(|at| at.strip_prefix("#/$defs/"));
        name.is_some_and(|name| schema["$defs"][name]["properties"]["type"]["const"].is_string())
    };
    definitions(schema, |def| {
        let choices = def["anyOf"].as_array();
        choices.is_some_and(|choices| choices.len() > 1 && choices.iter().all(tagged))
    })
}

fn enums(schema: &Value) -> Vec<String> {
    let several = |def: &Value| {
        def["enum"]
            .as_array()
            .is_some_and(|values| values.len() > 1)
    };
    definitions(schema, several)
}

/// The items of lists of definitions, where they are more than one.
fn items(schema: &Value, names: Vec<String>, list: &str) -> Vec<String> {
    let of = |name: String| {
        let count = schema["$defs"][&name][list].as_array().map_or(0, Vec::len);
        (0..count)
            .filter(move |_| count > 1)
            .map(move |at| format!("{name}/{list}/{at}"))
    };
    names.into_iter().flat_map(of).collect()
}

fn notifications(schema: &Value) -> Vec<String> {
    items(schema, NOTIFICATIONS.map(str::to_owned).to_vec(), "anyOf")
}

/// The notifications that one side alone sends.
fn one_sided(schema: &Value) -> Vec<String> {
    let sent = |name: &str| {
        schema["$defs"][name]["anyOf"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    let [client, server] = NOTIFICATIONS.map(sent);
    let mut all = notifications(schema);
    all.retain(|at| {
        let choice = schema["$defs"].pointer(&format!("/{at}")).unwrap();
        !(client.contains(choice) && server.contains(choice))
    });
    all
}

/// Places, and what may stand at one of them beside what does, each in its steps; no steps leave it as it is.
pub(crate) type Spellings = (Places, &'static [&'static str]);

/// Limits and what else a comparison reads: any of a list may become any other one.
pub(crate) const SPELLINGS: &[Spellings] = &[
    (
        |schema| of_type(schema, "integer"),
        &[
            "",
            "put $at/minimum 0",
            "put $at/minimum 2",
            "put $at/maximum 3",
            "put $at/exclusiveMinimum 1",
            "put $at/exclusiveMaximum 3",
            "put $at/multipleOf 2",
            "put $at/multipleOf 0.5",
            "put $at {\"type\": \"integer\", \"enum\": [1, 2]}",
            "put $at {\"type\": \"number\"}",
            "put $at {\"type\": [\"integer\", \"null\"]}",
        ],
    ),
    (
        |schema| of_type(schema, "number"),
        &[
            "",
            "put $at/minimum 0",
            "put $at/exclusiveMinimum 0",
            "put $at/exclusiveMinimum 1",
            "put $at/maximum 1",
            "put $at/exclusiveMaximum 1",
            "put $at/multipleOf 0.5",
            "put $at/multipleOf 1",
            "put $at/multipleOf 2",
            "put $at/type \"integer\"",
        ],
    ),
    (
        texts,
        &[
            "",
            "put $at/minLength 0",
            "put $at/minLength 2",
            "put $at/maxLength 2",
            "put $at/pattern \"^a\"",
            "put $at/pattern \"\"",
            "put $at/format \"uri\"",
            "put $at/enum [\"a\", \"abc\"]",
            "put $at/const \"a\"",
            "put $at/enum [\"a\"]",
            "put $at {\"anyOf\": [{\"const\": \"a\"}, {\"const\": \"abc\"}]}",
            "put $at {\"type\": [\"string\", \"boolean\"]}",
            "put $at {\"enum\": [true, false, \"a\"]}",
            "put $at {\"not\": {\"type\": \"object\"}}",
            "put $at {\"type\": \"string\", \"not\": {\"const\": \"a\"}}",
            "put $at {\"oneOf\": [{\"type\": \"string\"}, {\"type\": \"string\", \"maxLength\": 1}]}",
        ],
    ),
    (
        |schema| of_type(schema, "array"),
        &[
            "",
            "put $at/minItems 0",
            "put $at/minItems 1",
            "put $at/maxItems 1",
            "put $at/uniqueItems true",
            "put $at/uniqueItems false",
            "put $at/prefixItems [{\"type\": \"string\"}]",
            "put $at/prefixItems [{\"type\": \"string\"}, {\"type\": \"string\"}]\nput $at/items false",
            "put $at/contains {\"const\": \"a\"}",
            "put $at/items {}",
            "put $at/items {\"type\": \"string\"}",
            "put $at/items {\"type\": [\"string\", \"integer\"]}",
        ],
    ),
    (
        |schema| [objects(schema), of_type(schema, "object")].concat(),
        &[
            "",
            "put $at/minProperties 0",
            "put $at/minProperties 3",
            "put $at/maxProperties 2",
            "put $at/propertyNames {\"maxLength\": 9}",
            "put $at/patternProperties {\"^x-\": {\"type\": \"string\"}}",
            "put $at/patternProperties {\"^x-\": {\"type\": \"string\"}, \"^a\": true}\nput $at/additionalProperties false",
            "put $at/additionalProperties false",
            "put $at/additionalProperties true",
            "put $at/additionalProperties {\"type\": \"string\"}",
            "put $at/additionalProperties {}\nput $at/unevaluatedProperties false",
            "put $at/unevaluatedProperties false",
            "put $at/unevaluatedProperties {\"type\": \"string\"}",
            "put $at/dependentRequired {\"x-a\": [\"x-b\"]}",
            "put $at/dependentSchemas {\"x-a\": {\"required\": [\"x-b\"]}}",
            "put $at/required [\"x-a\"]",
            "put $at/not {\"required\": [\"x-a\"]}",
            "put $at/anyOf [{\"required\": [\"x-a\"]}, {\"required\": [\"a\"]}]",
            "put $at/if {\"required\": [\"x-a\"]}\nput $at/then {\"required\": [\"a\"]}",
        ],
    ),
    (
        unions,
        &[
            "",
            "move $at/anyOf $at/oneOf",
            "put $at/anyOf/- {\"type\": \"string\"}",
            "put $at/anyOf/- {\"type\": \"object\"}",
            "take $at/anyOf/0",
        ],
    ),
];
