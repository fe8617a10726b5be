//! Messages of several blocks, for revisions in which a message has one.

use mcp_2025_11_25 as new;
use mcp_wire::Json;

use crate::context::Context;
use crate::outcome::{LossKind, Stop};

/// A message of N blocks becomes N messages of the same role, in order.
///
/// Blocks about tools stay: they are rejected where they are converted.
///
/// # Errors
/// None.
pub fn split_messages(
    params: &mut new::CreateMessageRequestParams,
    cx: &mut Context,
) -> Result<(), Stop> {
    let grouped =
        |message: &new::SamplingMessage| matches!(message.content, new::SamplingContent::List(_));
    if !params.messages.iter().any(grouped) {
        return Ok(());
    }
    cx.replace(
        "sampling-split",
        LossKind::Semantic,
        "/messages",
        Json::of(&params.messages),
    );
    let mut messages = Vec::new();
    for message in std::mem::take(&mut params.messages) {
        let new::SamplingMessage {
            content,
            meta,
            role,
            extra,
        } = message;
        match content {
            new::SamplingContent::List(blocks) => {
                for block in blocks {
                    let mut one = new::SamplingMessage::new(single(block), role);
                    (one.meta, one.extra) = (meta.clone(), extra.clone());
                    messages.push(one);
                }
            }
            content => {
                let mut one = new::SamplingMessage::new(content, role);
                (one.meta, one.extra) = (meta, extra);
                messages.push(one);
            }
        }
    }
    params.messages = messages;
    Ok(())
}

/// A result of one block is that block; one of text blocks is their text, line by line.
///
/// Other mixtures stay, and are rejected where they are converted.
///
/// # Errors
/// None.
pub fn join_blocks(result: &mut new::CreateMessageResult, cx: &mut Context) -> Result<(), Stop> {
    let new::SamplingContent::List(blocks) = &mut result.content else {
        return Ok(());
    };
    let text = |block: &new::SamplingMessageContentBlock| match block {
        new::SamplingMessageContentBlock::Text(block) => Some(block.text.clone()),
        _ => None,
    };
    let joined = match blocks.as_slice() {
        [_] => None,
        blocks => match blocks.iter().map(text).collect::<Option<Vec<_>>>() {
            Some(texts) if !texts.is_empty() => Some(texts.join("\n")),
            _ => return Ok(()),
        },
    };
    cx.replace(
        "sampling-join",
        LossKind::Semantic,
        "/content",
        Json::of(&*blocks),
    );
    result.content = match joined {
        Some(text) => new::TextContent::new(text).into(),
        None => match blocks.pop() {
            Some(block) => single(block),
            None => return Ok(()),
        },
    };
    Ok(())
}

fn single(block: new::SamplingMessageContentBlock) -> new::SamplingContent {
    use mcp_2025_11_25::SamplingMessageContentBlock as Block;
    match block {
        Block::Text(block) => block.into(),
        Block::Image(block) => block.into(),
        Block::Audio(block) => block.into(),
        Block::ToolUse(block) => block.into(),
        Block::ToolResult(block) => block.into(),
    }
}
