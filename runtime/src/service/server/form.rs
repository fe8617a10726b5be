//! Forms by which a handler asks a person, made of Rust types. Feature `schemars`.

use mcp_revisions_core::Spoken;
use mcp_wire::Json;
use mcp_wire::service::Caller as _;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::RequestContext;
use crate::service::Error;
use mcp_revisions_core::methods;

impl<App: Spoken> RequestContext<App> {
    /// Requests a value from the user of the client, by a form of its fields: `cx.elicit::<Profile>("Who are you?").await?`.
    /// Dropping the future withdraws the question.
    ///
    /// The type is a struct of strings, numbers, booleans and enums. Any client that can show a form can be asked,
    /// whichever revision it speaks.
    ///
    /// # Errors
    /// [`Error::Declined`] and [`Error::Cancelled`]; that the client cannot be asked; a value that is not of the type.
    pub async fn elicit<T>(&self, message: impl Into<String>) -> Result<T, Error>
    where
        T: serde::de::DeserializeOwned + JsonSchema,
    {
        let form = form::<T>().map_err(Error::Internal)?;
        let content = self.elicited(message.into(), form).await?;
        content.parse().map_err(|error| {
            let why = mcp_revisions_sansio::errors::abridged(&error);
            Error::Internal(format!("the client's answer is not valid: {why}"))
        })
    }

    /// Asks the user of the client to confirm something, and returns whether that is done:
    /// `if cx.confirm("Drop the table?").await? { .. }`. A user who declines or dismisses the question does not confirm.
    /// Dropping the future withdraws the question.
    ///
    /// # Errors
    /// Returns an error if the client cannot be asked, or its answer is not valid.
    pub async fn confirm(&self, message: impl Into<String>) -> Result<bool, Error> {
        let form = serde_json::json!({"type": "object", "properties": {}});
        match self.elicited(message.into(), form).await {
            Ok(_) => Ok(true),
            Err(Error::Declined | Error::Cancelled) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the content of an accepted form.
    async fn elicited(&self, message: String, form: Value) -> Result<Json, Error> {
        let params = serde_json::json!({"message": message, "requestedSchema": form});
        let asked = self.request(methods::ELICITATION_CREATE, Some(Json::from(params)));
        let answer: mcp_wire::Map<Json> = asked.await?.read()?;
        let action = answer.get("action").and_then(Json::as_str);
        match action.as_deref() {
            Some("accept") => Ok(answer.get("content").cloned().unwrap_or_default()),
            Some("decline") => Err(Error::Declined),
            Some("cancel") => Err(Error::Cancelled),
            _ => Err(Error::internal(
                "the client's answer is not valid: expected `action` accept, decline or cancel",
            )),
        }
    }
}

/// Returns the schema of a form: an object whose members are scalars, in the few keywords that a form may have. The error is
/// the member that no form can ask for.
fn form<T: JsonSchema>() -> Result<Value, String> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let Value::Object(mut schema) = schema.to_value() else {
        return Err("a form is asked for by a struct".to_owned());
    };
    let Some(Value::Object(members)) = schema.remove("properties") else {
        return Err("a form is asked for by a struct with named members".to_owned());
    };
    let mut properties = Map::new();
    for (name, member) in members {
        let Some(member) = scalar(member) else {
            return Err(format!(
                "a form can ask for texts, numbers, yes or no, and choices; `{name}` is none of them"
            ));
        };
        properties.insert(name, member);
    }
    let required = schema.remove("required");
    let mut form = Map::new();
    form.insert("type".to_owned(), "object".into());
    form.insert("properties".to_owned(), properties.into());
    form.extend(required.map(|required| ("required".to_owned(), required)));
    Ok(form.into())
}

/// The formats of strings that a form knows.
const FORMATS: [&str; 4] = ["date", "date-time", "email", "uri"];

fn scalar(member: Value) -> Option<Value> {
    let Value::Object(mut member) = member else {
        return None;
    };
    // A member that may be left out may be `null` in Rust, and is left out in a form.
    if let Some(Value::Array(types)) = member.get("type") {
        let mut kinds = types.iter().filter(|ty| *ty != "null").cloned();
        let (only, more) = (kinds.next()?, kinds.next());
        if more.is_some() {
            return None;
        }
        member.insert("type".to_owned(), only);
    }
    if let Some(Value::Array(choices)) = member.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    if let Some(Value::Array(cases)) = member.get("anyOf") {
        let mut shapes = cases.iter().filter(|case| case["type"] != "null").cloned();
        let (only, more) = (shapes.next()?, shapes.next());
        let title = member.remove("description");
        if more.is_some() {
            return None;
        }
        let mut only = scalar(only)?;
        if let (Value::Object(only), Some(title)) = (&mut only, title) {
            only.insert("description".to_owned(), title);
        }
        return Some(only);
    }
    // Choices with a line each are constants with a title each; those without a line are in one case together.
    if let Some(Value::Array(cases)) = member.remove("oneOf") {
        let mut choices = Vec::new();
        for case in &cases {
            let title = case.get("title").or_else(|| case.get("description"));
            let (values, title) = match case.get("const") {
                Some(value) => (std::slice::from_ref(value), title),
                None => (case.get("enum")?.as_array()?.as_slice(), None),
            };
            for value in values {
                let choice = value.as_str()?;
                let shown = title.and_then(Value::as_str).unwrap_or(choice);
                choices.push(serde_json::json!({"const": choice, "title": shown}));
            }
        }
        member.insert("type".to_owned(), "string".into());
        member.insert("oneOf".to_owned(), choices.into());
        return Some(member.into());
    }
    match member.get("type")?.as_str()? {
        "string" => {
            let known = member
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(|format| FORMATS.contains(&format));
            if !known {
                member.remove("format");
            }
        }
        "integer" | "number" | "boolean" => {
            member.remove("format");
        }
        _ => return None,
    }
    if member.get("default").is_some_and(Value::is_null) {
        member.remove("default");
    }
    Some(member.into())
}
