//! Definitions that are read as opaque JSON, since their content cannot be typed.

use super::open::{opaque_rule, type_rule};
use crate::decision::{QuestionKind, Scope};
use crate::model::{BuiltModel, Shape, Ty};

/// The hand-written types of opaque JSON, by the name that a rule may give to a definition, too.
const OPAQUE: [(&str, Ty); 3] = [
    ("Json", Ty::Json),
    ("JsonArray", Ty::JsonArray),
    ("JsonObject", Ty::JsonObject),
];

/// Returns whether a hand-written type of opaque JSON goes by this name.
pub(super) fn has(name: &str) -> bool {
    OPAQUE.iter().any(|(opaque, _)| *opaque == name)
}

/// Makes a definition opaque JSON, and says so.
pub(super) fn opaque(built: &mut BuiltModel, scope: &Scope, name: &str, ty: Ty, open: String) {
    let Some(def) = built.model.types.get_mut(name) else {
        return;
    };
    let (what, word) = match ty {
        Ty::JsonArray => ("any list", "json"),
        Ty::JsonObject => ("any object", "object"),
        _ => ("any JSON", "json"),
    };
    def.shape = Shape::Alias(ty);
    let at = def.doc_key.clone();
    let answer = format!("`{at}` is {what}, kept as text");
    let settle = opaque_rule(scope, &at, word);
    (built.decisions).push(scope.asks(QuestionKind::Shape, def.at(), open, answer, settle));
}

/// Makes definitions by the name of a hand-written type that type, where the schema has need of both.
pub(super) fn settle_namesakes(built: &mut BuiltModel, scope: &Scope) {
    for (name, ty) in OPAQUE {
        let clashes = match built.model.shape(name) {
            None => false,
            Some(Shape::Alias(stands_for)) if *stands_for == ty => false,
            Some(Shape::Alias(_)) => built.model.types.values().any(|def| {
                let mut held = def.shape.holds().into_iter();
                held.any(|held| held.innermost() == &ty)
            }),
            Some(_) => true,
        };
        if clashes {
            let open = format!(
                "expected a use for one type called `{name}`, found one for that of the runtime, too"
            );
            opaque(built, scope, name, ty, open);
            // Under another name it is what the schema says.
            let definition = built.model.get(name).and_then(|def| def.definition.clone());
            if let (Some(definition), Some(decision)) = (definition, built.decisions.last_mut()) {
                decision.settle = type_rule(scope, &definition, &format!("{name}Type"));
            }
        }
    }
}
