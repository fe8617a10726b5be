//! Checks of calls and their results by the schemas of tools, in a layer. Feature `schema-checks`.

use std::collections::HashMap;
use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use mcp_revisions_core::{Latest, latest as mcp, methods};
use mcp_revisions_sansio::errors::abridged;
use mcp_wire::{Direction, EXCERPT, ErrorObject, Json, JsonObject, excerpt};
use serde_json::Value;

use super::{McpServer, ServeError};
use crate::layer::LayerMessage;
use crate::transport::observe;

/// Maximum number of bytes of a schema, and of a compiled pattern in it.
const BYTES: usize = 1 << 20;

/// A schema and its compiled form.
struct CompiledSchema {
    document: Value,
    validator: Validator,
}

/// The schemas of a tool.
struct ToolSchemas {
    input: CompiledSchema,
    output: Option<CompiledSchema>,
}

impl McpServer<Latest> {
    /// Checks each call of the tools of a [`Router`](crate::service::Router) by their schemas, within all layers that were
    /// added before: arguments before the handler runs, and the structured content of its result.
    ///
    /// Both failures are results with `isError`, which name the place, what the schema expects and what was found; arguments
    /// that do not fit are for the model to mend, a result that does not is the server's mistake, and logged. A schema is
    /// compiled once, has at most 1 MiB, and nothing is fetched for it. Its patterns run in linear time: they have no look-around
    /// and no backreferences.
    ///
    /// ```
    /// # use mcp_revisions::latest as mcp;
    /// # use mcp_revisions::mcp_wire::{Json, JsonObject};
    /// # use mcp_revisions::service::Router;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = r#"{"type": "object", "properties": {"a": {"minimum": 5}}}"#;
    /// let tool = mcp::Tool::new("double", JsonObject::from_text(schema)?);
    /// let double = |arguments: serde_json::Value| async move { arguments["a"].as_f64().unwrap_or(0.0) * 2.0 };
    /// let server = Router::new().tool_of(tool, double).build("numbers", "1.0")?.with_schema_checks()?;
    /// # drop(server);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error that names each schema that cannot be used, or if the tools are known only when a client asks.
    pub fn with_schema_checks(self) -> Result<Self, ServeError> {
        let known = self.http.tools.as_ref();
        let read = known.and_then(|page| page.read::<mcp::ListToolsResult>().ok());
        let unknown = "the tools are known only when a client asks: give those to check to `with_schema_checks_of`";
        let page = read.ok_or_else(|| ServeError::Router(unknown.to_owned()))?;
        self.with_schema_checks_of(page.tools)
    }

    /// Checks each call of these tools, as [`with_schema_checks`](Self::with_schema_checks) does: for handlers that list their
    /// tools themselves. Calls of other tools are not checked.
    ///
    /// # Errors
    /// Returns an error that names each schema that cannot be used.
    pub fn with_schema_checks_of(
        self,
        tools: impl IntoIterator<Item = mcp::Tool>,
    ) -> Result<Self, ServeError> {
        let (mut compiled, mut problems) = (HashMap::new(), Vec::new());
        for tool in tools {
            let mut compile = |member: &str, schema: &JsonObject| {
                CompiledSchema::new(schema)
                    .map_err(|why| {
                        let name = abridged(&tool.name);
                        problems.push(format!(
                            "the `{member}` of the tool `{name}` cannot be used: {why}"
                        ));
                    })
                    .ok()
            };
            let input = compile("inputSchema", &tool.input_schema);
            let output = (tool.output_schema.as_ref()).and_then(|it| compile("outputSchema", it));
            compiled.extend(input.map(|input| (tool.name, ToolSchemas { input, output })));
        }
        if !problems.is_empty() {
            return Err(ServeError::Router(problems.join("\n")));
        }
        let tools = Arc::new(compiled);
        Ok(self.with_layer(move |message| check(Arc::clone(&tools), message)))
    }
}

impl CompiledSchema {
    fn new(schema: &JsonObject) -> Result<Self, String> {
        let text = schema.text();
        if text.len() > BYTES {
            return Err(format!(
                "expected at most {BYTES} bytes, found {}",
                text.len()
            ));
        }
        let document = serde_json::from_str(text).map_err(|why| why.to_string())?;
        let patterns = PatternOptions::regex().size_limit(BYTES);
        let options = jsonschema::options()
            .offline()
            .with_pattern_options(patterns);
        match options.build(&document) {
            Ok(validator) => Ok(Self {
                document,
                validator,
            }),
            Err(why) => Err(format!(
                "at `{}`: {}",
                abridged(why.instance_path()),
                abridged(&why)
            )),
        }
    }

    /// Returns the first place where a value does not fit, and why.
    fn check(&self, value: &Json) -> Result<(), (String, String)> {
        let root = |why: serde_json::Error| (String::new(), why.to_string());
        let value: Value = serde_json::from_str(value.text()).map_err(root)?;
        self.validator.validate(&value).map_err(|why| {
            let place = abridged(why.instance_path());
            (place, self.explained(&why))
        })
    }

    /// Describes a mismatch: the expectation of the schema, and the value.
    fn explained(&self, error: &ValidationError<'_>) -> String {
        let shown = |value: &Value| excerpt(&value.to_string(), EXCERPT);
        let found = shown(error.instance());
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                format!("expected a member {}, found {found}", shown(property))
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let unexpected = excerpt(&unexpected.join("`, `"), EXCERPT);
                format!("expected other members, found `{unexpected}`")
            }
            kind => match self.document.pointer(error.schema_path().as_str()) {
                Some(expected) => format!(
                    "expected {} {}, found {found}",
                    kind.keyword(),
                    shown(expected)
                ),
                None => format!("expected a valid {}, found {found}", kind.keyword()),
            },
        }
    }
}

/// Passes a message on; a call only if its arguments fit, and its result only if that does.
async fn check(
    tools: Arc<HashMap<String, ToolSchemas>>,
    message: LayerMessage,
) -> Result<Json, ErrorObject> {
    let is_call =
        message.direction() == Direction::ClientToServer && message.method() == methods::TOOLS_CALL;
    let name: Option<String> = is_call
        .then(|| message.params().read_member("name"))
        .flatten();
    let Some((name, tool)) = name.as_ref().and_then(|name| tools.get_key_value(name)) else {
        return message.forward().await;
    };
    let given = message.params().get("arguments");
    let arguments = given.filter(|it| !it.is_null()).unwrap_or_default();
    if let Err((place, why)) = tool.input.check(&arguments) {
        return Ok(fails(match &*place {
            "" => format!("arguments of `{name}`: {why}"),
            place => format!("argument `{place}` of `{name}`: {why}"),
        }));
    }
    let result = message.forward().await?;
    let is_complete =
        result.get("content").is_some() && result.read_member("isError") != Some(true);
    let Some(output) = tool.output.as_ref().filter(|_| is_complete) else {
        return Ok(result);
    };
    let checked = match result.get("structuredContent") {
        Some(content) => output.check(&content),
        None => Err((String::new(), "expected a value, found none".to_owned())),
    };
    match checked {
        Ok(()) => Ok(result),
        Err((place, why)) => {
            observe::result_not_valid(name, &place, &why);
            Ok(fails(format!(
                "the server has made a mistake: the result of `{name}` does not fit its outputSchema: structuredContent{place}: {why}"
            )))
        }
    }
}

/// Returns the result of a call that failed, with the reason.
fn fails(why: String) -> Json {
    let text = mcp::TextContent::new(why);
    Json::of(&mcp::CallToolResult::new(vec![text.into()]).with_is_error(true))
}
