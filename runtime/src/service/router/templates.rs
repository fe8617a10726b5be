//! URI templates, and which of them a URI is of.

use matchit::Router as Paths;
use mcp_revisions_core::latest as mcp;
use mcp_wire::Map;
use percent_encoding::percent_decode_str;

use super::handler::BoxedHandler;

/// The URI that is asked for.
pub(super) struct RequestedUri {
    pub(super) uri: String,
    pub(super) mime_type: Option<String>,
    /// The values of the template's variables.
    pub(super) variables: Map<String>,
}

impl RequestedUri {
    pub(super) fn whole(uri: String, mime_type: Option<String>) -> Self {
        Self {
            uri,
            mime_type,
            variables: Map::new(),
        }
    }
}

/// The templates that were registered.
#[derive(Default)]
pub(super) struct Templates {
    all: Vec<Template>,
    paths: Paths<usize>,
}

/// Resources of one template.
pub(super) struct Template {
    template: mcp::ResourceTemplate,
    /// The variable at its end that is more than one segment.
    rest: Option<String>,
    pub(super) read: BoxedHandler<RequestedUri, mcp::ReadResourceOutcome>,
}

impl Templates {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn list(&self) -> impl Iterator<Item = mcp::ResourceTemplate> {
        self.all.iter().map(|one| one.template.clone())
    }

    /// Returns the names of the variables of a template of this text.
    pub(super) fn variables<'t>(&self, text: &'t str) -> Vec<&'t str> {
        if self.has(text) {
            variables(text)
        } else {
            Vec::new()
        }
    }

    /// Returns whether there is a template of this text.
    pub(super) fn has(&self, text: &str) -> bool {
        let mut templates = self.all.iter();
        templates.any(|one| one.template.uri_template == text)
    }

    pub(super) fn add(
        &mut self,
        template: mcp::ResourceTemplate,
        read: BoxedHandler<RequestedUri, mcp::ReadResourceOutcome>,
    ) -> Result<(), String> {
        let text = &template.uri_template;
        let path = path(text)?;
        let inserted = self.paths.insert(path, self.all.len());
        inserted.map_err(|error| {
            format!("the template `{text}` cannot be distinguished from another, or has two variables in one segment: {error}")
        })?;
        let rest = text.split_once("{+").and_then(|(_, rest)| {
            let (name, _) = rest.split_once('}')?;
            Some(name.to_owned())
        });
        self.all.push(Template {
            template,
            rest,
            read,
        });
        Ok(())
    }

    /// Changes the description of the last one; its text stays.
    pub(super) fn describe_last(
        &mut self,
        describe: impl FnOnce(mcp::ResourceTemplate) -> mcp::ResourceTemplate,
    ) {
        if let Some(last) = self.all.last_mut() {
            let text = last.template.uri_template.clone();
            last.template = describe(last.template.clone());
            last.template.uri_template = text;
        }
    }

    /// Returns the template that a URI is of, and what is asked of it.
    pub(super) fn find(&self, uri: &str) -> Option<(&Template, RequestedUri)> {
        let found = self.paths.at(uri).ok()?;
        let template = self.all.get(*found.value)?;
        let mut variables = Map::new();
        for (name, value) in found.params.iter() {
            let value = percent_decode_str(value).decode_utf8().ok()?;
            if !is_taken(&value, template.rest.as_deref() == Some(name)) {
                return None;
            }
            variables.insert(name, value.into_owned());
        }
        let asked = RequestedUri {
            uri: uri.to_owned(),
            mime_type: template.template.mime_type.clone(),
            variables,
        };
        Some((template, asked))
    }
}

/// Returns the names of the variables in the text of a template.
pub(super) fn variables(template: &str) -> Vec<&str> {
    let expressions = template.split('{').skip(1);
    let names = expressions.filter_map(|rest| Some(rest.split_once('}')?.0));
    names.map(|name| name.trim_start_matches('+')).collect()
}

/// Returns the reason why a text is not a URI of a resource.
pub(super) fn check_uri(uri: &str) -> Result<(), String> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let begins = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    let may_follow = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if uri.contains(['{', '}']) {
        return Err(format!(
            "the resource `{uri}` has variables: add it with `resource_template`"
        ));
    }
    if !begins || !scheme.chars().all(may_follow) {
        return Err(format!(
            "the resource `{uri}` has no scheme: a URI begins with one, such as `file:///`"
        ));
    }
    let is_outside = |c: char| {
        c.is_ascii_control() || matches!(c, ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|')
    };
    match uri.chars().find(|c| is_outside(*c)) {
        Some(found) => Err(format!(
            "the resource `{uri}` has {found:?}, which no URI has: percent-encode it"
        )),
        None => Ok(()),
    }
}

/// Returns whether a value may stand for a variable. A handler that makes a path of it stays where the template says: nothing
/// leads up or is not a text, and one segment is one segment however it is encoded.
fn is_taken(value: &str, is_rest: bool) -> bool {
    let separators = ['/', '\\'];
    let leads_up = |segment: &str| matches!(segment, "." | "..");
    !value.contains(char::is_control)
        && (is_rest || !value.contains(separators))
        && !value.split(separators).any(leads_up)
}

/// Returns the path that matches what a template expands to: one with plain variables, and `{+rest}` at its end.
fn path(template: &str) -> Result<String, String> {
    let mut path = String::new();
    let mut rest = template;
    while let Some((before, expression)) = rest.split_once('{') {
        path.push_str(before);
        let Some((expression, after)) = expression.split_once('}') else {
            return Err(format!(
                "the template `{template}` has a `{{` without a `}}`"
            ));
        };
        let plain =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        match expression.strip_prefix('+') {
            Some(name) if plain(name) && after.is_empty() => path.push_str(&format!("{{*{name}}}")),
            None if plain(expression) => path.push_str(&format!("{{{expression}}}")),
            _ => {
                return Err(format!(
                    "the template `{template}` has `{{{expression}}}`: only `{{name}}`, and `{{+name}}` at the end, can be matched"
                ));
            }
        }
        rest = after;
    }
    path.push_str(rest);
    Ok(path)
}
