//! Where a member may be less in the other revision, by what the schema limits and the type does not say.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::{Member, Ty, TypeDef};

/// A limit: the place that a hook names in `covers`, and what is asked there, in words.
pub(super) type Limit = (String, String);

/// What the target asks of a member that the source does not; nothing if all that the source allows is welcome.
pub(super) fn tighter(source: &Member, target: &Member) -> Vec<Limit> {
    let before = &source.constraints.values;
    let limits = target
        .constraints
        .values
        .iter()
        .filter_map(|(name, limit)| {
            let old = before.get(name);
            let bare = name.rsplit("[]").next().unwrap_or(name);
            let tighter = match (bare, old) {
                // What absence means is no limit.
                ("default", _) => false,
                (_, None) => true,
                (_, Some(old)) if old == limit => false,
                (bare, Some(old)) => match (old.as_f64(), limit.as_f64()) {
                    (Some(old), Some(new))
                        if bare.starts_with("max") || bare == "exclusiveMaximum" =>
                    {
                        new < old
                    }
                    (Some(old), Some(new))
                        if bare.starts_with("min") || bare == "exclusiveMinimum" =>
                    {
                        new > old
                    }
                    _ => true,
                },
            };
            tighter.then(|| match old {
                Some(old) => format!("its {name} changed from {old} to {limit}"),
                None => format!("it has {name} {limit} in the target"),
            })
        });
    limits
        .map(|problem| (target.wire.clone(), problem))
        .collect()
}

/// As [`tighter`], for opaque members whose schema says more than that they are an object.
pub(super) fn tighter_text(
    [source, target]: [(&Value, &TypeDef); 2],
    [old, new]: [&Member; 2],
) -> Vec<Limit> {
    let opaque = |ty: &Ty| matches!(ty, Ty::Json | Ty::JsonObject | Ty::JsonArray);
    if !opaque(&old.ty) || !opaque(&new.ty) {
        return Vec::new();
    }
    let (before, now) = (demands(source, &old.wire), demands(target, &new.wire));
    now.difference(&before).cloned().collect()
}

/// What the schema of a member demands of an object, in words.
fn demands((schema, def): (&Value, &TypeDef), wire: &str) -> BTreeSet<Limit> {
    let mut all = BTreeSet::new();
    let name = def.definition.as_deref().unwrap_or_default();
    let Some(node) = schema.pointer(&format!("/$defs/{name}/properties/{wire}")) else {
        return all;
    };
    let required = node
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    for member in required.filter_map(Value::as_str) {
        all.insert((
            format!("{wire}.{member}"),
            "it must be there in the target".to_owned(),
        ));
    }
    for (name, inner) in node
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let place = format!("{wire}.{name}");
        if let Some(only) = inner.get("const") {
            all.insert((place.clone(), format!("it is {only} in the target")));
        }
        if let Some(kind) = inner
            .pointer("/additionalProperties/type")
            .and_then(Value::as_str)
        {
            all.insert((
                place,
                format!("each of what it holds is of type {kind} in the target"),
            ));
        }
    }
    all
}
