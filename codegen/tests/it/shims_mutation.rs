//! Every rule of every pair is needed, and no rule that is not is let through.

use mcp_revisions_plans::rules::PairRules;
use mcp_revisions_schema::pair::RevisionPair;
use mcp_revisions_schema::spec::rules::RuleFile;

use crate::specs::{models, spec};

/// A row of a rule file: where it begins and ends, and what it starts with.
struct Row {
    start: usize,
    end: usize,
    head: String,
}

/// The rows of a rule file: from one `[[` at the start of a line to the next.
fn rows(text: &str) -> Vec<Row> {
    let starts: Vec<usize> = text
        .match_indices("[[")
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
        .collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let row = |(start, end): (usize, usize)| {
        let body = &text[start..end];
        // The comments at its end belong to the next row.
        let own = body
            .lines()
            .enumerate()
            .filter(|(_, line)| !(line.is_empty() || line.starts_with('#')))
            .last()
            .map_or(0, |(index, _)| index);
        let end = start
            + body
                .split_inclusive('\n')
                .take(own + 1)
                .map(str::len)
                .sum::<usize>();
        let head = text[start..end]
            .lines()
            .take(3)
            .collect::<Vec<_>>()
            .join(" ");
        Row { start, end, head }
    };
    starts.iter().copied().zip(ends).map(row).collect()
}

#[test]
fn without_any_one_rule_something_is_named_that_it_covered() {
    let spec = spec();
    let models = models();
    let mut failures = Vec::new();
    let mut count = 0;
    for pair in models.all_pairs() {
        let name = pair.file();
        let file = spec.rules.get(&name);
        let whole = RuleFile::new(file.path.as_str(), file.text.clone());
        let open = mcp_revisions_plans::plan_pair(models, &pair, whole)
            .unwrap()
            .open;
        for row in rows(&file.text) {
            count += 1;
            // An error that its data tells from another one of the same code is in the pages alone: no difference of the
            // codes asks for it, and its examples hold it.
            if row.head.starts_with("[[error]]")
                && file.text[row.start..row.end].contains("\ndata = ")
            {
                continue;
            }
            let text = format!("{}{}", &file.text[..row.start], &file.text[row.end..]);
            // A draft takes a safe answer, and lists what it is one to.
            let told = match mcp_revisions_plans::plan_pair(
                models,
                &pair,
                RuleFile::new(file.path.as_str(), text),
            ) {
                Ok(plan) => {
                    let mut now = plan.open;
                    now.retain(|decision| !open.contains(decision));
                    now.iter().map(|decision| format!("{decision}\n")).collect()
                }
                Err(error) => error.to_string(),
            };
            if told.is_empty() {
                failures.push(format!("{name}: planned without {}", row.head));
            } else if !told.contains(&name)
                || !names_the_change(&told, &file.text[row.start..row.end])
            {
                failures.push(format!("{name}: without {}: {told}", row.head));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(count > 100, "{count} rules");
}

/// Whether an error speaks of what a row was about: its place, method, code or type.
fn names_the_change(told: &str, row: &str) -> bool {
    let value = |key: &str| {
        let line = row
            .lines()
            .find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='))?;
        Some(line.trim().trim_matches('"').to_owned())
    };
    let named = ["at", "name", "code", "type", "old"]
        .iter()
        .find_map(|key| value(key));
    let named = named.unwrap_or_else(|| panic!("a row about nothing: {row}"));
    let id = value("id").unwrap_or_default();
    named.trim_matches(['[', ']']).split(", ").any(|named| {
        let named = named.trim_matches('"');
        // Any type may be meant: then the member or variant is named. What is inside of it may be named as well.
        let inner = named.replace('.', "").to_lowercase();
        told.contains(named.trim_start_matches('*'))
            || told.to_lowercase().contains(&format!(" {inner}."))
    }) || told.contains(&format!("has no rule `{id}`"))
}

#[test]
fn a_rule_that_nothing_needs_is_an_error_with_its_line() {
    let spec = spec();
    let models = models();
    let useless = [
        "[[rule]]\nid = \"x\"\nat = \"Tool.nothing\"\ndown = \"drop\"\nseverity = \"cosmetic\"\nreason = \"x\"\nsource = \"x\"\nexample = [{ type = \"Tool\", input = '{}', output = '{}' }]\n",
        "[[rule]]\nid = \"x\"\nat = \"Tool.name\"\nup = \"drop\"\nseverity = \"cosmetic\"\nreason = \"x\"\nsource = \"x\"\nexample = [{ type = \"Tool\", input = '{}', output = '{}' }]\n",
        "[[rule]]\nid = \"x\"\nat = \"Tool\"\ndown = { before = \"x\" }\nreason = \"x\"\nsource = \"x\"\nexample = [{ type = \"Tool\", input = '{}', output = '{}' }]\n",
        "[[rule]]\nid = \"x\"\nat = \"Tool\"\ndown = { before = \"x\" }\ncovers = [\"name\"]\nreason = \"x\"\nsource = \"x\"\nexample = [{ type = \"Tool\", input = '{}', output = '{}' }]\n",
        "[[rename]]\nold = \"Tool\"\nnew = \"Prompt\"\nreason = \"x\"\n",
        "[[rename]]\nmethod = true\nold = \"tools/list\"\nnew = \"tools/all\"\nreason = \"x\"\n",
        "[[method]]\nname = \"tools/list\"\nid = \"x\"\naction = \"drop\"\nreason = \"x\"\nsource = \"x\"\nexample = [{ params = \"ping\", way = \"up\", input = '{}', output = '{}' }]\n",
        "[[error]]\ncode = -32600\nid = \"x\"\nup = { code = 1 }\nreason = \"x\"\nsource = \"x\"\nexample = [{ error = \"ping\", input = '{}', output = '{}' }]\n",
        "[[also]]\ntype = \"Tool\"\nreason = \"x\"\n",
        "[[also]]\ntype = \"Nothing\"\nreason = \"x\"\n",
    ];
    for pair in models.all_pairs() {
        let name = pair.file();
        let file = spec.rules.get(&name);
        // A draft has a file once somebody has decided something.
        let before = match file.text.trim_end() {
            "" => String::new(),
            rules => format!("{rules}\n\n"),
        };
        let line = before.lines().count() + 1;
        for row in useless {
            let text = format!("{before}{row}");
            let error = match mcp_revisions_plans::plan_pair(
                models,
                &pair,
                RuleFile::new(file.path.as_str(), text),
            ) {
                Ok(_) => panic!("{name}: planned with {row}"),
                Err(error) => error.to_string(),
            };
            assert!(
                error.contains(&format!("{}:{line}", file.path)),
                "{name}, line {line}: {error}\n{row}"
            );
        }
    }
}

#[test]
fn a_rule_that_says_too_little_is_an_error() {
    let spec = spec();
    let models = models();
    let file = spec.rules.get("shims/2024-11-05..2025-03-26.toml");
    for (from, to, told) in [
        ("severity = \"safety\"\n", "", "what kind of loss"),
        (
            "reason = \"2024-11-05 reports numbers alone\"",
            "reason = \"\"",
            "no reason",
        ),
        (
            "source = \"2025-03-26 server/tools\"",
            "source = \"\"",
            "no source",
        ),
        (
            "source = \"2025-03-26 server/tools\"\n",
            "",
            "missing field `source`",
        ),
        ("down = \"drop\"", "sideways = \"drop\"", "unknown field"),
        (
            "type = \"PromptMessage\", input",
            "type = \"PromptMessage\", way = \"up\", input",
            "example 1: the rule says nothing of the way up",
        ),
        (
            "type = \"PromptMessage\", input",
            "type = \"PromptMessage\", params = \"ping\", input",
            "example 1: it is of one thing",
        ),
        (
            "output = 'rejected -32602'",
            "output = 'refused'",
            "if the conversion returns no value, write `needs ADAPTER`, `rejected CODE` or `dropped`",
        ),
        (
            "input = '{\"completions\":{}}'",
            "input = '{\"completions\":{}'",
            "its `input` is not JSON",
        ),
        (
            "{ custom = \"audio_to_blob\" }",
            "{ requires-state = \"hope\" }",
            "no adapter `hope`",
        ),
    ] {
        assert!(file.text.contains(from), "{from}");
        let text = file.text.replacen(from, to, 1);
        let file = RuleFile::new(file.path.as_str(), text);
        let error = match PairRules::read(file.clone()) {
            Err(error) => error,
            Ok(_) => {
                mcp_revisions_plans::plan_pair(models, &models.shim_pairs()[0], file).unwrap_err()
            }
        };
        assert!(error.to_string().contains(told), "{told}: {error}");
    }
}

/// Every way that a rule speaks of is shown on a value; each rule without is named.
#[test]
fn a_rule_without_an_example_is_an_error() {
    let spec = spec();
    let models = models();
    for pair in models.all_pairs() {
        let file = spec.rules.get(&pair.file());
        let mut text = String::new();
        let mut is_example = false;
        for line in file.text.lines() {
            is_example |= line.starts_with("example = [");
            if !is_example {
                text.push_str(line);
                text.push('\n');
            }
            is_example &= line != "]" && !line.ends_with("}]");
        }
        let file = RuleFile::new(file.path.as_str(), text);
        let rules = file.text.matches("reason = ").count()
            - file.text.matches("[[also]]").count()
            - file.text.matches("[[rename]]").count();
        // A plan does without: what is generated first is what examples are tried on.
        let read = PairRules::read(file);
        let error = read.map_or_else(|error| error.to_string(), |_| String::new());
        let ids: mcp_revisions_schema::sorted::SortedSet<&str> = (error.lines())
            .filter(|line| line.contains("it carries no `example`"))
            .filter_map(|line| line.split('`').nth(1))
            .collect();
        assert_eq!(ids.len(), rules, "{error}");
    }
}

/// What is misspelled in a row is told with the line of the word.
#[test]
fn a_misspelled_adapter_or_action_is_an_error_with_its_line() {
    let spec = spec();
    let models = models();
    // A draft that differs has a pair of its own, with a file or without.
    let pairs = models.shim_pairs();
    let ruled = |pair: &&RevisionPair| !spec.rules.get(&pair.file()).text.is_empty();
    let pair = pairs.iter().rfind(ruled).unwrap();
    let file = spec.rules.get(&pair.file());
    let tail = "reason = \"x\"\nsource = \"x\"\n";
    for (row, told) in [
        (
            "[[method]]\nname = \"ping\"\nid = \"x\"\naction = { requires-state = \"hope\" }\n",
            "there is no adapter `hope`; known: handshake, multi-round-trip",
        ),
        (
            "[[error]]\ncode = -32002\nid = \"x\"\nup = { requires-state = \"handshak\" }\n",
            "there is no adapter `handshak`",
        ),
        (
            "[[rule]]\nid = \"x\"\nat = \"Tool.x\"\ndown = { requires-state = \"hope\" }\n",
            "there is no adapter `hope`",
        ),
        (
            "[[method]]\nname = \"ping\"\nid = \"x\"\naction = \"dorp\"\n",
            "unknown variant `dorp`, expected one of `drop`, `requires-state`, `subscribed`, `reject`",
        ),
        (
            "[[method]]\nname = \"ping\"\nid = \"x\"\naction = \"pass\"\n",
            "unknown variant `pass`",
        ),
    ] {
        let text = format!("{}\n\n{row}{tail}", file.text.trim_end());
        let line = text.lines().count() - 2;
        let file = RuleFile::new(file.path.as_str(), text);
        let error = mcp_revisions_plans::plan_pair(models, pair, file)
            .unwrap_err()
            .to_string();
        let place = format!("{}:{line}: ", spec.rules.get(&pair.file()).path);
        assert!(error.starts_with(&place), "{place}: {error}");
        assert!(error.contains(told), "{told}: {error}");
    }
}
