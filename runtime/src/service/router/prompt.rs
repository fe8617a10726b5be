//! Prompts: messages for a model, made of arguments that a person fills in.

use mcp_revisions_core::latest as mcp;
use mcp_wire::Map;
use serde::de::DeserializeOwned;

use super::handler::{BoxedHandler, failed};
use super::{Handler, IntoPromptResult, LastAdded, Prompt, Router, texts};

impl Router {
    /// Adds a prompt with a complete description.
    pub fn prompt_of<Shape, H>(mut self, prompt: mcp::Prompt, fill: H) -> Self
    where
        H: Handler<
                Shape,
                Arguments: DeserializeOwned,
                Future: Future<Output: IntoPromptResult> + Send + 'static,
            >,
    {
        let name = prompt.name.clone();
        let of = name.clone();
        let fill: BoxedHandler<Map<String>, _> = Box::new(move |arguments, cx| {
            let arguments = match texts::read(&arguments) {
                Ok(arguments) => arguments,
                Err(error) => return failed(format!("arguments of the prompt `{of}`"), &error),
            };
            let answer = fill.call(arguments, cx);
            Box::pin(async move { answer?.await.into_prompt_result() })
        });
        self.takes(&format!("the prompt `{name}`"), H::states());
        let free = self.prompts.add(&name, Prompt { prompt, fill });
        self.report_taken(free, "prompts", &name);
        self.last = LastAdded::Prompt;
        self
    }

    /// Changes the description of the prompt that this follows: its title, its arguments.
    pub fn described_prompt(mut self, describe: impl FnOnce(mcp::Prompt) -> mcp::Prompt) -> Self {
        if self.follows(LastAdded::Prompt, "described_prompt", "a prompt")
            && let Some(last) = self.prompts.all.last_mut()
        {
            let name = last.prompt.name.clone();
            last.prompt = describe(last.prompt.clone());
            // It stays what requests name it.
            last.prompt.name = name;
        }
        self
    }
}
