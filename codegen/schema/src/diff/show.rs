//! A shape as people read it, in the notation of the specification's own schema.ts.

use crate::words::joined;

use serde::Serialize;
use serde_json::{Map, Value};

use super::graph::{Graph, GraphRest, NodeId, NodeShape};
use super::side::ComparedSide;

/// Maximum number of levels of inline objects in an outline.
const OPEN_LEVELS: usize = 3;

/// Maximum number of lists within each other in one line.
const LINE_LEVELS: usize = 64;

/// Maximum number of values of an enumeration in one line: each value that came or went has a line.
const LINE_VALUES: usize = 64;

/// Number of levels of a shape that are spelled out to tell it from another one.
const SPELLED_LEVELS: usize = 8;

/// Maximum length of such a spelling.
const MAX_SPELLED: usize = 20_000;

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
            outline: outline(graph, id, 0, true),
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
    line_to(graph, id, names, LINE_LEVELS)
}

fn line_to(graph: &Graph, id: NodeId, names: bool, levels: usize) -> String {
    if let Some(name) = graph.name(id).filter(|_| names) {
        return name.to_owned();
    }
    match &graph.node(id).shape {
        NodeShape::Any | NodeShape::Alias(_) => both(graph, id, names, levels),
        NodeShape::Scalar(kinds) => joined(kinds.iter().map(|kind| kind.name()), " | "),
        NodeShape::Choice(values) if values.is_empty() => "never".to_owned(),
        NodeShape::Choice(values) => {
            let shown = values.iter().take(LINE_VALUES).map(Value::to_string);
            let more = values.get(LINE_VALUES).map(|_| "…".to_owned());
            joined(shown.chain(more), " | ")
        }
        // A list may be one of itself.
        NodeShape::Array(Some(items)) if levels > 0 => {
            let inner = line_to(graph, *items, names, levels - 1);
            if inner.contains([' ', '|']) {
                format!("({inner})[]")
            } else {
                format!("{inner}[]")
            }
        }
        NodeShape::Array(_) => "unknown[]".to_owned(),
        NodeShape::Object { members, rest } => match (names, members.is_empty(), rest) {
            (false, ..) => "object".to_owned(),
            (_, true, GraphRest::Open) => "object".to_owned(),
            (_, true, GraphRest::Closed) => "{}".to_owned(),
            (_, true, GraphRest::Each(each)) => {
                format!("Record<string, {}>", line(graph, *each, names))
            }
            _ => {
                let shown = members.iter().take(4).map(|(name, member)| {
                    format!("{name}{}", if member.required { "" } else { "?" })
                });
                let more = if members.len() > 4 { ", …" } else { "" };
                format!("{{ {}{more} }}", joined(shown, ", "))
            }
        },
        NodeShape::Union(_) if !names => "union".to_owned(),
        NodeShape::Union(variants) => joined(
            variants.iter().map(|variant| line(graph, *variant, names)),
            " | ",
        ),
    }
}

/// Shapes that all hold at once and cannot be joined: `string & number`; `never` where none is admitted.
fn both(graph: &Graph, id: NodeId, names: bool, levels: usize) -> String {
    let node = graph.node(id);
    if node
        .limits
        .get("not")
        .is_some_and(|not| not.as_object().is_some_and(Map::is_empty))
    {
        return "never".to_owned();
    }
    let parts = (0..).map_while(|at| node.applied.get(&format!("allOf/{at}")));
    let lines: Vec<String> = parts
        .map(|part| line_to(graph, *part, names, levels.saturating_sub(1)))
        .take_while(|_| levels > 0)
        .collect();
    if lines.is_empty() {
        "unknown".to_owned()
    } else {
        joined(lines, " & ")
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
    let Some(levels) = levels.checked_sub(1).filter(|_| text.len() < MAX_SPELLED) else {
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

fn outline(graph: &Graph, id: NodeId, level: usize, top: bool) -> String {
    let node = graph.node(id);
    let open = top || (level < OPEN_LEVELS && graph.name(id).is_none());
    let indent = "  ".repeat(level);
    let mut text = match &node.shape {
        NodeShape::Object { members, rest }
            if open && !(members.is_empty() && matches!(rest, GraphRest::Open)) =>
        {
            let mut text = String::from("{\n");
            for (name, member) in members {
                let optional = if member.required { "" } else { "?" };
                let inner = outline(graph, member.node, level + 1, false);
                text.push_str(&format!("{indent}  {}{optional}: {inner}\n", key(name)));
            }
            match rest {
                GraphRest::Open => {}
                GraphRest::Closed => text.push_str(&format!("{indent}  // nothing else\n")),
                GraphRest::Each(each) => {
                    let inner = outline(graph, *each, level + 1, false);
                    text.push_str(&format!("{indent}  [key: string]: {inner}\n"));
                }
            }
            text.push_str(&format!("{indent}}}"));
            text
        }
        NodeShape::Union(variants) if open => {
            let line = |variant: &NodeId| line(graph, *variant, true);
            let all = variants.iter().map(line);
            all.map(|line| format!("\n{indent}  | {line}")).collect()
        }
        NodeShape::Array(Some(items)) if open => {
            let inner = outline(graph, *items, level, false);
            if inner.contains([' ', '|']) && !inner.starts_with('{') {
                format!("({inner})[]")
            } else {
                format!("{inner}[]")
            }
        }
        // A scalar itself, even where it has a name.
        NodeShape::Scalar(_) | NodeShape::Choice(_) if open => line(graph, id, false),
        _ => line(graph, id, true),
    };
    if open && !node.limits.is_empty() {
        let limits = node
            .limits
            .iter()
            .map(|(name, value)| format!("{name}: {value}"));
        text.push_str(&format!(" /* {} */", joined(limits, ", ")));
    }
    text
}

fn key(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    if name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}
