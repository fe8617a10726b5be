//! The messages that the benches read and write, as servers and clients of today put them on the wire.
//!
//! Members stand in the order in which the TypeScript and Python SDKs write them, without blanks;
//! nothing here is random, so every run measures the same bytes.

/// What a message must hold beyond its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifecycle {
    /// Up to 2025-11-25.
    Handshake,
    /// From 2026-07-28 on: requests carry who calls, results carry their type and how long they stay fresh.
    PerRequest,
}

/// One text for each kind of message.
#[derive(Debug)]
pub struct Messages {
    /// `tools/call`, a request of five short arguments.
    pub call_tool: String,
    /// `initialize`, or `server/discover` where there is no handshake.
    pub first_request: String,
    /// `notifications/progress`.
    pub progress: String,
    /// The result of `tools/list`: 100 tools.
    pub list_tools: String,
    /// The result of `resources/read`: one blob of 1 MB.
    pub read_resource: String,
    /// The result of `prompts/get`: 20 messages.
    pub get_prompt: String,
    /// The result of `tools/call`: 50 blocks, ten of each kind.
    pub tool_result: String,
}

impl Messages {
    /// The messages of a lifecycle.
    pub fn new(lifecycle: Lifecycle) -> Self {
        let (meta, result, list) = match lifecycle {
            Lifecycle::Handshake => (String::new(), "", ""),
            Lifecycle::PerRequest => (
                format!(",\"_meta\":{REQUEST_META}"),
                "\"resultType\":\"complete\",",
                "\"resultType\":\"complete\",\"ttlMs\":60000,\"cacheScope\":\"private\",",
            ),
        };
        Self {
            call_tool: request("tools/call", &format!("{CALL}{meta}"), 42),
            first_request: match lifecycle {
                Lifecycle::Handshake => request("initialize", INITIALIZE, 0),
                Lifecycle::PerRequest => {
                    request("server/discover", &format!("\"_meta\":{REQUEST_META}"), 0)
                }
            },
            progress: PROGRESS.to_owned(),
            list_tools: format!("{{{list}\"tools\":[{}]}}", join(100, tool)),
            read_resource: format!(
                r#"{{{list}"contents":[{{"uri":"file:///srv/reports/2025/annual-report.pdf","mimeType":"application/pdf","blob":"{}"}}]}}"#,
                base64(1 << 20, 7),
            ),
            get_prompt: format!(
                r#"{{{result}"description":"Reviews a change together with its author, file by file","messages":[{}]}}"#,
                join(20, prompt_message),
            ),
            tool_result: format!(
                r#"{{{result}"content":[{}],"isError":false}}"#,
                join(50, block),
            ),
        }
    }
}

fn request(method: &str, params: &str, id: u32) -> String {
    format!(r#"{{"method":"{method}","params":{{{params}}},"jsonrpc":"2.0","id":{id}}}"#)
}

fn join(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

/// Letters of the base64 alphabet, in no order that could be guessed from the ones before.
fn base64(length: usize, seed: u64) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut random = fastrand::Rng::with_seed(seed);
    let letter = || char::from(ALPHABET[random.usize(..ALPHABET.len())]);
    std::iter::repeat_with(letter).take(length).collect()
}

const REQUEST_META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"editor","title":"Editor","version":"1.9.2"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"sampling":{"tools":{}}},"progressToken":7}"#;

const CALL: &str = r#""name":"search_issues","arguments":{"repository":"modelcontextprotocol/rust-sdk","query":"is:open label:bug \"deadlock\" in:title,body","sort":"updated","order":"desc","page":2,"perPage":50,"include":["labels","assignees","comments"],"since":"2025-06-18T00:00:00Z","filter":{"author":null,"minComments":3,"score":0.75},"note":"Looks for reports of a client that never answers."}"#;

const INITIALIZE: &str = r#""protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{},"experimental":{"vendor.example/traces":{"level":"full","sampled":0.1}}},"clientInfo":{"name":"editor","title":"Editor with an AI assistant","version":"1.9.2","websiteUrl":"https://editor.example/assistant/"}"#;

const PROGRESS: &str = r#"{"method":"notifications/progress","params":{"progressToken":"c2f7-41","progress":42,"total":100,"message":"Indexed 42 of 100 files."},"jsonrpc":"2.0"}"#;

/// What the tools act on: name, in words, where it lives.
const THINGS: [(&str, &str, &str); 10] = [
    ("issue", "an issue", "the issue tracker"),
    ("pull_request", "a pull request", "the code host"),
    (
        "calendar_event",
        "a calendar event",
        "the calendar of the signed-in user",
    ),
    ("customer", "a customer record", "the sales database"),
    ("document", "a document", "the shared drive"),
    ("build", "a build", "the continuous integration service"),
    ("invoice", "an invoice", "the accounting ledger"),
    ("dashboard", "a dashboard", "the monitoring service"),
    ("message_thread", "a message thread", "the team chat"),
    ("feature_flag", "a feature flag", "the release console"),
];

/// What the tools do: name, in words, and whether that reads, destroys, can be repeated.
const DEEDS: [(&str, &str, [bool; 3]); 10] = [
    ("get", "Fetches", [true, false, true]),
    ("list", "Lists the latest versions of", [true, false, true]),
    (
        "search",
        "Searches by words and filters for",
        [true, false, true],
    ),
    ("create", "Creates", [false, false, false]),
    ("update", "Changes some properties of", [false, true, true]),
    (
        "delete",
        "Deletes, without a way back,",
        [false, true, true],
    ),
    ("archive", "Moves out of sight", [false, false, true]),
    ("comment_on", "Adds a comment to", [false, false, false]),
    ("assign", "Hands to another person", [false, true, true]),
    ("export", "Writes to a file a copy of", [true, false, true]),
];

/// Properties of input schemas; each tool takes three to five in a row.
const PROPERTIES: [(&str, &str); 10] = [
    (
        "id",
        r#"{"type":"string","description":"Identifier as shown in the address bar, without the leading number sign","minLength":1}"#,
    ),
    (
        "query",
        r#"{"type":"string","description":"Words to look for; put a phrase in \"double quotes\" to find it as it stands"}"#,
    ),
    (
        "limit",
        r#"{"type":"integer","description":"How many to return at most; ask again with the cursor for more","minimum":1,"maximum":200,"default":50}"#,
    ),
    (
        "status",
        r#"{"type":"string","enum":["open","in_progress","blocked","closed"],"description":"Only those in this state; leave out for all of them"}"#,
    ),
    (
        "since",
        r#"{"type":"string","format":"date-time","description":"Only what changed after this moment, in ISO 8601 with a time zone"}"#,
    ),
    (
        "labels",
        r#"{"type":"array","items":{"type":"string"},"description":"Labels that must all be present, in any order","maxItems":20}"#,
    ),
    (
        "includeArchived",
        r#"{"type":"boolean","description":"Whether to show what was archived as well","default":false}"#,
    ),
    (
        "assignee",
        r#"{"anyOf":[{"type":"string"},{"type":"null"}],"description":"Login of the person in charge, or null for nobody"}"#,
    ),
    (
        "weight",
        r#"{"type":"number","description":"How much it counts when the results are ordered, from 0 to 1","minimum":0,"maximum":1}"#,
    ),
    (
        "options",
        r#"{"type":"object","properties":{"dryRun":{"type":"boolean"},"notify":{"type":"boolean"}},"description":"What to do beside the main thing","additionalProperties":false}"#,
    ),
];

fn tool(index: usize) -> String {
    let (thing, thing_words, home) = THINGS[index % THINGS.len()];
    let (deed, deed_words, [reads, destroys, repeats]) = DEEDS[index / THINGS.len() % DEEDS.len()];
    let chosen = (0..3 + index % 3).map(|step| PROPERTIES[(index * 3 + step) % PROPERTIES.len()]);
    let properties: Vec<String> = chosen
        .map(|(name, schema)| format!("\"{name}\":{schema}"))
        .collect();
    let required = PROPERTIES[index * 3 % PROPERTIES.len()].0;
    // Descriptions made from doc comments have line breaks.
    let more = match index % 4 {
        0 => {
            r"\n\nReturns the state after the call.\nFails with a message for the user if the account has no access."
        }
        _ => " Returns the new state; fails with a message if the account has no access.",
    };
    format!(
        r#"{{"name":"{deed}_{thing}","title":"{} {}","description":"{deed_words} {thing_words} in {home}. Use it once a search has found its identifier.{more}","inputSchema":{{"type":"object","properties":{{{}}},"required":["{required}"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}},"annotations":{{"readOnlyHint":{reads},"destructiveHint":{destroys},"idempotentHint":{repeats},"openWorldHint":true}}}}"#,
        deed.replace('_', " "),
        thing.replace('_', " "),
        properties.join(","),
    )
}

/// Paragraphs as a person or a model writes them, escaped as JSON asks for.
const PARAGRAPHS: [&str; 5] = [
    r"The change moves the retry loop out of the client and into the transport, so that a caller no longer sees the two failures that come before the one that counts. What I do not see is where the deadline is now kept: `connect` had it before, and `reconnect` never asks for it.",
    r#"Here is the part that I mean:\n\n```rust\nfn reconnect(&mut self) -> Result<(), Error> {\n    let stream = self.dial(\"server.example:443\")?;\n    self.stream = Some(stream);\n    Ok(())\n}\n```\n\nIf `dial` hangs, nothing ends it."#,
    r"Right. I would pass the deadline down, as `dial` does its own waiting anyway, and leave the loop as it is. A test that listens and never accepts shows the difference at once; the one in `tests/reconnect.rs` can be copied for it.",
    r"Größere Fassungen des Protokolls brauchen das auch — siehe Abschnitt „Zeitgrenzen“. The names in the log are fine, though I would say \u201cpeer\u201d and not \u201cclient\u201d there, since both sides run this code.",
    r"Agreed on all of it. Three small things while you are there: the comment above `State` still speaks of two states, the error for a closed stream says neither address nor cause, and the default of 30 seconds is written down in two places that do not agree.",
];

fn prompt_message(index: usize) -> String {
    let role = ["user", "assistant"][index % 2];
    let text = PARAGRAPHS[index % PARAGRAPHS.len()];
    format!(r#"{{"role":"{role}","content":{{"type":"text","text":"{text}"}}}}"#)
}

fn block(index: usize) -> String {
    let text = PARAGRAPHS[index / 5 % PARAGRAPHS.len()];
    match index % 5 {
        0 if index.is_multiple_of(2) => format!(r#"{{"type":"text","text":"{text}"}}"#),
        0 => format!(
            r#"{{"type":"text","text":"{text}","annotations":{{"audience":["user","assistant"],"priority":0.8}}}}"#
        ),
        1 => format!(
            r#"{{"type":"image","data":"{}","mimeType":"image/png"}}"#,
            base64(1200 + 16 * index, index as u64),
        ),
        2 => format!(
            r#"{{"type":"audio","data":"{}","mimeType":"audio/wav"}}"#,
            base64(800 + 16 * index, index as u64),
        ),
        3 => format!(
            r#"{{"type":"resource_link","uri":"file:///srv/project/src/module_{index}/mod.rs","name":"module_{index}/mod.rs","title":"Module {index}","description":"Where the retry loop of module {index} lives","mimeType":"text/x-rust","size":{},"annotations":{{"lastModified":"2025-11-25T09:30:00Z","priority":0.5}}}}"#,
            1024 + 37 * index,
        ),
        _ if index.is_multiple_of(2) => format!(
            r#"{{"type":"resource","resource":{{"uri":"file:///srv/project/notes/{index}.md","mimeType":"text/markdown","text":"{text}"}}}}"#,
        ),
        _ => format!(
            r#"{{"type":"resource","resource":{{"uri":"file:///srv/project/art/{index}.webp","mimeType":"image/webp","blob":"{}"}},"_meta":{{"vendor.example/origin":"cache"}}}}"#,
            base64(600, index as u64),
        ),
    }
}
