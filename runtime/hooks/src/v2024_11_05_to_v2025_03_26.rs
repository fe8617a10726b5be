//! Between 2024-11-05 and 2025-03-26: audio.

use mcp_convert::{Context, LossKind, Stop};
use mcp_wire::Json;

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
    cx.replace(
        "audio-block",
        LossKind::Semantic,
        "",
        Json::of(&mcp_2025_03_26::ContentBlock::Audio(block)),
    );
    Ok(mcp_2024_11_05::TextContent::new(text).into())
}
