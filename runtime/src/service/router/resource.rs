//! Resources, at one URI each, or at all URIs of a template.

use mcp_revisions_core::latest as mcp;
use mcp_wire::args::{Uri, UriTemplate};
use serde::de::DeserializeOwned;

use super::handler::{BoxedHandler, failed};
use super::templates::{RequestedUri, check_uri, variables};
use super::{
    Handler, IntoContents, LastAdded, NoArguments, RegisteredResource, Router, WithoutArguments,
    texts,
};
use mcp_revisions_core::errors::shortened;

impl Router {
    /// Adds a resource at one URI: text, or bytes.
    pub fn resource<Shape, H>(self, uri: &str, name: &str, read: H) -> Self
    where
        H: Handler<
                Shape,
                Arguments: WithoutArguments,
                Future: Future<Output: IntoContents> + Send + 'static,
            >,
    {
        self.resource_of(mcp::Resource::new(Uri(uri), name), read)
    }

    /// Adds a resource with a complete description: MIME type, size.
    pub fn resource_of<Shape, H>(mut self, resource: mcp::Resource, read: H) -> Self
    where
        H: Handler<
                Shape,
                Arguments: WithoutArguments,
                Future: Future<Output: IntoContents> + Send + 'static,
            >,
    {
        let uri = resource.uri.clone();
        if let Err(problem) = check_uri(&uri) {
            self.problems.push(problem);
        }
        let read: BoxedHandler<RequestedUri, _> = Box::new(move |asked, cx| {
            let answer = read.call(NoArguments.into(), cx);
            Box::pin(async move { answer?.await.into_contents(asked.uri, asked.mime_type) })
        });
        self.takes(&format!("the resource `{uri}`"), H::states());
        let free = self.resources.add(
            &uri,
            RegisteredResource {
                resource,
                is_listed: true,
                read,
            },
        );
        self.report_taken(free, "resources", &uri);
        self.last = LastAdded::Resource;
        self
    }

    /// Changes the description of the resource that this follows: its title, its MIME type, its annotations.
    pub fn described_resource(
        mut self,
        describe: impl FnOnce(mcp::Resource) -> mcp::Resource,
    ) -> Self {
        if self.follows(LastAdded::Resource, "described_resource", "a resource")
            && let Some(last) = self.resources.all.last_mut()
        {
            let uri = last.resource.uri.clone();
            last.resource = describe(last.resource.clone());
            // It stays where it is read.
            last.resource.uri = uri;
        }
        self
    }

    /// Changes the description of the resource template that this follows.
    pub fn described_template(
        mut self,
        describe: impl FnOnce(mcp::ResourceTemplate) -> mcp::ResourceTemplate,
    ) -> Self {
        if self.follows(
            LastAdded::Template,
            "described_template",
            "a resource template",
        ) {
            self.templates.describe_last(describe);
        }
        self
    }

    /// Adds the resources at all URIs of a template, such as `users://{id}/profile`; the function takes what stands in the
    /// places of its variables: a struct of strings, numbers, booleans and enums.
    ///
    /// A variable is one segment of the path; `{+rest}`, at the end, is all that follows. A URI with a control character,
    /// with a segment `.` or `..`, or with a `/` or `\` in one segment, is not found, percent-encoded or not: the function
    /// is not called.
    pub fn resource_template<Shape, H>(self, template: &str, name: &str, read: H) -> Self
    where
        H: Handler<
                Shape,
                Arguments: DeserializeOwned,
                Future: Future<Output: IntoContents> + Send + 'static,
            >,
    {
        self.resource_template_of(
            mcp::ResourceTemplate::new(UriTemplate(template), name),
            read,
        )
    }

    /// Resources of a template with all that can be said of them.
    pub fn resource_template_of<Shape, H>(
        mut self,
        template: mcp::ResourceTemplate,
        read: H,
    ) -> Self
    where
        H: Handler<
                Shape,
                Arguments: DeserializeOwned,
                Future: Future<Output: IntoContents> + Send + 'static,
            >,
    {
        let named = variables(&template.uri_template);
        let what = format!("the template `{}`", shortened(&template.uri_template));
        self.takes(&what, H::states());
        if let Some(problem) = texts::check::<H::Arguments>(&named) {
            let template = shortened(&template.uri_template);
            self.problems
                .push(format!("the template `{template}`: {problem}"));
        }
        let read: BoxedHandler<RequestedUri, _> = Box::new(move |asked, cx| {
            let variables = match texts::read(&asked.variables) {
                Ok(variables) => variables,
                Err(error) => {
                    return failed(format!("variables of `{}`", shortened(&asked.uri)), &error);
                }
            };
            let answer = read.call(variables, cx);
            Box::pin(async move { answer?.await.into_contents(asked.uri, asked.mime_type) })
        });
        if let Err(problem) = self.templates.add(template, read) {
            self.problems.push(problem);
        }
        self.last = LastAdded::Template;
        self
    }
}
