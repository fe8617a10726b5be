//! Between 2024-11-05 and 2025-03-26: audio.

use mcp_2024_11_05 as old;
use mcp_2025_03_26 as new;
use mcp_convert::Ruled;
use mcp_wire::args::Uri;

/// What the URI of audio that has none begins with; the number of its bytes follows, so that two sounds are two resources.
const AUDIO: &str = "urn:mcp-revisions:audio";

/// Converts audio, which 2024-11-05 does not have, to an embedded resource with the same bytes and their type.
///
/// It is for whom the audio was.
pub fn audio_to_blob(block: new::AudioContent, cx: &mut Ruled<'_>) -> old::ContentBlock {
    let uri = format!("{AUDIO}:{:016x}", number_of(&block.data));
    let mut contents = old::BlobResourceContents::new(Uri(uri), block.data.clone());
    contents.mime_type = Some(block.mime_type.clone());
    let mut resource = old::EmbeddedResource::new(contents);
    resource.annotations = block.annotations.clone().map(annotations);
    // The whole block is what was lost; the resource stands in its place.
    cx.replace("", new::ContentBlock::Audio(block));
    resource.into()
}

/// Returns a number that differs for texts that differ, as far as 64 bits can: FNV-1a.
fn number_of(text: &str) -> u64 {
    let bytes = text.bytes();
    bytes.fold(0xcbf2_9ce4_8422_2325, |number, byte| {
        (number ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
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
