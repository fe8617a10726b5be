//! Between 2024-11-05 and 2025-03-26: audio.

use mcp_2024_11_05 as old;
use mcp_2025_03_26 as new;
use mcp_convert::{Ruled, Stop};

/// Audio for 2024-11-05, which has none: its kind and size, so that the reader knows that something was said.
///
/// The text is for whom the audio was.
pub fn audio_to_text(
    block: new::AudioContent,
    cx: &mut Ruled<'_>,
) -> Result<old::ContentBlock, Stop> {
    // Four base64 digits are three bytes.
    let bytes = block.data.trim_end_matches('=').len() * 3 / 4;
    let mut text = old::TextContent::new(format!("[audio, {}, {bytes} bytes]", block.mime_type));
    text.annotations = block.annotations.clone().map(annotations);
    // The whole block is what was lost; the text stands in its place.
    cx.replace("", new::ContentBlock::Audio(block));
    Ok(text.into())
}

fn annotations(annotations: new::Annotations) -> old::Annotations {
    let new::Annotations {
        audience,
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
