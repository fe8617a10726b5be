//! Between 2025-06-18 and 2025-11-25: forms, messages of several blocks, tools that demand tasks, dialects of schemas.

use std::sync::LazyLock;

use mcp_2025_06_18 as old;
use mcp_2025_11_25 as new;
use mcp_convert::{Ruled, UnknownFields};
use mcp_wire::{Extra, Json, JsonObject};
use memchr::memmem::Finder;

use crate::v2025_11_25_to_v2026_07_28::common::schema::below;
use crate::v2025_11_25_to_v2026_07_28::common::text::{without, without_string};

pub use crate::v2025_11_25_to_v2026_07_28::common::tasks::works_without_tasks;

/// Keeps `enum` with `enumNames`, which 2025-11-25 still reads, and a default, which it knows.
pub fn enum_up(schema: old::EnumSchema, cx: &mut Ruled<'_>) -> new::PrimitiveSchemaDefinition {
    let old::EnumSchema {
        description,
        enum_names,
        title,
        values,
        mut extra,
    } = schema;
    let default = cx.adopt("default", &mut extra);
    match enum_names {
        None => new::UntitledSingleSelectEnumSchema {
            default,
            description,
            title,
            values,
            extra,
        }
        .into(),
        Some(_) => new::LegacyTitledEnumSchema {
            default,
            description,
            enum_names,
            title,
            values,
            extra,
        }
        .into(),
    }
}

/// Converts a choice without titles.
pub fn untitled_down(
    schema: new::UntitledSingleSelectEnumSchema,
    cx: &mut Ruled<'_>,
) -> old::PrimitiveSchemaDefinition {
    let new::UntitledSingleSelectEnumSchema {
        default,
        description,
        title,
        values,
        mut extra,
    } = schema;
    cx.drop_member("default", default, &mut extra);
    // Names that stand there mean something in the older revision.
    cx.foreign("enumNames", &mut extra);
    enum_schema(values, None, description, title, extra)
}

/// Converts a choice with titles to `enumNames`, from which it is converted back.
pub fn titled_down(
    schema: new::TitledSingleSelectEnumSchema,
    cx: &mut Ruled<'_>,
) -> old::PrimitiveSchemaDefinition {
    match schema.default {
        Some(_) if cx.policy() == UnknownFields::Drop => cx.replace("", schema.clone()),
        _ => cx.lesser().replace("", schema.clone()),
    }
    let new::TitledSingleSelectEnumSchema {
        default,
        description,
        one_of,
        title,
        mut extra,
    } = schema;
    if let (Some(default), UnknownFields::Preserve) = (default, cx.policy()) {
        extra.insert("default", Json::of(&default));
    }
    for name in ["enum", "enumNames"] {
        // What a conversion makes itself is not mistaken for what stood there: it is lost with the schema.
        extra.remove(name);
    }
    let (values, names) = one_of
        .into_iter()
        .map(|choice| (choice.value, choice.title))
        .unzip();
    enum_schema(values, Some(names), description, title, extra)
}

/// Converts the old spelling itself.
pub fn legacy_down(
    schema: new::LegacyTitledEnumSchema,
    cx: &mut Ruled<'_>,
) -> old::PrimitiveSchemaDefinition {
    let new::LegacyTitledEnumSchema {
        default,
        description,
        enum_names,
        title,
        values,
        mut extra,
    } = schema;
    cx.drop_member("default", default, &mut extra);
    enum_schema(values, enum_names, description, title, extra)
}

fn enum_schema(
    values: Vec<String>,
    names: Option<Vec<String>>,
    description: Option<String>,
    title: Option<String>,
    extra: Extra,
) -> old::PrimitiveSchemaDefinition {
    let mut schema = old::EnumSchema::new(values);
    schema.enum_names = names;
    (schema.description, schema.title, schema.extra) = (description, title, extra);
    schema.into()
}

/// Converts the elicitation capability. A client that takes only URLs must not look as if it took forms.
pub fn capability_down(
    capability: Option<new::ClientCapabilitiesElicitation>,
    cx: &mut Ruled<'_>,
) -> Option<JsonObject> {
    let declared = capability?;
    if declared.url.is_some() && declared.form.is_none() {
        cx.lose("", declared);
        return None;
    }
    let new::ClientCapabilitiesElicitation {
        form,
        url,
        mut extra,
    } = declared;
    cx.lesser().drop_member("form", form, &mut extra);
    cx.drop_member("url", url, &mut extra);
    Some(mcp_convert::Context::close(&extra))
}

/// Splits a message of N blocks into N messages of the same role, in order.
///
/// The first of them has what the message says beside its blocks: the message is lost, and not multiplied by its blocks.
/// Blocks about tools stay: they are rejected where they are converted.
pub fn split_messages(params: &mut new::CreateMessageRequestParams, cx: &mut Ruled<'_>) {
    let grouped =
        |message: &new::SamplingMessage| matches!(message.content, new::SamplingContent::List(_));
    if !params.messages.iter().any(grouped) {
        return;
    }
    // A list of one block says what the block says.
    let several = |message: &new::SamplingMessage| match &message.content {
        new::SamplingContent::List(blocks) => blocks.len() != 1,
        _ => false,
    };
    if params.messages.iter().any(several) {
        cx.replace("/messages", params.messages.clone())
    } else {
        cx.lesser().replace("/messages", params.messages.clone())
    }
    let mut messages = Vec::new();
    for message in std::mem::take(&mut params.messages) {
        let new::SamplingMessage {
            content,
            mut meta,
            role,
            mut extra,
        } = message;
        let contents = match content {
            new::SamplingContent::List(blocks) => blocks.into_iter().map(single).collect(),
            content => vec![content],
        };
        for content in contents {
            let mut one = new::SamplingMessage::new(role, content);
            (one.meta, one.extra) = (meta.take(), std::mem::take(&mut extra));
            messages.push(one);
        }
    }
    params.messages = messages;
}

/// Joins the blocks of a result: one block stays as it is, text blocks become one text, line by line.
///
/// Other mixtures stay, and are rejected where they are converted.
pub fn join_blocks(result: &mut new::CreateMessageResult, cx: &mut Ruled<'_>) {
    let new::SamplingContent::List(blocks) = &mut result.content else {
        return;
    };
    let text = |block: &new::SamplingMessageContentBlock| match block {
        new::SamplingMessageContentBlock::Text(block) => Some(block.text.clone()),
        _ => None,
    };
    let joined = match blocks.as_slice() {
        [_] => None,
        blocks => match blocks.iter().map(text).collect::<Option<Vec<_>>>() {
            Some(texts) if !texts.is_empty() => Some(texts.join("\n")),
            _ => return,
        },
    };
    match blocks.len() {
        1 => cx.lesser().replace("/content", blocks.clone()),
        _ => cx.replace("/content", blocks.clone()),
    }
    result.content = match joined {
        Some(text) => new::TextContent::new(text).into(),
        None => match blocks.pop() {
            Some(block) => single(block),
            None => return,
        },
    };
}

fn single(block: new::SamplingMessageContentBlock) -> new::SamplingContent {
    use new::SamplingMessageContentBlock as Block;
    match block {
        Block::Text(block) => block.into(),
        Block::Image(block) => block.into(),
        Block::Audio(block) => block.into(),
        Block::ToolUse(block) => block.into(),
        Block::ToolResult(block) => block.into(),
    }
}

/// Words of a schema that the dialect which 2025-11-25 takes for granted no longer knows, or reads otherwise.
static WORDS: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| ["\"dependencies\"", "\"items\""].map(Finder::new));

/// The dialect in which such a schema was written.
const DRAFT_07: &str = "\"http://json-schema.org/draft-07/schema#\"";

/// The dialect that 2025-11-25 takes for granted.
const DRAFT_2020: &str = "\"https://json-schema.org/draft/2020-12/schema\"";

/// Schemas that state no dialect, and that the one which 2025-11-25 takes for granted would read otherwise, state it.
pub fn state_dialect(tool: &mut new::Tool, cx: &mut Ruled<'_>) {
    let older = |schema: &JsonObject| stated(schema, DRAFT_07, is_suspect, is_draft_07);
    state(tool, cx, older);
}

/// Schemas that state no dialect, and that the one which tools used before would read otherwise, state it.
pub fn state_newer_dialect(tool: &mut new::Tool, cx: &mut Ruled<'_>) {
    let newer = |schema: &JsonObject| stated(schema, DRAFT_2020, is_newer, is_draft_2020);
    state(tool, cx, newer);
}

fn state(
    tool: &mut new::Tool,
    cx: &mut Ruled<'_>,
    stated: impl Fn(&JsonObject) -> Option<JsonObject>,
) {
    if let Some(schema) = stated(&tool.input_schema) {
        tool.input_schema = schema;
        cx.add("/inputSchema/$schema");
    }
    if let Some(schema) = tool.output_schema.as_ref().and_then(stated) {
        tool.output_schema = Some(schema);
        cx.add("/outputSchema/$schema");
    }
}

/// Returns the schema with its dialect; `None` if it has one, or reads the same without.
fn stated(
    schema: &JsonObject,
    dialect: &str,
    may_be: fn(&[u8]) -> bool,
    is_of: fn(&serde_json::Map<String, serde_json::Value>) -> bool,
) -> Option<JsonObject> {
    let text = schema.text().as_bytes();
    if is_stated_at_an_end(text) || !may_be(text) || schema.get("$schema").is_some() {
        return None;
    }
    let value =
        crate::v2025_11_25_to_v2026_07_28::common::spelled::value(schema.as_json().clone())?;
    if !any(&value, &is_of) {
        return None;
    }
    let rest = schema.text().trim_start().strip_prefix('{')?;
    JsonObject::from_text(&format!("{{\"$schema\":{dialect},{rest}")).ok()
}

/// Returns whether the first or the last member of a schema states its dialect: where generators put it, and where to look for
/// it takes no search.
fn is_stated_at_an_end(text: &[u8]) -> bool {
    let first = text.trim_ascii_start().strip_prefix(b"{");
    let last = || without_string(without(without_string(without(text, b'}')?)?.0, b':')?);
    first.is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\"$schema\""))
        || last().is_some_and(|(_, name)| name == b"$schema")
}

/// Keywords that only the newer dialect has.
const NEWER: [&str; 9] = [
    "$dynamicRef",
    "$recursiveRef",
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "prefixItems",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The words of [`NEWER`], and `$ref`, beside which the older dialect reads nothing.
static NEWER_WORDS: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| {
    let word = |word: &str| Finder::new(&format!("\"{word}\"")).into_owned();
    NEWER.into_iter().chain(["$ref"]).map(word).collect()
});

fn is_newer(text: &[u8]) -> bool {
    NEWER_WORDS.iter().any(|word| word.find(text).is_some())
}

/// Returns whether a schema says something that the older dialect does not read.
fn is_draft_2020(schema: &serde_json::Map<String, serde_json::Value>) -> bool {
    // Words about a schema limit nothing, and definitions are found wherever they stand.
    let limits =
        |word: &str| !["$defs", "$ref", "definitions", "description", "title"].contains(&word);
    let beside = schema.contains_key("$ref") && schema.keys().any(|word| limits(word));
    beside || NEWER.iter().any(|word| schema.contains_key(*word))
}

/// Returns whether such a word stands in the text of a schema: nearly all are done with here, and never parsed.
fn is_suspect(text: &[u8]) -> bool {
    let [dependencies, items] = &*WORDS;
    let begins_list = |word: usize| {
        let mut behind = text[word..]
            .iter()
            .skip("\"items\"".len())
            .filter(|byte| !byte.is_ascii_whitespace());
        behind.next() == Some(&b':') && behind.next() == Some(&b'[')
    };
    dependencies.find(text).is_some() || items.find_iter(text).any(begins_list)
}

/// Returns whether a schema says something that only the older dialect reads: tuples, and `dependencies`.
fn is_draft_07(schema: &serde_json::Map<String, serde_json::Value>) -> bool {
    let is_tuple = schema.get("items").is_some_and(serde_json::Value::is_array);
    is_tuple || schema.contains_key("dependencies")
}

/// Returns whether a schema, or one in it, is as asked for.
fn any(
    schema: &serde_json::Value,
    found: &impl Fn(&serde_json::Map<String, serde_json::Value>) -> bool,
) -> bool {
    let serde_json::Value::Object(members) = schema else {
        return false;
    };
    found(members)
        || below(members).any(|step| schema.pointer(&step).is_some_and(|one| any(one, found)))
}
