//! A shape as people read it, in the notation of the specification's own schema.ts.

use crate::words::joined;

use serde::Serialize;
use serde_json::Value;

use super::graph::{Graph, GraphRest, NodeId, NodeShape};
use super::side::ComparedSide;

/// Maximum number of levels of inline objects in an outline.
const OPEN_LEVELS: usize = 3;

/// Maximum number of shapes within each other in one line.
const LINE_LEVELS: usize = 64;

/// Maximum number of values of an enumeration in one line: each value that came or went has a line.
const LINE_VALUES: usize = 64;

/// Number of levels of a shape that are spelled out to tell it from another one.
const SPELLED_LEVELS: usize = 8;

/// Length of a text of a shape from which on no further part of it is written.
const MAX_TEXT: usize = 20_000;

/// A shape before or after a change.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct View {
    /// Set if a schema requires the member; `None` for a value that is not a member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// In one line, by the names of the schema: `Annotations`, `string | number`.
    pub text: String,
    /// Opened up, in several lines.
    pub outline: String,
    /// JSON pointer into the canonical schema of its revision; empty for what has no place there.
    pub pointer: String,
    /// The schema that stands there.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub schema: Value,
    /// In one line, without the names of definitions: fingerprints rest on it.
    #[serde(skip)]
    pub(crate) brief: String,
    /// The node of its graph.
    #[serde(skip)]
    pub(crate) node: Option<NodeId>,
}

impl View {
    pub(crate) fn of(side: &ComparedSide, id: NodeId, required: Option<bool>) -> Self {
        let graph = &side.graph;
        let pointer = graph.node(id).pointer.clone();
        let schema = side
            .schema
            .pointer(&pointer)
            .filter(|_| !pointer.is_empty())
            .cloned();
        Self {
            required,
            text: line(graph, id, true),
            outline: outline(graph, id),
            schema: schema.unwrap_or_default(),
            pointer,
            brief: line(graph, id, false),
            node: Some(id),
        }
    }

    /// Returns a view of something that no schema carries: a limit, a header, a rule.
    pub(crate) fn words(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            outline: text.clone(),
            brief: text.clone(),
            text,
            ..Self::default()
        }
    }
}

/// Returns a shape in one line, opened up even where it has a name; the members that every message may have are left out.
pub(super) fn opened(graph: &Graph, id: NodeId) -> String {
    let Some((members, _)) = graph.node(id).shape.object() else {
        return line(graph, id, true);
    };
    let shown: Vec<String> = members
        .iter()
        .filter(|(name, _)| *name != "_meta")
        .map(|(name, member)| {
            if member.required {
                key(name)
            } else {
                format!("{}?", key(name))
            }
        })
        .collect();
    if shown.is_empty() {
        "{}".to_owned()
    } else {
        format!("{{ {} }}", joined(shown, ", "))
    }
}

pub(crate) fn line(graph: &Graph, id: NodeId, names: bool) -> String {
    let mut text = String::new();
    write_line(graph, id, names, LINE_LEVELS, &mut text);
    text
}

/// Writes a shape in one line: one without a name may contain itself, so that `levels` bounds its depth.
fn write_line(graph: &Graph, id: NodeId, names: bool, levels: usize, text: &mut String) {
    if let Some(name) = graph.name(id).filter(|_| names) {
        return text.push_str(name);
    }
    let Some(levels) = levels.checked_sub(1) else {
        return text.push_str("unknown");
    };
    match &graph.node(id).shape {
        NodeShape::Any | NodeShape::Alias(_) => write_both(graph, id, names, levels, text),
        NodeShape::Scalar(kinds) => {
            text.push_str(&joined(kinds.iter().map(|kind| kind.name()), " | "));
        }
        NodeShape::Choice(values) if values.is_empty() => text.push_str("never"),
        NodeShape::Choice(values) => {
            let shown = values.iter().take(LINE_VALUES).map(Value::to_string);
            let more = values.get(LINE_VALUES).map(|_| "…".to_owned());
            text.push_str(&joined(shown.chain(more), " | "));
        }
        NodeShape::Array(Some(items)) => {
            let start = text.len();
            write_line(graph, *items, names, levels, text);
            end_list(text, start);
        }
        NodeShape::Array(None) => text.push_str("unknown[]"),
        NodeShape::Object { members, rest } => match (names, members.is_empty(), rest) {
            (false, ..) => text.push_str("object"),
            (_, true, GraphRest::Open) => text.push_str("object"),
            (_, true, GraphRest::Closed) => text.push_str("{}"),
            (_, true, GraphRest::Each(each)) => {
                text.push_str("Record<string, ");
                write_line(graph, *each, names, levels, text);
                text.push('>');
            }
            _ => {
                let shown = members.iter().take(4).map(|(name, member)| {
                    format!("{name}{}", if member.required { "" } else { "?" })
                });
                let more = if members.len() > 4 { ", …" } else { "" };
                text.push_str(&format!("{{ {}{more} }}", joined(shown, ", ")));
            }
        },
        NodeShape::Union(_) if !names => text.push_str("union"),
        NodeShape::Union(variants) => write_all(graph, variants, " | ", names, levels, text),
    }
}

/// Writes several shapes in one line, as many as the text has room for.
fn write_all(
    graph: &Graph,
    ids: &[NodeId],
    between: &str,
    names: bool,
    levels: usize,
    text: &mut String,
) {
    for (number, id) in ids.iter().enumerate() {
        if number > 0 {
            text.push_str(between);
        }
        if text.len() >= MAX_TEXT {
            return text.push('…');
        }
        write_line(graph, *id, names, levels, text);
    }
}

/// Makes what a text has from `start` on the items of a list.
fn end_list(text: &mut String, start: usize) {
    if text[start..].contains([' ', '|']) {
        text.insert(start, '(');
        text.push(')');
    }
    text.push_str("[]");
}

/// Writes shapes that all hold at once and cannot be joined: `string & number`; `never` where none is admitted.
fn write_both(graph: &Graph, id: NodeId, names: bool, levels: usize, text: &mut String) {
    let node = graph.node(id);
    if graph.is_never(id) {
        return text.push_str("never");
    }
    let parts: Vec<NodeId> = (0..)
        .map_while(|at| node.applied.get(&format!("allOf/{at}")).copied())
        .collect();
    if parts.is_empty() {
        text.push_str("unknown");
    } else {
        write_all(graph, &parts, " & ", names, levels, text);
    }
}

/// Returns a shape with all that is in it, without the names of definitions; what lies too deep, or within itself, is left out.
pub(crate) fn spelled(graph: &Graph, id: NodeId) -> String {
    let mut text = String::new();
    spell(graph, id, SPELLED_LEVELS, &mut text);
    text
}

fn spell(graph: &Graph, id: NodeId, levels: usize, text: &mut String) {
    let node = graph.node(id);
    let Some(levels) = levels.checked_sub(1).filter(|_| text.len() < MAX_TEXT) else {
        return;
    };
    match &node.shape {
        NodeShape::Object { members, rest } => {
            text.push('{');
            for (name, member) in members {
                let optional = if member.required { "" } else { "?" };
                text.push_str(&format!("{}{optional}:", key(name)));
                spell(graph, member.node, levels, text);
                text.push(',');
            }
            match rest {
                GraphRest::Open => {}
                GraphRest::Closed => text.push('!'),
                GraphRest::Each(each) => {
                    text.push('*');
                    spell(graph, *each, levels, text);
                }
            }
            text.push('}');
        }
        NodeShape::Array(Some(items)) => {
            text.push('[');
            spell(graph, *items, levels, text);
            text.push(']');
        }
        NodeShape::Union(variants) => {
            for variant in variants {
                text.push('|');
                spell(graph, *variant, levels, text);
            }
        }
        _ => text.push_str(&line(graph, id, false)),
    }
    for (name, value) in &node.limits {
        text.push_str(&format!("/{name}={value}"));
    }
}

fn outline(graph: &Graph, id: NodeId) -> String {
    let mut text = String::new();
    write_outline(graph, id, 0, true, &mut text);
    text
}

fn write_outline(graph: &Graph, id: NodeId, level: usize, top: bool, text: &mut String) {
    let node = graph.node(id);
    let open = top || (level < OPEN_LEVELS && graph.name(id).is_none());
    let indent = "  ".repeat(level);
    match &node.shape {
        NodeShape::Object { members, rest }
            if open && !(members.is_empty() && matches!(rest, GraphRest::Open)) =>
        {
            text.push_str("{\n");
            for (name, member) in members {
                if text.len() >= MAX_TEXT {
                    text.push_str(&format!("{indent}  …\n"));
                    break;
                }
                let optional = if member.required { "" } else { "?" };
                text.push_str(&format!("{indent}  {}{optional}: ", key(name)));
                write_outline(graph, member.node, level + 1, false, text);
                text.push('\n');
            }
            match rest {
                GraphRest::Open => {}
                GraphRest::Closed => text.push_str(&format!("{indent}  // nothing else\n")),
                GraphRest::Each(each) => {
                    text.push_str(&format!("{indent}  [key: string]: "));
                    write_outline(graph, *each, level + 1, false, text);
                    text.push('\n');
                }
            }
            text.push_str(&format!("{indent}}}"));
        }
        NodeShape::Union(variants) if open => {
            text.push_str(&format!("\n{indent}  | "));
            let between = format!("\n{indent}  | ");
            write_all(graph, variants, &between, true, LINE_LEVELS, text);
        }
        NodeShape::Array(Some(items)) if open => {
            let start = text.len();
            // A list may be one of itself.
            let is_list = matches!(graph.node(*items).shape, NodeShape::Array(_));
            write_outline(graph, *items, level + usize::from(is_list), false, text);
            if text[start..].starts_with('{') {
                text.push_str("[]");
            } else {
                end_list(text, start);
            }
        }
        // A scalar itself, even where it has a name.
        NodeShape::Scalar(_) | NodeShape::Choice(_) if open => {
            write_line(graph, id, false, LINE_LEVELS, text);
        }
        _ => write_line(graph, id, true, LINE_LEVELS, text),
    }
    if open && !node.limits.is_empty() {
        let limits = node
            .limits
            .iter()
            .map(|(name, value)| format!("{name}: {value}"));
        text.push_str(&format!(" /* {} */", joined(limits, ", ")));
    }
}

fn key(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    if name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}
