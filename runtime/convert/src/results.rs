//! Results of tools and completions: structured content, and lists that are too long.

use mcp_wire::{Extra, Json, JsonObject, Kind, Map};

use crate::context::{Context, Policy};
use crate::outcome::{LossKind, Stop};
use crate::tools::{WRAPPED, mark, read_mark};

/// How many completion values a revision from 2026-07-28 on may carry.
const MOST_VALUES: usize = 100;

/// Structured content for 2025-03-26, which has none: as text, unless a text block says it already.
///
/// # Errors
/// None.
pub fn structured_to_text(
    result: &mut mcp_2025_06_18::CallToolResult,
    cx: &mut Context,
) -> Result<(), Stop> {
    let Some(structured) = &result.structured_content else {
        return Ok(());
    };
    if cx.policy() == Policy::Carry {
        return Ok(());
    }
    let said = result.content.iter().any(|block| match block {
        mcp_2025_06_18::ContentBlock::Text(block) => {
            Json::from_text(&block.text).is_ok_and(|json| json == *structured.as_json())
        }
        _ => false,
    });
    if !said {
        let text = structured.text().to_owned();
        cx.add(
            "structured-content-text",
            LossKind::Cosmetic,
            format!("/content/{}", result.content.len()),
        );
        result
            .content
            .push(mcp_2025_06_18::TextContent::new(text).into());
    }
    Ok(())
}

/// Structured content that is no object becomes an object that holds it as `result`, and is marked.
///
/// # Errors
/// None.
pub fn wrap_structured(
    result: &mut mcp_2026_07_28::CallToolResult,
    _: &mut Context,
) -> Result<(), Stop> {
    if let Some(wrapped) = result.structured_content.as_ref().and_then(wrapped) {
        result.structured_content = Some(wrapped.into());
        let mark = mark(result.meta.is_none(), None);
        let meta = result
            .meta
            .get_or_insert_with(mcp_2026_07_28::ResultMetaObject::new);
        meta.extra.insert(WRAPPED, mark);
    }
    Ok(())
}

/// Undoes [`wrap_structured`], where its mark stands.
///
/// # Errors
/// None.
pub fn unwrap_structured(
    result: &mut mcp_2026_07_28::CallToolResult,
    _: &mut Context,
) -> Result<(), Stop> {
    let Some(meta) = &mut result.meta else {
        return Ok(());
    };
    let Some(mark) = meta.extra.get(WRAPPED).and_then(read_mark) else {
        return Ok(());
    };
    let Some(inner) = result.structured_content.as_ref().and_then(unwrapped) else {
        return Ok(());
    };
    meta.extra.remove(WRAPPED);
    result.structured_content = Some(inner);
    if mark.alone && meta.extra.is_empty() && meta.server_info.is_none() {
        result.meta = None;
    }
    Ok(())
}

/// [`wrap_structured`] for the result of a tool inside a sampling conversation.
///
/// # Errors
/// None.
pub fn wrap_structured_block(
    block: &mut mcp_2026_07_28::ToolResultContent,
    _: &mut Context,
) -> Result<(), Stop> {
    if let Some(wrapped) = block.structured_content.as_ref().and_then(wrapped) {
        block.structured_content = Some(wrapped.into());
        let mark = mark(block.meta.is_none(), None);
        block
            .meta
            .get_or_insert_with(Map::new)
            .insert(WRAPPED, mark);
    }
    Ok(())
}

/// Undoes [`wrap_structured_block`].
///
/// # Errors
/// None.
pub fn unwrap_structured_block(
    block: &mut mcp_2026_07_28::ToolResultContent,
    _: &mut Context,
) -> Result<(), Stop> {
    let Some(meta) = &mut block.meta else {
        return Ok(());
    };
    let Some(mark) = meta.get(WRAPPED).and_then(read_mark) else {
        return Ok(());
    };
    let Some(inner) = block.structured_content.as_ref().and_then(unwrapped) else {
        return Ok(());
    };
    meta.remove(WRAPPED);
    block.structured_content = Some(inner);
    if mark.alone && meta.is_empty() {
        block.meta = None;
    }
    Ok(())
}

/// Structured content as the object that 2025-11-25 demands; the hooks before it made it one.
///
/// # Errors
/// None.
pub fn structured_object(
    value: Option<Json>,
    cx: &mut Context,
) -> Result<Option<JsonObject>, Stop> {
    let Some(value) = value else { return Ok(None) };
    match JsonObject::try_from(value.clone()) {
        Ok(object) => Ok(Some(object)),
        Err(_) => {
            cx.lose("structured-any", LossKind::Semantic, "", value);
            Ok(None)
        }
    }
}

fn wrapped(value: &Json) -> Option<JsonObject> {
    match value.kind() {
        Kind::Object => None,
        _ => JsonObject::from_text(&format!("{{\"result\":{}}}", value.text())).ok(),
    }
}

/// What was wrapped; none if this is no wrap.
fn unwrapped(value: &Json) -> Option<Json> {
    let members: Extra = value.read().ok()?;
    match members.len() {
        1 => members.get("result").cloned(),
        _ => None,
    }
}

/// More than 100 completion values are cut off, and said to be more.
///
/// # Errors
/// None.
pub fn truncate_values(
    completion: &mut mcp_2025_11_25::CompleteResultCompletion,
    cx: &mut Context,
) -> Result<(), Stop> {
    if completion.values.len() <= MOST_VALUES {
        return Ok(());
    }
    cx.replace(
        "completion-limit",
        LossKind::Semantic,
        "/values",
        Json::of(&completion.values),
    );
    completion.values.truncate(MOST_VALUES);
    match completion.has_more {
        Some(true) => {}
        Some(false) => cx.replace(
            "completion-limit",
            LossKind::Cosmetic,
            "/hasMore",
            Json::from(false),
        ),
        None => cx.add("completion-limit", LossKind::Cosmetic, "/hasMore"),
    }
    completion.has_more = Some(true);
    Ok(())
}
