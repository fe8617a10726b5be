//! Blocks that an older client does not know, as text that says what stood there.

use mcp_wire::Json;

use crate::context::Context;
use crate::outcome::{LossKind, Stop};

/// Audio for 2024-11-05, which has none: its kind and size, so that the reader knows that something was said.
///
/// # Errors
/// None.
pub fn audio_to_text(
    block: mcp_2025_03_26::AudioContent,
    cx: &mut Context,
) -> Result<mcp_2024_11_05::ContentBlock, Stop> {
    // Four base64 digits are three bytes.
    let bytes = block.data.trim_end_matches('=').len() * 3 / 4;
    let text = format!("[audio, {}, {bytes} bytes]", block.mime_type);
    lose_block(
        cx,
        "audio-block",
        Json::of(&mcp_2025_03_26::ContentBlock::Audio(block)),
    );
    Ok(mcp_2024_11_05::TextContent::new(text).into())
}

/// A link for 2025-03-26, which has none: its name and URI, and what it says of itself.
///
/// Never an embedded resource: that would need a read.
///
/// # Errors
/// None.
pub fn resource_link_to_text(
    link: mcp_2025_06_18::ResourceLink,
    cx: &mut Context,
) -> Result<mcp_2025_03_26::ContentBlock, Stop> {
    let mut text = format!(
        "{}: {}",
        link.title.as_ref().unwrap_or(&link.name),
        link.uri
    );
    if let Some(mime_type) = &link.mime_type {
        text.push_str(&format!(" ({mime_type})"));
    }
    if let Some(description) = &link.description {
        text.push_str(&format!("\n{description}"));
    }
    lose_block(
        cx,
        "resource-link-block",
        Json::of(&mcp_2025_06_18::ContentBlock::ResourceLink(link)),
    );
    Ok(mcp_2025_03_26::TextContent::new(text).into())
}

/// The whole block is what was lost; the text stands in its place.
fn lose_block(cx: &mut Context, rule: &'static str, block: Json) {
    cx.replace(rule, LossKind::Semantic, "", block);
}
