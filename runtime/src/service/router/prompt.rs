//! Prompts: messages for a model, made of arguments that a person fills in.

use mcp_revisions_core::latest as mcp;
use mcp_wire::Map;
use serde::de::DeserializeOwned;

use super::handler::{BoxedHandler, failed};
use super::{Handler, IntoPromptResult, Prompt, Router, texts};

impl Router {
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
