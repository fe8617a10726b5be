//! The receiver's law: what comes out is valid in the target, and means there what it says.
//!
//! Tools, and results that fit them, are drawn together; an independent judge of JSON Schema says whether a converted
//! result fits the converted schema of its tool. The rest is drawn by name: claims, control members, codes, marks.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use mcp_revisions_core::{
    Context, Lifecycle, Outcome, Part, Revision, Session, Status, Subject, UnknownFields,
    method_name,
};
use mcp_revisions_schema::{Models, Spec};
use mcp_tests::random::{Random, seed};
use mcp_tests::root;
use mcp_tests::sampler::{Recipe, Sampler};
use mcp_wire::pointer::escaped;
use mcp_wire::{Direction, ErrorObject, Json};
use serde_json::{Map, Value, json};

/// The latest release.
fn latest() -> Revision {
    let mut converted = Revision::CONVERTED.iter().copied();
    let latest = converted.rfind(|revision| revision.status() == Status::Released);
    latest.unwrap()
}

/// The revisions that open with a handshake.
fn older() -> impl Iterator<Item = Revision> {
    let converted = Revision::CONVERTED.iter().copied();
    converted.filter(|revision| revision.lifecycle() == Lifecycle::Handshake)
}

/// The least that each definition of the latest release demands, by its name there.
static LEAST: LazyLock<BTreeMap<&str, Value>> = LazyLock::new(|| {
    let spec = Spec::read(&root().join("spec")).unwrap();
    let models = Models::build(&spec).unwrap();
    let sampler = Sampler::new(&models.get(latest().id()).unwrap().model, latest().id());
    let least = |name| sampler.instance(name, Recipe::Least, 1).text;
    let types = latest().types().iter();
    types
        .filter_map(|row| {
            let value = serde_json::from_str(&least(row.rust_name)).ok()?;
            Some((row.name, value))
        })
        .collect()
});

/// A value of a definition of the latest release: what a test says of it, and of the rest what is demanded.
fn whole(definition: &str, said: &Value) -> String {
    let mut whole = LEAST[definition].clone();
    for (name, value) in said.as_object().unwrap() {
        whole[name] = value.clone();
    }
    whole.to_string()
}

/// The params of a method, whole; none if the latest release, such as one to which the method was lost, has no such
/// method, and so nothing that has a counterpart.
fn whole_params(method: &str, said: &Value) -> Option<String> {
    let sender = Direction::ClientToServer;
    let name = method_name(method, sender, Revision::LATEST, latest());
    let mut rows = latest().methods().iter();
    let row = rows.find(|row| row.name == name && row.direction == sender)?;
    Some(whole(row.params?, said))
}

/// Whether a tool of a revision can say what its results look like.
fn has_output_schemas(older: Revision) -> bool {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": { "type": "object" } });
    let tool = convert(
        What::Type("Tool"),
        latest(),
        older,
        UnknownFields::Drop,
        &whole("Tool", &tool),
    );
    tool.is_some_and(|tool| tool.get("outputSchema").is_some())
}

/// What is converted: a type, or a part of a method that is called so in the revision of handlers.
#[derive(Clone, Copy)]
enum What<'a> {
    Type(&'a str),
    Params(&'a str),
    Result(&'a str),
    Error(&'a str),
}

/// The one way by which this test converts: none if there is no value to send.
fn convert(
    what: What<'_>,
    from: Revision,
    to: Revision,
    policy: UnknownFields,
    text: &str,
) -> Option<Value> {
    let name = |method| method_name(method, Direction::ClientToServer, Revision::LATEST, from);
    let cx = Context::new(policy).with_session(Session {
        client_capabilities: Json::from_text("{}").ok(),
        ..Session::default()
    });
    let subject = match what {
        What::Type(name) => Subject::Type(name),
        What::Params(method) => Subject::Method(name(method), Part::Params, None),
        What::Result(method) => Subject::Method(name(method), Part::Result, None),
        What::Error(method) => {
            let error: ErrorObject = mcp_wire::from_str(text).unwrap();
            let error =
                mcp_revisions_core::convert_error(name(method), from, to, error, cx).value()?;
            return serde_json::from_str(&mcp_wire::to_string(&error)).ok();
        }
    };
    let outcome: Outcome<Json> = mcp_revisions_core::convert(subject, from, to, text, cx).unwrap();
    serde_json::from_str(outcome.value()?.text()).ok()
}

/// Both policies.
const POLICIES: [UnknownFields; 2] = [UnknownFields::Drop, UnknownFields::Preserve];

/// Draws schemas of any root, with references and with properties that have the names of keywords.
struct Draw(Random);

impl Draw {
    fn name(&mut self) -> String {
        let names = [
            "a",
            "default",
            "enum",
            "const",
            "examples",
            "$id",
            "$ref",
            "properties",
            "b/c~d",
        ];
        (*self.0.pick(&names).unwrap()).to_owned()
    }

    fn schema(&mut self, depth: usize, definitions: &[String]) -> Value {
        let kinds = ["string", "integer", "null", "boolean", "array", "object"];
        let kind = *self.0.pick(&kinds).unwrap();
        match self.0.below(if depth == 0 { 3 } else { 9 }) {
            0 => json!({}),
            1 => json!({ "type": kind }),
            2 | 3 if !definitions.is_empty() => {
                let name = self.0.pick(definitions).unwrap();
                json!({ "$ref": format!("#/$defs/{}", escaped(name)) })
            }
            4 => json!({ "type": [kind, "object"] }),
            5 => json!({ "anyOf": [self.schema(depth - 1, definitions), { "type": kind }] }),
            6 => json!({ "type": "array", "items": self.schema(depth - 1, definitions) }),
            _ => {
                let mut properties = Map::new();
                for _ in 0..=self.0.below(2) {
                    let name = self.name();
                    properties.insert(name, self.schema(depth.saturating_sub(1), definitions));
                }
                let mut schema = json!({ "properties": properties });
                if self.0.once_in(2) {
                    schema["type"] = json!("object");
                }
                schema
            }
        }
    }

    /// A schema with definitions that its references lead to.
    fn root(&mut self) -> Value {
        let names: Vec<String> = (0..self.0.below(3)).map(|_| self.name()).collect();
        let mut schema = self.schema(2, &names);
        if !names.is_empty() {
            let mut definitions = Map::new();
            for name in &names {
                definitions.insert(name.clone(), self.schema(1, &[]));
            }
            schema["$defs"] = Value::Object(definitions);
        }
        schema
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.0.below(if depth == 0 { 4 } else { 8 }) {
            0 => json!(null),
            1 => json!(true),
            2 => json!(self.0.below(9)),
            3 => json!("x"),
            4 => Value::Array(
                (0..self.0.below(3))
                    .map(|_| self.value(depth - 1))
                    .collect(),
            ),
            5 => json!({ "result": self.value(depth - 1) }),
            _ => {
                let mut members = Map::new();
                for _ in 0..self.0.below(3) {
                    let name = self.name();
                    members.insert(name, self.value(depth - 1));
                }
                Value::Object(members)
            }
        }
    }
}

/// References of a schema that lead nowhere in it.
fn dangling(whole: &Value, place: &Value, found: &mut Vec<String>) {
    match place {
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str().and_then(|target| target.strip_prefix('#')) {
                    Some(pointer) if name == "$ref" && whole.pointer(pointer).is_none() => {
                        found.push(format!("#{pointer}"));
                    }
                    _ => dangling(whole, value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| dangling(whole, item, found)),
        _ => {}
    }
}

#[test]
fn results_fit_the_schema_of_their_tool_and_references_lead_somewhere() {
    let mut draw = Draw(Random::new(seed(&["receiver", "tools"])));
    let (mut judged, mut failures) = (0, Vec::new());
    for number in 0..400 {
        let schema = draw.root();
        let Ok(before) = jsonschema::validator_for(&schema) else {
            continue;
        };
        let tool =
            json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema });
        for older in older().filter(|older| has_output_schemas(*older)) {
            let tool = convert(
                What::Type("Tool"),
                latest(),
                older,
                UnknownFields::Drop,
                &whole("Tool", &tool),
            );
            let converted = &tool.expect("a tool has a counterpart")["outputSchema"];
            let mut lost = Vec::new();
            dangling(converted, converted, &mut lost);
            let after = jsonschema::validator_for(converted);
            let Ok(after) = after.map_err(|error| failures.push(format!("{number}: {error}")))
            else {
                continue;
            };
            if !lost.is_empty() {
                failures.push(format!("{number}: {lost:?} of {schema} in {converted}"));
            }
            for _ in 0..8 {
                let value = draw.value(2);
                if !before.is_valid(&value) {
                    continue;
                }
                judged += 1;
                let result =
                    json!({ "content": [], "resultType": "complete", "structuredContent": value });
                let what = What::Result("tools/call");
                let result = convert(
                    what,
                    latest(),
                    older,
                    UnknownFields::Drop,
                    &whole("CallToolResult", &result),
                );
                let result = result.expect("a result has a counterpart");
                if !after.is_valid(&result["structuredContent"]) {
                    failures.push(format!(
                        "{number}: {value} of {schema} became {result}, which {converted} refuses"
                    ));
                }
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {judged}:\n{}",
        failures.len(),
        failures[..3.min(failures.len())].join("\n")
    );
    assert!(judged > 500, "{judged} results");
}

#[test]
fn a_message_of_the_handshake_makes_no_claim() {
    let mut draw = Draw(Random::new(seed(&["receiver", "claims"])));
    let mut methods = 0;
    for method in [
        "tools/call",
        "tools/list",
        "prompts/get",
        "resources/read",
        "completion/complete",
    ] {
        for number in 0..20 {
            let mut meta = json!({
                "io.modelcontextprotocol/protocolVersion": latest().protocol_version(),
                "io.modelcontextprotocol/clientCapabilities": {},
                "com.example/key": draw.value(2),
            });
            if draw.0.once_in(2) {
                meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "c", "version": "1" });
            }
            let text = json!({
                "_meta": meta, "name": "n", "uri": "file:///a",
                "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" },
            });
            let Some(text) = whole_params(method, &text) else {
                continue;
            };
            methods += usize::from(number == 0);
            for (older, policy) in older().flat_map(|older| POLICIES.map(|policy| (older, policy)))
            {
                let older = convert(What::Params(method), latest(), older, policy, &text);
                let meta = older.expect("a request has a counterpart")["_meta"].clone();
                let keys: Vec<&String> = meta.as_object().unwrap().keys().collect();
                assert_eq!(keys, ["com.example/key"], "{method}, {policy:?}: {text}");
            }
        }
    }
    assert!(methods > 2, "{methods} methods");
}

#[test]
fn control_members_never_come_from_unknown_ones() {
    let mut draw = Draw(Random::new(seed(&["receiver", "control"])));
    let words = [
        "input_required",
        "task",
        "weird",
        "public",
        "private",
        "complete",
        "s",
    ];
    for _ in 0..60 {
        for policy in POLICIES {
            let mut result = json!({ "content": [], "tools": [] });
            let mut request = json!({ "name": "n" });
            for member in [
                "resultType",
                "cacheScope",
                "ttlMs",
                "requestState",
                "inputResponses",
                "inputRequests",
            ] {
                if draw.0.once_in(2) {
                    let word = *draw.0.pick(&words).unwrap();
                    let value = [json!(word), json!({}), json!(60_000)][draw.0.below(3)].clone();
                    result[member] = value.clone();
                    request[member] = value;
                }
            }
            for older in older() {
                let up = |what, value: &Value| {
                    convert(what, older, latest(), policy, &value.to_string())
                        .expect("it has a counterpart")
                };
                let list = up(What::Result("tools/list"), &result);
                assert_eq!(
                    (&list["resultType"], &list["cacheScope"], &list["ttlMs"]),
                    (&json!("complete"), &json!("private"), &json!(0)),
                    "{older}, {policy:?}: {result}"
                );
                let called = up(What::Result("tools/call"), &result);
                assert_eq!(
                    called["resultType"], "complete",
                    "{older}, {policy:?}: {result}"
                );
                let called = up(What::Params("tools/call"), &request);
                for member in ["requestState", "inputResponses"] {
                    assert!(
                        called.get(member).is_none(),
                        "{older}, {policy:?}: {request}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_reserved_code_is_sent_with_its_own_meaning_or_not_at_all() {
    for code in -32110..-31990 {
        let text = json!({ "code": code, "message": "m" }).to_string();
        for older in older() {
            for method in [
                "tools/list",
                "tools/call",
                "resources/read",
                "completion/complete",
            ] {
                let up = convert(
                    What::Error(method),
                    older,
                    latest(),
                    UnknownFields::Drop,
                    &text,
                );
                let Some(sent) = up.map(|up| up["code"].as_i64().unwrap()) else {
                    continue;
                };
                assert!(
                    !(-32099..=-32020).contains(&sent),
                    "{code} of {method} became {sent}"
                );
                assert_ne!(sent, -32002, "{code} of {method}");
            }
        }
    }
}

#[test]
fn no_mark_outlives_what_it_describes() {
    let mut draw = Draw(Random::new(seed(&["receiver", "marks"])));
    let lacking: Vec<Revision> = older()
        .filter(|older| !has_output_schemas(*older))
        .collect();
    assert!(!lacking.is_empty());
    for _ in 0..60 {
        let value = draw.value(2);
        let result = json!({ "content": [], "resultType": "complete", "structuredContent": value });
        let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": draw.root() });
        for ((what, text), older) in [
            (What::Result("tools/call"), whole("CallToolResult", &result)),
            (What::Type("Tool"), whole("Tool", &tool)),
        ]
        .into_iter()
        .flat_map(|one| lacking.iter().map(move |older| (one.clone(), *older)))
        {
            let latest = latest();
            let down = convert(what, latest, older, UnknownFields::Drop, &text).unwrap();
            assert!(
                !down.to_string().contains("mcp-revisions"),
                "{text} became {down}"
            );
            let back =
                convert(what, older, latest, UnknownFields::Drop, &down.to_string()).unwrap();
            assert!(
                back.get("outputSchema").is_none(),
                "{text} came back as {back}"
            );
        }
    }
}
