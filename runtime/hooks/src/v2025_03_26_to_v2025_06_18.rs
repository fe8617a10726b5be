//! Between 2025-03-26 and 2025-06-18: links, structured content, display names of tools.

use mcp_convert::{Context, LossKind, Policy, Stop};
use mcp_wire::Json;

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
    cx.replace(
        "resource-link-block",
        LossKind::Semantic,
        "",
        Json::of(&mcp_2025_06_18::ContentBlock::ResourceLink(link)),
    );
    Ok(mcp_2025_03_26::TextContent::new(text).into())
}

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

/// The title of a tool moves to its annotations, where 2025-03-26 has one, unless another one stands there.
///
/// # Errors
/// None.
pub fn title_to_annotations(tool: &mut mcp_2025_06_18::Tool, cx: &mut Context) -> Result<(), Stop> {
    if cx.policy() == Policy::Carry {
        return Ok(());
    }
    let taken = tool
        .annotations
        .as_ref()
        .is_some_and(|annotations| annotations.title.is_some());
    if taken || tool.title.is_none() {
        return Ok(());
    }
    let Some(title) = tool.title.take() else {
        return Ok(());
    };
    cx.lose("tool-title", LossKind::Cosmetic, "/title", Json::of(&title));
    match &mut tool.annotations {
        Some(annotations) => {
            cx.add("tool-title", LossKind::Cosmetic, "/annotations/title");
            annotations.title = Some(title);
        }
        None => {
            cx.add("tool-title", LossKind::Cosmetic, "/annotations");
            tool.annotations = Some(mcp_2025_06_18::ToolAnnotations::new().with_title(title));
        }
    }
    Ok(())
}
