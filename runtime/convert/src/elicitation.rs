//! Forms: enumerations in their old and new spellings, and the capability to ask.

use mcp_2025_06_18 as old;
use mcp_2025_11_25 as new;
use mcp_wire::{Extra, Json, JsonObject};

use crate::context::{Context, pointer_to};
use crate::outcome::{LossKind, Stop};

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
