//! Random talks through the bridge; each message on both sides is valid in the revision of whoever reads it, by the
//! judgement of the `jsonschema` crate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use mcp_revisions::sansio::client::OutgoingRequest;
use mcp_revisions_core::{Lifecycle, Revision};
use mcp_wire::{Direction, Json};
use serde_json::{Value, json};

use crate::bridge::talk::{Talk, bridge};

/// The validators of one revision, made as they are needed.
struct Judge {
    revision: Revision,
    schema: Value,
    validators: BTreeMap<String, Validator>,
    /// The method of each request, by who sent it and its id.
    asked: BTreeMap<(bool, String), String>,
}

impl Judge {
    fn new(revision: Revision) -> Self {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec");
        let file = place.join(revision.id()).join("schema.json");
        let schema = std::fs::read_to_string(file).unwrap();
        Self {
            revision,
            schema: serde_json::from_str(&schema).unwrap(),
            validators: BTreeMap::new(),
            asked: BTreeMap::new(),
        }
    }

    /// Returns the judge of one more talk in a revision.
    fn of(judges: &mut BTreeMap<Revision, Self>, revision: Revision) -> &mut Self {
        let judge = judges
            .entry(revision)
            .or_insert_with(|| Self::new(revision));
        judge.asked.clear();
        judge
    }

    fn is_valid(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let schema = &self.schema;
        let validator = self.validators.entry(name.to_owned()).or_insert_with(|| {
            let mut whole = schema.clone();
            whole["$ref"] = format!("#/$defs/{name}").into();
            jsonschema::draft202012::options().build(&whole).unwrap()
        });
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        match errors.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "{} {name}: {}: {value}",
                self.revision,
                errors.join("; ")
            )),
        }
    }

    /// Judges a message of either end; a request or notification by its own definition, a result by its method's.
    fn judge(&mut self, is_clients: bool, text: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(text).unwrap();
        let id = value["id"].to_string();
        if let Some(method) = value["method"].as_str() {
            if value.get("id").is_some() {
                self.asked.insert((is_clients, id), method.to_owned());
            }
            let sender = match is_clients {
                true => Direction::ClientToServer,
                false => Direction::ServerToClient,
            };
            let mut rows = self.revision.methods().iter();
            let row = rows.find(|row| row.name == method && row.direction == sender);
            let Some(row) = row else {
                // A client offers its own revision to a server that may have another one: that is the revision to judge by.
                let offered = value["params"]["protocolVersion"].as_str();
                let offered = offered.and_then(Revision::from_protocol_version);
                if let Some(offered) = offered.filter(|_| method == "initialize")
                    && offered.lifecycle() == Lifecycle::Handshake
                    && offered != self.revision
                {
                    return Self::new(offered).judge(is_clients, text);
                }
                // The judge accepts methods that no revision has, and reads a probe as a message of the latest revision.
                let tables = Revision::NEGOTIATED.iter();
                let mut names = tables.flat_map(|it| it.methods()).map(|row| row.name);
                let is_known = names.any(|name| name == method);
                return match is_known && method != "server/discover" {
                    true => Err(format!("{} has no {method}", self.revision)),
                    false => Ok(()),
                };
            };
            return self.is_valid(row.message, &value);
        }
        let Some(method) = self.asked.get(&(!is_clients, id)).cloned() else {
            return Err(format!("an answer to nothing: {text}"));
        };
        if let Some(result) = value.get("result") {
            let mut rows = self.revision.methods().iter();
            let row = rows.find(|row| row.name == method && row.result.is_some());
            // An answer of several kinds has a name of ours: the schema has the kinds.
            let name = row.map(|row| match row.result {
                Some(name) if self.schema["$defs"].get(name).is_some() => name.to_owned(),
                _ => row.message.replace("Request", "Result"),
            });
            let name = match result["resultType"].as_str() {
                Some("input_required") => Some("InputRequiredResult".to_owned()),
                _ => name,
            };
            return name.map_or(Ok(()), |name| self.is_valid(&name, result));
        }
        match value["error"]["code"].is_i64() && value["error"]["message"].is_string() {
            true => Ok(()),
            false => Err(format!("an error that is none: {text}")),
        }
    }
}

fn record(client: Revision, server: Revision) -> PathBuf {
    let name = format!("judged-{client}-{server}.jsonl");
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A talk of calls in random order; many are out at a time.
fn talks(
    client: Revision,
    server: Revision,
    seed: u64,
    judges: &mut BTreeMap<Revision, Judge>,
) -> Vec<String> {
    let file = record(client, server);
    let options = [
        "--loss-log",
        "off",
        "--log",
        "off",
        "--record",
        file.to_str().unwrap(),
    ];
    let mut talk = Talk::new(client, bridge(&options, server));
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut asked, mut answers) = (Vec::new(), BTreeMap::new());
    for _ in 0..16 {
        let params = |value: Value| Some(Json::from(value));
        asked.push(match random.u8(..10) {
            0 => talk.ask(OutgoingRequest::new("tools/list", None)),
            1 => talk.ask(OutgoingRequest::new(
                "prompts/get",
                params(json!({ "name": "greet" })),
            )),
            2 => talk.ask(OutgoingRequest::new(
                "resources/read",
                params(json!({ "uri": "file:///hello" })),
            )),
            3 => talk.ask(OutgoingRequest::new(
                "resources/subscribe",
                params(json!({ "uri": "file:///hello" })),
            )),
            4 => talk.ask(OutgoingRequest::new(
                "logging/setLevel",
                params(json!({ "level": "debug" })),
            )),
            5 => talk.ask(OutgoingRequest::new("no/such/tool", None)),
            _ => talk.tool(
                random
                    .choice(["add", "ask", "sample", "progress", "log", "touch"])
                    .unwrap(),
            ),
        });
        if random.u8(..3) == 0 {
            let waits = random.usize(..asked.len());
            let wanted = asked[waits];
            talk.until(&mut answers, |_, answers| answers.contains_key(&wanted));
        }
    }
    talk.until(&mut answers, |_, answers| answers.len() == asked.len());
    let said = std::mem::take(&mut talk.said);
    let mut faults = Vec::new();
    let (code, stderr) = talk.ends();
    if code != Some(0) {
        faults.push(format!("ended with {code:?}: {stderr}"));
    }
    let judge = Judge::of(judges, client);
    faults.extend(
        said.iter()
            .filter_map(|(is_clients, text)| judge.judge(*is_clients, text).err()),
    );
    let judge = Judge::of(judges, server);
    for line in std::fs::read_to_string(&file).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let is_clients = row["dir"] == ">";
        faults.extend(judge.judge(is_clients, &row["message"].to_string()).err());
    }
    faults
}

#[test]
fn each_message_is_valid_for_whoever_reads_it() {
    let (mut failures, mut judges) = (Vec::new(), BTreeMap::new());
    for (row, client) in Revision::NEGOTIATED.iter().enumerate() {
        for (column, server) in Revision::NEGOTIATED.iter().enumerate() {
            let seed = u64::try_from(row * 10 + column).unwrap();
            let faults = talks(*client, *server, seed, &mut judges);
            failures.extend(
                faults
                    .into_iter()
                    .map(|fault| format!("{client} in front of {server}: {fault}")),
            );
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
