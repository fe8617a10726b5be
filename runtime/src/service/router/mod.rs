//! Tools, resources, prompts and completions, one by one, each an async function of typed arguments. Feature `router`.
//!
//! A function takes its arguments, a [`RequestContext`], both or neither. Schemas are derived from the types of arguments
//! and results with feature `schemars`; without it, they are given with the tool ([`Router::tool_of`]).

mod blob;
mod changes;
mod completion;
mod dynamic;
#[cfg(feature = "ext-events")]
pub mod events;
mod handler;
mod prompt;
mod resource;
mod result;
#[cfg_attr(not(feature = "schemars"), path = "without_schemas.rs")]
mod schemas;
#[cfg(feature = "skills")]
mod skills;
mod state;
#[cfg_attr(not(feature = "ext-tasks"), path = "without_tasks.rs")]
mod tasks;
mod templates;
mod texts;
mod tool;

use std::collections::HashMap;
use std::sync::Arc;

use super::Error;
use super::server::{McpServer, RequestContext, ServeError, Server, States};
use crate::layer::{LayerMessage, Layers};
use crate::transport::observe;
use mcp_revisions_core::errors::shortened;
use mcp_revisions_core::{Latest, latest as mcp, methods};
use mcp_wire::args::Version;

pub use blob::Blob;
pub use changes::Changes;
pub use completion::TextArgument;
pub use dynamic::{DynamicCall, IntoPage, PageCursor};
pub use handler::{ArgumentShape, ContextShape, Handler, NoArguments, WithoutArguments};
pub use result::{Described, IntoContents, IntoPromptResult, IntoToolResult, IntoValues, Json};
pub use state::{Extension, FromContext, State, StateType};
pub use tool::ToolFunction;

use dynamic::Dynamic;
use handler::BoxedHandler;
use tasks::AsTask;
use templates::Templates;

/// Maximum number of bytes of the name of a tool, prompt or resource, or of its URI.
const NAME_BYTES: usize = 1 << 10;

/// A server made of functions, written against the latest release.
///
/// [`build`](Self::build) reports invalid registrations: names that are empty or used twice, URIs that are none, templates
/// that match no URI or whose function takes what they do not have, schemas that describe no object.
#[derive(Default)]
#[must_use]
pub struct Router {
    tools: NamedList<Tool>,
    resources: NamedList<RegisteredResource>,
    templates: Templates,
    prompts: NamedList<Prompt>,
    completions: HashMap<(String, String), BoxedHandler<String, Vec<String>>>,
    /// The handlers of the methods of extensions, by method.
    methods: Vec<(&'static str, MethodHandler)>,
    dynamic_tools:
        Option<Dynamic<mcp::ListToolsResult, mcp::CallToolRequestParams, mcp::CallToolOutcome>>,
    dynamic_resources: Option<Dynamic<mcp::ListResourcesResult, String, mcp::ReadResourceOutcome>>,
    /// Number of entries of a page of a list; `None` for all.
    page_size: Option<usize>,
    states: Arc<States>,
    /// The functions that take a state, and its type.
    wanted_states: Vec<(String, StateType)>,
    /// The kind of the last registration.
    last: LastAdded,
    changes: Option<Changes>,
    layers: Layers,
    extensions: mcp_wire::Map<mcp_wire::JsonObject>,
    problems: Vec<String>,
}

/// The kind of the last registration of a router.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LastAdded {
    #[default]
    Nothing,
    Tool,
    Resource,
    Template,
    Prompt,
}

/// The handler of a method of an extension: of its params, and of the number of entries of a page.
type MethodHandler = BoxedHandler<(mcp_wire::Json, Option<usize>), mcp_wire::Json>;

struct Tool {
    tool: mcp::Tool,
    task: Option<AsTask>,
    /// The scopes that the token of a call needs.
    scopes: Vec<String>,
    run: tool::Run,
}

struct RegisteredResource {
    resource: mcp::Resource,
    /// Unset if it is read by those who know its URI, and not listed.
    is_listed: bool,
    read: BoxedHandler<templates::RequestedUri, mcp::ReadResourceOutcome>,
}

struct Prompt {
    prompt: mcp::Prompt,
    fill: BoxedHandler<mcp_wire::Map<String>, mcp::GetPromptOutcome>,
}

/// Things in the order in which they were registered, found by name.
struct NamedList<T> {
    all: Vec<T>,
    by_name: HashMap<String, usize>,
}

impl<T> Default for NamedList<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            by_name: HashMap::new(),
        }
    }
}

impl<T> NamedList<T> {
    fn get(&self, name: &str) -> Option<&T> {
        self.all.get(*self.by_name.get(name)?)
    }

    /// Returns whether the name was free.
    fn add(&mut self, name: &str, thing: T) -> bool {
        let before = self.by_name.insert(name.to_owned(), self.all.len());
        self.all.push(thing);
        before.is_none()
    }
}

impl Router {
    /// Creates an empty router.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares an extension by its identifier, such as `com.example/echo`, with its settings, `{}` if it has none, beside the
    /// capabilities of what is registered. Its methods are handled by
    /// [`custom_method`](McpServer::custom_method).
    ///
    /// ```
    /// # use mcp_revisions::mcp_wire::{Json, JsonObject};
    /// # use mcp_revisions::service::{Router, ServeError};
    /// # fn main() -> Result<(), ServeError> {
    /// let router = Router::new().with_extension("com.example/echo", JsonObject::new());
    /// let server = router.build("echo", "1.0")?;
    /// let server = server.custom_method("echo/say", |params: Json, _cx| async move { Ok(params) });
    /// # drop(server);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_extension(
        mut self,
        identifier: impl Into<String>,
        settings: mcp_wire::JsonObject,
    ) -> Self {
        let identifier = identifier.into();
        let before = self.extensions.insert(&*identifier, settings);
        self.report_taken(before.is_none(), "extensions", &identifier);
        self
    }

    /// Adds a layer around the messages of the server, as [`McpServer::with_layer`] does.
    pub fn with_layer<F, A>(mut self, layer: F) -> Self
    where
        F: Fn(LayerMessage) -> A + Send + Sync + 'static,
        A: Future<Output = Result<mcp_wire::Json, mcp_wire::ErrorObject>> + Send + 'static,
    {
        self.layers.add(layer);
        self
    }

    /// Creates the server, with the name and the version of the program.
    ///
    /// # Errors
    /// Returns an error that names each registration that cannot be served.
    pub fn build(
        mut self,
        name: impl Into<String>,
        version: impl Into<String>,
    ) -> Result<McpServer<Latest>, ServeError> {
        let own_name = name.into();
        if own_name.is_empty() {
            let problem = "the server has an empty name: clients show it to their users";
            self.problems.push(problem.to_owned());
        }
        self.build_with(Server::new(&mcp::Implementation::new(
            own_name,
            Version(version),
        )))
    }

    /// Creates the server from a complete description: title, instructions, revisions.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with(mut self, builder: Server<Latest>) -> Result<McpServer<Latest>, ServeError> {
        let problems = self.check();
        if !problems.is_empty() {
            return Err(ServeError::Router(problems.join("\n")));
        }
        let capabilities = self.capabilities();
        let tasks = tasks::of(&self.tools.all);
        let known = self.dynamic_tools.is_none().then(|| {
            let tools = self.tools.all.iter().map(|one| one.tool.clone());
            mcp_wire::Json::of(&mcp::ListToolsResult::new(tools.collect()))
        });
        let layers = self.layers.clone();
        let (methods, page_size) = (std::mem::take(&mut self.methods), self.page_size);
        let states = Arc::clone(&self.states);
        let layered = builder
            .or_capabilities(&capabilities)
            .build(self)?
            .with_layers(&layers);
        let server = methods
            .into_iter()
            .fold(layered, |server, (method, handler)| {
                let states = Arc::clone(&states);
                server.custom_method(method, move |params, cx| {
                    handler((params, page_size), cx.with_states(&states))
                })
            });
        let server = match known {
            Some(page) => server.with_known_tools(page),
            None => server,
        };
        Ok(tasks::with(server, tasks))
    }

    /// Returns the problems of the registrations, those of completions and states included: what they need may be added
    /// later.
    fn check(&self) -> Vec<String> {
        let mut problems = self.problems.clone();
        let listed_only = self
            .dynamic_resources
            .as_ref()
            .is_some_and(|it| it.run.is_none());
        if listed_only && self.templates.is_empty() {
            let problem = "`resource_list` lists what the templates of the router read: add a `resource_template`";
            problems.push(problem.to_owned());
        }
        for (what, state) in &self.wanted_states {
            if !self.states.has(state.id()) {
                let name = state.name();
                problems.push(format!(
                    "{what} takes `State<{name}>`, which there is not: give it by `with_state`"
                ));
            }
        }
        let mut completions: Vec<_> = self.completions.keys().collect();
        completions.sort();
        for (of, argument) in completions {
            let prompt = self.prompts.get(of);
            let has_argument = match prompt {
                Some(prompt) => {
                    let arguments = prompt.prompt.arguments.as_deref().unwrap_or_default();
                    arguments.iter().any(|one| one.name == *argument)
                }
                None => self.templates.variables(of).contains(&argument.as_str()),
            };
            let is_known = prompt.is_some() || self.templates.has(of);
            let of = shortened(of);
            if !is_known {
                problems.push(format!(
                    "a completion of `{of}`, which is neither a prompt nor a resource template: add that as well"
                ));
            } else if !has_argument {
                problems.push(format!(
                    "a completion of the argument `{argument}` of `{of}`, which has no argument of this name"
                ));
            }
        }
        problems
    }

    /// Returns the capabilities of what is registered.
    #[must_use]
    pub fn capabilities(&self) -> mcp::ServerCapabilities {
        let mut capabilities =
            mcp::ServerCapabilities::new().with_logging(mcp_wire::JsonObject::new());
        let changes = self.changes.is_some().then_some(true);
        if !self.tools.all.is_empty() || self.dynamic_tools.is_some() {
            let mut tools = mcp::ServerCapabilitiesTools::new();
            tools.list_changed = changes;
            capabilities = capabilities.with_tools(tools);
        }
        let has_resources = !self.resources.all.is_empty() || self.dynamic_resources.is_some();
        if has_resources || !self.templates.is_empty() {
            let mut resources = mcp::ServerCapabilitiesResources::new();
            resources.list_changed = changes;
            resources.subscribe = changes;
            capabilities = capabilities.with_resources(resources);
        }
        if !self.prompts.all.is_empty() {
            let mut prompts = mcp::ServerCapabilitiesPrompts::new();
            prompts.list_changed = changes;
            capabilities = capabilities.with_prompts(prompts);
        }
        if !self.completions.is_empty() {
            capabilities = capabilities.with_completions(mcp_wire::JsonObject::new());
        }
        if !self.extensions.is_empty() {
            capabilities = capabilities.with_extensions(self.extensions.clone());
        }
        capabilities
    }

    /// Returns whether the last thing that was added is of this kind, which `called` changes.
    fn follows(&mut self, kind: LastAdded, called: &str, of: &str) -> bool {
        let follows = self.last == kind;
        if !follows {
            self.problems.push(format!(
                "`{called}` does not follow {of}: put it right behind the one that it belongs to"
            ));
        }
        follows
    }

    fn report_taken(&mut self, free: bool, what: &str, name: &str) {
        let problem = match name {
            _ if !free => format!("two {what} are called `{name}`: give one another name"),
            "" => format!("one of the {what} has an empty name: give it one"),
            long if long.len() > NAME_BYTES => format!(
                "one of the {what} has a name of {} bytes, which begins with `{}`: give it one of at most {NAME_BYTES}",
                long.len(),
                shortened(long)
            ),
            _ => return,
        };
        self.problems.push(problem);
    }
}

mcp_wire::debug_struct!([] Router, "Router", self,
    "tools": self.tools.by_name.keys(),
    "resources": self.resources.by_name.keys(),
    "prompts": self.prompts.by_name.keys()
);

impl mcp::ServerHandlers<RequestContext<Latest>> for Router {
    async fn list_tools(
        &self,
        params: mcp::PaginatedRequestParams,
        cx: RequestContext<Latest>,
    ) -> Result<mcp::ListToolsResult, Error> {
        let cursor = params.cursor.as_deref();
        let dynamic = self.dynamic_tools.as_ref();
        let own = dynamic::of_function(cursor).filter(|_| dynamic.is_some());
        let (mut tools, next) = match own {
            Some(_) => Default::default(),
            None => self.page(self.tools.all.iter().map(|one| one.tool.clone()), cursor)?,
        };
        let (Some(dynamic), None) = (dynamic, &next) else {
            return Ok(mcp::ListToolsResult {
                next_cursor: next,
                ..mcp::ListToolsResult::new(tools)
            });
        };
        let stateful = cx.with_states(&self.states);
        let mut page = (dynamic.list)((own, self.page_size), stateful).await?;
        // A call of that name would go to the registered tool.
        page.tools.retain(|tool| {
            let is_free = self.tools.get(&tool.name).is_none();
            if !is_free {
                observe::entry_left_out("tool", &tool.name);
            }
            is_free
        });
        tools.append(&mut page.tools);
        page.tools = tools;
        page.next_cursor = dynamic::marked(page.next_cursor);
        Ok(page)
    }

    async fn call_tool(
        &self,
        params: mcp::CallToolRequestParams,
        context: RequestContext<Latest>,
    ) -> Result<mcp::CallToolOutcome, Error> {
        let cx = context.with_states(&self.states);
        match (self.tools.get(&params.name), &self.dynamic_tools) {
            (Some(tool), _) => {
                cx.require_scopes(&tool.scopes)?;
                if tool.task.is_some_and(AsTask::is_at_once) {
                    cx.start_task().await?;
                }
                (tool.run)(params.arguments, cx).await
            }
            (None, Some(Dynamic { run: Some(run), .. })) => run(params, cx).await,
            (None, _) => {
                let name = shortened(&params.name);
                Err(Error::InvalidParams(format!("no tool `{name}`")))
            }
        }
    }

    async fn list_resources(
        &self,
        params: mcp::PaginatedRequestParams,
        cx: RequestContext<Latest>,
    ) -> Result<mcp::ListResourcesResult, Error> {
        let cursor = params.cursor.as_deref();
        let dynamic = self.dynamic_resources.as_ref();
        let own = dynamic::of_function(cursor).filter(|_| dynamic.is_some());
        let (mut resources, next) = match own {
            Some(_) => Default::default(),
            None => {
                let listed = self.resources.all.iter().filter(|one| one.is_listed);
                self.page(listed.map(|one| one.resource.clone()), cursor)?
            }
        };
        let (Some(dynamic), None) = (dynamic, &next) else {
            return Ok(mcp::ListResourcesResult {
                next_cursor: next,
                ..mcp::ListResourcesResult::new(resources)
            });
        };
        let stateful = cx.with_states(&self.states);
        let mut page = (dynamic.list)((own, self.page_size), stateful).await?;
        page.resources.retain(|resource| {
            let is_free = self.resources.get(&resource.uri).is_none();
            if !is_free {
                observe::entry_left_out("resource", &resource.uri);
            }
            is_free
        });
        resources.append(&mut page.resources);
        page.resources = resources;
        page.next_cursor = dynamic::marked(page.next_cursor);
        Ok(page)
    }

    async fn list_resource_templates(
        &self,
        params: mcp::PaginatedRequestParams,
        _: RequestContext<Latest>,
    ) -> Result<mcp::ListResourceTemplatesResult, Error> {
        let (page, next) = self.page(self.templates.list(), params.cursor.as_deref())?;
        Ok(mcp::ListResourceTemplatesResult {
            next_cursor: next,
            ..mcp::ListResourceTemplatesResult::new(page)
        })
    }

    async fn read_resource(
        &self,
        params: mcp::ReadResourceRequestParams,
        context: RequestContext<Latest>,
    ) -> Result<mcp::ReadResourceOutcome, Error> {
        let uri = params.uri;
        let cx = context.with_states(&self.states);
        if let Some(found) = self.resources.get(&uri) {
            let mime_type = found.resource.mime_type.clone();
            return (found.read)(templates::RequestedUri::whole(uri, mime_type), cx).await;
        }
        match (self.templates.find(&uri), &self.dynamic_resources) {
            (Some((template, asked)), _) => (template.read)(asked, cx).await,
            (None, Some(Dynamic { run: Some(run), .. })) => run(uri, cx).await,
            (None, _) => Err(Error::ResourceNotFound(uri)),
        }
    }

    async fn list_prompts(
        &self,
        params: mcp::PaginatedRequestParams,
        _: RequestContext<Latest>,
    ) -> Result<mcp::ListPromptsResult, Error> {
        let prompts = self.prompts.all.iter().map(|one| one.prompt.clone());
        let (page, next) = self.page(prompts, params.cursor.as_deref())?;
        Ok(mcp::ListPromptsResult {
            next_cursor: next,
            ..mcp::ListPromptsResult::new(page)
        })
    }

    async fn get_prompt(
        &self,
        params: mcp::GetPromptRequestParams,
        context: RequestContext<Latest>,
    ) -> Result<mcp::GetPromptOutcome, Error> {
        let cx = context.with_states(&self.states);
        match self.prompts.get(&params.name) {
            Some(prompt) => (prompt.fill)(params.arguments.unwrap_or_default(), cx).await,
            None => {
                let name = shortened(&params.name);
                Err(Error::InvalidParams(format!("no prompt `{name}`")))
            }
        }
    }

    async fn complete(
        &self,
        params: mcp::CompleteRequestParams,
        cx: RequestContext<Latest>,
    ) -> Result<mcp::CompleteResult, Error> {
        let (of, is_there) = match params.reference {
            mcp::CompletionReference::Prompt(prompt) => {
                let is_there = self.prompts.get(&prompt.name).is_some();
                (prompt.name, is_there)
            }
            mcp::CompletionReference::ResourceTemplate(template) => {
                let uri = &template.uri;
                let is_there = self.templates.has(uri) || self.resources.get(uri).is_some();
                (template.uri, is_there)
            }
        };
        if !is_there {
            let of = shortened(&of);
            let why = format!("no prompt or resource template `{of}` to complete an argument of");
            return Err(Error::InvalidParams(why));
        }
        let argument = params.argument;
        let values = match self.completions.get(&(of, argument.name)) {
            Some(complete) => complete(argument.value, cx.with_states(&self.states)).await?,
            None => Vec::new(),
        };
        Ok(completion::result(values))
    }

    async fn subscriptions_listen(
        &self,
        params: mcp::SubscriptionsListenRequestParams,
        cx: RequestContext<Latest>,
    ) -> Result<mcp::SubscriptionsListenResult, Error> {
        match &self.changes {
            Some(changes) => changes.listen(&params, &self.capabilities(), cx).await,
            None => Err(Error::MethodNotFound(
                methods::SUBSCRIPTIONS_LISTEN.to_owned(),
            )),
        }
    }
}
