//! Between 2024-11-05 and 2025-03-26: audio.

use mcp_2024_11_05 as old;
use mcp_2025_03_26 as new;
use mcp_convert::Ruled;
use mcp_wire::args::Uri;

/// What stands for the URI of audio that has none.
const AUDIO: &str = "urn:mcp-revisions:audio";

/// Converts audio, which 2024-11-05 does not have, to an embedded resource with the same bytes and their type.
///
/// It is for whom the audio was.
pub fn audio_to_blob(block: new::AudioContent, cx: &mut Ruled<'_>) -> old::ContentBlock {
    let mut contents = old::BlobResourceContents::new(Uri(AUDIO), block.data.clone());
    contents.mime_type = Some(block.mime_type.clone());
    let mut resource = old::EmbeddedResource::new(contents);
    resource.annotations = block.annotations.clone().map(annotations);
    // The whole block is what was lost; the resource stands in its place.
    cx.replace("", new::ContentBlock::Audio(block));
    resource.into()
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
