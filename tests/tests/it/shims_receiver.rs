//! The receiver's law: what comes out is valid in the target, and means there what it says.
//!
//! Tools, and results that fit them, are drawn together; an independent judge of JSON Schema says whether a converted
//! result fits the converted schema of its tool. The rest is drawn by name: claims, control members, codes, marks.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use mcp_revisions_core::values::method_name;
use mcp_revisions_core::{
    Context, Extension, Lifecycle, Outcome, Part, Protocol, Revision, Route, Session, Status,
    Subject, UnknownFields,
};
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
    let models = crate::specs::models();
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
                mcp_revisions_core::values::convert_error(name(method), from, to, error, cx)
                    .value()?;
            return serde_json::from_str(&mcp_wire::to_string(&error)).ok();
        }
    };
    let outcome: Outcome<Json> =
        mcp_revisions_core::values::convert(subject, from, to, text, cx).unwrap();
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

/// A schema of a tool as a careless server writes it.
fn careless(draw: &mut Draw) -> Value {
    let one_of = |draw: &mut Draw, all: &[Value]| draw.0.pick(all).unwrap().clone();
    let roots = [
        json!([]),
        json!({}),
        json!(null),
        json!(true),
        json!("{}"),
        json!([1]),
    ];
    if draw.0.once_in(6) {
        return one_of(draw, &roots);
    }
    let mut schema = Map::new();
    let types = [
        json!("object"),
        json!(["object"]),
        json!(["null", "object"]),
        json!("OBJECT"),
        json!("string"),
        json!(["string", "null"]),
        json!(null),
        json!({}),
        json!(7),
    ];
    let odd = [
        json!([]),
        json!({}),
        json!(null),
        json!(false),
        json!(5),
        json!("a"),
        json!(["a", 5, null]),
    ];
    if !draw.0.once_in(3) {
        schema.insert("type".to_owned(), one_of(draw, &types));
    }
    for name in [
        "properties",
        "required",
        "$schema",
        "anyOf",
        "additionalProperties",
    ] {
        if draw.0.once_in(2) {
            let value = if name == "properties" && draw.0.once_in(2) {
                json!({ "a": one_of(draw, &odd), "b": { "type": "string" }, "c": one_of(draw, &odd) })
            } else {
                one_of(draw, &odd)
            };
            schema.insert(name.to_owned(), value);
        }
    }
    Value::Object(schema)
}

#[test]
fn tools_are_valid_for_their_receiver_whatever_schemas_they_came_with_and_what_is_left_out_is_told()
{
    let mut draw = Draw(Random::new(seed(&["receiver", "careless"])));
    let judges: BTreeMap<Revision, jsonschema::Validator> = (Revision::CONVERTED.iter())
        .map(|revision| {
            let file = root().join(format!("spec/{revision}/schema.json"));
            let mut schema: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
            schema["$ref"] = json!("#/$defs/ListToolsResult");
            (*revision, jsonschema::validator_for(&schema).unwrap())
        })
        .collect();
    let (mut kept, mut left_out) = (0, 0);
    for _ in 0..300 {
        let mut tool = json!({ "name": "careless", "inputSchema": careless(&mut draw) });
        if draw.0.once_in(2) {
            tool["outputSchema"] = careless(&mut draw);
        }
        let plain = json!({ "name": "plain", "inputSchema": { "type": "object" } });
        let list = json!({ "tools": [tool, plain], "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
        let text = list.to_string();
        for (from, to) in (judges.keys()).flat_map(|from| judges.keys().map(move |to| (*from, *to)))
        {
            if from == to {
                continue;
            }
            let subject = Subject::Method("tools/list", Part::Result, None);
            let outcome =
                mcp_revisions_core::values::convert(subject, from, to, &text, Context::default());
            let outcome = outcome.unwrap_or_else(|error| panic!("{from} to {to}: {error}: {text}"));
            let told = outcome.losses().to_vec();
            let value: Value = serde_json::from_str(outcome.value().unwrap().text()).unwrap();
            assert!(
                judges[&to].is_valid(&value),
                "{from} to {to}: {text} became {value}"
            );
            let tools = value["tools"].as_array().unwrap();
            let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
            assert!(has("plain"), "{from} to {to}: {text} became {value}");
            if has("careless") {
                kept += 1;
            } else {
                left_out += 1;
                let names = told
                    .iter()
                    .any(|loss| loss.part() == Some("tool `careless`"));
                assert!(names, "{from} to {to}: {text}: {told:?}");
            }
        }
    }
    assert!(
        kept > 100 && left_out > 100,
        "{kept} kept, {left_out} left out"
    );
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
fn a_code_of_one_revision_reaches_no_other_by_any_way_and_on_any_method() {
    let extensions = Extension::ALL.iter().map(Protocol::Extension);
    let revisions = Revision::CONVERTED
        .iter()
        .map(|one| Protocol::Revision(*one));
    let ends: Vec<Protocol> = revisions.chain(extensions).collect();
    let is_handshake = |end: Protocol| end.revision().lifecycle() == Lifecycle::Handshake;
    let mut ways = BTreeMap::new();
    for (from, to) in ends
        .iter()
        .flat_map(|from| ends.iter().map(move |to| (*from, *to)))
    {
        let Ok(route) = Route::between(from, to) else {
            continue;
        };
        let methods = [from, to].map(|end| end.methods().iter().map(|row| row.name));
        let own = ["tools/call", "tools/list", "resources/read"];
        for method in methods.into_iter().flatten().chain(own) {
            for code in [-32020, -32021, -32022, -32002] {
                let error = ErrorObject::new(code, "m");
                let sent = route.convert_error(method, error, Context::default());
                let Some(sent) = sent.ok().and_then(|(error, _)| error.code.as_i64()) else {
                    continue;
                };
                let is_gone = match (is_handshake(from), is_handshake(to)) {
                    (true, false) => true,
                    (false, true) => code != -32002,
                    _ => continue,
                };
                assert!(!is_gone || sent != code, "{from} to {to}, {method}: {code}");
                ways.insert(format!("{from} to {to}"), ());
            }
        }
    }
    assert!(ways.contains_key("tasks to 2025-11-25"), "{ways:?}");
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
