//! Between 2025-03-26 and 2025-06-18: links, structured content, display names of tools and resources.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use mcp_2025_03_26 as old;
use mcp_2025_06_18 as new;
use mcp_convert::{Ruled, UnknownFields};
use mcp_wire::{Extra, Json, JsonObject, Kind, Map};

use crate::WRAPPED;
use crate::v2025_11_25_to_v2026_07_28::common::marks::{read_mark, unwrapped};

/// Converts a link, which 2025-03-26 does not have, to a text with its name, URI and description.
///
/// Never an embedded resource: that would need a read. The text is for whom the link was.
pub fn resource_link_to_text(link: new::ResourceLink, cx: &mut Ruled<'_>) -> old::ContentBlock {
    let title = link.title.as_ref().filter(|title| !title.is_empty());
    let name = title.unwrap_or(&link.name);
    // One text is made of all pieces at once: lists have many links, and each piece that is added by itself costs a copy.
    let mime_type = link.mime_type.as_deref();
    let (open, mime_type, close) = mime_type.map_or(("", "", ""), |it| (" (", it, ")"));
    let description = link.description.as_deref();
    let (line, description) = description.map_or(("", ""), |it| ("\n", it));
    let text = [
        name,
        ": ",
        &link.uri,
        open,
        mime_type,
        close,
        line,
        description,
    ]
    .concat();
    let mut text = old::TextContent::new(text);
    text.annotations = link.annotations.clone().map(annotations);
    // The whole block is what was lost; the text stands in its place.
    cx.replace("", new::ContentBlock::ResourceLink(link));
    text.into()
}

/// For whom a block is, and how much it matters; the date goes with the block that was lost.
fn annotations(annotations: new::Annotations) -> old::Annotations {
    let new::Annotations {
        audience,
        last_modified: _,
        priority,
        extra,
    } = annotations;
    old::Annotations {
        audience: audience.map(|roles| roles.into_iter().map(role).collect()),
        priority,
        extra,
    }
}

fn role(role: new::Role) -> old::Role {
    match role {
        new::Role::Assistant => old::Role::Assistant,
        new::Role::User => old::Role::User,
    }
}

/// Converts structured content, which 2025-03-26 does not have, to a text block, unless the content says it already.
///
/// What 2025-11-25 had to wrap into an object is said without the wrap. Bytes that a block of the content carries are not
/// repeated: the text names the block in their place.
pub fn structured_to_text(result: &mut new::CallToolResult, cx: &mut Ruled<'_>) {
    let Some(structured) = &result.structured_content else {
        return;
    };
    let value = said_value(structured, result.meta.as_ref());
    // Frameworks wrap what a function returns, and give its content without the wrap.
    let inner = unwrapped(&value).map(HashedValue::new);
    let value = HashedValue::new(value);
    let blocks: Vec<ReadBlock<'_>> = result.content.iter().map(ReadBlock::new).collect();
    let is_said = std::iter::once(&value)
        .chain(&inner)
        .any(|value| content_says(&blocks, value));
    if !is_said {
        cx.add(format!("/content/{}", result.content.len()));
        let text = without_bytes(value.json.into_text(), &result.content);
        let text = new::TextContent::new(text);
        result.content.push(text.into());
    }
    if cx.policy() == UnknownFields::Drop {
        drop_mark(&mut result.meta, cx);
    }
}

/// Returns whether content says a value: in one block, or each element of a list in a block of its own, in order.
fn content_says(content: &[ReadBlock<'_>], value: &HashedValue) -> bool {
    if content.iter().any(|block| block.says(value)) {
        return true;
    }
    let elements: Vec<Json> = value.json.read().unwrap_or_default();
    // No block is compared with two elements, so that long lists take no longer than they are.
    let mut blocks = content.iter();
    let says = |element| {
        let element = HashedValue::new(element);
        blocks.any(|block| block.says(&element))
    };
    !elements.is_empty() && elements.into_iter().all(says)
}

/// A block, read once for all values that it may say.
struct ReadBlock<'c> {
    text: Option<&'c str>,
    /// The value that its text spells, or that it is itself.
    value: Option<HashedValue>,
}

impl<'c> ReadBlock<'c> {
    fn new(block: &'c new::ContentBlock) -> Self {
        let (text, json) = match block {
            new::ContentBlock::Text(block) => {
                (Some(&*block.text), Json::from_text(&block.text).ok())
            }
            other => (None, Some(Json::of(other))),
        };
        let value = json.map(HashedValue::new);
        Self { text, value }
    }

    /// Returns whether it says a value: in its text, as JSON or as the string that the value is, or by being the value.
    fn says(&self, value: &HashedValue) -> bool {
        let is_string = self.text.is_some() && self.text == value.string.as_deref();
        is_string || self.value.as_ref().is_some_and(|said| said.is_equal(value))
    }
}

/// A value with its hash: only values of one hash are compared.
struct HashedValue {
    json: Json,
    string: Option<String>,
    hash: OnceCell<u64>,
}

impl HashedValue {
    fn new(json: Json) -> Self {
        Self {
            string: json.as_str().map(Into::into),
            json,
            hash: OnceCell::new(),
        }
    }

    fn hash(&self) -> u64 {
        let hasher = BuildHasherDefault::<DefaultHasher>::new();
        *self.hash.get_or_init(|| hasher.hash_one(&self.json))
    }

    fn is_equal(&self, other: &Self) -> bool {
        let is_same_text = self.json.text() == other.json.text();
        is_same_text || (self.hash() == other.hash() && self.json == other.json)
    }
}

/// Returns a text of JSON with the place of a block for each of its strings that is the bytes of the block.
fn without_bytes(text: String, content: &[new::ContentBlock]) -> String {
    let mut places = HashMap::new();
    for (place, block) in content.iter().enumerate() {
        if let Some(bytes) = bytes_of(block) {
            places.entry(bytes).or_insert(place);
        }
    }
    if places.is_empty() {
        return text;
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some((before, behind)) = rest.split_once('"') {
        let (string, after) = behind.split_at(string_end(behind));
        shown.push_str(before);
        shown.push('"');
        // Base64 needs no escape in JSON.
        match places.get(string) {
            Some(place) => shown.push_str(&format!("content[{place}]")),
            None => shown.push_str(string),
        }
        shown.push('"');
        rest = after.get(1..).unwrap_or_default();
    }
    shown.push_str(rest);
    shown
}

/// Returns the end of a JSON string, in a text that begins behind its first quote.
fn string_end(text: &str) -> usize {
    let mut at = 0;
    while let Some(rest) = text.as_bytes().get(at..) {
        match memchr::memchr2(b'"', b'\\', rest) {
            Some(found) if rest.get(found) == Some(&b'"') => return at + found,
            // Behind the escape.
            Some(found) => at += found + 2,
            None => break,
        }
    }
    text.len()
}

/// Returns the bytes that a block carries, in base64; `None` if it carries none.
fn bytes_of(block: &new::ContentBlock) -> Option<&str> {
    let bytes = match block {
        new::ContentBlock::Image(image) => &image.data,
        new::ContentBlock::Audio(audio) => &audio.data,
        new::ContentBlock::Resource(embedded) => match &embedded.resource {
            new::TextOrBlobContents::Blob(blob) => &blob.blob,
            new::TextOrBlobContents::Text(_) => return None,
        },
        new::ContentBlock::Text(_) | new::ContentBlock::ResourceLink(_) => return None,
    };
    (!bytes.is_empty()).then_some(bytes)
}

/// Returns the value as the author of a result wrote it.
fn said_value(structured: &JsonObject, meta: Option<&Map<Json>>) -> Json {
    let marked = meta.and_then(|meta| meta.get(WRAPPED)).and_then(read_mark);
    let inner = marked.and_then(|_| unwrapped(structured.as_json()));
    inner.unwrap_or_else(|| structured.as_json().clone())
}

/// Removes an output schema, which 2025-03-26 does not have, if 2025-06-18 would refuse the tool for it.
pub fn drop_unfit_output_schema(tool: &mut old::Tool, cx: &mut Ruled<'_>) {
    let schema = tool.extra.get("outputSchema");
    if schema.is_some_and(|schema| !is_output_schema(schema))
        && let Some(schema) = tool.extra.remove("outputSchema")
    {
        cx.lose("/outputSchema", schema);
    }
}

/// Returns whether a value is an output schema of 2025-06-18: one of an object, with an object for each property.
fn is_output_schema(schema: &Json) -> bool {
    let Ok(keywords) = schema.read::<Extra>() else {
        return false;
    };
    let is_object = |schema: &Json| schema.kind() == Kind::Object;
    let is_of_objects = |properties: &Json| {
        let schemas = properties.read::<Extra>();
        schemas.is_ok_and(|schemas| schemas.values().all(is_object))
    };
    let is_of_names = |required: &Json| required.read::<Vec<String>>().is_ok();
    keywords
        .get("type")
        .is_some_and(|of| of.as_str().is_some_and(|of| of == "object"))
        && keywords.get("properties").is_none_or(is_of_objects)
        && keywords.get("required").is_none_or(is_of_names)
}

/// Removes the mark of an output schema together with the schema.
pub fn drop_schema_mark(tool: &mut new::Tool, cx: &mut Ruled<'_>) {
    if cx.policy() == UnknownFields::Drop && tool.output_schema.is_some() {
        drop_mark(&mut tool.meta, cx);
    }
}

/// A mark that describes what is dropped here would be undone where there is nothing to undo.
fn drop_mark(meta: &mut Option<Map<Json>>, cx: &mut Ruled<'_>) {
    let Some(members) = meta else { return };
    let Some(mark) = members.get(WRAPPED).and_then(read_mark) else {
        return;
    };
    if mark.alone && members.len() == 1 {
        if let Some(members) = meta.take() {
            cx.lesser().lose("/_meta", members);
        }
        return;
    }
    if let Some(mark) = members.remove(WRAPPED) {
        cx.lesser().lose("/_meta/mcp-revisions~1wrapped", mark);
    }
}

/// Moves the title of a tool to its annotations, where 2025-03-26 has one.
///
/// A title that stands there already gives way: 2025-06-18 shows it only where the tool has none of its own.
pub fn title_to_annotations(tool: &mut new::Tool, cx: &mut Ruled<'_>) {
    if cx.policy() == UnknownFields::Preserve {
        return;
    }
    let Some(title) = tool.title.take() else {
        return;
    };
    cx.lose("/title", title.clone());
    match &mut tool.annotations {
        Some(annotations) => match annotations.title.replace(title) {
            Some(other) if annotations.title.as_ref() == Some(&other) => {}
            Some(other) => cx.replace("/annotations/title", other),
            None => cx.add("/annotations/title"),
        },
        None => {
            cx.add("/annotations");
            tool.annotations = Some(new::ToolAnnotations::new().with_title(title));
        }
    }
}

/// Makes the title of a resource its name, which is what 2025-03-26 shows; the URI identifies it.
pub fn resource_title_to_name(resource: &mut new::Resource, cx: &mut Ruled<'_>) {
    title_to_name(&mut resource.title, &mut resource.name, cx);
}

/// Does the same as [`resource_title_to_name`], for a template.
pub fn template_title_to_name(template: &mut new::ResourceTemplate, cx: &mut Ruled<'_>) {
    title_to_name(&mut template.title, &mut template.name, cx);
}

fn title_to_name(title: &mut Option<String>, name: &mut String, cx: &mut Ruled<'_>) {
    if cx.policy() == UnknownFields::Preserve {
        return;
    }
    let Some(title) = title.take() else { return };
    cx.lose("/title", title.clone());
    // The client would show an empty title in the place of the name.
    if !title.is_empty() && *name != title {
        cx.replace("/name", std::mem::replace(name, title));
    }
}
