//! Between 2025-06-18 and 2025-11-25: forms, messages of several blocks, tools that demand tasks.

use mcp_2025_06_18 as old;
use mcp_2025_11_25 as new;
use mcp_convert::{Context, LossKind, Stop, pointer_to};
use mcp_wire::{Extra, Json, JsonObject};

/// `enum` with `enumNames` becomes `oneOf` with titles, where each value has a name; else it keeps its spelling.
///
/// # Errors
/// None.
pub fn enum_up(
    schema: old::EnumSchema,
    _: &mut Context,
) -> Result<new::PrimitiveSchemaDefinition, Stop> {
    let old::EnumSchema {
        description,
        enum_names,
        title,
        values,
        extra,
    } = schema;
    Ok(match enum_names {
        None => {
            let mut schema = new::UntitledSingleSelectEnumSchema::new(values);
            (schema.description, schema.title, schema.extra) = (description, title, extra);
            schema.into()
        }
        Some(names) if names.len() == values.len() => {
            let choices = values.into_iter().zip(names);
            let choices = choices
                .map(|(value, title)| new::TitledSingleSelectEnumSchemaOneOf::new(title, value));
            let mut schema = new::TitledSingleSelectEnumSchema::new(choices.collect());
            (schema.description, schema.title, schema.extra) = (description, title, extra);
            schema.into()
        }
        Some(names) => {
            let mut schema = new::LegacyTitledEnumSchema::new(values).with_enum_names(names);
            (schema.description, schema.title, schema.extra) = (description, title, extra);
            schema.into()
        }
    })
}

/// A choice without titles.
///
/// # Errors
/// None.
pub fn untitled_down(
    schema: new::UntitledSingleSelectEnumSchema,
    cx: &mut Context,
) -> Result<old::PrimitiveSchemaDefinition, Stop> {
    let new::UntitledSingleSelectEnumSchema {
        default,
        description,
        title,
        values,
        mut extra,
    } = schema;
    drop_default(cx, default, &mut extra);
    Ok(enum_schema(values, None, description, title, extra))
}

/// A choice with titles: the same, spelled with `enumNames`.
///
/// # Errors
/// None.
pub fn titled_down(
    schema: new::TitledSingleSelectEnumSchema,
    cx: &mut Context,
) -> Result<old::PrimitiveSchemaDefinition, Stop> {
    let new::TitledSingleSelectEnumSchema {
        default,
        description,
        one_of,
        title,
        mut extra,
    } = schema;
    drop_default(cx, default, &mut extra);
    let (mut values, mut names) = (Vec::new(), Vec::new());
    for (index, choice) in one_of.into_iter().enumerate() {
        let new::TitledSingleSelectEnumSchemaOneOf {
            title,
            value,
            extra,
        } = choice;
        for (name, value) in extra {
            let pointer = format!("/oneOf/{index}{}", pointer_to(&name));
            cx.lose("enum-titled", LossKind::Cosmetic, pointer, value);
        }
        values.push(value);
        names.push(title);
    }
    Ok(enum_schema(values, Some(names), description, title, extra))
}

/// The old spelling itself. Where it would come back as `oneOf`, that is said.
///
/// # Errors
/// None.
pub fn legacy_down(
    schema: new::LegacyTitledEnumSchema,
    cx: &mut Context,
) -> Result<old::PrimitiveSchemaDefinition, Stop> {
    // The way up spells a choice whose values all have titles with `oneOf`.
    if let Some(names) = schema
        .enum_names
        .as_ref()
        .filter(|names| names.len() == schema.values.len())
    {
        cx.add("enum-legacy", LossKind::Cosmetic, "/oneOf");
        cx.lose(
            "enum-legacy",
            LossKind::Cosmetic,
            "/enum",
            Json::of(&schema.values),
        );
        cx.lose(
            "enum-legacy",
            LossKind::Cosmetic,
            "/enumNames",
            Json::of(names),
        );
    }
    let new::LegacyTitledEnumSchema {
        default,
        description,
        enum_names,
        title,
        values,
        mut extra,
    } = schema;
    drop_default(cx, default, &mut extra);
    Ok(enum_schema(values, enum_names, description, title, extra))
}

fn drop_default(cx: &mut Context, default: Option<String>, extra: &mut Extra) {
    cx.drop_member(
        "form-default",
        LossKind::Semantic,
        "default",
        default,
        extra,
    );
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

/// What a client can be asked. One that takes URLs alone must not look as if it took forms.
///
/// # Errors
/// None.
pub fn capability_down(
    capability: Option<new::ClientCapabilitiesElicitation>,
    cx: &mut Context,
) -> Result<Option<JsonObject>, Stop> {
    let Some(capability) = capability else {
        return Ok(None);
    };
    if capability.url.is_some() && capability.form.is_none() {
        cx.lose(
            "elicitation-capability",
            LossKind::Interaction,
            "",
            Json::of(&capability),
        );
        return Ok(None);
    }
    let new::ClientCapabilitiesElicitation {
        form,
        url,
        mut extra,
    } = capability;
    cx.drop_member(
        "elicitation-capability",
        LossKind::Cosmetic,
        "form",
        form,
        &mut extra,
    );
    cx.drop_member(
        "elicitation-capability",
        LossKind::Interaction,
        "url",
        url,
        &mut extra,
    );
    Ok(Some(Context::close(&extra)))
}

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
    use new::SamplingMessageContentBlock as Block;
    match block {
        Block::Text(block) => block.into(),
        Block::Image(block) => block.into(),
        Block::Audio(block) => block.into(),
        Block::ToolUse(block) => block.into(),
        Block::ToolResult(block) => block.into(),
    }
}

/// Whether a tool can be called by a peer that knows no tasks.
#[must_use]
pub fn works_without_tasks(tool: &new::Tool) -> bool {
    let support = tool
        .execution
        .as_ref()
        .and_then(|execution| execution.task_support);
    support != Some(new::TaskSupport::Required)
}
