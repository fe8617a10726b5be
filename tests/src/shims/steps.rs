//! Every conversion of a pair, with the way back, run on texts.

use mcp_convert::dynamic::{Pair, RevisionTables, TypeStep};
use mcp_revisions_core::values::TABLES;
use mcp_revisions_core::{Context, Extension, Outcome, Session, Tables, UnknownFields};
use mcp_wire::{Json, TypeInfo};

/// A conversion of one type of a pair, and the one that goes back.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// The id of the revision that it comes from.
    pub from: &'static str,
    /// The id of the revision that it goes to.
    pub to: &'static str,
    /// Whether that is the newer one.
    pub up: bool,
    /// The index of the pair in [`pairs`], which is that of its plan in the world.
    pub pair: usize,
    /// The name of the step in losses.
    pub name: &'static str,
    /// The source type.
    pub source: &'static TypeInfo,
    /// The target type.
    pub target: &'static TypeInfo,
    there: &'static TypeStep,
    back: Option<(&'static TypeStep, &'static str)>,
}

/// The tables of the revisions, and of each extension that an earlier core had before or a later one has again.
pub fn tables() -> impl Iterator<Item = &'static Tables> {
    let mut all = vec![&TABLES];
    let extensions = Extension::ALL.iter();
    for tables in extensions.flat_map(|one| [one.core, one.later_core].into_iter().flatten()) {
        // The states of one extension share their tables.
        if !all.iter().any(|one| std::ptr::eq(*one, tables)) {
            all.push(tables);
        }
    }
    all.into_iter()
}

/// Each pair once, with its two ends: tables of one extension may lead over the same pairs.
#[must_use]
pub fn pairs() -> Vec<(&'static Pair, [&'static RevisionTables; 2])> {
    let mut all: Vec<(&Pair, _)> = Vec::new();
    for tables in tables() {
        for (pair, ends) in tables.pairs.iter().zip(tables.revisions.windows(2)) {
            let is_there = |(one, _): &(&Pair, _)| [one.old, one.new] == [pair.old, pair.new];
            if let [old, new] = ends
                && !all.iter().any(is_there)
            {
                all.push((pair, [*old, *new]));
            }
        }
    }
    all
}

/// The tables that know both ends of a pair, and where each end stands in them.
#[must_use]
pub fn between(from: &str, to: &str) -> Option<(&'static Tables, [usize; 2])> {
    tables().find_map(|tables| Some((tables, [tables.index(from)?, tables.index(to)?])))
}

/// All of them, oldest pair first, those of extensions last, up before down.
#[must_use]
pub fn all() -> Vec<Way> {
    let mut ways = Vec::new();
    for (index, (pair, [old, new])) in pairs().into_iter().enumerate() {
        for up in [true, false] {
            let (from, to) = if up { (old, new) } else { (new, old) };
            let (steps, others) = if up {
                (pair.up, pair.down)
            } else {
                (pair.down, pair.up)
            };
            let (name, other) = match up {
                true => (pair.up_step, pair.down_step),
                false => (pair.down_step, pair.up_step),
            };
            for there in steps {
                let (Some(source), Some(target)) =
                    (from.type_named(there.from), to.type_named(there.to))
                else {
                    continue;
                };
                let back = others
                    .iter()
                    .find(|step| step.from == there.to && step.to == there.from);
                ways.push(Way {
                    from: from.id,
                    to: to.id,
                    up,
                    pair: index,
                    name,
                    source,
                    target,
                    there,
                    back: back.map(|back| (back, other)),
                });
            }
        }
    }
    ways
}

impl Way {
    /// What people call it.
    #[must_use]
    pub fn label(&self) -> String {
        format!(
            "{}: {} to {}",
            self.name, self.source.rust_name, self.target.rust_name
        )
    }

    /// Whether there is a conversion from the target to the source.
    #[must_use]
    pub fn has_back(&self) -> bool {
        self.back.is_some()
    }

    /// Converts a text.
    ///
    /// # Errors
    /// A text that is not of the source type.
    pub fn there(&self, text: &str, policy: UnknownFields) -> Result<Outcome<String>, String> {
        run(
            self.there,
            self.name,
            self.source,
            self.target,
            text,
            policy,
        )
    }

    /// Converts a text of the target back.
    ///
    /// # Errors
    /// A text that is not of the target type, and the lack of a way back.
    pub fn back(&self, text: &str, policy: UnknownFields) -> Result<Outcome<String>, String> {
        let (back, name) = self.back.ok_or("there is no way back")?;
        run(back, name, self.target, self.source, text, policy)
    }
}

fn run(
    step: &TypeStep,
    name: &'static str,
    source: &TypeInfo,
    target: &TypeInfo,
    text: &str,
    policy: UnknownFields,
) -> Result<Outcome<String>, String> {
    let value = source
        .read(text)
        .map_err(|error| format!("not read as {}: {error}", source.rust_name))?;
    let mut cx = context(policy);
    cx.enter(name);
    let result = step.convert(value, &mut cx);
    let missing = format!("no {} came out", target.rust_name);
    let result = match result {
        Ok(value) => Ok(target.write(&value).map(Json::into_text).ok_or(missing)?),
        Err(stop) => Err(stop),
    };
    Ok(cx.finish(result))
}

/// A conversion in a session, so that requests can go up.
pub fn context(policy: UnknownFields) -> Context {
    Context::new(policy).with_session(Session {
        // No sample has these.
        client_capabilities: Json::from_text(r#"{"experimental":{"of-the-session":{}}}"#).ok(),
        ..Session::default()
    })
}
