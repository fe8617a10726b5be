//! Prompts: messages for a model, made of arguments that a person fills in.

use std::sync::Arc;

use mcp_protocol::latest as mcp;
use mcp_wire::{Json, Map};
use serde::de::DeserializeOwned;

#[cfg(feature = "schemars")]
use super::Described;
use super::{Handler, IntoPromptResult, Prompt, Router};
use crate::errors::abridged;
use crate::service::Error;

impl Router {
    /// Adds a prompt whose arguments are the fields of a struct of strings.
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
        let (filler, of) = (Arc::new(fill), name.clone());
        let fill = Box::new(move |arguments: Map<String>, cx| {
            let filler = Arc::clone(&filler);
            let arguments = Json::of(&arguments).parse().map_err(|error| {
                let why = abridged(&error);
                Error::InvalidParams(format!("arguments of the prompt `{of}`: {why}"))
            });
            let work: super::handler::Work<_> = Box::pin(async move {
                let answer = filler.call(arguments?, cx).await;
                answer.into_prompt_result()
            });
            work
        });
        let free = self.prompts.add(&name, Prompt { prompt, fill });
        self.taken(free, "prompts", &name);
        self
    }
}

/// The arguments that a struct of this schema takes.
#[cfg(feature = "schemars")]
fn arguments(schema: &Json) -> Vec<mcp::PromptArgument> {
    use serde_json::Value;
    let schema: Value = schema.parse().unwrap_or_default();
    let required = |name: &str| {
        let mut required = schema["required"].as_array().into_iter().flatten();
        required.any(|one| one == name)
    };
    let members = schema["properties"].as_object().into_iter().flatten();
    let argument = members.map(|(name, member)| {
        let argument = mcp::PromptArgument::new(name.as_str()).with_required(required(name));
        match member["description"].as_str() {
            Some(description) => argument.with_description(description),
            None => argument,
        }
    });
    argument.collect()
}
