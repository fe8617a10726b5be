//! Prompts: messages for a model, made of arguments that a person fills in.

use mcp_revisions_core::latest as mcp;
#[cfg(feature = "schemars")]
use mcp_wire::Json;
use mcp_wire::Map;
use serde::de::DeserializeOwned;

#[cfg(feature = "schemars")]
use super::Described;
use super::handler::{BoxedHandler, failed};
use super::{Handler, IntoPromptResult, Prompt, Router, texts};

impl Router {
    /// Adds a prompt whose arguments are the fields of a struct of strings, numbers, booleans and enums.
    #[cfg(feature = "schemars")]
    #[must_use]
    pub fn prompt<Shape, H>(self, name: &str, description: &str, fill: H) -> Self
    where
        H: Handler<Shape, Arguments: DeserializeOwned + Described, Answer: IntoPromptResult>,
    {
        let schema = <H::Arguments as Described>::schema().unwrap_or_default();
        let mut prompt = mcp::Prompt::new(name).with_description(description);
        let arguments = arguments(&Json::from(schema));
        if !arguments.is_empty() {
            prompt = prompt.with_arguments(arguments);
        }
        self.prompt_of(prompt, fill)
    }

    /// Adds a prompt with a complete description.
    #[must_use]
    pub fn prompt_of<Shape, H>(mut self, prompt: mcp::Prompt, fill: H) -> Self
    where
        H: Handler<Shape, Arguments: DeserializeOwned, Answer: IntoPromptResult>,
    {
        let name = prompt.name.clone();
        let of = name.clone();
        let fill: BoxedHandler<Map<String>, _> = Box::new(move |arguments, cx| {
            let arguments = match texts::read(&arguments) {
                Ok(arguments) => arguments,
                Err(error) => return failed(format!("arguments of the prompt `{of}`"), &error),
            };
            let answer = fill.call(arguments, cx);
            Box::pin(async move { answer.await?.into_prompt_result() })
        });
        self.takes(format!("the prompt `{name}`"), H::state());
        let free = self.prompts.add(&name, Prompt { prompt, fill });
        self.taken(free, "prompts", &name);
        self
    }
}

/// Returns the arguments that a struct of this schema takes.
#[cfg(feature = "schemars")]
fn arguments(schema: &Json) -> Vec<mcp::PromptArgument> {
    use serde_json::Value;
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
