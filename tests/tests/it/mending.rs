//! One mistake costs one part: messages of every method, broken in one place, convert without that part, and it is told.

use std::collections::BTreeSet;

use mcp_convert::Rule;
use mcp_revisions_core::values::TABLES;
use mcp_revisions_core::{Change, Context, Loss, Outcome, Part, Severity, Subject};
use mcp_revisions_schema::RevisionModel;
use mcp_revisions_schema::model::{ModelMethod, Ty};
use mcp_tests::breaks::{self, Break, Harm};
use mcp_tests::random::{Random, seed};
use mcp_tests::sampler::{Instance, Sampler};
use mcp_tests::shims::put_back::{child, put_back};
use mcp_tests::tree::{Kind, Member, Node, Standing, Style, Value};
use mcp_tests::{parallel, text};
use mcp_wire::Json;
use mcp_wire::mend::MistakeFate;

/// How many samples of a type are broken.
const SAMPLES: usize = 12;
/// How many breaks of a type are tried.
const MOST: usize = 150;
/// One in so many is converted to every other revision.
const CONVERTED: usize = 5;

/// What the breaks of one part of a method have shown.
#[derive(Default)]
struct Shown {
    mended: usize,
    refused: usize,
    failures: Vec<String>,
}

#[test]
fn one_mistake_costs_one_part() {
    let models = crate::specs::models();
    let mut all = Shown::default();
    for of in &models.revisions {
        let Some(at) = TABLES.index(&of.revision.id) else {
            continue;
        };
        let sampler = Sampler::new(&of.model, &of.revision.id);
        let parts: Vec<(&ModelMethod, Part, &str)> = parts(of).collect();
        let shown = parallel::map(&parts, |part| check(of, at, &sampler, *part));
        for one in shown {
            all.mended += one.mended;
            all.refused += one.refused;
            all.failures.extend(one.failures);
        }
    }
    println!("{} mended, {} refused", all.mended, all.refused);
    let shown: Vec<String> = all.failures.iter().take(20).cloned().collect();
    assert!(
        all.failures.is_empty(),
        "{} failures:\n{}",
        all.failures.len(),
        shown.join("\n")
    );
    assert!(all.mended > 5000, "{} mended", all.mended);
}

/// Every row of `spec/mistakes.toml` that has a value makes a text fit that lacks the member.
#[test]
fn every_known_value_stands_for_its_member() {
    let models = crate::specs::models();
    let mut used = BTreeSet::new();
    for of in &models.revisions {
        let Some(at) = TABLES.index(&of.revision.id) else {
            continue;
        };
        let sampler = Sampler::new(&of.model, &of.revision.id);
        for (_, _, name) in parts(of) {
            for instance in sampler.instances(name, 4) {
                for row in TABLES.mistakes {
                    let (MistakeFate::Value(known) | MistakeFate::Absent(known)) = row.fate else {
                        continue;
                    };
                    let mut places = Vec::new();
                    instance.node.walk(&mut |path, node| {
                        let of = &node.facts.types;
                        let is_of =
                            row.of.is_empty() || of.iter().any(|ty| row.of.contains(&&**ty));
                        if is_of && is_required(node, row.member, known) {
                            places.push(path.to_vec());
                        }
                    });
                    for path in places {
                        let mut broken = instance.node.clone();
                        remove(&mut broken, &path, row.member);
                        let text = broken.text(&mut Style::plain());
                        let (Ok(outcome), true) =
                            (same_revision(name, at, &text), is_refused(name, at, &text))
                        else {
                            assert!(!is_refused(name, at, &text), "{name}: {row:?}: {text}");
                            continue;
                        };
                        let losses = outcome.losses();
                        assert_eq!(losses.len(), 1, "{name}: {row:?}: {text}: {losses:?}");
                        used.insert(format!("{row:?}"));
                    }
                }
            }
        }
    }
    for row in TABLES.mistakes {
        let is_value = matches!(row.fate, MistakeFate::Value(_) | MistakeFate::Absent(_));
        assert!(!is_value || used.contains(&format!("{row:?}")), "{row:?}");
    }
}

/// Which entries a list can lose is said for the type that has it: several types have a member of that name.
#[test]
fn entries_are_left_out_by_the_rows_of_the_type_that_has_their_list() {
    let at = TABLES.index("2025-11-25").unwrap();
    let weird = r#"{"type":"weird"},{"type":"text","text":"a"}"#;
    for (name, text, is_mended) in [
        (
            "CallToolResult",
            format!(r#"{{"content":[{weird}]}}"#),
            true,
        ),
        (
            "CallToolResult",
            r#"{"content":[{"type":"weird"}]}"#.to_owned(),
            false,
        ),
        (
            "SamplingMessage",
            format!(r#"{{"role":"user","content":[{weird}]}}"#),
            false,
        ),
        (
            "ElicitResult",
            r#"{"action":"accept","content":{"a":1,"b":{}}}"#.to_owned(),
            false,
        ),
    ] {
        assert!(is_refused(name, at, &text), "{name}: {text}");
        let outcome = same_revision(name, at, &text);
        assert_eq!(outcome.is_ok(), is_mended, "{name}: {text}: {outcome:?}");
        let told = outcome.iter().flat_map(|outcome| outcome.losses().to_vec());
        let places: Vec<String> = told.map(|loss| loss.pointer()).collect();
        assert_eq!(places, vec!["/content/0"; usize::from(is_mended)]);
    }
}

/// The parts of all methods, with the Rust names of their types.
fn parts<'m>(of: &'m RevisionModel<'_>) -> impl Iterator<Item = (&'m ModelMethod, Part, &'m str)> {
    let named = |ty: &'m Option<Ty>| match ty {
        Some(Ty::Named(name)) => Some(name.as_str()),
        _ => None,
    };
    of.model.methods.iter().flat_map(move |method| {
        let params = named(&method.params).map(|name| (method, Part::Params, name));
        let result = named(&method.result).map(|name| (method, Part::Result, name));
        params.into_iter().chain(result)
    })
}

fn is_refused(name: &str, at: usize, text: &str) -> bool {
    TABLES.revisions[at]
        .rust_type(name)
        .unwrap()
        .read(text)
        .is_err()
}

fn same_revision(name: &str, at: usize, text: &str) -> Result<Outcome<Json>, String> {
    let mut cx = Context::default();
    let result = TABLES.convert(Subject::Type(name), at, at, text, &mut cx);
    Ok(cx.finish(result.map_err(|failure| failure.to_string())?))
}

/// Whether a member must be there, and is no constant that tells another value apart.
fn is_required(node: &Node, member: &str, known: &str) -> bool {
    let Value::Object(members) = &node.value else {
        return false;
    };
    let is_it = |one: &Member| {
        let is_other = one.node.facts.kind == Kind::Constant
            && !text::same(&one.node.text(&mut Style::plain()), known);
        one.name == member && one.standing == Standing::Required && !is_other
    };
    members.iter().any(is_it)
}

fn remove(node: &mut Node, path: &[String], member: &str) {
    if let Some(Value::Object(members)) = node.get_mut(path).map(|node| &mut node.value) {
        members.retain(|one| one.name != member);
    }
}

fn check(
    of: &RevisionModel<'_>,
    at: usize,
    sampler: &Sampler<'_>,
    (method, part, name): (&ModelMethod, Part, &str),
) -> Shown {
    let mut shown = Shown::default();
    let instances = sampler.instances(name, SAMPLES);
    let all = chosen(of, &instances, seed(&[&of.revision.id, name, "mending"]));
    for (index, (one, instance)) in all.into_iter().enumerate() {
        let Some(broken) = one.apply(&instance.node) else {
            continue;
        };
        let text = match &one.harm {
            Harm::Repeated(name) => with_another_first(broken, &one.path, name),
            _ => broken.text(&mut Style::any(instance.seed)),
        };
        if !is_refused(name, at, &text) {
            continue;
        }
        let fails = |why: String| {
            let (harm, place) = (&one.harm, one.pointer());
            format!(
                "{} {name}: {why}, {harm:?} at {place}\n  {text}",
                of.revision.id
            )
        };
        let expected = expected(&one, &instance.node);
        match same_revision(name, at, &text) {
            Err(_) if expected.is_none() => shown.refused += 1,
            Err(error) => shown.failures.push(fails(format!("refused: {error}"))),
            Ok(outcome) => {
                shown.mended += 1;
                if let Err(why) = is_told(&outcome, &text, &one, expected) {
                    shown.failures.push(fails(why));
                } else if index % CONVERTED == 0 {
                    let whole = outcome.value().unwrap_or_default();
                    if let Err(why) = converts(method, part, at, &text, &whole) {
                        shown.failures.push(fails(why));
                    }
                }
            }
        }
    }
    shown
}

/// The text of a value in which a member comes twice, the first time with a value of another kind.
fn with_another_first(mut broken: Node, path: &[String], member: &str) -> String {
    if let Some(Value::Object(members)) = broken.get_mut(path).map(|node| &mut node.value)
        && let Some(first) = members.iter_mut().find(|one| one.name == member)
    {
        first.node.value = match first.node.value {
            Value::List(_) => Value::Word("7".to_owned()),
            _ => Value::List(Vec::new()),
        };
    }
    broken.text(&mut Style::plain())
}

/// What a break must cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cost {
    /// The broken part.
    Itself,
    /// A part that it is in.
    Outer,
}

/// What a break must cost; `None` if the whole may be refused.
fn expected(one: &Break, whole: &Node) -> Option<Cost> {
    if !matches!(
        one.harm,
        Harm::Replaced(_) | Harm::Shouted | Harm::Removed(_) | Harm::Repeated(_)
    ) {
        return None;
    }
    let kept = |name: &str| {
        TABLES.mistakes.iter().any(|row| {
            let is_kept = matches!(row.fate, MistakeFate::Kept | MistakeFate::KeptSome);
            is_kept && row.member == name
        })
    };
    if one.path.iter().any(|step| kept(step)) {
        return None;
    }
    if matches!(one.harm, Harm::Repeated(_)) {
        return Some(Cost::Itself);
    }
    let can_go = |depth: usize| match whole.get(&one.path[..depth]).map(|node| &node.value) {
        Some(Value::List(_)) => true,
        Some(Value::Object(members)) => members
            .iter()
            .any(|member| member.name == one.path[depth] && member.standing == Standing::Optional),
        _ => false,
    };
    let depth = one.path.len();
    match one.harm {
        Harm::Removed(_) => {}
        _ if depth > 0 && can_go(depth - 1) => return Some(Cost::Itself),
        _ => {}
    }
    let outer = depth.saturating_sub(usize::from(!matches!(one.harm, Harm::Removed(_))));
    (0..outer).any(can_go).then_some(Cost::Outer)
}

/// Checks that what was mended is told, where it stood, and can be put back.
fn is_told(
    outcome: &Outcome<Json>,
    text: &str,
    one: &Break,
    expected: Option<Cost>,
) -> Result<(), String> {
    let Outcome::Lossy(value, losses) = outcome else {
        return Err(format!("not lossy: {outcome:?}"));
    };
    let is_invalid =
        |loss: &Loss| loss.severity() == Severity::Invalid && loss.rule() == Rule::INVALID.id();
    if !losses.iter().all(is_invalid) {
        return Err(format!("another loss: {losses:?}"));
    }
    let place = one.pointer();
    let pointer = losses[0].pointer();
    match expected {
        Some(Cost::Itself) if losses.len() != 1 || pointer != place => {
            return Err(format!("told elsewhere: {losses:?}"));
        }
        Some(Cost::Outer) if losses.len() != 1 || !near(&place, &pointer) => {
            return Err(format!("told elsewhere: {losses:?}"));
        }
        _ => {}
    }
    if let Harm::Repeated(member) = &one.harm {
        return is_last(value, text, losses, &one.path, member);
    }
    let whole = put_back(value.text(), &losses.iter().collect::<Vec<_>>())?;
    match text::parse(text) {
        Ok(source) if source == whole => Ok(()),
        _ => Err(format!("does not come back: {whole:?}")),
    }
}

/// Checks that of a member that came twice the last one is there, and that the first one is told to be removed.
fn is_last(
    value: &Json,
    text: &str,
    losses: &[Loss],
    path: &[String],
    member: &str,
) -> Result<(), String> {
    let parsed = |text: &str| text::parse(text).map_err(|at| format!("no JSON at {at}"));
    let mut expected = parsed(text)?;
    let mut place = &mut expected;
    for step in path {
        place = child(place, step).ok_or_else(|| format!("nothing at `{step}`"))?;
    }
    let text::Value::Object(members) = place else {
        return Err(format!("no object: {place:?}"));
    };
    // Members are sorted by name alone: of two with one name, the first one stays before the last one.
    let first = members.iter().position(|(name, _)| name == member);
    let (_, first) = members.remove(first.ok_or("no such member")?);
    if parsed(value.text())? != expected {
        return Err(format!("the last one does not count: {value:?}"));
    }
    match losses {
        [loss] if loss.change == Change::Removed => match loss.value() {
            Some(told) if parsed(told.text())? == first => Ok(()),
            told => Err(format!("another value is told: {told:?}")),
        },
        _ => Err(format!("not told as removed: {losses:?}")),
    }
}

/// Whether one pointer leads to a part of what the other leads to.
fn near(one: &str, other: &str) -> bool {
    let begins = |one: &str, other: &str| {
        let rest = one.strip_prefix(other);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    begins(one, other) || begins(other, one)
}

/// Checks that a broken text comes to what the mended one comes to, in every other revision, with what was mended beside it.
fn converts(
    method: &ModelMethod,
    part: Part,
    from: usize,
    text: &str,
    mended: &Json,
) -> Result<(), String> {
    for to in (0..TABLES.revisions.len()).filter(|to| *to != from) {
        let converted = |text: &str| {
            let subject = Subject::Method(&method.name, part, Some(method.direction));
            let mut cx = Context::default();
            let result = TABLES.convert(subject, from, to, text, &mut cx);
            result.map(|result| cx.finish(result))
        };
        let told = |outcome: &Outcome<Json>| -> Vec<String> {
            let losses = outcome.losses().iter();
            let others = losses.filter(|loss| loss.severity() != Severity::Invalid);
            others.map(ToString::to_string).collect()
        };
        match (converted(text), converted(mended.text())) {
            (Err(one), Err(other)) if one.to_string() == other.to_string() => {}
            (Ok(one), Ok(other)) => {
                let (lost, clean) = (told(&one), told(&other));
                let has_value = matches!(one, Outcome::Lossy(..));
                let is_told = one
                    .losses()
                    .iter()
                    .any(|loss| loss.severity() == Severity::Invalid);
                if lost != clean || (has_value && !is_told) || one.clone().value() != other.value()
                {
                    return Err(format!("to {to}: {one:?}"));
                }
            }
            (one, other) => return Err(format!("to {to}: {one:?}, and mended {other:?}")),
        }
    }
    Ok(())
}

/// Every way to break the samples once, in an order that the seed decides, up to the most that are tried.
fn chosen<'i>(
    of: &RevisionModel<'_>,
    instances: &'i [Instance],
    seed: u64,
) -> Vec<(Break, &'i Instance)> {
    let mut keys = BTreeSet::new();
    let mut all = Vec::new();
    for instance in instances {
        for one in breaks::find(&of.model, &instance.node) {
            if keys.insert(one.key()) {
                all.push((one, instance));
            }
        }
    }
    Random::new(seed).shuffle(&mut all);
    all.sort_by_key(|(one, _)| one.path.len() > 1);
    let own = all.partition_point(|(one, _)| one.path.len() <= 1);
    all.truncate(own.max(MOST));
    all
}
