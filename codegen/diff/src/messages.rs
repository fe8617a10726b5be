//! The messages of a schema: who sends what, with which params, answered by which result.
//!
//! Unlike the model's methods these need no rule to be read: a new draft can be compared before the names of its
//! types are decided.

use super::graph::{Graph, GraphMember, NodeId};
use super::variants::choices;
use mcp_revisions_schema::Error;
use mcp_revisions_schema::model::{Direction, MethodKind};
use mcp_revisions_schema::spec::methods::{MethodRules, RequestResult, ResultRule, answer};
use mcp_revisions_schema::spec::roles::{self, ROLES};

/// A message that a side may send.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) name: String,
    /// The definition that lists it, by name.
    pub(crate) union: &'static str,
    pub(crate) direction: Direction,
    pub(crate) kind: MethodKind,
    /// The message as a whole.
    pub(crate) node: NodeId,
    /// Its `params`, if it has any.
    pub(crate) params: Option<GraphMember>,
    /// The result; `None` for a notification, and where the schema does not name one.
    pub(crate) result: Option<NodeId>,
    /// Set if only a row of `spec/` names the result.
    pub(crate) is_ruled: bool,
    /// The whole response to it, where the schema has one.
    pub(crate) response: Option<NodeId>,
}

/// Reads the messages; the rules of the revision `rules_of` pair requests with results where the schema does not.
pub(crate) fn read(
    graph: &mut Graph,
    rules: &MethodRules,
    rules_of: &str,
    file: &str,
) -> Result<Vec<Message>, Error> {
    let mut messages: Vec<Message> = Vec::new();
    let mut roles = 0;
    for role in ROLES {
        let Some(listed) = graph.definitions.get(role.union).copied() else {
            continue;
        };
        roles += 1;
        // A list of one message is an alias of it, and is followed: the message has its own name, not that of the list.
        for node in choices(graph, graph.resolve(listed)) {
            let Some((name, params)) = method(graph, node) else {
                let pointer = graph.node(node).pointer.clone();
                return Err(Error::schema(
                    file,
                    &pointer,
                    "a message whose `method` is one constant",
                    "none",
                    "mend it with an erratum",
                ));
            };
            let (result, is_ruled) = match role.kind {
                MethodKind::Notification => None,
                _ => result(graph, rules, rules_of, &name, node),
            }
            .map_or((None, false), |(result, is_ruled)| (Some(result), is_ruled));
            let response = graph
                .name(node)
                .map(|name| roles::response(roles::stem(name)))
                .and_then(|name| graph.definitions.get(&name).copied());
            messages.push(Message {
                name,
                union: role.union,
                direction: role.direction,
                kind: role.kind,
                node,
                params,
                result,
                is_ruled,
                response: response.filter(|_| role.kind != MethodKind::Notification),
            });
        }
    }
    if roles == 0 {
        return Err(Error::schema(
            file,
            "/$defs",
            "the definitions that list the messages of MCP, such as `ClientRequest`",
            "none of them",
            "give a schema.json of the specification's repository",
        ));
    }
    messages.sort_by(|a, b| (a.direction, &a.name, a.kind).cmp(&(b.direction, &b.name, b.kind)));
    Ok(messages)
}

/// Leaves each message once, and returns a line for each further definition that lists one.
pub(crate) fn remove_twins(messages: &mut Vec<Message>, graph: &Graph, label: &str) -> Vec<String> {
    let mut lines = Vec::new();
    messages.dedup_by(|twin, first| {
        let is_twin =
            (twin.direction, &twin.name, twin.kind) == (first.direction, &first.name, first.kind);
        if is_twin && twin.node != first.node {
            let [twin_name, first_name] = [twin.node, first.node].map(|node| {
                let pointer = graph.node(node).pointer.as_str();
                graph.name(node).unwrap_or(pointer).to_owned()
            });
            lines.push(format!(
                "`{}` by `{twin_name}`: `{}` of {label} lists the method by `{first_name}` as well, and only that is compared",
                twin.name, twin.union
            ));
        }
        is_twin
    });
    lines
}

fn method(graph: &Graph, message: NodeId) -> Option<(String, Option<GraphMember>)> {
    let name = graph.constant(graph.member(message, "method")?.node)?;
    Some((name.as_str()?.to_owned(), graph.member(message, "params")))
}

fn result(
    graph: &mut Graph,
    rules: &MethodRules,
    rules_of: &str,
    method: &str,
    message: NodeId,
) -> Option<(NodeId, bool)> {
    let definition = graph.name(message)?.to_owned();
    let node = |definition: &str| graph.definitions.get(definition).copied();
    // A response of several shapes has a result in each.
    let response = |definition: &str| {
        let shapes = choices(graph, node(definition)?).into_iter();
        let results = shapes.map(|shape| Some(graph.member(shape, "result")?.node));
        results.collect::<Option<Vec<NodeId>>>()
    };
    let rule = rules.result(rules_of, method);
    let answered = answer(&definition, response, || rule);
    // The diff skips a row that repeats what the names in the schema say.
    let own = roles::result(roles::stem(&definition));
    let has_only_rule = matches!(&answered, RequestResult::Ruled(rule) if rule.result != own);
    let mut results = match answered {
        RequestResult::Response(results) => results,
        RequestResult::Named(result) => vec![node(&result)?],
        RequestResult::Ruled(rule) => vec![node(&rule.result)?],
    };
    // The schema's own response does not list what a rule lets answer in its place.
    let is_ruled = |rule: &&ResultRule| {
        node(&rule.result).is_some_and(|ruled| results.contains(&graph.resolve(ruled)))
            || results
                .iter()
                .any(|result| graph.name(*result) == Some(&rule.result))
    };
    let task = rule
        .filter(is_ruled)
        .and_then(|rule| node(rule.task_result.as_deref()?));
    results.extend(task);
    let result = match results.as_slice() {
        [only] => *only,
        _ => graph.add_union(results),
    };
    Some((result, has_only_rule))
}

/// Returns the name of a kind of message.
pub(crate) fn channel(kind: MethodKind) -> &'static str {
    match kind {
        MethodKind::Request => "request",
        MethodKind::Notification => "notification",
        MethodKind::Input => "entry of inputRequests",
    }
}
