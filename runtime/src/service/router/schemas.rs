//! Tools and prompts whose schemas are those of Rust types. Feature `schemars`.

use mcp_revisions_core::latest as mcp;
use mcp_wire::{Json, JsonObject};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Described, Handler, IntoPromptResult, IntoToolResult, NoArguments, Router};

impl Router {
    /// Adds a tool whose schemas are those of its argument and result types.
    ///
    /// ```
    /// # use mcp_revisions::service::{RequestContext, Router};
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Add { a: f64, b: f64 }
    ///
    /// let router = Router::new().tool("add", "Adds two numbers.", |add: Add| async move { add.a + add.b });
    /// # let _ = router;
    /// ```
    pub fn tool<Shape, H>(self, name: &str, description: &str, run: H) -> Self
    where
        H: Handler<
                Shape,
                Arguments: DeserializeOwned + Described,
                Future: Future<Output: IntoToolResult> + Send + 'static,
            >,
    {
        let schemas = (
            <H::Arguments as Described>::schema(),
            <<H::Future as Future>::Output as IntoToolResult>::output_schema(),
        );
        self.tool_of(described(name, description, schemas), run)
    }

    /// Adds a prompt whose arguments are the fields of a struct of strings, numbers, booleans and enums.
    pub fn prompt<Shape, H>(self, name: &str, description: &str, fill: H) -> Self
    where
        H: Handler<
                Shape,
                Arguments: DeserializeOwned + Described,
                Future: Future<Output: IntoPromptResult> + Send + 'static,
            >,
    {
        let schema = <H::Arguments as Described>::schema().unwrap_or_default();
        let mut prompt = mcp::Prompt::new(name).with_description(description);
        let arguments = arguments(&Json::from(schema));
        if !arguments.is_empty() {
            prompt = prompt.with_arguments(arguments);
        }
        self.prompt_of(prompt, fill)
    }
}

impl<T: JsonSchema> Described for T {
    fn schema() -> Option<JsonObject> {
        of::<T>()
    }
}

impl JsonSchema for NoArguments {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NoArguments".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "object"})
    }
}

/// Returns the schema of a type; `None` for one that describes no object of keywords, such as a type of any value.
fn of<T: JsonSchema>() -> Option<JsonObject> {
    let mut settings = SchemaSettings::draft2020_12();
    // MCP reads a schema without `$schema` in this dialect.
    settings.meta_schema = None;
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Value::Object(schema) = &mut schema {
        // The name of the Rust type says nothing to a model.
        schema.remove("title");
    }
    JsonObject::try_from(Json::from(schema)).ok()
}

/// Returns a tool of these schemas, of its arguments and of its result.
fn described(
    name: &str,
    description: &str,
    (input, output): (Option<JsonObject>, Option<JsonObject>),
) -> mcp::Tool {
    let mut tool = mcp::Tool::new(name, input.unwrap_or_default());
    tool.description = Some(description.to_owned());
    tool.output_schema = output;
    tool
}

/// Returns the arguments that a struct of this schema takes.
fn arguments(schema: &Json) -> Vec<mcp::PromptArgument> {
    let document: Value = schema.parse().unwrap_or_default();
    let required = |name: &str| {
        let mut required = document["required"].as_array().into_iter().flatten();
        required.any(|one| one == name)
    };
    let members = document["properties"].as_object().into_iter().flatten();
    let argument = members.map(|(name, member)| {
        let argument = mcp::PromptArgument::new(name.as_str()).with_required(required(name));
        match member["description"].as_str() {
            Some(description) => argument.with_description(description),
            None => argument,
        }
    });
    argument.collect()
}
