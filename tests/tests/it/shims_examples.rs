//! Every rule shows what it comes to, and it comes to that.
//!
//! An example of `spec/shims/` goes through the real conversion, and a judge of another hand says that both of its
//! texts are what they are said to be. Both are compared as what generated code promises: members in any order, numbers
//! as they are spelled.

use mcp_convert::Rule;
use mcp_revisions_core::{Context, Failure, Loss, Outcome, Part, Session, Subject, UnknownFields};
use mcp_revisions_plans::UNDECIDED;
use mcp_revisions_plans::rules::{ExampleEnding, PairRules, Sample, SampleSubject, SessionFacts};
use mcp_revisions_schema::model::Ty;
use mcp_revisions_schema::pair::MethodSender;
use mcp_tests::shims::steps;
use mcp_tests::shims::world::Side;
use mcp_tests::text::same;
use mcp_wire::{Direction, ErrorObject, Json};

#[test]
fn every_rule_comes_to_what_its_example_says() {
    let spec = crate::specs::spec();
    let models = crate::specs::models();
    let world = crate::specs::world();
    let side = |id: &str| world.side(id).unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for pair in models.all_pairs() {
        let rules = PairRules::of(&pair, spec).unwrap();
        for sample in rules.samples() {
            count += 1;
            let [from, to] = pair.ends(sample.way).map(side);
            let mut told = vec![
                judged(from, sample.of, sample.input, str::to_owned),
                came_to(&sample, from.id, to.id),
            ];
            if let ExampleEnding::Value(output) = sample.ending {
                let (tables, [start, end]) = steps::between(from.id, to.id).unwrap();
                let name = |method: &str| tables.method_name(method, None, start, end).to_owned();
                told.push(judged(to, sample.of, output, name));
            }
            for problem in told.into_iter().filter_map(Result::err) {
                failures.push(format!("{pair}: {}: {problem}", sample.rule));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(count > 120, "{count} examples");
}

/// What conversions say of themselves stands in `mcp_convert` alone.
#[test]
fn no_rule_of_a_file_bears_the_id_of_one_that_is_built_in() {
    let spec = crate::specs::spec();
    let built_in = Rule::BUILT_IN.map(|rule| rule.id());
    assert!(built_in.contains(&UNDECIDED));
    for pair in crate::specs::models().all_pairs() {
        let rules = PairRules::of(&pair, spec).unwrap();
        let all = rules.rules().map(|rule| rule.id.as_str());
        let methods = rules.methods().map(|rule| rule.id.as_str());
        let errors = rules.errors().map(|rule| rule.id.as_str());
        for id in all.chain(methods).chain(errors) {
            assert!(!built_in.contains(&id), "{pair}: {id}");
        }
    }
}

/// Whether a text is what the example says that it is; `renamed` is what this side calls a method.
fn judged(
    side: &Side<'_>,
    of: SampleSubject<'_>,
    text: &str,
    renamed: impl Fn(&str) -> String,
) -> Result<(), String> {
    let Side {
        id, model, judge, ..
    } = side;
    let method = |name: &str| {
        let name = &renamed(name);
        let methods = &mut model.methods.iter();
        (methods.find(|method| method.name == *name)).ok_or_else(|| format!("{id} has no {name}"))
    };
    let named = |ty: Option<&Ty>| match ty {
        Some(Ty::Named(name)) => Some(name.clone()),
        _ => None,
    };
    let name = match of {
        SampleSubject::Type(name) => model.definition(name).map(|def| def.name.clone()),
        SampleSubject::Params(name) => named(method(name)?.params.as_ref()),
        SampleSubject::Result(name) => named(method(name)?.result.as_ref()),
        SampleSubject::Error(name) => {
            method(name)?;
            let error = mcp_wire::from_str::<ErrorObject>(text);
            return error.map(drop).map_err(|error| error.to_string());
        }
    };
    let name = name.ok_or_else(|| format!("{id} has no {of}"))?;
    let found = judge.check(&name, text).map(drop);
    found.map_err(|problem| format!("no {of} of {id}: {text}: {problem}"))
}

/// Whether the conversion ends as the example says.
fn came_to(sample: &Sample<'_>, from: &str, to: &str) -> Result<(), String> {
    let outcome = converted(sample, from, to).map_err(|failure| failure.to_string())?;
    let losses: Vec<String> = (outcome.losses().iter())
        .filter(|loss| loss.rule() == sample.rule)
        .map(Loss::pointer)
        .map(|pointer| pointer.to_string())
        .collect();
    let (ending, rule) = match outcome {
        Outcome::Exact(value) | Outcome::Reversible(value, _) | Outcome::Lossy(value, _) => {
            (value.into_text(), None)
        }
        Outcome::RequiresState(needs) => (
            format!("needs {}", needs.adapter.as_str()),
            Some(needs.rule),
        ),
        Outcome::Rejected(rejected) => {
            let code = rejected.error.code.as_i64().unwrap();
            (format!("rejected {code}"), Some(rejected.rule))
        }
        Outcome::Dropped(dropped) => ("dropped".to_owned(), Some(dropped.rule)),
    };
    let expected = match sample.ending {
        ExampleEnding::Value(text) => text.to_owned(),
        ExampleEnding::Needs(adapter) => format!("needs {adapter}"),
        ExampleEnding::Rejected(code) => format!("rejected {code}"),
        ExampleEnding::Dropped => "dropped".to_owned(),
    };
    let as_said = match sample.ending {
        ExampleEnding::Value(output) => same(&ending, output),
        _ => ending == expected,
    };
    if !as_said {
        return Err(format!(
            "{}: expected {expected}, found {ending}",
            sample.input
        ));
    }
    if losses != sample.loses {
        return Err(format!(
            "{}: expected it to record {:?}, found {losses:?}: write `loses = {losses:?}` in the example if that is right",
            sample.input, sample.loses
        ));
    }
    match rule {
        Some(rule) if rule != sample.rule => Err(format!("{}: it ends by {rule}", sample.input)),
        _ => Ok(()),
    }
}

fn converted(sample: &Sample<'_>, from: &str, to: &str) -> Result<Outcome<Json>, Failure> {
    let (tables, [from, to]) = steps::between(from, to).unwrap();
    let mut cx = Context::new(UnknownFields::Drop).with_session(session(sample.session));
    let sender = sample.sender.map(|sender| match sender {
        MethodSender::Client => Direction::ClientToServer,
        MethodSender::Server => Direction::ServerToClient,
    });
    let subject = match sample.of {
        SampleSubject::Type(name) => Subject::Type(name),
        SampleSubject::Params(method) => Subject::Method(method, Part::Params, sender),
        SampleSubject::Result(method) => Subject::Method(method, Part::Result, sender),
        SampleSubject::Error(method) => {
            let error: ErrorObject = mcp_wire::from_str(sample.input).map_err(Failure::Invalid)?;
            let result = tables.convert_error(method, from, to, error, &mut cx);
            return Ok(cx.finish(result).map(|error| Json::of(&error)));
        }
    };
    let result = tables.convert(subject, from, to, sample.input, &mut cx)?;
    Ok(cx.finish(result))
}

fn session(facts: &SessionFacts) -> Session {
    let json = |text: &Option<String>| text.as_deref().map(|text| Json::from_text(text).unwrap());
    Session {
        client_capabilities: json(&facts.client_capabilities),
        client_info: json(&facts.client_info),
        subscription_id: json(&facts.subscription_id),
    }
}
